import type { Clock } from '../world/clock.ts';
import { Heap } from '../world/heap.ts';

export interface Delayed {
  readonly due: number;
  readonly priority: number;
  /** Not work to be done, only a second look: a simulation may be quiet before it is due. */
  readonly daemon: boolean;
}

/** setTimeout takes 31 bits and fires at once above that. */
const MAX_DELAY = 2 ** 31 - 1;

/** Keys that wait for a time, one entry each, behind one timer. */
export class Delays<K> {
  readonly #entries = new Map<K, Delayed & { readonly order: number }>();
  /** Every entry of #entries, and entries that were replaced since: those are dropped when they surface. */
  readonly #heap = new Heap<{ key: K; due: number; order: number }>(
    // Keys due in the same millisecond leave as they came.
    (a, b) => a.due < b.due || (a.due === b.due && a.order < b.order),
  );
  /** How many entries are not daemons. */
  #pending = 0;
  /** For the head of the heap. Absent if and only if #entries is empty. */
  #timer: { due: number; daemon: boolean; cancel(): void } | undefined;
  #order = 0;
  readonly #clock: Clock;
  readonly #label: string;
  readonly #onDue: (key: K, priority: number) => void;

  constructor(clock: Clock, label: string, onDue: (key: K, priority: number) => void) {
    this.#clock = clock;
    this.#label = label;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): Delayed | undefined {
    return this.#entries.get(key);
  }

  /** Puts the key off. Of two calls the earlier time, the higher priority and real work count. */
  set(key: K, after: number, priority: number, daemon: boolean): void {
    const old = this.#entries.get(key);
    const due = this.#clock.now() + Math.min(after, MAX_DELAY);
    this.#remove(key);
    const entry = {
      due: Math.min(due, old?.due ?? due),
      priority: Math.max(priority, old?.priority ?? priority),
      daemon: daemon && (old?.daemon ?? true),
      order: this.#order++,
    };
    this.#entries.set(key, entry);
    this.#heap.push({ key, due: entry.due, order: entry.order });
    if (!entry.daemon) this.#pending++;
    this.#arm();
  }

  delete(key: K): void {
    if (this.#remove(key)) this.#arm();
  }

  clear(): void {
    this.#entries.clear();
    this.#pending = 0;
    this.#arm();
  }

  #remove(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry && !entry.daemon) this.#pending--;
    return this.#entries.delete(key);
  }

  /** The earliest entry that still counts. */
  #head(): { key: K; due: number } | undefined {
    for (let head = this.#heap.peek(); head; head = this.#heap.peek()) {
      if (this.#entries.get(head.key)?.order === head.order) return head;
      this.#heap.pop();
    }
    return undefined;
  }

  /** Sets the timer to the head. It is a daemon only if nothing behind the head is more than that. */
  #arm(): void {
    const due = this.#head()?.due;
    const daemon = this.#pending === 0;
    if (this.#timer?.due === due && this.#timer?.daemon === daemon) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (due === undefined) return;
    const cancel = this.#clock.timer(due - this.#clock.now(), () => this.#fire(), { label: this.#label, daemon });
    this.#timer = { due, daemon, cancel };
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    // A real timer may come a millisecond early: then nothing is due, and it is set again.
    for (let head = this.#head(); head && head.due <= now; head = this.#head()) {
      const { priority } = this.#entries.get(head.key)!;
      this.#remove(head.key);
      this.#onDue(head.key, priority);
    }
    this.#arm();
  }
}
