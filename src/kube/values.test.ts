import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { narrowOffset, type Offset, offsetMs } from './servertime.ts';
import { microTimeOf, parseTime, timeOf } from './time.ts';
import { compareResourceVersion, newerResourceVersion } from './version.ts';

describe('resource versions', () => {
  it('compare as integers of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 80n }), fc.bigInt({ min: 1n, max: 2n ** 80n }), (a, b) => {
        expect(compareResourceVersion(String(a), String(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it.each([
    ['', '5'],
    ['0', '5'],
    ['abc', '5'],
    ['05', '4'],
    [undefined, '5'],
  ])('%s and %s cannot be compared: nobody waits', (a, b) => {
    expect(compareResourceVersion(a, b)).toBe(0);
    expect(compareResourceVersion(b, a)).toBe(0);
  });

  it('never go back, and follow what cannot be compared', () => {
    expect(newerResourceVersion('10', '9')).toBe('10');
    expect(newerResourceVersion('9', '10')).toBe('10');
    expect(newerResourceVersion('', '10')).toBe('10');
  });
});

describe('times', () => {
  it('have no fraction, or six digits', () => {
    expect(timeOf(Date.UTC(2026, 1, 3, 4, 5, 6, 789))).toBe('2026-02-03T04:05:06Z');
    expect(microTimeOf(Date.UTC(2026, 1, 3, 4, 5, 6, 789))).toBe('2026-02-03T04:05:06.789000Z');
    expect(microTimeOf(Date.UTC(2026, 1, 3) + 0.25)).toBe('2026-02-03T00:00:00.000250Z');
  });

  it('come back from their text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), ms => {
        expect(parseTime(microTimeOf(ms))).toBeCloseTo(ms, 2);
        expect(parseTime(timeOf(ms))).toBe(Math.floor(ms / 1000) * 1000);
      }),
    );
    expect([parseTime(undefined), parseTime('soon'), parseTime('2026-99-99T00:00:00Z')]).toEqual(
      Array(3).fill(undefined),
    );
    expect(parseTime('2026-02-03T01:00:00+01:00')).toBe(Date.UTC(2026, 1, 3));
  });
});

describe('the clock of the API server', () => {
  it('is known to within a second and a round trip, and a true local clock is left alone', () => {
    const sample = fc.record({ gap: fc.nat(5_000), toServer: fc.nat(300), back: fc.nat(300) });
    fc.assert(
      fc.property(fc.integer({ min: -1e7, max: 1e7 }), fc.array(sample, { minLength: 1 }), (truth, samples) => {
        let offset: Offset | undefined;
        let wall = 1.7e12;
        for (const { gap, toServer, back } of samples) {
          wall += gap;
          const sentAt = wall;
          const server = wall + toServer + truth;
          wall += toServer + back;
          offset = narrowOffset(offset, new Date(server).toUTCString(), sentAt, wall);
        }
        expect(Math.abs(offsetMs(offset) - truth)).toBeLessThanOrEqual(1_600);
        if (truth === 0) expect(offsetMs(offset)).toBe(0);
      }),
    );
  });

  it('follows a clock that jumped', () => {
    const before = narrowOffset(undefined, new Date(1.7e12).toUTCString(), 1.7e12, 1.7e12);
    const jumped = narrowOffset(before, new Date(1.7e12 + 60_000).toUTCString(), 1.7e12, 1.7e12);
    expect(offsetMs(before)).toBe(0);
    expect(offsetMs(jumped)).toBe(60_000);
    expect(narrowOffset(jumped, 'gibberish', 0, 0)).toBe(jumped);
  });
});
