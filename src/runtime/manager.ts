import { setMaxListeners } from 'node:events';
import type { Clock } from '../world/clock.ts';
import type { Log } from '../world/log.ts';

/** Works until aborted. Ending early is fine; rejecting stops the whole process. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** Answers from `start` to `stop`: probes, metrics, webhooks. First up, last down. */
export interface Server {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ManagerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly servers?: readonly Server[];
  /** Without one, this process leads at once. */
  readonly election?: {
    readonly lost: AbortSignal;
    acquire(signal: AbortSignal): Promise<void>;
    release(): Promise<void>;
  };
  readonly cache: {
    startAll(): void;
    waitForSync(options: { signal: AbortSignal }): Promise<void>;
    stopAll(): Promise<void>;
  };
  /** Milliseconds that runnables have to end after the stop; negative: for ever; 0: they are not waited for. */
  readonly grace?: number;
  /** The last thing: events that still wait. */
  readonly flush?: () => Promise<void>;
}

/** Pods get 30 s; terminationGracePeriodSeconds must be 5 more. */
const GRACE = 30_000;

type State = 'new' | 'starting' | 'standby' | 'syncing' | 'running' | 'stopping' | 'stopped';

/**
 * Starts and stops the parts of a process in order: servers, always-on runnables, (lease), caches, controllers.
 * Caches start after the lease is won: a standby's view may be old, and a leader's first act must not be based on it.
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #always: Runnable[] = [];
  readonly #controllers: Runnable[] = [];
  /** Runnables that have not ended, by promise, so that a stuck one can be named. */
  readonly #running = new Map<Promise<void>, string>();
  readonly #abort = new AbortController();
  /** Aborted by the caller's signal, a failed runnable or a lost lease. */
  readonly #stop = new AbortController();
  readonly #errors: unknown[] = [];
  #state: State = 'new';

  constructor(options: ManagerOptions) {
    this.#options = options;
    // Every controller listens; their number is ours to choose, not a leak.
    setMaxListeners(0, this.#abort.signal);
  }

  get state(): State {
    return this.#state;
  }

  /** A standby is ready: it serves webhooks, and its readiness must not look like an outage. */
  ready(): string | undefined {
    return this.#state === 'running' || this.#state === 'standby' ? undefined : `the process is ${this.#state}`;
  }

  /** `always` runs without leadership; `leader` starts after the caches have synced. Late ones start at once. */
  add(group: 'always' | 'leader', runnable: Runnable): void {
    if (this.#state === 'stopping' || this.#state === 'stopped')
      throw new Error(`${runnable.name} cannot be added: the process is ${this.#state}`);
    (group === 'always' ? this.#always : this.#controllers).push(runnable);
    const started =
      group === 'always' ? this.#state !== 'new' && this.#state !== 'starting' : this.#state === 'running';
    if (started) this.#start(runnable);
  }

  /** Resolves after an orderly stop by `signal`; rejects with what made the process stop otherwise. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new Error('The manager was started twice');
    const { servers = [], log, election } = this.#options;
    const onSignal = () => this.#stop.abort(signal.reason);
    const onLost = () => this.#fail(election?.lost.reason);
    const started: Server[] = [];
    this.#state = 'starting';
    signal.addEventListener('abort', onSignal, { once: true });
    election?.lost.addEventListener('abort', onLost, { once: true });
    if (signal.aborted) onSignal();
    try {
      for (const server of servers) {
        await server.start();
        started.push(server);
      }
      await this.#lead();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#fail(error);
      else log.debug('Start was interrupted', { error });
    }
    signal.removeEventListener('abort', onSignal);
    await this.#end(started);
    election?.lost.removeEventListener('abort', onLost);
    if (this.#errors.length === 1) throw this.#errors[0];
    if (this.#errors.length > 1)
      throw new AggregateError(this.#errors, this.#errors.map(e => (e instanceof Error ? e.message : e)).join('; '));
  }

  async #lead(): Promise<void> {
    const { election, cache, log } = this.#options;
    const stop = this.#stop.signal;
    if (stop.aborted) return;
    this.#state = 'standby';
    for (const runnable of this.#always) this.#start(runnable);
    if (election) await election.acquire(stop);
    this.#state = 'syncing';
    cache.startAll();
    await cache.waitForSync({ signal: stop });
    if (stop.aborted) return;
    this.#state = 'running';
    log.info('Controllers started', { controllers: this.#controllers.map(c => c.name) });
    for (const runnable of this.#controllers) this.#start(runnable);
    await new Promise<void>(resolve => stop.addEventListener('abort', () => resolve(), { once: true }));
  }

  #start(runnable: Runnable): void {
    const ended = runnable.run(this.#abort.signal).then(
      () => void this.#running.delete(ended),
      error => {
        this.#running.delete(ended);
        if (this.#state === 'stopped') this.#options.log.error('Runnable failed after the stop', { error });
        else
          this.#fail(
            new Error(`${runnable.name} failed: ${error instanceof Error ? error.message : error}`, { cause: error }),
          );
      },
    );
    this.#running.set(ended, runnable.name);
  }

  #fail(error: unknown): void {
    this.#errors.push(error);
    this.#stop.abort(error);
  }

  async #end(servers: Server[]): Promise<void> {
    const { log, election, cache, flush, grace = GRACE } = this.#options;
    this.#state = 'stopping';
    log.info('Stop began', {});
    this.#abort.abort(this.#stop.signal.reason);
    // A process that lost the lease must end at once: a successor may be at work.
    await this.#ended(election?.lost.aborted ? 0 : grace);
    await this.#attempt('stop caches', () => cache.stopAll());
    for (const server of servers.reverse()) await this.#attempt(`stop ${server.name}`, () => server.stop());
    if (election && !election.lost.aborted) await this.#attempt('release the lease', () => election.release());
    if (flush) await this.#attempt('flush events', flush);
    this.#state = 'stopped';
    log.info('Stop ended', {});
  }

  async #ended(grace: number): Promise<void> {
    const { clock } = this.#options;
    const all = Promise.all(this.#running.keys()).then(() => undefined);
    if (grace < 0) return all;
    if (grace > 0) {
      let cancel = () => {};
      const late = new Promise<void>(resolve => {
        cancel = clock.timer(grace, resolve, { label: 'stop grace' });
      });
      await Promise.race([all, late]);
      cancel();
      if (this.#running.size > 0)
        this.#errors.push(
          new Error(`still running ${grace / 1000} s after the stop: ${[...this.#running.values()].join(', ')}`),
        );
    }
  }

  async #attempt(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      this.#errors.push(new Error(`Could not ${what}`, { cause }));
    }
  }
}
