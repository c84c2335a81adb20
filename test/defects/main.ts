import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { DEFECTS, type Defect } from './list.ts';

/** Runs the named test of each defect with and without it: it must fail with it and pass without. */
const OUT = '.run/defects';
mkdirSync(OUT, { recursive: true });

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

function run(caughtBy: string, defect: string, index: number): Report | undefined {
  const [file = '', pattern = ''] = caughtBy.split(' > ');
  const report = `${OUT}/${index}.json`;
  rmSync(report, { force: true });
  const escaped = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  spawnSync(
    'node_modules/.bin/vitest',
    ['run', '--config', 'vitest.defects.config.ts', file, '-t', escaped, '--reporter=json', `--outputFile=${report}`],
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
const sound = new Map<string, boolean>();
let missed = 0;
for (const [index, { name, caughtBy }] of chosen.entries()) {
  if (!sound.has(caughtBy)) {
    const report = run(caughtBy, '', index);
    sound.set(caughtBy, report !== undefined && report.numPassedTests > 0 && report.numFailedTests === 0);
  }
  // A test that does not even load proves nothing: at least one must have run and failed.
  const caught = (run(caughtBy, name, index)?.numFailedTests ?? 0) > 0;
  const verdict = !sound.get(caughtBy) ? 'TEST FAILS WITHOUT IT' : caught ? 'caught' : 'NOT CAUGHT';
  if (verdict !== 'caught') missed++;
  console.log(`${verdict.padEnd(22)} ${name}  (${caughtBy})`);
}
console.log(`\n${chosen.length - missed} of ${chosen.length} defects caught`);
process.exitCode = missed === 0 ? 0 : 1;
