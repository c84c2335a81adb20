/** A clock that moves when told, and a transport whose answers the test gives by hand. */
import type { AnyObject, Status } from '../../src/kube/object.ts';
import {
  NoAnswer,
  type Request,
  type Response,
  type Transport,
  type WatchAnswer,
  type WatchEvent,
} from '../../src/kube/transport.ts';
import type { Clock, Random } from '../../src/world/clock.ts';

/** Lets every promise that can move do so. */
export const settle = () => new Promise<void>(resolve => setImmediate(resolve));

export class ManualClock implements Clock {
  #now = 0;
  #timers: { due: number; run: () => void }[] = [];
  readonly #epoch = Date.UTC(2026, 0, 1);

  now = () => this.#now;
  wall = () => this.#epoch + this.#now;

  timer(ms: number, run: () => void): () => void {
    const timer = { due: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter(other => other !== timer);
    };
  }

  get timers(): number {
    return this.#timers.length;
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#timers.filter(timer => timer.due <= end).sort((a, b) => a.due - b.due)[0];
      if (!next) break;
      this.#timers = this.#timers.filter(other => other !== next);
      this.#now = Math.max(this.#now, next.due);
      next.run();
      await settle();
    }
    this.#now = end;
  }
}

export const fixedRandom = (value = 0): Random => ({ next: () => value, bytes: length => new Uint8Array(length) });

/** One request that waits for the test to answer it. */
export class Exchange {
  readonly request: Request;
  readonly signal: AbortSignal | undefined;
  readonly #settle: { resolve: (value: Response | WatchAnswer) => void; reject: (error: unknown) => void };
  readonly isWatch: boolean;

  constructor(
    request: Request,
    signal: AbortSignal | undefined,
    isWatch: boolean,
    settle: { resolve: (value: Response | WatchAnswer) => void; reject: (error: unknown) => void },
  ) {
    this.request = request;
    this.signal = signal;
    this.isWatch = isWatch;
    this.#settle = settle;
  }

  async answer(status: number, body: unknown, headers: Record<string, string> = {}): Promise<void> {
    const response = { status, body, headers };
    this.#settle.resolve(this.isWatch ? { status, refusal: response } : response);
    await settle();
  }

  async noAnswer(why = 'connection refused'): Promise<void> {
    this.#settle.reject(new NoAnswer(why));
    await settle();
  }

  /** Accepts a watch. */
  async stream(...events: WatchEvent[]): Promise<Stream> {
    const stream = new Stream(this.signal);
    this.#settle.resolve({ status: 200, events: stream });
    await settle();
    for (const event of events) await stream.send(event);
    return stream;
  }
}

export class Stream implements AsyncIterable<WatchEvent> {
  #queue: (WatchEvent | 'end' | Error)[] = [];
  #wake = () => {};
  readonly aborted: () => boolean;

  constructor(signal: AbortSignal | undefined) {
    this.aborted = () => signal?.aborted ?? false;
    signal?.addEventListener('abort', () => this.#push('end'));
  }

  #push(item: WatchEvent | 'end' | Error): void {
    this.#queue.push(item);
    this.#wake();
  }

  async send(...events: WatchEvent[]): Promise<void> {
    for (const event of events) this.#push(event);
    await settle();
  }

  async close(): Promise<void> {
    this.#push('end');
    await settle();
  }

  async break(why = 'socket hang up'): Promise<void> {
    this.#push(new NoAnswer(why));
    await settle();
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

export class ScriptedTransport implements Transport {
  readonly exchanges: Exchange[] = [];
  #taken = 0;

  send = (request: Request, signal?: AbortSignal) => this.#open(request, signal, false) as Promise<Response>;
  watch = (request: Request, signal: AbortSignal) => this.#open(request, signal, true) as Promise<WatchAnswer>;

  #open(request: Request, signal: AbortSignal | undefined, isWatch: boolean): Promise<Response | WatchAnswer> {
    return new Promise((resolve, reject) => {
      this.exchanges.push(new Exchange(request, signal, isWatch, { resolve, reject }));
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  }

  /** The next request that no test looked at yet. */
  async next(): Promise<Exchange> {
    await settle();
    const exchange = this.exchanges[this.#taken];
    if (!exchange) throw new Error('no further request was made');
    this.#taken++;
    return exchange;
  }

  /** How many requests were made that no test looked at. */
  async unseen(): Promise<number> {
    await settle();
    return this.exchanges.length - this.#taken;
  }
}

export const status = (code: number, reason: string, more: Partial<Status> = {}): Status => ({
  apiVersion: 'v1',
  kind: 'Status',
  metadata: {},
  status: 'Failure',
  code,
  reason,
  message: reason,
  ...more,
});

export const configMap = (name: string, version: number | string, more: Record<string, unknown> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: String(version) },
  ...more,
});

export const added = (object: AnyObject): WatchEvent => ({ type: 'ADDED', object });
export const modified = (object: AnyObject): WatchEvent => ({ type: 'MODIFIED', object });
export const deleted = (object: AnyObject): WatchEvent => ({ type: 'DELETED', object });
export const failed = (code: number, reason = 'Oops'): WatchEvent => ({ type: 'ERROR', object: status(code, reason) });
export const bookmark = (version: number | string, end = false): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: '',
      resourceVersion: String(version),
      ...(end && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  },
});
export const listOf = (version: number | string, items: AnyObject[], next?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMapList',
  metadata: { resourceVersion: String(version), ...(next && { continue: next }) },
  // As the API server writes them: items of built-in types carry no type of their own.
  items: items.map(({ apiVersion: _, kind: __, ...rest }) => rest),
});
