import { describe, expect, it } from 'vitest';
import { linesOf } from './plan.ts';

const SIGNS = { same: ' ', before: '-', after: '+' };
const drawn = (before: string | undefined, after: string | undefined): string[] =>
  linesOf(before, after).map(({ is, text }) => `${SIGNS[is]}${text}`);

describe('two texts as one', () => {
  it.each([
    ['a value', '1', '2', ['-1', '+2']],
    ['what comes', undefined, 'a\nb\n', ['+a', '+b']],
    ['what goes', 'a', undefined, ['-a']],
    [
      'a line between',
      '[token]\nexpiration = 1800\n',
      '[token]\nexpiration = 9\n',
      [' [token]', '-expiration = 1800', '+expiration = 9'],
    ],
    ['a line more between the same', 'a\nb\na\n', 'a\nb\nb\na\n', [' a', ' b', '+b', ' a']],
    ['far from the rest', '1\n2\n3\n4\n5\n6\n7', '1\n2\n3\nx\n5\n6\n7', [' 2', ' 3', '-4', '+x', ' 5', ' 6']],
  ])('%s', (_what, before, after, lines) => expect(drawn(before, after)).toEqual(lines));
});
