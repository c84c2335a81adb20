import { NoAnswer } from '../../kube/transport.ts';
import type { Clock } from '../../world/clock.ts';
import { Refused } from './hands.ts';

/** In how many milliseconds to look again if nothing happens before; `idle` when that would change nothing lasting. */
export type Again = number | { readonly ms: number; readonly idle: boolean } | undefined;

/** How many looks wait for answers at the same time; one object is never looked at twice at once. */
const PARALLEL = 8;
/** A refused write is tried again after this, doubled each time: conflicts end soon, quotas and policies do not. */
const [FIRST_RETRY, LAST_RETRY] = [50, 60_000];

/** Level-triggered: a key says "look at this", however often it is said before the look begins. */
export class Loop {
  readonly #clock: Clock;
  readonly #look: (key: string) => Promise<Again>;
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();
  readonly #timers = new Map<string, { due: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  #open = false;
  #stopped = false;

  constructor(clock: Clock, look: (key: string) => Promise<Again>) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Until then keys are only gathered: decisions on half a view would make things twice. */
  start(): void {
    this.#open = true;
    this.#pump();
  }

  add(key: string): void {
    this.#waiting.add(key);
    this.#pump();
  }

  /** The earlier of two times wins. */
  after(key: string, ms: number, daemon = false): void {
    const due = this.#clock.now() + ms;
    const old = this.#timers.get(key);
    if (this.#stopped || (old && old.due <= due)) return;
    old?.cancel();
    const fire = () => {
      this.#timers.delete(key);
      this.add(key);
    };
    this.#timers.set(key, { due, cancel: this.#clock.timer(ms, fire, { label: `look ${key}`, daemon }) });
  }

  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
  }

  #pump(): void {
    for (const key of this.#waiting) {
      if (!this.#open || this.#stopped || this.#active.size >= PARALLEL) return;
      if (this.#active.has(key)) continue;
      this.#waiting.delete(key);
      this.#active.add(key);
      this.#timers.get(key)?.cancel();
      this.#timers.delete(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const again = await this.#look(key);
      this.#failures.delete(key);
      if (typeof again === 'number') this.after(key, again);
      else if (again !== undefined) this.after(key, again.ms, again.idle);
    } catch (error) {
      if (!(error instanceof Refused || error instanceof NoAnswer)) throw error;
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      // What is refused for long is at rest: it must not keep a simulation from ending.
      this.after(key, Math.min(FIRST_RETRY * 2 ** failures, LAST_RETRY), failures > 8);
    } finally {
      this.#active.delete(key);
      this.#pump();
    }
  }
}
