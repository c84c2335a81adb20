import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { files, textOf } from './tree.ts';

/** A mention of something that a reader of this repository can not open. */
export interface Dangling {
  readonly path: string;
  readonly line: number;
  readonly mention: string;
  readonly why: string;
}

/** As GitHub makes them from headings. */
export const anchorsOf = (text: string): string[] =>
  [...text.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ (.+)$/gm)].map(match =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The same text with blanks for what is cut, so that places in it stay where they are. */
const blanked = (text: string, cut: RegExp): string => text.replace(cut, part => part.replace(/[^\n]/g, ' '));

/** What links of a page name and what is not there. */
export function brokenLinks(page: string, text = textOf(page)): { index: number; link: string }[] {
  const prose = blanked(text, /```[\s\S]*?```|`[^`\n]*`/g);
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(match => ({ index: match.index, link: match[1]! }))
    .filter(({ link }) => !/^[a-z]+:/.test(link))
    .filter(({ link }) => {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(textOf(file)).includes(anchor));
    });
}

/** Paths of this repository that are written out: no placeholders, no patterns, nothing that a run makes. */
export const pathsIn = (text: string): { index: number; path: string }[] =>
  [...text.matchAll(PATH)]
    .map(match => ({ index: match.index, path: match[0].replace(/[./]+$/, '') }))
    .filter(({ path }) => !path.includes('...'));

const PATH =
  /(?<=^|[\s`"'(])(?:api|src|ui|test|lab|bench|evidence|config|docs)\/[\w./-]+(?:#[\w-]+)?(?=$|[\s`"'),:;])/gm;

/** A decision may be named by its number alone, and a page with one of its headings. */
export function isThere(path: string): boolean {
  const [file = '', anchor] = path.split('#');
  if (anchor !== undefined) return existsSync(file) && anchorsOf(textOf(file)).includes(anchor);
  if (!/^docs\/decisions\/\d{4}$/.test(file)) return existsSync(file);
  return readdirSync('docs/decisions').some(name => name.startsWith(`${basename(file)}-`));
}

const rules = new Set([...textOf('docs/reference/rules.md').matchAll(/^(\d+)\. /gm)].map(match => Number(match[1])));

/** Numbers after the word: "rule 7", "rules 9 and 14", "rules 1, 2 and 3". */
const rulesIn = (text: string): { index: number; mention: string; numbers: number[] }[] =>
  [...text.matchAll(/\brules? (\d+(?:(?:, | and )\d+)*)\b/gi)].map(match => ({
    index: match.index,
    mention: match[0],
    numbers: [...match[1]!.matchAll(/\d+/g)].map(number => Number(number[0])),
  }));

/**
 * Documents that are not in this repository and were named in it. The page of facts counts when it is named by its path
 * and a heading, not by a number that only another document has.
 */
const OUTSIDE = [
  /\bDESIGN(?:\.md)?\b/g,
  /\bopenstack-facts(?:\.md)? \d[\w.]*/g,
  /\bseeds? (?:\d{3}|documents?)\b|\bthe seeds'|\bin one seed\b/g,
  /(?:\.\.|\/work)\/shared\b/g,
];

/** `lab.md 5`: Markdown files that are named without the path by which they could be opened. */
const pagesIn = (text: string): { index: number; name: string }[] =>
  [...text.matchAll(/(?<![\w./$}-])[A-Za-z][\w.-]*\.md\b(?!['`]?[,)]? ?=>)/g)].map(match => ({
    index: match.index,
    name: match[0],
  }));

/** Comments of a program with their places; all of a file that is no program. */
const proseOf = (path: string, text: string): string =>
  /\.(ts|mjs|cjs|js)$/.test(path) ? blanked(text, /^(?!\s*(?:\/\/|\/?\*)).*$/gm) : text;

export function danglingIn(path: string, text = textOf(path)): Dangling[] {
  const found = new Map<number, Dangling>();
  // One mention may be wrong in two ways; it is counted once.
  const add = (index: number, mention: string, why: string): void => {
    const line = text.slice(0, index).split('\n').length;
    found.set(index, { path, line, mention, why });
  };
  const prose = proseOf(path, text);
  if (path.endsWith('.md')) {
    for (const { index, link } of brokenLinks(path, text)) add(index, link, 'no such file or heading');
  } else
    for (const { index, name } of pagesIn(prose))
      if (!existsSync(name) && !existsSync(join(dirname(path), name))) add(index, name, 'name it by its path');
  for (const { index, path: named } of pathsIn(prose))
    if (!isThere(named)) add(index, named, 'no such file or heading');
  for (const { index, mention, numbers } of rulesIn(text))
    if (numbers.some(number => !rules.has(number))) add(index, mention, 'docs/reference/rules.md has no such rule');
  for (const pattern of OUTSIDE)
    for (const match of text.matchAll(pattern)) add(match.index, match[0], 'a document outside this repository');
  return [...found.values()];
}

/** The checks themselves name what must not be named; what is ignored is not there. */
const EXEMPT = /^test\/house\/references(\.test)?\.ts$|(^|\/)\.gitignore$/;

export const danglingReferences = (): Dangling[] =>
  files.filter(path => !EXEMPT.test(path)).flatMap(path => danglingIn(path));
