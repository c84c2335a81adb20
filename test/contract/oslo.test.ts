import { describe, expect, it } from 'vitest';
import { ours } from './oslo/compare.ts';
import { recorded } from './oslo/oracle.ts';

/** Answers of the real oslo.config, recorded by `OSLO_RECORD=1` in oslo.real.test.ts, so that every run meets them. */
describe('recorded answers of oslo.config', () => {
  const cases = recorded();

  it('holds every error that oslo can raise, and files that it accepts', () => {
    const kinds = new Set(cases.map(({ answer }) => ('error' in answer ? answer.error : 'accepted')));
    expect([...kinds].sort()).toEqual([
      'Empty section name',
      'Invalid section (must end with ])',
      'Key cannot be empty',
      "No ':' or '=' found in assignment",
      'Section must be started before assignment',
      'Unexpected continuation line',
      'accepted',
    ]);
  });

  it.each(cases.map(({ text, answer }, index) => [index, text, answer] as const))('case %i', (_, text, answer) => {
    expect(ours(text, answer)).toEqual(answer);
  });
});
