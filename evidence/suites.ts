import { relative } from 'node:path';
import type { Entry, Level } from './entries.ts';

/** The part of vitest's JSON report that is read. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly startTime?: number;
    readonly endTime?: number;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

type Ran = Pick<Entry, 'result' | 'seconds' | 'tests' | 'failure'>;

/** Long enough for the reason, short enough for a table. */
const WORDS = 300;

/** What one file of a report says; a file that did not load has failed. */
export function ranOf(file: Report['testResults'][number]): Ran {
  const of = (...states: string[]) => file.assertionResults.filter(each => states.includes(each.status));
  const failed = of('failed');
  const tests = {
    passed: of('passed').length,
    failed: failed.length,
    skipped: of('skipped', 'pending', 'todo').length,
  };
  const first = failed[0];
  const words = first ? `${first.fullName}: ${first.failureMessages?.[0] ?? ''}` : (file.message ?? '');
  const reason = words.split('\n    at ')[0]!.trim().slice(0, WORDS);
  const broken = failed.length > 0 || file.status === 'failed';
  const seconds = file.startTime && file.endTime ? Math.round((file.endTime - file.startTime) / 1000) : undefined;
  return {
    result: broken ? 'failed' : tests.passed > 0 ? 'passed' : 'skipped',
    ...(seconds !== undefined && { seconds }),
    tests,
    ...(broken && { failure: reason || 'the file could not be run' }),
  };
}

export interface Suite {
  readonly root: string;
  readonly level: Level;
  readonly command: string;
  readonly date: string;
  readonly commit: string;
  /** Files that some feature names; the others prove nothing that is claimed. */
  readonly wanted: readonly string[];
  readonly hash: (files: readonly string[]) => string;
}

/** One entry per file that is named as a proof. */
export function entriesOf(report: Report, suite: Suite): Entry[] {
  const { root, level, command, date, commit, wanted, hash } = suite;
  return report.testResults
    .map(file => ({ name: relative(root, file.name), file }))
    .filter(({ name }) => wanted.includes(name))
    .map(({ name, file }) => ({ name, level, command, date, commit, code: hash([name]), ...ranOf(file) }));
}
