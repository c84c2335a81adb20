import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { brokenLinks, isThere, pathsIn } from '../house/references.ts';

/** Folders that are ours; at the top there are also downloads and results of runs. */
const FOLDERS = ['api', 'bench', 'config', 'docs', 'evidence', 'lab', 'src', 'test'];
const pages = [
  ...readdirSync('.'),
  ...FOLDERS.filter(existsSync).flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => join(folder, path)),
  ),
]
  .filter(path => path.endsWith('.md'))
  .sort();

const targets = new Set(
  [...readFileSync('Makefile', 'utf8').matchAll(/^([a-z][a-z -]*):/gm)].flatMap(match => match[1]!.split(' ')),
);

const textOf = (page: string): string => readFileSync(page, 'utf8');
const codeOf = (text: string): string[] =>
  [...text.matchAll(/```[^\n]*\n([\s\S]*?)```|`([^`\n]+)`/g)].map(match => match[1] ?? match[2] ?? '');

/** `make a b ARGS="..."`, at the start of a command or after one; comments are prose. */
const targetsIn = (code: string): string[] =>
  [...code.replace(/ # .*$/gm, '').matchAll(/(?:^|[\s;&(])make((?: +[a-z][a-z-]*)+)/g)].flatMap(match =>
    match[1]!.trim().split(/ +/),
  );

describe('documentation names only what exists', () => {
  it('there are pages, and a README among them', () => expect(pages).toContain('README.md'));

  for (const page of pages)
    it(page, () => {
      const code = codeOf(textOf(page));
      expect({
        links: brokenLinks(page).map(({ link }) => link),
        targets: code.flatMap(targetsIn).filter(target => !targets.has(target)),
        paths: code.flatMap(pathsIn).flatMap(({ path }) => (isThere(path) ? [] : [path])),
      }).toEqual({ links: [], targets: [], paths: [] });
    });
});

describe('what the README shows of a command', () => {
  const runsIn = (text: string): string[] => [...text.matchAll(/```console\n([\s\S]*?)```/g)].map(match => match[1]!);

  it('is what the page of that command shows, which is what happens', () => {
    const runs = runsIn(textOf('README.md'));
    const recorded = pages
      .filter(page => page.startsWith('docs/reference/commands/'))
      .flatMap(page => runsIn(textOf(page)));
    expect(runs).not.toEqual([]);
    expect(
      runs.filter(run => !recorded.includes(run)),
      'copy it from the page of the command',
    ).toEqual([]);
  });
});
