import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Entry, filesOf, holds, keyOf, readEntries, record } from '../../evidence/entries.ts';
import { commitOf, hashing } from '../../evidence/hash.ts';
import { type Release, releases } from '../images/names.ts';
import { holder, release as releaseLock, take } from '../lockfile.ts';
import { cache, labName, repo } from '../paths.ts';
import { bounded } from './child.ts';
import { type Group, groupsOf, type Item, minutesOf, select, shardOf } from './plan.ts';
import { type Done, type Outcome, regression, tableOf } from './run.ts';
import { scenarios } from './scenarios.ts';
import { folder, labSteps } from './steps.ts';

export const HELP = `usage: make lab-regression ARGS="[options]"   or   npx tsx lab/main.ts regression [options]

Runs the scenarios of test/e2e on the lab, one after the other, and writes each result into docs/evidence.json. What
passed with the code as it is now is not repeated. A failure does not stop the rest. Ctrl-C stops cleanly, and the same
command goes on where it was.

The lab is started anew for each group of scenarios that share a cloud: whatever is in it goes.

  --core            the core set: both releases in 75 minutes at most on two cores
  --release R       one release (${releases.join(', ')}); repeat it for several; all unless given
  --only NAME       one scenario; repeat it for several
  --shard i/n       the i-th of n parts of about the same length, for several machines or sessions
  --fresh           also what passed with this code before
  --dry-run         print what would run, and how long it takes
  -o json           print results as JSON on standard output; progress goes to standard error
  --help            this text

Scenarios: ${scenarios.map(({ name }) => name).join(', ')}
Logs, and for failures pods, events and causes: ${folder}
Exit code: 0 when all passed, 1 when one failed or could not be run, 2 for a wrong option, 130 after Ctrl-C.

Examples:
  make lab-regression ARGS=--core
  make lab-regression ARGS="--release 2026.1 --only ceph --fresh"
  make lab-regression ARGS="--shard 1/3"
  make lab-regression ARGS="--core --dry-run"
`;

export interface Options {
  readonly core: boolean;
  readonly releases: readonly Release[];
  readonly only?: readonly string[];
  readonly shard?: { readonly index: number; readonly count: number };
  readonly fresh: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

/** Throws what is wrong with them. */
export function optionsOf(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      core: { type: 'boolean', default: false },
      release: { type: 'string', multiple: true },
      only: { type: 'string', multiple: true },
      shard: { type: 'string' },
      fresh: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      output: { type: 'string', short: 'o' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const wanted = (values.release ?? releases).map(text => {
    const found = releases.find(each => each === text);
    if (found === undefined) throw new Error(`the lab has no release ${text}; it has ${releases.join(', ')}`);
    return found;
  });
  const parts = values.shard === undefined ? undefined : /^(\d+)\/(\d+)$/.exec(values.shard);
  if (parts === null) throw new Error(`--shard is i/n, not ${values.shard}`);
  if (values.output !== undefined && values.output !== 'json') throw new Error(`-o knows json, not ${values.output}`);
  return {
    core: values.core,
    releases: wanted,
    ...(values.only && { only: values.only }),
    ...(parts && { shard: { index: Number(parts[1]), count: Number(parts[2]) } }),
    fresh: values.fresh,
    dryRun: values['dry-run'],
    json: values.output === 'json',
    help: values.help,
  };
}

export function groupsFor(options: Options): Group[] {
  const groups = groupsOf(select(scenarios, options));
  return options.shard ? shardOf(groups, options.shard.index, options.shard.count) : groups;
}

const releaseKey = ({ scenario, release }: Item): string => keyOf({ name: scenario.name, level: 'real', release });

/** Finds the entry of an earlier run that holds for this code. */
export function holdingBy(
  entries: readonly Entry[],
  hash: (files: readonly string[]) => string,
): (item: Item) => Entry | undefined {
  return item => {
    const entry = entries.find(each => keyOf(each) === releaseKey(item));
    return holds(entry, hash(filesOf(item.scenario.name))) ? entry : undefined;
  };
}

export function entryFor({ scenario, release }: Item, outcome: Outcome, code: string, commit: string): Entry {
  const { result, seconds, tests, figures, failure } = outcome;
  return {
    name: scenario.name,
    level: 'real',
    release,
    result,
    command: `make lab-regression ARGS="--release ${release} --only ${scenario.name}"`,
    date: new Date().toISOString(),
    commit,
    code,
    seconds: Math.round(seconds),
    ...(tests && { tests }),
    ...(figures && { figures }),
    ...(failure !== undefined && { failure }),
  };
}

function planText(groups: readonly Group[], holding: (item: Item) => Entry | undefined): string {
  const lines = groups.map(group => {
    const names = group.items.map(item => `${item.scenario.name}${holding(item) ? ' (passed before)' : ''}`);
    return `${group.release}  ${group.cloud.padEnd(6)} ${String(minutesOf(group)).padStart(4)} min  ${names.join(', ')}`;
  });
  const left = groups
    .map(group => ({ ...group, items: group.items.filter(item => holding(item) === undefined) }))
    .reduce((sum, group) => sum + minutesOf(group), 0);
  const all = groups.reduce((sum, group) => sum + minutesOf(group), 0);
  return `${lines.join('\n')}\n\n${all} minutes in all, ${left} for what is left to run`;
}

const shown = ({ scenario, release, ...rest }: Done): object => ({ scenario: scenario.name, release, ...rest });

export async function regressionCommand(args: readonly string[]): Promise<number> {
  let options: Options;
  let groups: Group[];
  try {
    options = optionsOf(args);
    groups = groupsFor(options);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const say = (text: string): void => console.error(text);
  const items = groups.flatMap(group => group.items);
  // Computed before the operator is built: an edit during the run must not be covered by its results.
  const hash = hashing(repo);
  const codes = new Map(items.map(item => [releaseKey(item), hash(filesOf(item.scenario.name))]));
  const commit = commitOf(repo);
  const holding = options.fresh ? () => undefined : holdingBy(readEntries(), hash);
  if (options.dryRun) {
    if (options.json) console.log(JSON.stringify(groups, undefined, 2));
    else console.log(planText(groups, holding));
    return 0;
  }
  const lock = join(cache, `${labName}.regression.lock`);
  if (take(lock, 'regression') !== undefined) {
    console.error(`process ${holder(lock)?.pid} already runs a regression on this lab; wait for it, or end it`);
    return 1;
  }
  const stop = new AbortController();
  const onSignal = (): void => {
    if (!stop.signal.aborted) say('stopping; what is done is kept, the same command goes on');
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  try {
    mkdirSync(folder, { recursive: true });
    const build = (words: readonly string[]) =>
      bounded(process.execPath, words, {
        minutes: 10,
        signal: stop.signal,
        log: join(folder, 'build.log'),
        cwd: repo,
      });
    const todo = items.some(item => holding(item) === undefined);
    if (todo && (await build(['build.mjs'])).code !== 0 && !stop.signal.aborted) {
      console.error(`the operator could not be built: ${join(folder, 'build.log')}`);
      return 1;
    }
    let recorded = false;
    const done = await regression({
      groups,
      steps: labSteps(stop.signal, say),
      holding,
      record: (item, outcome) => {
        recorded = true;
        record(entryFor(item, outcome, codes.get(releaseKey(item)) ?? '', commit));
      },
      say,
      signal: stop.signal,
    });
    if (options.json) console.log(JSON.stringify(done.map(shown), undefined, 2));
    say(`\n${tableOf(done, items.length)}`);
    if (stop.signal.aborted) return 130;
    if (recorded && (await build(['--import', 'tsx', 'config/generate.ts'])).code === 0)
      say('docs/evidence.json, docs/status.md and the table of README.md have the results');
    return done.every(each => each.result === 'passed') ? 0 : 1;
  } finally {
    releaseLock(lock);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}
