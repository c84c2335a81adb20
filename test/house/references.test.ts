import { describe, expect, it } from 'vitest';
import { anchorsOf, danglingIn, isThere } from './references.ts';

const mentions = (path: string, text: string): string[] => danglingIn(path, text).map(({ mention }) => mention);

describe('references that lead nowhere', () => {
  it.each([
    ['a link to a file that is not there', 'docs/README.md', 'see [x](nothing.md)', ['nothing.md']],
    [
      'a link to a heading that is not there',
      'docs/README.md',
      '[x](reference/rules.md#nothing)',
      ['reference/rules.md#nothing'],
    ],
    ['a link that is right', 'docs/README.md', '[x](reference/rules.md#walking-a-plan)', []],
    ['a path in a comment', 'src/x.ts', '// see src/runtime/nothing.ts', ['src/runtime/nothing.ts']],
    ['a path in code', 'src/x.ts', "const path = 'src/runtime/nothing.ts';", []],
    ['a heading in a comment', 'src/x.ts', '// docs/reference/rules.md#nothing', ['docs/reference/rules.md#nothing']],
    ['a decision by its number', 'src/x.ts', '// docs/decisions/0022, docs/decisions/9999', ['docs/decisions/9999']],
    ['rules by number', 'src/x.ts', '// rules 1, 2 and 31; rule 29', ['rules 1, 2 and 31']],
    ['a page without its path', 'src/x.ts', '/** See lab.md 5. */', ['lab.md']],
    ['a document elsewhere', 'src/x.ts', '// openstack-facts 12, DESIGN.md 5', ['DESIGN.md', 'openstack-facts 12']],
  ])('%s', (_, path, text, found) => expect(mentions(path, text).sort()).toEqual([...found].sort()));

  it('a comment in a block of code is no heading', () =>
    expect(anchorsOf('# One\n```sh\n# two\n```\n## `Three` and 4')).toEqual(['one', 'three-and-4']));

  it('a page may be named with one of its headings', () => {
    expect(isThere('docs/reference/rules.md#deletion-and-data')).toBe(true);
    expect(isThere('docs/reference/rules.md#nothing')).toBe(false);
  });
});
