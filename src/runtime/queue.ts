import type { Clock } from '../world/clock.ts';
import { Delays } from './delays.ts';
import type { Limiter } from './limiter.ts';
import { noMetrics, type QueueMetrics } from './metrics/metrics.ts';

/** Keys of an initial list and of events that changed nothing wait behind keys that somebody just touched. */
export const LOW = -100;
export const NORMAL = 0;

export interface AddOptions {
  /** Higher leaves first; first in, first out inside a class. */
  readonly priority?: number;
  /** Milliseconds; 0 or less means now. */
  readonly after?: number;
  /** The delay is a re-check, not work to be done: a simulation may be quiet before it is over. */
  readonly daemon?: boolean;
}

export interface Work<K> {
  readonly key: K;
  readonly priority: number;
}

export interface QueueOptions<K> {
  readonly clock: Clock;
  readonly limiter: Limiter<K>;
  readonly name?: string;
  readonly metrics?: QueueMetrics;
}

interface Entry {
  priority: number;
  /** When it became ready, for the time it waited. */
  since: number;
}

/**
 * A queue of keys, after client-go's workqueue. A key is in exactly one state: absent, delayed, ready, processing,
 * or processing and dirty (to be processed again after done). No key is processed twice at once. There is one
 * entry per key, so an earlier event replaces a delay: who wants a timer states it again on every pass.
 */
export class WorkQueue<K = string> {
  /** Keys that must be processed. A key is in a class of #ready if and only if it is here and not in #processing. */
  readonly #dirty = new Map<K, Entry>();
  /** Keys in process, with their start time. */
  readonly #processing = new Map<K, number>();
  /** By priority; the insertion order of a Set is the order of leaving. No class is empty. */
  readonly #ready = new Map<number, Set<K>>();
  /** Keys that wait for their time. Disjoint from #dirty. */
  readonly #delays: Delays<K>;
  /** Workers that wait, oldest first. Empty whenever something is ready. */
  readonly #getters: ((work: Work<K> | undefined) => void)[] = [];
  /** When a failed key is due again: a failure before that, brought on by an event, costs no further attempt. */
  readonly #retryAt = new Map<K, number>();
  readonly #drained: (() => void)[] = [];
  #state: 'open' | 'draining' | 'shut' = 'open';

  readonly #clock: Clock;
  readonly #limiter: Limiter<K>;
  readonly #metrics: QueueMetrics;

  constructor(options: QueueOptions<K>) {
    this.#clock = options.clock;
    this.#limiter = options.limiter;
    this.#metrics = options.metrics ?? noMetrics.queue(options.name ?? '');
    const label = `${options.name ?? 'queue'} delay`;
    this.#delays = new Delays(options.clock, label, (key, priority) => this.#makeDirty(key, priority));
  }

  add(key: K, options: AddOptions = {}): void {
    if (this.#state !== 'open') return;
    const { priority = NORMAL, after = 0, daemon = false } = options;
    const dirty = this.#dirty.get(key);
    if (dirty) {
      this.#raise(key, dirty, priority);
      return;
    }
    const delayed = this.#delays.get(key);
    if (!delayed) this.#metrics.added();
    if (after > 0) {
      this.#delays.set(key, after, priority, daemon);
    } else {
      this.#delays.delete(key);
      this.#makeDirty(key, Math.max(priority, delayed?.priority ?? priority));
    }
  }

  /** Adds the key after the limiter's delay. */
  retry(key: K, options: { priority?: number } = {}): void {
    const now = this.#clock.now();
    let at = this.#retryAt.get(key) ?? 0;
    if (at <= now) {
      at = now + this.#limiter.next(key);
      this.#retryAt.set(key, at);
      this.#metrics.retried();
    }
    this.add(key, { after: at - now, ...options });
  }

  /** The key is well: its next failure starts from the shortest delay. */
  forget(key: K): void {
    this.#limiter.forget(key);
    this.#retryAt.delete(key);
  }

  /** The next key, or undefined when the queue was shut down. Every key got must be given to done(). */
  get(): Promise<Work<K> | undefined> {
    if (this.#state === 'shut') return Promise.resolve(undefined);
    const work = this.#take();
    if (work) return Promise.resolve(work);
    if (this.#state === 'draining' && this.#processing.size === 0) return Promise.resolve(undefined);
    return new Promise(resolve => this.#getters.push(resolve));
  }

  done(key: K): void {
    const started = this.#processing.get(key);
    if (started === undefined) return;
    this.#processing.delete(key);
    this.#metrics.worked(this.#clock.now() - started);
    const again = this.#dirty.get(key);
    if (again) this.#push(key, again);
    this.#finishDrain();
  }

  /** Nothing more comes out: delayed and ready keys are dropped, waiting workers wake, a drain ends. */
  shutDown(): void {
    this.#state = 'shut';
    this.#delays.clear();
    this.#dirty.clear();
    this.#ready.clear();
    this.#wakeAll();
  }

  /** Takes nothing new, gives out what is ready, and resolves when the last key is done. */
  drain(): Promise<void> {
    if (this.#state === 'open') this.#state = 'draining';
    this.#delays.clear();
    return new Promise(resolve => {
      this.#drained.push(resolve);
      this.#finishDrain();
    });
  }

  /** Ready keys, by priority. */
  depth(): ReadonlyMap<number, number> {
    return new Map([...this.#ready].map(([priority, keys]) => [priority, keys.size]));
  }

  /** How long each key being processed has taken so far, in milliseconds. */
  running(): readonly number[] {
    const now = this.#clock.now();
    return [...this.#processing.values()].map(started => now - started);
  }

  /** Keys that wait for a time. */
  get delayed(): number {
    return this.#delays.size;
  }

  #makeDirty(key: K, priority: number): void {
    const entry = { priority, since: this.#clock.now() };
    this.#dirty.set(key, entry);
    if (!this.#processing.has(key)) this.#push(key, entry);
  }

  #push(key: K, entry: Entry): void {
    const keys = this.#ready.get(entry.priority);
    if (keys) keys.add(key);
    else this.#ready.set(entry.priority, new Set([key]));
    const getter = this.#getters.shift();
    if (getter) getter(this.#take());
  }

  /** Re-enters at the tail of the higher class. A lower priority changes nothing. */
  #raise(key: K, entry: Entry, priority: number): void {
    if (priority <= entry.priority) return;
    const keys = this.#ready.get(entry.priority);
    const queued = keys?.delete(key) ?? false;
    if (keys?.size === 0) this.#ready.delete(entry.priority);
    entry.priority = priority;
    if (queued) this.#push(key, entry);
  }

  #take(): Work<K> | undefined {
    if (this.#ready.size === 0) return undefined;
    const priority = Math.max(...this.#ready.keys());
    const keys = this.#ready.get(priority)!;
    const key = keys.values().next().value as K;
    keys.delete(key);
    if (keys.size === 0) this.#ready.delete(priority);
    const now = this.#clock.now();
    this.#metrics.waited(now - this.#dirty.get(key)!.since);
    this.#dirty.delete(key);
    this.#processing.set(key, now);
    return { key, priority };
  }

  #finishDrain(): void {
    if (this.#state === 'draining' && this.#processing.size === 0 && this.#dirty.size === 0) this.#wakeAll();
  }

  #wakeAll(): void {
    for (const getter of this.#getters.splice(0)) getter(undefined);
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
