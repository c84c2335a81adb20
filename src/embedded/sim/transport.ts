import type { AnyObject } from '../../kube/object.ts';
import {
  NoAnswer,
  type Request,
  type Response,
  type Transport,
  type WatchAnswer,
  type WatchEvent,
} from '../../kube/transport.ts';
import type { Clock, Random } from '../../world/clock.ts';
import type { Store } from '../store/store.ts';
import { Stream, type Wire } from './stream.ts';

/**
 * What goes wrong with one request. `lose-answer`: done, but the caller hears NoAnswer. `reject`: not done, and the
 * caller gets NoAnswer too (it can't distinguish them). `hang`: not done, no answer; only its timeout or abort ends it.
 */
export type Fault =
  | 'lose-answer'
  | 'reject'
  | 'hang'
  | { status: number; body: unknown; headers?: Record<string, string> };

export interface TransportOptions {
  /** Whom the store's audit names; the process unless given. */
  readonly user?: string;
  /** Asked once per request with its number, from 1; a watch counts too. */
  readonly intercept?: (request: Request, n: number) => Fault | undefined;
  /** Extra milliseconds before this event (and those behind it) arrive: a lagging view. */
  readonly lag?: (request: Request, event: WatchEvent) => number;
  /** Longest one-way latency in milliseconds; the seed chooses between 1 and this. */
  readonly latency?: number;
}

export interface SimTransport extends Transport {
  /** Breaks the open watches that match, as a cut connection does: events on their way are lost. Returns how many. */
  cut(match?: (request: Request) => boolean): number;
}

/** A process as the scheduler sees it. */
export interface Owner {
  readonly label: string;
  readonly dead: boolean;
  readonly pausedUntil: number;
  /** Called on a crash: the server notices that the connection is gone. */
  readonly letGo: Set<() => void>;
}

/** Puts an event into the queue of the simulation; the returned function takes it out. */
export type Schedule = (
  ms: number,
  label: string,
  run: () => void,
  options?: { daemon?: boolean; owner?: Owner | undefined; tie?: number },
) => () => void;

/** What the simulation lends to the network between a process and a store. */
export interface Network {
  readonly schedule: Schedule;
  readonly order: Random;
  readonly clock: Clock;
  note(line: string): void;
}

/** A few milliseconds, as in one data centre; whole ones, so that ties are common and the seed orders them. */
const LATENCY = 5;

class FaultyTransport implements SimTransport {
  readonly #net: Network;
  readonly #owner: Owner;
  readonly #store: Store;
  readonly #options: TransportOptions;
  readonly #streams = new Set<Stream>();
  readonly #user: string;
  #count = 0;

  constructor(net: Network, owner: Owner, store: Store, options: TransportOptions = {}) {
    this.#net = net;
    this.#owner = owner;
    this.#store = store;
    this.#options = options;
    this.#user = options.user ?? owner.label;
  }

  cut(match: (request: Request) => boolean = () => true) {
    const hit = [...this.#streams].filter(s => match(s.request));
    for (const stream of hit) {
      this.#net.note(`${this.#owner.label} ${nameOf(stream.request)} CUT`);
      stream.cut();
    }
    return hit.length;
  }

  #latency() {
    return 1 + Math.floor(this.#net.order.next() * (this.#options.latency ?? LATENCY));
  }

  send(request: Request, signal?: AbortSignal): Promise<Response> {
    const name = `${this.#owner.label} ${nameOf(request)}`;
    const fault = this.#options.intercept?.(request, ++this.#count);
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        giveUp?.();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const fail = (why: string, cause?: unknown) =>
        finish(() => reject(new NoAnswer(`${nameOf(request)}: ${why}`, cause)));
      const onAbort = () => fail('aborted', signal?.reason);
      const giveUp =
        request.timeout === undefined
          ? undefined
          : this.#net.schedule(request.timeout, `${name} timeout`, () => fail(`no answer in ${request.timeout} ms`), {
              daemon: fault !== 'hang',
              owner: this.#owner,
            });
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      if (fault === 'hang') return;
      // Once sent, a request belongs to the network: a crash of the sender stops it or not, as the seed says.
      const survives = this.#net.order.next() < 0.5;
      this.#net.schedule(this.#latency(), `${name} commit`, () => {
        if (this.#owner.dead && !survives) return;
        const answer =
          fault === 'reject'
            ? undefined
            : typeof fault === 'object'
              ? faulty(fault)
              : this.#store.handle(request, this.#user);
        const label = `${name} reply ${answer === undefined || fault === 'lose-answer' ? 'lost' : answer.status}`;
        this.#net.schedule(
          this.#latency(),
          label,
          () => {
            if (answer === undefined || fault === 'lose-answer') return fail('the connection broke');
            finish(() => resolve(withDate(answer, this.#net.clock.wall())));
          },
          { owner: this.#owner },
        );
      });
    });
  }

  watch(request: Request, signal: AbortSignal): Promise<WatchAnswer> {
    const name = `${this.#owner.label} ${nameOf(request)}`;
    const fault = this.#options.intercept?.(request, ++this.#count);
    return new Promise((resolve, reject) => {
      const refuse = (why: string, cause?: unknown) => reject(new NoAnswer(`${nameOf(request)}: ${why}`, cause));
      if (signal.aborted) return refuse('aborted', signal.reason);
      const onAbort = () => refuse('aborted', signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      if (fault === 'hang') return;
      this.#net.schedule(
        this.#latency(),
        `${name} open`,
        () => {
          if (signal.aborted) return;
          const stream = new Stream(request, this.#wire(request, name));
          const opened =
            fault === undefined
              ? this.#store.watch(
                  request,
                  event => stream.push(event),
                  () => stream.push('end'),
                )
              : { status: typeof fault === 'object' ? fault.status : 0, refusal: faulty(fault) };
          if (opened.status === 200 && 'close' in opened) {
            this.#streams.add(stream);
            const letGo = () => opened.close();
            this.#owner.letGo.add(letGo);
            stream.closed = () => {
              this.#streams.delete(stream);
              this.#owner.letGo.delete(letGo);
              opened.close();
            };
          }
          this.#net.schedule(
            this.#latency(),
            `${name} ${opened.status === 200 ? 'watching' : `refused ${opened.status}`}`,
            () => {
              if (signal.aborted) return stream.close();
              signal.removeEventListener('abort', onAbort);
              if (typeof fault === 'string') return refuse('the connection broke');
              if ('refusal' in opened) {
                return resolve({ status: opened.status, refusal: withDate(opened.refusal, this.#net.clock.wall()) });
              }
              signal.addEventListener('abort', () => stream.close(), { once: true });
              resolve({ status: 200, events: stream.read() });
            },
            { owner: this.#owner },
          );
        },
        { owner: this.#owner },
      );
    });
  }

  /** Each event is an entry of its own, in stream order: never due before the one sent before it. */
  #wire(request: Request, name: string): Wire {
    let last = { due: 0, tie: 0 };
    return (item, arrive) => {
      const lag = typeof item === 'string' ? 0 : (this.#options.lag?.(request, item) ?? 0);
      const due = Math.max(last.due, this.#net.clock.now() + this.#latency() + lag);
      // With the same due time and tie, the order of scheduling decides.
      last = { due, tie: due === last.due ? last.tie : this.#net.order.next() };
      // Bookmarks go on for ever; the one that ends the initial events is what a starting cache waits for.
      const daemon = typeof item !== 'string' && item.type === 'BOOKMARK' && !endsInitialEvents(item);
      const label = `${name} ${typeof item === 'string' ? item : describe(item)}`;
      this.#net.schedule(due - this.#net.clock.now(), label, arrive, { owner: this.#owner, daemon, tie: last.tie });
    };
  }
}

export const simTransport = (net: Network, owner: Owner, store: Store, options: TransportOptions = {}): SimTransport =>
  new FaultyTransport(net, owner, store, options);

function nameOf(request: Request): string {
  const watch = request.query?.watch !== undefined ? 'WATCH' : request.method;
  return `${watch} ${request.path}`;
}

function describe(event: WatchEvent): string {
  const meta = (event.object as AnyObject).metadata;
  return `${event.type} ${meta?.name ?? ''}@${meta?.resourceVersion ?? ''}`;
}

const faulty = (fault: Fault): Response =>
  typeof fault === 'object'
    ? { status: fault.status, headers: fault.headers ?? {}, body: fault.body }
    : { status: 0, headers: {}, body: undefined };

/** Client.serverTime reads it. */
const withDate = (answer: Response, wall: number): Response =>
  answer.headers.date !== undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, date: new Date(wall).toUTCString() } };

const endsInitialEvents = (event: WatchEvent): boolean =>
  (event.object.metadata as { annotations?: Record<string, string> }).annotations?.['k8s.io/initial-events-end'] ===
  'true';
