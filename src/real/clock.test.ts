import { afterEach, describe, expect, it, vi } from 'vitest';
import { realClock, realRandom } from './clock.ts';

afterEach(() => vi.useRealTimers());

describe('the real clock', () => {
  it('waits longer than setTimeout can, and can be cancelled on the way', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const days = 24 * 60 * 60 * 1000;
    const rung: string[] = [];
    realClock.timer(60 * days, () => rung.push('sixty'));
    const cancel = realClock.timer(40 * days, () => rung.push('forty'));
    vi.advanceTimersByTime(30 * days);
    cancel();
    vi.advanceTimersByTime(30 * days - 1);
    expect(rung).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(rung).toEqual(['sixty']);
  });

  it('counts milliseconds and never goes back', () => {
    const times = Array.from({ length: 1_000 }, () => realClock.now());
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});

describe('real chance', () => {
  it('is in [0, 1) and differs', () => {
    const rolls = Array.from({ length: 1_000 }, () => realRandom.next());
    expect(rolls.every(roll => roll >= 0 && roll < 1)).toBe(true);
    expect(new Set(rolls).size).toBe(1_000);
    expect(realRandom.bytes(16)).toHaveLength(16);
    expect(realRandom.bytes(16)).not.toEqual(realRandom.bytes(16));
  });
});
