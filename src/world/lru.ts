/** A map with a maximum number of entries: the least recently used one is dropped first. */
export class Lru<K, V> {
  readonly #most: number;
  readonly #entries = new Map<K, V>();
  readonly #gone: ((value: V) => void) | undefined;

  /** `gone` hears of what had to make room, not of what was deleted or replaced. */
  constructor(most: number, gone?: (value: V) => void) {
    this.#most = most;
    this.#gone = gone;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // A Map keeps the order of insertion: what is put again is the youngest.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const [oldest, old] of this.#entries) {
      if (this.#entries.size <= this.#most) return;
      this.#entries.delete(oldest);
      this.#gone?.(old);
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** The oldest first. */
  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }
}
