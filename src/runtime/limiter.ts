import type { Random } from '../world/clock.ts';

export interface Limiter<K = string> {
  /** Milliseconds to wait before the next try; counts a failure. */
  next(key: K): number;
  forget(key: K): void;
  failures(key: K): number;
}

export interface BackoffOptions {
  /** 5 ms: a conflict is mostly gone by then. */
  readonly base?: number;
  /** 1000 s: what client-go waits at most; a broken object costs four tries an hour. */
  readonly max?: number;
}

/** A thousand objects that failed on one outage must not come back in lockstep; client-go lets them. */
const JITTER = 0.1;

/** base * 2^failures, never above `max`, +-10 %. */
export function backoff<K = string>(random: Random, options: BackoffOptions = {}): Limiter<K> {
  const { base = 5, max = 1_000_000 } = options;
  const failures = new Map<K, number>();
  return {
    next(key) {
      const n = failures.get(key) ?? 0;
      failures.set(key, n + 1);
      // 2^n becomes Infinity after a thousand failures; min() takes that well, a shift would not.
      const delay = Math.min(max, base * 2 ** n);
      return Math.min(max, delay * (1 - JITTER + 2 * JITTER * random.next()));
    },
    forget: key => void failures.delete(key),
    failures: key => failures.get(key) ?? 0,
  };
}
