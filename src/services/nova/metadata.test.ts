import { describe, expect, it } from 'vitest';
import { type Facts, type Step, stepOf, taken } from './metadata.ts';

type State = Parameters<typeof stepOf>[0];
const idle: Facts = {
  wanted: false,
  spareReady: false,
  mainReady: false,
  agentKnows: false,
  anybodyKnows: false,
  agentAtSpare: false,
};
const rest: State = { 'metadata-secret': 'old' };

describe('the secret between metadata service and agents', () => {
  it('is replaced in five steps, each of which waits for what it needs', () => {
    let state = rest;
    const steps: Step[] = [];
    const go = (held: Partial<Facts>, free: Partial<Facts>): void => {
      expect(stepOf(state, { ...idle, ...held })).toBeUndefined();
      const step = stepOf(state, { ...idle, ...free });
      expect(step).toBeDefined();
      steps.push(step!);
      state = taken(state, step!, 'new');
    };
    go({}, { wanted: true });
    go({ wanted: true }, { spareReady: true });
    go({ agentKnows: true }, { agentKnows: false });
    go({ mainReady: true, anybodyKnows: true }, { mainReady: true });
    go({ agentAtSpare: true }, {});
    expect(steps).toEqual(['make', 'move', 'switch', 'return', 'end']);
    expect(state).toEqual({ 'metadata-secret': 'new' });
  });

  it('never lets the first service go before agents have left it', () => {
    const moved: State = { 'metadata-secret': 'old', 'next-secret': 'new', moved: 'true' };
    expect(taken(moved, 'switch', '')).toEqual({
      'metadata-secret': 'new',
      'next-secret': 'new',
      moved: 'true',
      'previous-secret': 'old',
    });
    expect(stepOf(taken(moved, 'switch', ''), { ...idle, mainReady: false })).toBeUndefined();
  });
});
