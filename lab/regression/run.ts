import type { Entry, Tests } from '../../evidence/entries.ts';
import type { Release } from '../images/names.ts';
import { type Group, type Item, minutesOf } from './plan.ts';
import type { CloudName, Scenario } from './scenarios.ts';

/** What a run of a scenario came to. */
export interface Outcome {
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  readonly tests?: Tests;
  readonly figures?: Readonly<Record<string, number | string>>;
  readonly failure?: string;
  /** Where all that it said is kept. */
  readonly log?: string;
}

/** What the regression does to the world. Each of these ends by itself within a known time, or when the signal says so. */
export interface Steps {
  /** Fetches and builds what the scenario needs from elsewhere. */
  prepare(item: Item): Promise<void>;
  /** A lab with nothing in it but the operator, and that of this tree. */
  freshLab(release: Release): Promise<void>;
  /** Answers with the seconds to Ready. */
  deploy(cloud: CloudName, release: Release): Promise<number>;
  run(item: Item): Promise<Outcome>;
  /** Keeps what helps to tell later why it failed. Never fails itself. */
  dump(item: Item): Promise<string | undefined>;
}

export interface Done extends Item, Outcome {
  /** Not run, because it passed with this code before. */
  readonly before?: boolean;
  readonly dump?: string;
}

export interface Regression {
  readonly groups: readonly Group[];
  readonly steps: Steps;
  /** The entry of an earlier run that still holds. */
  readonly holding: (item: Item) => Entry | undefined;
  readonly record: (item: Item, outcome: Outcome) => void;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

const titleOf = ({ scenario, release }: Item): string => `${scenario.name} ${release}`;
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether what follows finds all as it was. */
const leavesAll = ({ leaves }: Scenario, { result }: Outcome): boolean => leaves === 'same' && result === 'passed';

/** Runs all groups, whatever becomes of each scenario, and ends early only when its signal is aborted. */
export async function regression(x: Regression): Promise<Done[]> {
  const done: Done[] = [];
  for (const group of x.groups) {
    if (x.signal.aborted) break;
    const left = group.items.filter(item => {
      const entry = x.holding(item);
      if (entry === undefined) return true;
      x.say(`${titleOf(item)}: passed on ${entry.date} with this code; --fresh repeats it`);
      done.push({ ...item, result: 'passed', seconds: entry.seconds ?? 0, before: true });
      return false;
    });
    if (left.length > 0) done.push(...(await runGroup(x, { ...group, items: left })));
  }
  return done;
}

async function runGroup(x: Regression, group: Group): Promise<Done[]> {
  const { steps, say, signal } = x;
  const done: Done[] = [];
  let clean = false;
  /** Of the cloud that the next scenario finds new. */
  let readySeconds: number | undefined;
  const title = group.cloud === 'none' ? 'no cloud' : `the cloud ${group.cloud}`;
  say(
    `== ${group.release}, ${title}: ${group.items.map(({ scenario }) => scenario.name).join(', ')}, about ${minutesOf(group)} min`,
  );
  const keep = (item: Item, outcome: Outcome, dump?: string): void => {
    const { figures, ...rest } = outcome;
    const measured = { ...figures, ...(readySeconds !== undefined && { 'Ready seconds': readySeconds }) };
    const whole = { ...rest, ...(Object.keys(measured).length > 0 && { figures: measured }) };
    x.record(item, whole);
    done.push({ ...item, ...whole, ...(dump !== undefined && { dump }) });
    const why = outcome.failure === undefined ? '' : `: ${outcome.failure.split('\n')[0]}`;
    say(`${titleOf(item)}: ${outcome.result} after ${Math.round(outcome.seconds)} s${why}`);
  };
  for (const [index, item] of group.items.entries()) {
    if (signal.aborted) break;
    const began = performance.now();
    const since = (): number => Math.round((performance.now() - began) / 1000);
    try {
      await steps.prepare(item);
      if (!clean) {
        readySeconds = undefined;
        await steps.freshLab(group.release);
      }
    } catch (error) {
      if (signal.aborted) break;
      // Nothing of the operator was tried: this says nothing of what it can do.
      keep(item, { result: 'skipped', seconds: since(), failure: `no lab for it: ${wordsOf(error)}` });
      clean = false;
      continue;
    }
    try {
      if (!clean && group.cloud !== 'none') readySeconds = await steps.deploy(group.cloud, group.release);
    } catch (error) {
      if (signal.aborted) break;
      const failure = `the cloud did not become Ready: ${wordsOf(error)}`;
      const dump = await steps.dump(item);
      // It would not for the others either, and each try takes as long as the limit says.
      for (const each of group.items.slice(index)) keep(each, { result: 'failed', seconds: since(), failure }, dump);
      break;
    }
    let outcome: Outcome;
    try {
      say(`${titleOf(item)}: begins, usually ${item.scenario.minutes} min, ${item.scenario.limit} at most`);
      outcome = await steps.run(item);
    } catch (error) {
      outcome = { result: 'failed', seconds: since(), failure: wordsOf(error) };
    }
    if (signal.aborted) break;
    keep(item, outcome, outcome.result === 'failed' ? await steps.dump(item) : undefined);
    clean = leavesAll(item.scenario, outcome);
  }
  return done;
}

/** The last thing that is printed. */
export function tableOf(done: readonly Done[], planned: number): string {
  const lines = done.map(each => {
    const { tests, figures = {}, failure, log, dump, before } = each;
    const counts = tests ? `${tests.passed} of ${tests.passed + tests.failed + tests.skipped}` : '';
    const facts = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
    const time = `${Math.round(each.seconds)} s`;
    const head = [titleOf(each).padEnd(18), each.result.padEnd(8), time.padStart(7), counts.padStart(8)].join(' ');
    const more = [
      ...(before ? ['not repeated: this code passed before'] : facts),
      ...(failure ? [failure.split('\n')[0]] : []),
    ];
    const files = each.result === 'failed' ? [log, dump].filter(Boolean).map(file => `\n    ${file}`) : [];
    return `${head}  ${more.join(', ')}${files.join('')}`.trimEnd();
  });
  const of = (result: Outcome['result']): number => done.filter(each => each.result === result).length;
  const missing = planned - done.length;
  return `${lines.join('\n')}\n\n${of('passed')} passed, ${of('failed')} failed, ${of('skipped')} skipped${missing > 0 ? `, ${missing} not run` : ''}`;
}
