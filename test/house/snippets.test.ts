import { describe, expect, it } from 'vitest';
import { isIn, snippetsOf, unnamed } from './snippets.ts';
import { files } from './tree.ts';

const pages = files.filter(path => path.endsWith('.md'));

describe('code on pages is that of the files', () => {
  it('every block of TypeScript names its file', () => {
    expect(pages.flatMap(page => unnamed(page).map(line => `${page}:${line}`))).toEqual([]);
  });

  for (const snippet of pages.flatMap(page => snippetsOf(page)))
    it(`${snippet.page}:${snippet.line} shows ${snippet.file}`, () => expect(isIn(snippet)).toBe(true));

  it('a block that differs is found out, white space and lines left out are not', () => {
    const of = (code: string) => ({ page: '', line: 0, file: 'test/house/snippets.ts', code });
    expect(isIn(of('interface Snippet {\n    readonly page: string;\n// ...\n  readonly code: string;\n}'))).toBe(true);
    expect(isIn(of('interface Snippet {\n  readonly side: string;\n}'))).toBe(false);
    expect(isIn(of('  readonly code: string;\n// ...\ninterface Snippet {'))).toBe(false);
  });
});
