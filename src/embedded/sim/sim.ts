import type { Clock, Random, TimerOptions } from '../../world/clock.ts';
import { Heap } from '../../world/heap.ts';
import type { Store } from '../store/store.ts';
import { hash, seededRandom } from './random.ts';
import {
  type Network,
  type Owner,
  type Schedule,
  type SimTransport,
  simTransport,
  type TransportOptions,
} from './transport.ts';

export interface SimOptions {
  /** Milliseconds since 1970 at which the world begins; a plan begins when its snapshot was taken. */
  readonly epoch?: number;
  /** Events that one until(), settle() or run() may take before it throws: a livelock, most likely. */
  readonly maxEvents?: number;
  /** Virtual milliseconds that one until() or settle() may take before it throws. */
  readonly maxTime?: number;
}

export interface ProcessOptions {
  /** Milliseconds by which this machine's wall clock is wrong. */
  readonly skew?: number;
}

/** One operating-system process of the simulation: what it schedules dies with it. */
export interface Process {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by crash(): only for code outside the process that must release it. */
  readonly signal: AbortSignal;
  /** Memory is gone: no timer, answer or event of this process ever arrives; its promises stay unsettled. */
  crash(): void;
  /** SIGSTOP for `ms`: time goes on, nothing of this process runs; all that fell due comes at once afterwards. */
  pause(ms: number): void;
  transport(store: Store, options?: TransportOptions): SimTransport;
}

interface Entry {
  due: number;
  /** Seeded: two events of the same millisecond run in an order that only the seed knows. */
  tie: number;
  seq: number;
  readonly label: string;
  readonly daemon: boolean;
  readonly owner: Owner | undefined;
  /** Undefined once run or cancelled, so that a long-lived cancel function holds no memory. */
  run: (() => void) | undefined;
}

/** Captured at import: a test that fakes timers must not be able to stop the simulation. */
const turn = setImmediate;
/** All microtasks of the last event have run when this resolves. */
const drain = () => new Promise<void>(resolve => turn(resolve));

/** A Monday morning. Only differences matter, but certificates and schedules need a plausible year. */
const EPOCH = Date.UTC(2026, 0, 5, 8, 0, 0);
const JOURNAL_TAIL = 40;

/**
 * A world with one queue of events, virtual time and a seed. The same seed on the same commit and Node major
 * gives the same journal; a failure is stored with both.
 */
export class Sim {
  readonly seed: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly #journal: string[] = [];
  readonly #queue = new Heap<Entry>(
    (a, b) => a.due < b.due || (a.due === b.due && (a.tie < b.tie || (a.tie === b.tie && a.seq < b.seq))),
  );
  readonly #order: Random;
  readonly #maxEvents: number;
  readonly #maxTime: number;
  readonly #epoch: number;
  readonly #incarnations = new Map<string, number>();
  #now = 0;
  #seq = 0;
  /** Entries in the queue that are neither daemons nor cancelled nor of a dead process. */
  #live = 0;
  #running = false;

  constructor(seed: number, options: SimOptions = {}) {
    this.seed = seed;
    this.random = seededRandom(hash(`${seed}/random`));
    this.#order = seededRandom(hash(`${seed}/order`));
    this.#maxEvents = options.maxEvents ?? 1_000_000;
    this.#maxTime = options.maxTime ?? 24 * 3_600_000;
    this.#epoch = options.epoch ?? EPOCH;
    this.clock = this.#clock(undefined, 0);
  }

  get journal(): readonly string[] {
    return this.#journal;
  }

  process(name: string, options: ProcessOptions = {}): Process {
    const incarnation = (this.#incarnations.get(name) ?? 0) + 1;
    this.#incarnations.set(name, incarnation);
    const controller = new AbortController();
    const label = incarnation === 1 ? name : `${name}#${incarnation}`;
    const owner = { label, dead: false, pausedUntil: 0, letGo: new Set<() => void>() };
    const clock = this.#clock(owner, options.skew ?? 0);
    const random = seededRandom(hash(`${this.seed}/${owner.label}`));
    const network: Network = { schedule: this.#schedule, order: this.#order, clock: this.clock, note: this.note };
    return {
      name: owner.label,
      clock,
      random,
      signal: controller.signal,
      crash: () => {
        if (owner.dead) return;
        owner.dead = true;
        this.note(`${owner.label} CRASH`);
        this.#forget();
        for (const letGo of owner.letGo) letGo();
        controller.abort(new Error(`${owner.label} crashed`));
      },
      pause: ms => {
        owner.pausedUntil = Math.max(owner.pausedUntil, this.#now + ms);
        this.note(`${owner.label} PAUSE ${ms}`);
      },
      transport: (store, transportOptions) => simTransport(network, owner, store, transportOptions),
    };
  }

  /** Writes a line of the caller's own into the journal: faults and the steps of a story belong there. */
  readonly note = (line: string): void => {
    this.#journal.push(`${this.#now} ${line}`);
  };

  /** Runs until `done()` holds after some event ('done'), or nothing but daemons is left ('quiet'). */
  until(done: () => boolean): Promise<'done' | 'quiet'> {
    return this.#run(done, () => this.#live === 0, this.#now + this.#maxTime);
  }

  /** Runs until nothing but daemons is left. */
  async settle(): Promise<void> {
    await this.until(() => false);
  }

  /** Lets `ms` of virtual time pass, daemons included. */
  async run(ms: number): Promise<void> {
    await this.within(ms, () => false);
  }

  /** As run(), but ends as soon as `done()` holds, and returns whether it did: for what only daemons cause. */
  async within(ms: number, done: () => boolean): Promise<boolean> {
    const end = this.#now + ms;
    const next = () => this.#queue.peek()?.due ?? Number.POSITIVE_INFINITY;
    if ((await this.#run(done, () => next() > end, Number.POSITIVE_INFINITY)) === 'done') return true;
    this.#now = end;
    return false;
  }

  async #run(done: () => boolean, stop: () => boolean, deadline: number): Promise<'done' | 'quiet'> {
    if (this.#running) throw new Error('Sim: until, settle and run do not nest; await the first one');
    this.#running = true;
    try {
      for (let events = 0; ; events++) {
        await drain();
        if (done()) return 'done';
        this.#dropDead();
        if (stop()) return 'quiet';
        const entry = this.#queue.pop();
        if (entry === undefined) return 'quiet';
        const paused = entry.owner?.pausedUntil ?? 0;
        if (paused > entry.due) {
          // What fell due meanwhile comes in the order in which it was due: a stream must not be shuffled.
          this.#queue.push(Object.assign(entry, { due: paused, tie: -1, seq: this.#seq++ }));
          continue;
        }
        if (events >= this.#maxEvents) throw this.#stuck(`${events} events`);
        if (entry.due > deadline) throw this.#stuck(`${this.#maxTime} ms of virtual time`);
        this.#now = Math.max(this.#now, entry.due);
        this.#journal.push(`${this.#now} ${entry.label}`);
        const run = entry.run!;
        entry.run = undefined;
        if (!entry.daemon) this.#live--;
        run();
      }
    } finally {
      this.#running = false;
    }
  }

  /** Cancelled entries and those of crashed processes leave the head of the queue without a journal line. */
  #dropDead(): void {
    for (let head = this.#queue.peek(); head; head = this.#queue.peek()) {
      if (head.run !== undefined && !head.owner?.dead) return;
      this.#queue.pop();
    }
  }

  #forget(): void {
    const kept: Entry[] = [];
    for (let e = this.#queue.pop(); e; e = this.#queue.pop()) if (e.run !== undefined && !e.owner?.dead) kept.push(e);
    for (const e of kept) this.#queue.push(e);
    this.#live = kept.filter(e => !e.daemon).length;
  }

  readonly #schedule: Schedule = (ms, label, run, { daemon = false, owner, tie = this.#order.next() } = {}) => {
    if (owner?.dead) return () => {};
    const due = this.#now + Math.max(0, ms);
    const entry: Entry = { due, tie, seq: this.#seq++, label, daemon, owner, run };
    this.#queue.push(entry);
    if (!daemon) this.#live++;
    return () => {
      // After a crash the process's entries are no longer counted.
      if (entry.run !== undefined && !daemon && !owner?.dead) this.#live--;
      entry.run = undefined;
    };
  };

  #clock(owner: Owner | undefined, skew: number): Clock {
    const prefix = owner ? `${owner.label} ` : '';
    return {
      now: () => this.#now,
      wall: () => this.#epoch + this.#now + skew,
      timer: (ms, run, options: TimerOptions = {}) =>
        this.#schedule(ms, `${prefix}${options.label ?? 'timer'}`, run, { daemon: options.daemon ?? false, owner }),
    };
  }

  #stuck(what: string): Error {
    const tail = this.#journal.slice(-JOURNAL_TAIL).join('\n');
    return new Error(`Sim: not done after ${what} (seed ${this.seed}). The journal ends with\n${tail}`);
  }
}
