import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * `tsx test/run.ts [words of vitest]` runs every check and every test, all of them even when one fails, and ends with the
 * line that CI reads. `--changed[=COMMIT]` runs the tests that reach a changed file, and of the checks those that take
 * seconds. `--lint` runs the checks of `make lint` alone and prints what they say; words after it go to the figures.
 */
const REPORT = '.run/vitest.json';
const words = process.argv.slice(2);
const lint = words.includes('--lint');
const changed = words.some(word => word === '--changed' || word.startsWith('--changed='));
const figureWords = lint ? words.filter(word => word !== '--lint') : [];
const bin = (name: string): string => `node_modules/.bin/${name}`;
/** What did not change since the last run is not looked at again. */
const types = (name: string, ...words: string[]): string[] => [
  bin('tsc'),
  '--noEmit',
  '--incremental',
  '--tsBuildInfoFile',
  `.run/${name}.tsbuildinfo`,
  ...words,
];

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  readonly lint?: boolean;
  /** Too long, or about more than a change touches. */
  readonly slow?: boolean;
}

/** The longest first: they run beside each other. */
const checks: readonly Check[] = [
  { name: 'types', command: types('types') },
  { name: 'types of the page', command: types('types-ui', '-p', 'ui'), slow: true },
  { name: 'figures', command: [bin('tsx'), 'test/house/figures.ts', ...figureWords], lint: true, slow: true },
  { name: 'layers', command: ['npm', 'run', '--silent', 'layers'], lint: true },
  { name: 'generated files', command: [bin('tsx'), 'config/generate.ts', '--check'], slow: true },
  { name: 'dead code', command: [bin('knip')], lint: true },
  { name: 'format and lint', command: [bin('biome'), 'check', '.'], lint: true },
];

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Its output is held back until it ends, so that checks that run beside each other do not mix. */
function run({ name, command, lint }: Check, all: boolean): Promise<boolean> {
  const began = performance.now();
  const [program = '', ...words] = command;
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return new Promise(resolve => {
    const end = (good: boolean): void => {
      if ((!good || (all && lint)) && said.trim() !== '') console.log(said.trimEnd());
      console.log(`${good ? 'ok    ' : 'FAILED'} ${name} (${seconds(began)})`);
      resolve(good);
    };
    child.on('error', error => {
      said += error.message;
      end(false);
    });
    child.on('close', status => end(status === 0));
  });
}

/** As many at a time as there are cores. Gives how many failed. */
async function runAll(chosen: readonly Check[], all: boolean): Promise<number> {
  const waiting = [...chosen];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) if (!(await run(next, all))) failed++;
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return failed;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/** Files that did not load, or failed outside of their tests. */
const brokenIn = ({ testResults }: Report): number =>
  testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some(test => test.status === 'failed'),
  ).length;

/** Nothing was to be run, or the run ended before it could write. */
function reportOf(): Report | undefined {
  try {
    return JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

const began = performance.now();
mkdirSync('.run', { recursive: true });

const chosen = checks.filter(check => (lint ? check.lint : !(changed && check.slow)));
let failed = await runAll(chosen, lint);
let passed = chosen.length - failed;

if (!lint) {
  rmSync(REPORT, { force: true });
  const { status } = spawnSync(bin('vitest'), ['run', ...(changed ? ['--passWithNoTests'] : []), ...words], {
    stdio: 'inherit',
    env: { ...process.env, VITEST_REPORT: REPORT },
  });
  const report = reportOf();
  const red = report === undefined ? 0 : report.numFailedTests + brokenIn(report);
  passed += report?.numPassedTests ?? 0;
  // An interrupted run, or an error outside of all files, may have no test that failed.
  failed += red === 0 && status !== 0 ? 1 : red;
  if (process.env.EVIDENCE && report !== undefined) {
    const record = ['evidence/main.ts', REPORT, '--level', 'simulated', '--command', 'make test'];
    spawnSync(bin('tsx'), record, { stdio: 'inherit' });
  }
}
console.log(`\n${lint ? 'lint' : 'checks and tests'} took ${seconds(began)}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
