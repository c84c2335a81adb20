import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where a thing was seen: on the lab, on real servers with simulated pods, or in the simulated cluster. */
export const levels = ['real', 'api', 'simulated'] as const;
export type Level = (typeof levels)[number];
export type Result = 'passed' | 'failed' | 'skipped';

export interface Tests {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** One run of a scenario or of a test file: what was seen, when and with which code. */
export interface Entry {
  /** A scenario of the lab, or the path of a test file. */
  readonly name: string;
  readonly level: Level;
  /** Of OpenStack; absent where no OpenStack runs. */
  readonly release?: string;
  readonly result: Result;
  /** What to type to see it again. */
  readonly command: string;
  /** ISO 8601; a day where no more is known. */
  readonly date: string;
  readonly commit?: string;
  /** Hash of the code and of the test; absent when nobody wrote it down, and then nobody can say that it holds. */
  readonly code?: string;
  readonly seconds?: number;
  readonly tests?: Tests;
  readonly figures?: Readonly<Record<string, number | string>>;
  /** The first test that failed, and why. */
  readonly failure?: string;
  /** Of a run that failed: when it last passed. */
  readonly lastPassed?: string;
}

export const evidenceFile = fileURLToPath(new URL('../docs/evidence.json', import.meta.url));

export const keyOf = ({ name, level, release = '' }: Pick<Entry, 'name' | 'level' | 'release'>): string =>
  `${level} ${name} ${release}`;

/** Always the same order of entries and of their fields, so that a new result changes its own lines only. */
export function written(entries: readonly Entry[]): string {
  const rank = (entry: Entry): string => `${levels.indexOf(entry.level)} ${entry.name} ${entry.release ?? ''}`;
  const sorted = [...entries].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).map(ordered);
  return `${JSON.stringify(sorted, undefined, 2)}\n`;
}

const FIELDS = [
  'name',
  'level',
  'release',
  'result',
  'command',
  'date',
  'commit',
  'code',
  'seconds',
  'tests',
  'figures',
  'failure',
  'lastPassed',
] as const satisfies readonly (keyof Entry)[];

const ordered = (entry: Entry): Entry =>
  Object.fromEntries(FIELDS.filter(field => entry[field] !== undefined).map(field => [field, entry[field]])) as never;

export function readEntries(file = evidenceFile): Entry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return JSON.parse(text) as Entry[];
}

/** The newest result of each counts; what was not run says nothing and replaces nothing. */
export function withEntry(entries: readonly Entry[], entry: Entry): Entry[] {
  const before = entries.find(each => keyOf(each) === keyOf(entry));
  if (before !== undefined && entry.result === 'skipped') return [...entries];
  const lastPassed = before?.result === 'passed' ? before.date : before?.lastPassed;
  const now = entry.result === 'failed' && lastPassed !== undefined ? { ...entry, lastPassed } : entry;
  return [...entries.filter(each => keyOf(each) !== keyOf(entry)), now];
}

/** Reads anew each time: another shard may have written meanwhile. */
export function record(entry: Entry, file = evidenceFile): void {
  const text = written(withEntry(readEntries(file), entry));
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

/** The files that a result speaks of beside the code. */
export const filesOf = (name: string): readonly string[] =>
  name.includes('/') ? [name] : [`test/e2e/${name}.lab.test.ts`, `test/e2e/${name}.stories.ts`];

/** Whether it holds for the tree whose hash this is. */
export const holds = (entry: Entry | undefined, code: string): boolean =>
  entry?.result === 'passed' && entry.code === code;
