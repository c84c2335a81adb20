/** As the correlator of core/v1 events: a burst of 25 per object, then one every five minutes. */
const BURST = 25;
const REFILL = 300_000;
/** Objects remembered; the one not heard of for longest goes first. */
const CAPACITY = 4096;

/** A token bucket per object, so that one broken object cannot fill etcd with its complaints. */
export class SpamFilter {
  /** Insertion order is order of last use. */
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** Whether one more event about `object` may pass at `now` (monotonic ms). */
  allow(object: string, now: number): boolean {
    const bucket = this.#buckets.get(object) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, bucket.tokens + (now - bucket.at) / REFILL);
    const allowed = tokens >= 1;
    this.#buckets.delete(object);
    this.#buckets.set(object, { tokens: allowed ? tokens - 1 : tokens, at: now });
    if (this.#buckets.size > CAPACITY) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return allowed;
  }
}
