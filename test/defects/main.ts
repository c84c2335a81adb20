import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFECTS, type Defect } from './list.ts';

/** Runs the named test of each defect with and without it: it must fail with it and pass without. */
const OUT = mkdtempSync(join(tmpdir(), 'defects-'));
process.on('exit', () => rmSync(OUT, { recursive: true, force: true }));

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

const escaped = (pattern: string): string => pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function run(file: string, pattern: string, defect: string, index: number): Report | undefined {
  const report = `${OUT}/${index}.json`;
  rmSync(report, { force: true });
  const reporter = ['--reporter=json', `--outputFile=${report}`];
  spawnSync(
    'node_modules/.bin/vitest',
    ['run', '--config', 'vitest.defects.config.ts', file, '-t', pattern, ...reporter],
    { env: { ...process.env, DEFECT: defect }, stdio: 'ignore' },
  );
  try {
    return JSON.parse(readFileSync(report, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

const wanted = process.argv.slice(2);
const chosen: readonly Defect[] = DEFECTS.filter(
  d => wanted.length === 0 || wanted.some(text => d.name.includes(text)),
);
const placeOf = ({ caughtBy }: Defect): readonly [file: string, pattern: string] => {
  const [file = '', pattern = ''] = caughtBy.split(' > ');
  return [file, escaped(pattern)];
};

/** Each test file once without a defect, all patterns that matter at once. */
const sound = new Map<string, boolean>();
for (const file of new Set(chosen.map(d => placeOf(d)[0]))) {
  const patterns = new Set(chosen.map(placeOf).flatMap(([f, pattern]) => (f === file ? [pattern] : [])));
  const report = run(file, [...patterns].join('|'), '', 0);
  sound.set(file, report !== undefined && report.numPassedTests >= patterns.size && report.numFailedTests === 0);
}
let missed = 0;
for (const [index, defect] of chosen.entries()) {
  const [file, pattern] = placeOf(defect);
  // A test that does not even load proves nothing: at least one must have run and failed.
  const caught = (run(file, pattern, defect.name, index)?.numFailedTests ?? 0) > 0;
  const verdict = !sound.get(file) ? 'TEST FAILS WITHOUT IT' : caught ? 'caught' : 'NOT CAUGHT';
  if (verdict !== 'caught') missed++;
  console.log(`${verdict.padEnd(22)} ${defect.name}  (${defect.caughtBy})`);
}
console.log(`\n${chosen.length - missed} of ${chosen.length} defects caught`);
process.exitCode = missed === 0 ? 0 : 1;
