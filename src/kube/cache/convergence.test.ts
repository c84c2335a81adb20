import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bookmark, listOf, ManualClock, settle, status } from '../../../test/unit/kube.ts';
import type { AnyObject } from '../object.ts';
import { ConfigMap } from '../resource.ts';
import {
  NoAnswer,
  type Request,
  type Response,
  type Transport,
  type WatchAnswer,
  type WatchEvent,
} from '../transport.ts';
import { createInformer } from './create-informer.ts';

/**
 * An API server of one collection with every fault we know of: history that is compacted, streams that are cut, closed
 * or swallowed, refusals, no answers, small pages, no WatchList. Whatever the order, once the faults end the store must
 * equal the server, and no listener may have been told something that cannot be.
 */
class FaultyServer implements Transport {
  readonly objects = new Map<string, AnyObject>();
  readonly history: { version: number; event: WatchEvent }[] = [];
  readonly streams = new Set<Feed>();
  readonly watchList: boolean;
  version = 100;
  compacted = 100;
  uids = 0;
  refusals: (number | 'none')[] = [];
  pageSize = 500;

  constructor(watchList: boolean) {
    this.watchList = watchList;
  }

  write(name: string, is: 'put' | 'delete' | 'recreate'): void {
    const known = this.objects.get(name);
    if (is !== 'put' && known) {
      this.objects.delete(name);
      this.#record({ type: 'DELETED', object: this.#at(known, ++this.version) });
    }
    if (is === 'delete') return;
    const uid = known && is === 'put' ? known.metadata.uid! : `uid-${++this.uids}`;
    const object = this.#make(name, uid, ++this.version);
    this.objects.set(name, object);
    this.#record({ type: known && is === 'put' ? 'MODIFIED' : 'ADDED', object });
  }

  #make = (name: string, uid: string, version: number): AnyObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', uid, resourceVersion: String(version) },
  });
  #at = (object: AnyObject, version: number) => this.#make(object.metadata.name, object.metadata.uid!, version);

  #record(event: WatchEvent): void {
    this.history.push({ version: this.version, event });
    for (const stream of this.streams) stream.push(event);
  }

  bookmarks(): void {
    for (const stream of this.streams) stream.push(bookmark(this.version));
  }

  compact(): void {
    this.compacted = this.version;
  }

  async send({ query = {} }: Request): Promise<Response> {
    await settle();
    const refusal = this.#refuse(query.resourceVersion);
    if (refusal) return refusal;
    const names = [...this.objects.keys()].sort();
    if (query.continue !== undefined) {
      const [version, from] = query.continue.split('/') as [string, string];
      if (Number(version) < this.compacted || Number(version) !== this.version) return answer(410, 'Expired');
      return this.#page(names, Number(from), query.limit);
    }
    return this.#page(names, 0, query.limit);
  }

  #page(names: string[], from: number, limit: string | undefined): Response {
    const size = limit === undefined ? names.length : this.pageSize;
    const items = names.slice(from, from + size).map(name => this.objects.get(name)!);
    const next = from + size < names.length ? `${this.version}/${from + size}` : undefined;
    return { status: 200, headers: {}, body: listOf(this.version, items, next) };
  }

  async watch({ query = {} }: Request, signal: AbortSignal): Promise<WatchAnswer> {
    await settle();
    signal.throwIfAborted();
    const refusal = this.#refuse(query.resourceVersion);
    if (refusal) return { status: refusal.status, refusal };
    const initial = query.sendInitialEvents === 'true';
    if (initial && !this.watchList) return { status: 422, refusal: answer(422, 'Invalid') };
    const from = Number(query.resourceVersion ?? this.version);
    if (!initial && from < this.compacted) return { status: 410, refusal: answer(410, 'Expired') };
    const feed = new Feed(signal, () => this.streams.delete(feed));
    if (initial) {
      for (const object of this.objects.values()) feed.push({ type: 'ADDED', object });
      feed.push(bookmark(this.version, true));
    } else {
      for (const { version, event } of this.history) if (version > from) feed.push(event);
    }
    this.streams.add(feed);
    return { status: 200, events: feed };
  }

  #refuse(version: string | undefined): Response | undefined {
    const next = this.refusals.shift();
    if (next === 'none') throw new NoAnswer('connection reset');
    if (next === 410 && version === undefined) return undefined; // the newest never expires
    return next === undefined ? undefined : answer(next, 'Injected');
  }
}

const answer = (code: number, reason: string): Response => ({ status: code, headers: {}, body: status(code, reason) });

class Feed implements AsyncIterable<WatchEvent> {
  #queue: (WatchEvent | 'end' | Error)[] = [];
  #wake = () => {};
  #open = true;
  readonly #forget: () => void;

  constructor(signal: AbortSignal, forget: () => void) {
    this.#forget = forget;
    signal.addEventListener('abort', () => this.end('end'));
  }

  push(event: WatchEvent): void {
    if (!this.#open) return;
    this.#queue.push(event);
    this.#wake();
  }

  /** `swallow`: the peer is gone and nobody tells. */
  end(how: 'end' | 'break' | 'swallow' | number): void {
    if (how === 'swallow') {
      this.#forget();
      this.#open = false;
      return;
    }
    const last =
      how === 'end'
        ? 'end'
        : how === 'break'
          ? new NoAnswer('cut')
          : ({ type: 'ERROR', object: status(how, 'Injected') } as const);
    this.#queue.push(last);
    if (how !== 'end' && how !== 'break') this.#queue.push('end');
    this.#open = false;
    this.#forget();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent> {
    for (;;) {
      while (this.#queue.length === 0) {
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
      }
      const item = this.#queue.shift()!;
      if (item === 'end') return;
      if (item instanceof Error) throw item;
      yield item;
    }
  }
}

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('write' as const), name, is: fc.constantFrom('put', 'delete', 'recreate') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      how: fc.constantFrom('end', 'break', 'swallow', 410, 429, 500, 403),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      with: fc.array(fc.constantFrom(410, 429, 500, 503, 403, 'none'), { maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 500, 2_000, 40_000, 200_000) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'compact' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'bookmarks' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('page' as const), size: fc.constantFrom(1, 2, 500) }) },
);

describe('whatever happens', () => {
  it('the store ends up equal to the server, and its events tell a possible story', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(action, { maxLength: 30 }),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        async (watchList, actions, rolls) => {
          const server = new FaultyServer(watchList);
          const clock = new ManualClock();
          const random = { next: () => rolls.next().value as number, bytes: (n: number) => new Uint8Array(n) };
          const informer = createInformer({ resource: ConfigMap }, { transport: server, clock, random });
          const told = new Map<string, { uid: string; version: number }>();
          const check = (object: { metadata: { name: string; uid?: string; resourceVersion?: string } }) => ({
            name: object.metadata.name,
            uid: object.metadata.uid!,
            version: Number(object.metadata.resourceVersion),
          });
          informer.onChange({
            added(object) {
              const { name, uid, version } = check(object);
              expect(told.has(name)).toBe(false);
              told.set(name, { uid, version });
            },
            updated(before, after) {
              const { name, uid, version } = check(after);
              expect(told.get(name)).toEqual({ uid, version: Number(before.metadata.resourceVersion) });
              expect(version).toBeGreaterThan(told.get(name)!.version);
              told.set(name, { uid, version });
            },
            deleted(object) {
              const { name, uid } = check(object);
              expect(told.get(name)?.uid).toBe(uid);
              told.delete(name);
            },
          });
          informer.start();
          let last = 0;
          for (const act of actions) {
            if (act.do === 'write') server.write(act.name, act.is as 'put');
            else if (act.do === 'end') for (const stream of [...server.streams]) stream.end(act.how as 'end');
            else if (act.do === 'refuse') server.refusals.push(...(act.with as number[]));
            else if (act.do === 'wait') await clock.advance(act.ms);
            else if (act.do === 'compact') server.compact();
            else if (act.do === 'bookmarks') server.bookmarks();
            else server.pageSize = act.size;
            await settle();
            const version = Number(informer.resourceVersion ?? 0);
            expect(version).toBeGreaterThanOrEqual(last);
            last = version;
          }
          server.refusals = [];
          // Longer than the idle limit plus the longest backoff, with the minute's bookmarks of a healthy server.
          for (let minute = 0; minute < 6; minute++) {
            await clock.advance(60_000);
            server.bookmarks();
            await settle();
          }
          const seen = informer.list().map(check);
          expect(seen).toEqual([...server.objects.values()].map(check).sort((a, b) => (a.name < b.name ? -1 : 1)));
          expect([...told.keys()].sort()).toEqual(seen.map(object => object.name));
          expect(informer.stats.handlerErrors).toBe(0);
          expect(informer.resourceVersion).toBe(String(server.version));
          expect(server.streams.size).toBe(1);
          await informer.stop();
          expect([clock.timers, server.streams.size]).toEqual([0, 0]);
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 300) },
    );
  });
});
