import { setMaxListeners } from 'node:events';
import { ApiError } from '../kube/errors.ts';
import { type Clock, type Random, sleep, uuid } from '../world/clock.ts';
import type { Log } from '../world/log.ts';
import { type BackoffOptions, backoff } from './limiter.ts';
import type { ControllerMetrics, Metrics } from './metrics/metrics.ts';
import { type AddOptions, WorkQueue } from './queue.ts';
import type { Source } from './sources.ts';

/** Nothing: all is well until something changes. `after`: look again in so many milliseconds, whatever happens. */
export interface Result {
  readonly after?: number;
  /** The second look only re-checks what cannot be watched: a simulation may be quiet before it. */
  readonly daemon?: boolean;
}

/** No retry will help, only an edit: the key is not queued again by itself. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

export interface ReconcileContext {
  /** Aborted when the pass takes too long or the controller stops; give it to every call. */
  readonly signal: AbortSignal;
  /** Of this pass, in logs. */
  readonly id: string;
  readonly log: Log;
}

export interface ControllerOptions {
  readonly name: string;
  /** Passes at the same time, each of another key. */
  readonly workers?: number;
  /** Milliseconds one pass may take before its signal is aborted. */
  readonly timeout?: number;
  readonly backoff?: BackoffOptions;
  readonly sources: readonly Source[];
  reconcile(key: string, cx: ReconcileContext): Promise<Result | undefined>;
}

export interface ControllerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A pass does nothing that takes long: external calls have deadlines of seconds, waiting is by watch. */
const TIMEOUT = 120_000;
/** As controller-runtime: a cache that does not fill in two minutes needs a human (RBAC, a missing CRD). */
const SYNC_TIMEOUT = 120_000;

/**
 * A pass that finds everything in the cache and nothing to do never leaves the microtask queue. A thousand of them in
 * a row stood still for ten seconds and lost the lease (measured); after this many milliseconds the loop gets a turn.
 */
const BREATH = 10;

/** The pass took too long; this process goes on. */
export class PassTimeout extends Error {
  override readonly name = 'PassTimeout';
}

export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #deps: ControllerDeps;
  readonly #metrics: ControllerMetrics;
  readonly #queue: WorkQueue;
  /** Keys being reconciled, with what aborts their pass. The queue never gives a key to two workers; this proves it. */
  readonly #active = new Map<string, AbortController>();
  #started = false;
  /** When the loop last had a turn for sure. */
  #turnedAt = 0;

  constructor(options: ControllerOptions, deps: ControllerDeps) {
    this.name = options.name;
    this.#options = options;
    this.#deps = deps;
    const { clock, random, metrics } = deps;
    this.#metrics = metrics.controller(options.name);
    this.#metrics.workers(options.workers ?? 1);
    const limiter = backoff(random, options.backoff);
    this.#queue = new WorkQueue({ clock, limiter, name: options.name, metrics: metrics.queue(options.name) });
    this.#exportGauges();
  }

  /** From outside the sources: another controller that knows better. */
  enqueue(key: string, options?: AddOptions): void {
    this.#queue.add(key, options);
  }

  /** Starts sources, waits until all have synced, works until `signal` is aborted and the last pass has ended. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`Controller ${this.name} was started twice`);
    this.#started = true;
    const sources = this.#options.sources.map(source =>
      source((key, priority = 0) => this.#queue.add(key, { priority })),
    );
    const stop = () => {
      this.#queue.shutDown();
      for (const source of sources) source.stop();
      for (const pass of this.#active.values()) pass.abort(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return stop();
      await this.#synced(sources, signal);
      await Promise.all(Array.from({ length: this.#options.workers ?? 1 }, () => this.#work()));
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  async #synced(sources: readonly { name: string; synced: Promise<void> }[], signal: AbortSignal): Promise<void> {
    const waiting = new Set(sources);
    await new Promise<void>((resolve, reject) => {
      const onTime = () => {
        const names = [...waiting].map(source => source.name).join(', ');
        settle(() => reject(new Error(`Controller ${this.name}: no sync in ${SYNC_TIMEOUT / 1000} s of ${names}`)));
      };
      const cancel = this.#deps.clock.timer(SYNC_TIMEOUT, onTime, { label: `${this.name} sync timeout`, daemon: true });
      const settle = (end: () => void) => {
        cancel();
        signal.removeEventListener('abort', onAbort);
        end();
      };
      const onAbort = () => settle(resolve);
      signal.addEventListener('abort', onAbort, { once: true });
      for (const source of sources) {
        source.synced.then(
          () => {
            waiting.delete(source);
            if (waiting.size === 0) settle(resolve);
          },
          cause => settle(() => reject(new Error(`Controller ${this.name}: ${source.name} did not sync`, { cause }))),
        );
      }
      if (waiting.size === 0) settle(resolve);
    });
  }

  async #work(): Promise<void> {
    for (let work = await this.#queue.get(); work; work = await this.#queue.get()) {
      await this.#pass(work.key, work.priority);
      await this.#breathe();
    }
  }

  async #breathe(): Promise<void> {
    const { clock } = this.#deps;
    // An empty queue means waiting for an event, which is a turn.
    if (clock.now() - this.#turnedAt < BREATH || this.#queue.depth().size === 0) return;
    await sleep(clock, 0, undefined, { label: `${this.name} breath` });
    this.#turnedAt = clock.now();
  }

  async #pass(key: string, priority: number): Promise<void> {
    if (this.#active.has(key)) throw new Error(`Controller ${this.name}: two passes of ${key} at once`);
    const { clock, random } = this.#deps;
    const id = uuid(random);
    const log = this.#deps.log.child({ controller: this.name, object: key, reconcile: id });
    const abort = new AbortController();
    // Rows run side by side and each of their calls listens until it is answered: many, but as many as leave again.
    setMaxListeners(0, abort.signal);
    const { timeout = TIMEOUT } = this.#options;
    const started = clock.now();
    const cancel = clock.timer(
      timeout,
      () => {
        this.#metrics.timedOut();
        log.warn('Reconcile took too long and was asked to stop', { milliseconds: timeout });
        abort.abort(new PassTimeout(`the pass took more than ${timeout} ms`));
      },
      { label: `${this.name} pass timeout`, daemon: true },
    );
    this.#active.set(key, abort);
    this.#metrics.active(1);
    try {
      const result = await this.#options.reconcile(key, { signal: abort.signal, id, log });
      this.#succeeded(key, priority, result ?? {}, clock.now() - started);
    } catch (error) {
      this.#failed(key, priority, error, abort.signal, log, clock.now() - started);
    } finally {
      cancel();
      this.#active.delete(key);
      this.#metrics.active(-1);
      this.#queue.done(key);
    }
  }

  #succeeded(key: string, priority: number, { after, daemon = false }: Result, ms: number): void {
    this.#queue.forget(key);
    if (after !== undefined) this.#queue.add(key, { after, priority, daemon });
    this.#metrics.reconciled(after === undefined ? 'success' : 'requeue_after', ms);
  }

  #failed(key: string, priority: number, error: unknown, signal: AbortSignal, log: Log, ms: number): void {
    if (signal.aborted && !(signal.reason instanceof PassTimeout)) {
      // We stop; whatever the pass says now is our own doing, and the next leader starts from the objects.
      log.debug('Reconcile was interrupted by the stop of the controller', { error });
      return;
    }
    if (error instanceof ApiError && error.status === 409) {
      // Somebody else wrote first: normal life, the next pass sees what they wrote.
      log.debug('Reconcile met a conflict and will be repeated', { error: error.message });
      this.#queue.retry(key, { priority });
      this.#metrics.reconciled('requeue', ms);
      return;
    }
    this.#metrics.reconciled('error', ms);
    if (error instanceof TerminalError) {
      log.error('Reconcile failed and will not be repeated before a change', { error });
      this.#metrics.terminal();
      this.#queue.forget(key);
      return;
    }
    if (isOurMistake(error)) this.#metrics.panicked();
    log.error('Reconcile failed and will be repeated', { error });
    this.#queue.retry(key, { priority });
  }

  #exportGauges(): void {
    const labels = { name: this.name, controller: this.name };
    const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
    const queue = this.#queue;
    const { metrics } = this.#deps;
    metrics.gauge('workqueue_depth', () =>
      [...queue.depth()].map(([priority, value]) => ({ labels: { ...labels, priority: String(priority) }, value })),
    );
    metrics.gauge('workqueue_unfinished_work_seconds', () => [{ labels, value: sum(queue.running()) / 1000 }]);
    metrics.gauge('workqueue_longest_running_processor_seconds', () => [
      { labels, value: Math.max(0, ...queue.running()) / 1000 },
    ]);
  }
}

/** What Go would call a panic: the stack says more than the message. */
const isOurMistake = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof TypeError ||
  error instanceof ReferenceError ||
  error instanceof RangeError;
