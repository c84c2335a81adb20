import { describe, expect, it } from 'vitest';
import { seededRandom } from '../embedded/sim/random.ts';
import { backoff } from './limiter.ts';

describe('backoff', () => {
  it('35: after two thousand failures the delay is capped, and every one is a sane number', () => {
    const limiter = backoff(seededRandom(1));
    let last = 0;
    for (let i = 0; i < 2000; i++) {
      last = limiter.next('a');
      expect(last).toBeGreaterThan(0);
      expect(last).toBeLessThanOrEqual(1_000_000);
    }
    expect(last).toBeGreaterThanOrEqual(900_000);
  });

  it('36: forget starts again from the base', () => {
    const limiter = backoff(seededRandom(1), { base: 100 });
    for (let i = 0; i < 5; i++) limiter.next('a');
    expect(limiter.failures('a')).toBe(5);
    limiter.forget('a');
    expect(limiter.failures('a')).toBe(0);
    expect(limiter.next('a')).toBeLessThanOrEqual(110);
  });

  it('doubles per key, give or take a tenth, and not in lockstep', () => {
    const limiter = backoff(seededRandom(3), { base: 1000 });
    for (let n = 0; n < 5; n++) {
      const delay = limiter.next('a');
      expect(delay).toBeGreaterThanOrEqual(900 * 2 ** n);
      expect(delay).toBeLessThanOrEqual(1100 * 2 ** n);
    }
    const first = Array.from({ length: 20 }, (_, i) => limiter.next(`k${i}`));
    expect(new Set(first).size).toBe(20);
  });
});
