import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

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

/** As GitHub makes them from headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(match =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

function brokenLinks(page: string): string[] {
  const prose = textOf(page).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(match => match[1]!)
    .filter(link => !/^[a-z]+:/.test(link))
    .filter(link => {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsOf(textOf(file)).includes(anchor);
    });
}

/** `make a b ARGS="..."`, at the start of a command or after one; comments are prose. */
const targetsIn = (code: string): string[] =>
  [...code.replace(/ # .*$/gm, '').matchAll(/(?:^|[\s;&(])make((?: +[a-z][a-z-]*)+)/g)].flatMap(match =>
    match[1]!.trim().split(/ +/),
  );

/** Paths of this repository that are written out: no placeholders, no patterns, nothing that a run makes. */
const pathsIn = (code: string): string[] =>
  [...code.matchAll(/(?:^|[\s`"'(])((?:api|src|test|lab|bench|evidence|config|docs)\/[\w./-]+)(?=$|[\s`"'),:;])/gm)]
    .map(match => match[1]!.replace(/[./]+$/, ''))
    .filter(path => !path.includes('...'));

describe('documentation names only what exists', () => {
  it('there are pages, and a README among them', () => expect(pages).toContain('README.md'));

  for (const page of pages)
    it(page, () => {
      const code = codeOf(textOf(page));
      expect({
        links: brokenLinks(page),
        targets: code.flatMap(targetsIn).filter(target => !targets.has(target)),
        paths: code.flatMap(pathsIn).filter(path => !existsSync(path)),
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
