import { describe, expect, it } from 'vitest';
import type { Entry } from '../../evidence/entries.ts';
import { entryFor, holdingBy } from './command.ts';
import { groupsOf, type Item, select } from './plan.ts';
import { type Outcome, regression, type Steps, tableOf } from './run.ts';
import type { Scenario } from './scenarios.ts';
import { figuresIn, outcomeOf } from './steps.ts';

const scenario = (name: string, more: Partial<Scenario> = {}): Scenario => ({
  name,
  cloud: 'cloud',
  releases: ['2025.2', '2026.1'],
  core: [],
  minutes: 5,
  limit: 20,
  leaves: 'same',
  ...more,
});
const TABLE = [
  scenario('slice', { cloud: 'none' }),
  scenario('looks'),
  scenario('breaks'),
  scenario('edits', { leaves: 'changed' }),
  scenario('ends', { leaves: 'nothing' }),
];
const passed: Outcome = { result: 'passed', seconds: 60, tests: { passed: 3, failed: 0, skipped: 0 } };

interface World {
  readonly table?: readonly Scenario[];
  readonly outcomes?: Readonly<Record<string, Outcome | Error>>;
  readonly broken?: Partial<Record<'prepare' | 'freshLab' | 'deploy', string>>;
  readonly holding?: (item: Item) => Entry | undefined;
  readonly stopAt?: string;
}

/** A run with a lab that only notes what is asked of it. */
async function play({ table = TABLE, outcomes = {}, broken = {}, holding = () => undefined, stopAt }: World = {}) {
  const notes: string[] = [];
  const recorded: string[] = [];
  const entries: Entry[] = [];
  const stop = new AbortController();
  const act = (what: keyof NonNullable<World['broken']>, words: string): void => {
    notes.push(words);
    if (words === stopAt) stop.abort();
    if (broken[what] !== undefined || stop.signal.aborted) throw new Error(broken[what] ?? 'stopped');
  };
  const steps: Steps = {
    prepare: async ({ scenario: { name } }) => {
      if (broken.prepare === name) throw new Error('no network');
    },
    freshLab: async () => act('freshLab', 'lab'),
    deploy: async cloud => {
      act('deploy', `deploy ${cloud}`);
      return 150;
    },
    run: async ({ scenario: { name } }) => {
      notes.push(name);
      if (name === stopAt) stop.abort();
      const outcome = outcomes[name] ?? passed;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    dump: async ({ scenario: { name } }) => {
      notes.push(`dump ${name}`);
      return `${name}.dump`;
    },
  };
  const groups = groupsOf(select(table, { releases: ['2026.1'] }));
  const done = await regression({
    groups,
    steps,
    holding,
    record: (item, outcome) => {
      recorded.push(`${item.scenario.name} ${outcome.result}`);
      entries.push(entryFor(item, outcome, 'hash', 'commit'));
    },
    say: () => undefined,
    signal: stop.signal,
  });
  return { notes, recorded, entries, done };
}

describe('a regression', () => {
  it('deploys a cloud once per group, and anew after what changed it', async () => {
    const { notes, recorded } = await play();
    expect(notes).toEqual([
      'lab',
      'slice',
      'lab',
      'deploy cloud',
      'looks',
      'breaks',
      'edits',
      'lab',
      'deploy cloud',
      'ends',
    ]);
    expect(recorded).toEqual(['slice passed', 'looks passed', 'breaks passed', 'edits passed', 'ends passed']);
  });

  it('goes on after a failure, on a new lab, and keeps what helps to understand it', async () => {
    const failed: Outcome = { result: 'failed', seconds: 9, failure: 'a: no\nmore', log: 'breaks.log' };
    const { notes, done } = await play({ outcomes: { breaks: failed } });
    expect(notes.slice(3)).toEqual([
      'deploy cloud',
      'looks',
      'breaks',
      'dump breaks',
      'lab',
      'deploy cloud',
      'edits',
      'lab',
      'deploy cloud',
      'ends',
    ]);
    expect(done.map(({ result }) => result)).toEqual(['passed', 'passed', 'failed', 'passed', 'passed']);
    expect(tableOf(done, 5)).toMatch(/breaks 2026.1 +failed +9 s.*a: no\n {4}breaks.log\n {4}breaks.dump\n/);
    expect(tableOf(done, 6)).toMatch(/4 passed, 1 failed, 0 skipped, 1 not run$/);
  });

  it('takes a scenario that could not be started for one that failed', async () => {
    const { recorded } = await play({ outcomes: { looks: new Error('no vitest') } });
    expect(recorded).toContain('looks failed');
    expect(recorded).toHaveLength(5);
  });

  it('fails every scenario of a cloud that does not become Ready, once, and goes on with the next group', async () => {
    const table = [scenario('looks'), scenario('ends'), scenario('slice', { cloud: 'none' })];
    const { notes, recorded, entries } = await play({ table, broken: { deploy: 'not Ready' } });
    expect(recorded).toEqual(['looks failed', 'ends failed', 'slice passed']);
    expect(notes).toEqual(['lab', 'deploy cloud', 'dump looks', 'lab', 'slice']);
    expect(entries[0]?.failure).toBe('the cloud did not become Ready: not Ready');
  });

  it('skips what it has no lab for, which says nothing of the operator', async () => {
    expect((await play({ broken: { freshLab: 'no root' } })).recorded).toEqual(
      ['slice', 'looks', 'breaks', 'edits', 'ends'].map(name => `${name} skipped`),
    );
    expect((await play({ broken: { prepare: 'breaks' } })).recorded).toEqual([
      'slice passed',
      'looks passed',
      'breaks skipped',
      'edits passed',
      'ends passed',
    ]);
  });

  it.each(['slice', 'looks', 'deploy cloud', 'lab'])(
    'stops when it is told to during "%s", without a result of it',
    async stopAt => {
      const { notes, recorded } = await play({ stopAt });
      expect(notes.at(-1)).toBe(stopAt);
      expect(recorded).toEqual(stopAt === 'looks' || stopAt === 'deploy cloud' ? ['slice passed'] : []);
    },
  );

  it('records how long the cloud took, for every scenario that found it', async () => {
    const { entries } = await play({ outcomes: { looks: { ...passed, figures: { pings: 5, 'Ready seconds': 3 } } } });
    expect(entries.map(({ name, figures }) => [name, figures?.['Ready seconds']])).toEqual([
      ['slice', undefined],
      ['looks', 150],
      ['breaks', 150],
      ['edits', 150],
      ['ends', 150],
    ]);
    expect(entries[1]).toMatchObject({
      level: 'real',
      release: '2026.1',
      code: 'hash',
      commit: 'commit',
      figures: { pings: 5 },
    });
  });
});

describe('a regression that was cut short', () => {
  const hash = (files: readonly string[]) => `now of ${files[0]}`;
  const entry = (name: string, more: Partial<Entry> = {}): Entry => ({
    name,
    level: 'real',
    release: '2026.1',
    result: 'passed',
    command: '',
    date: '2026-11-17',
    code: hash([`test/e2e/${name}.lab.test.ts`]),
    ...more,
  });

  it('repeats nothing that passed with this code, and everything else', async () => {
    const before = [
      entry('slice'),
      entry('looks', { code: 'before' }),
      entry('breaks', { result: 'failed' }),
      entry('edits', { release: '2025.2' }),
      entry('ends', { level: 'api' }),
    ];
    const { recorded, done } = await play({ holding: holdingBy(before, hash) });
    expect(recorded).toEqual(['looks passed', 'breaks passed', 'edits passed', 'ends passed']);
    expect(done[0]).toMatchObject({ result: 'passed', before: true });
  });

  it('starts no lab for a group that has nothing left', async () => {
    const all = ['slice', 'looks', 'breaks', 'edits', 'ends'].map(name => entry(name));
    expect((await play({ holding: holdingBy(all, hash) })).notes).toEqual([]);
  });
});

describe('what a run came to', () => {
  const report = (...states: string[]) =>
    JSON.stringify({
      testResults: [
        {
          name: 'x',
          status: states.includes('failed') ? 'failed' : 'passed',
          assertionResults: states.map((status, i) => ({ fullName: `t${i}`, status, failureMessages: ['Error: no'] })),
        },
      ],
    });
  const ended = { code: 0, seconds: 30, tail: 'last\nwords' };

  it('is what vitest reported, with what was measured', () => {
    expect(outcomeOf(ended, report('passed', 'passed'), '{"pings":86}\n{"pings lost":0}\n', 20)).toEqual({
      result: 'passed',
      seconds: 30,
      tests: { passed: 2, failed: 0, skipped: 0 },
      figures: { pings: 86, 'pings lost': 0 },
    });
    expect(outcomeOf({ ...ended, code: 1 }, report('passed', 'failed', 'skipped'), '', 20)).toMatchObject({
      result: 'failed',
      tests: { passed: 1, failed: 1, skipped: 1 },
      failure: 't1: Error: no',
    });
  });

  it('is a failure when time was up, nothing was reported, or it ended badly', () => {
    expect(outcomeOf({ ...ended, code: 143, cut: 'time' }, report('passed'), '', 20).failure).toBe(
      'not done within its limit of 20 minutes',
    );
    expect(outcomeOf({ ...ended, code: 1 }, undefined, '', 20)).toMatchObject({
      result: 'failed',
      failure: 'no report of its tests, exit code 1: last\nwords',
    });
    expect(outcomeOf({ ...ended, code: 1 }, report('passed'), '', 20)).toMatchObject({ result: 'failed' });
    expect(figuresIn('')).toEqual({});
  });
});
