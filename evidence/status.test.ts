import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Entry, filesOf, readEntries, record, withEntry, written } from './entries.ts';
import { proofs } from './features.ts';
import { columnsOf, type Known, readmeTable, stateOf, stateOfRun, statusPage, summaryOf, withTable } from './status.ts';
import { entriesOf, type Report, ranOf } from './suites.ts';

const entry = (more: Partial<Entry> = {}): Entry => ({
  name: 'cloud',
  level: 'real',
  release: '2026.1',
  result: 'passed',
  command: 'make lab-regression',
  date: '2026-11-17T10:00:00.000Z',
  code: 'now',
  ...more,
});
const known = (...entries: Entry[]): Known => ({ entries, hash: () => 'now' });
const columns = columnsOf(['2025.2', '2026.1']);
const lab = columns[3]!;

describe('a claim', () => {
  it.each([
    ['without a run is not seen', [], 'none'],
    ['with a run of this code holds', [entry()], 'holds'],
    ['with a run of other code is stale', [entry({ code: 'before' })], 'stale'],
    ['with a run of unknown code is stale', [{ ...entry(), code: undefined as never }], 'stale'],
    ['whose run failed has failed, also with this code', [entry({ result: 'failed' })], 'failed'],
    ['whose run was skipped is not seen', [entry({ result: 'skipped' })], 'none'],
    ['does not count for another release', [entry({ release: '2025.2' })], 'none'],
    ['does not count for another level', [entry({ level: 'api' })], 'none'],
  ] as const)('%s', (_, entries, state) => {
    expect(stateOfRun(known(...(entries as readonly Entry[])), 'cloud', lab)).toBe(state);
  });

  it('is as good as its worst run', () => {
    const feature = { what: 'x', real: ['cloud', 'slice'] };
    const slice = (more: Partial<Entry> = {}) => entry({ name: 'slice', ...more });
    expect(stateOf(known(entry(), slice()), feature, lab)).toBe('holds');
    expect(stateOf(known(entry(), slice({ code: 'before' })), feature, lab)).toBe('stale');
    expect(stateOf(known(entry()), feature, lab)).toBe('none');
    expect(stateOf(known(entry(), slice({ result: 'failed' })), feature, lab)).toBe('failed');
    expect(stateOf(known(entry()), { what: 'x' }, lab)).toBe('none');
  });

  it('says when it was seen, what was measured, and since when nobody repeated it', () => {
    const tests = { passed: 16, failed: 0, skipped: 1 };
    const seen = entry({ code: 'before', commit: 'abc', tests, figures: { 'Ready seconds': 146 } });
    expect(summaryOf(known(seen), 'cloud', lab)).toBe(
      'passed on 2026-11-17, 16 of 16 tests, 1 not run, commit abc, Ready seconds 146. **Not repeated since 2026-11-17: code changed.**',
    );
    const failed = entry({ result: 'failed', failure: 'a\n| b', lastPassed: '2026-11-16' });
    expect(summaryOf(known(failed), 'cloud', lab)).toBe(
      'failed on 2026-11-17. Failure: a \\| b. It last passed on 2026-11-16.',
    );
  });
});

describe('the pages', () => {
  const groups = { Feature: [{ what: 'boots [guests](how-to/x.md)', real: ['cloud'], note: 'On one node.' }] };

  it('have one sign per cell, and no more in the README', () => {
    const table = readmeTable(known(entry()), groups, columns);
    expect(table.split('\n').at(-2)).toBe('| boots [guests](docs/how-to/x.md) | – | – | – | ✓ |');
    expect(readmeTable(known(entry({ code: 'before' })), groups, columns)).toContain('| – | – | – | ○ |');
  });

  it('tell the details of every run', () => {
    const page = statusPage(known(entry(), entry({ name: 'other' })), groups, columns);
    expect(page).toContain('boots [guests](how-to/x.md). Lab: [`cloud`](../test/e2e/cloud.lab.test.ts). On one node.');
    expect(page).toContain('| ✓ | lab 2026.1 | [`other`](../test/e2e/other.lab.test.ts) | passed on 2026-11-17. |');
    expect(page).toContain('| – | lab 2025.2 | [`cloud`](../test/e2e/cloud.lab.test.ts) | not seen yet |');
  });

  it('replace what is between the markers, again and again, and want both', () => {
    const readme = 'a\n<!-- status:begin -->\nold\n<!-- status:end -->\nb\n';
    const once = withTable(readme, 'new\n');
    expect(once).toBe('a\n<!-- status:begin -->\nnew\n<!-- status:end -->\nb\n');
    expect(withTable(once, 'new\n')).toBe(once);
    expect(() => withTable('a', 'b')).toThrow(/README.md needs the lines/);
  });
});

describe('the data file', () => {
  it('has one entry per run, level and release, in a fixed order', () => {
    const other = entry({ release: '2025.2' });
    const again = entry({ date: '2026-11-18' });
    const entries = withEntry(withEntry(withEntry([], entry()), other), again);
    expect(entries).toEqual([other, again]);
    expect(written(entries)).toBe(written([...entries].reverse()));
    expect(written([Object.fromEntries(Object.entries(entry()).reverse()) as never])).toBe(written([entry()]));
  });

  it('remembers when a run that fails now last passed, and forgets nothing for one that was skipped', () => {
    const failed = withEntry([entry()], entry({ result: 'failed' }));
    expect(failed).toEqual([entry({ result: 'failed', lastPassed: entry().date })]);
    expect(withEntry(failed, entry({ result: 'failed' }))[0]?.lastPassed).toBe(entry().date);
    expect(withEntry([entry()], entry({ result: 'skipped' }))).toEqual([entry()]);
    expect(withEntry([], entry({ result: 'skipped' }))).toHaveLength(1);
  });

  it('is written whole and read back', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'evidence-')), 'evidence.json');
    expect(readEntries(file)).toEqual([]);
    record(entry(), file);
    record(entry({ name: 'slice' }), file);
    expect(readEntries(file).map(each => each.name)).toEqual(['cloud', 'slice']);
  });

  it('of this repository is as a run would write it', () => {
    expect(readFileSync('docs/evidence.json', 'utf8')).toBe(written(readEntries()));
  });
});

describe('features', () => {
  it('name test files and scenarios that exist', () => {
    const named = [...proofs('simulated'), ...proofs('api'), ...proofs('real')];
    expect(named.filter(name => !existsSync(filesOf(name)[0] ?? ''))).toEqual([]);
  });
});

describe('a report of vitest', () => {
  const file = (more: object = {}): Report['testResults'][number] => ({
    name: '/repo/test/functional/tls.test.ts',
    status: 'passed',
    startTime: 1000,
    endTime: 61_400,
    assertionResults: [
      { fullName: 'a', status: 'passed' },
      { fullName: 'b', status: 'skipped' },
    ],
    ...more,
  });

  it('becomes an entry per file that proves something', () => {
    const suite = {
      root: '/repo',
      level: 'simulated' as const,
      command: 'make test',
      date: 'd',
      commit: 'c',
      wanted: ['test/functional/tls.test.ts'],
      hash: (files: readonly string[]) => files.join(),
    };
    const other = { ...file(), name: '/repo/src/x.test.ts' };
    expect(entriesOf({ testResults: [file(), other] }, suite)).toEqual([
      {
        name: 'test/functional/tls.test.ts',
        level: 'simulated',
        command: 'make test',
        date: 'd',
        commit: 'c',
        code: 'test/functional/tls.test.ts',
        result: 'passed',
        seconds: 60,
        tests: { passed: 1, failed: 0, skipped: 1 },
      },
    ]);
  });

  it('says what failed first, and that a file could not be loaded', () => {
    const failing = [
      { fullName: 'a', status: 'passed' },
      { fullName: 'b', status: 'failed', failureMessages: ['Error: no\n    at x.ts:1'] },
    ];
    expect(ranOf(file({ status: 'failed', assertionResults: failing }))).toMatchObject({
      result: 'failed',
      failure: 'b: Error: no',
    });
    expect(ranOf(file({ status: 'failed', assertionResults: [], message: 'no such module' }))).toMatchObject({
      result: 'failed',
      failure: 'no such module',
    });
    expect(ranOf(file({ assertionResults: [{ fullName: 'a', status: 'skipped' }] })).result).toBe('skipped');
  });
});
