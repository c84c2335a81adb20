import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';

const bin = (name: string): string => `node_modules/.bin/${name}`;

/** Runs every check, all of them even when one fails, and ends with the line that CI reads. */
const checks: readonly [name: string, command: string, ...args: string[]][] = [
  ['types', bin('tsc'), '--noEmit'],
  ['types of the page', bin('tsc'), '--noEmit', '-p', 'ui'],
  ['format and lint', bin('biome'), 'check', '.'],
  [
    'layers',
    bin('depcruise'),
    '--config',
    '.dependency-cruiser.cjs',
    'api',
    'src',
    'ui',
    'test',
    'bench',
    'lab',
    'evidence',
    'config',
  ],
  ['dead code', bin('knip')],
  ['subjects of commits', '.githooks/commit-msg', '--since', '117cffb'],
  ['generated files', bin('tsx'), 'config/generate.ts', '--check'],
];
const REPORT = '.run/vitest.json';

let [passed, failed] = [0, 0];
for (const [name, command, ...args] of checks) {
  const began = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status === 0) passed++;
  else failed++;
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
}

mkdirSync('.run', { recursive: true });
rmSync(REPORT, { force: true });
const vitest = spawnSync(
  bin('vitest'),
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
const report = JSON.parse(readFileSync(REPORT, 'utf8')) as {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
};
// A file that does not load has no test that failed, and an interrupted run may have none either.
const broken = report.numFailedTests === 0 && vitest.status !== 0 ? 1 : 0;
passed += report.numPassedTests;
failed += report.numFailedTests + broken;
if (process.env.EVIDENCE) {
  const words = ['evidence/main.ts', REPORT, '--level', 'simulated', '--command', 'make test'];
  spawnSync(bin('tsx'), words, { stdio: 'inherit' });
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
