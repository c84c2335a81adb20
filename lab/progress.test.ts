import { describe, expect, it } from 'vitest';
import { expected, type History, remember, seconds } from './progress.ts';

describe('how long a phase will take', () => {
  it('is unknown before the first run', () => {
    expect(expected({}, 'up')).toBeUndefined();
  });

  it('is the middle of earlier runs, which one bad run does not move', () => {
    let history: History = {};
    for (const took of [10, 11, 900, 9, 10.5]) history = remember(history, 'up', took);
    expect(expected(history, 'up')).toBe(10.5);
  });

  it('forgets old runs', () => {
    let history: History = {};
    for (let run = 0; run < 30; run++) history = remember(history, 'up', run);
    expect(history.up).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  });

  it.each([
    [0.04, '0.0 s'],
    [99.94, '99.9 s'],
    [125, '2 min 05 s'],
  ])('says %d seconds as %s', (value, text) => {
    expect(seconds(value)).toBe(text);
  });
});
