import { describe, expect, it } from 'vitest';
import type { Condition } from '../kube/object.ts';
import { type Draft, mergeConditions, setCondition, transitions } from './conditions.ts';

const T0 = '2026-01-01T00:00:00Z';
const now = new Date('2026-01-02T03:04:05.678Z');
const NOW = '2026-01-02T03:04:05Z';

const draft = (type: string, status: Draft['status'], reason = 'R', message = 'm'): Draft => ({
  type,
  status,
  reason,
  message,
});
const old = (type: string, status: Draft['status'], reason = 'R', message = 'm'): Condition => ({
  ...draft(type, status, reason, message),
  lastTransitionTime: T0,
});

describe('mergeConditions', () => {
  it('99: with the same status lastTransitionTime stays, whatever reason and message say', () => {
    const merged = mergeConditions([old('A', 'False')], [draft('A', 'False', 'Other', 'new text')], now);
    expect(merged).toEqual([{ ...draft('A', 'False', 'Other', 'new text'), lastTransitionTime: T0 }]);
  });

  it('moves lastTransitionTime when status flips, to the second', () => {
    const merged = mergeConditions([old('A', 'False')], [draft('A', 'True'), draft('B', 'Unknown')], now);
    expect(merged.map(c => c.lastTransitionTime)).toEqual([NOW, NOW]);
  });

  it('puts Ready first and keeps the order of the plan', () => {
    const merged = mergeConditions([], [draft('B', 'True'), draft('Ready', 'True'), draft('A', 'True')], now);
    expect(merged.map(c => c.type)).toEqual(['Ready', 'B', 'A']);
  });

  it('carries observedGeneration when there is one, and no such field otherwise', () => {
    const [a, b] = mergeConditions([], [{ ...draft('A', 'True'), observedGeneration: 3 }, draft('B', 'True')], now);
    expect(a?.observedGeneration).toBe(3);
    expect(b && 'observedGeneration' in b).toBe(false);
  });

  it('cuts a message at 512 characters in the middle: who must act stands at its end', () => {
    const text = `Job a failed: ${'x'.repeat(600)}. User: mend the cause`;
    const [c] = mergeConditions([], [draft('A', 'False', 'R', text)], now);
    expect(c?.message.length).toBe(512);
    expect(c?.message).toMatch(/^Job a failed: x+ \.\.\. x+\. User: mend the cause$/);
  });

  it('merging the result again changes nothing', () => {
    const once = mergeConditions([], [draft('Ready', 'False'), draft('A', 'True')], now);
    expect(mergeConditions(once, once, new Date(0))).toEqual(once);
  });
});

describe('setCondition', () => {
  it('changes one in its place, adds one at the end, leaves the others alone', () => {
    const before = [old('Ready', 'True'), old('A', 'True'), old('B', 'True')];
    const changed = setCondition(before, draft('A', 'False'), now);
    expect(changed).toEqual([before[0], { ...draft('A', 'False'), lastTransitionTime: NOW }, before[2]]);
    expect(setCondition(before, draft('C', 'True'), now).map(c => c.type)).toEqual(['Ready', 'A', 'B', 'C']);
    expect(before[1]?.status).toBe('True');
  });
});

describe('transitions', () => {
  it('are changes of status or reason, not of text', () => {
    const before = [old('A', 'True'), old('B', 'False'), old('C', 'False')];
    const after = mergeConditions(
      before,
      [draft('A', 'False'), draft('B', 'False', 'Other'), draft('C', 'False', 'R', 'text'), draft('D', 'True')],
      now,
    );
    expect(transitions(before, after).map(c => c.type)).toEqual(['A', 'B', 'D']);
  });
});
