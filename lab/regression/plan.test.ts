import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { proofs } from '../../evidence/features.ts';
import { releases } from '../images/names.ts';
import { HELP, optionsOf } from './command.ts';
import { extrasFor } from './needs.ts';
import { groupsOf, minutesOf, select, shardOf } from './plan.ts';
import { clouds, type Scenario, scenarios } from './scenarios.ts';

const CORE_MINUTES = 75;
const all = groupsOf(select(scenarios, { releases }));
const names = (groups: typeof all) => groups.map(({ items }) => items.map(({ scenario }) => scenario.name));
const sum = (groups: typeof all) => groups.reduce((minutes, group) => minutes + minutesOf(group), 0);

describe('the table of scenarios', () => {
  it('names tests and clouds that exist, each once', () => {
    expect(scenarios.filter(({ name }) => !existsSync(`test/e2e/${name}.lab.test.ts`))).toEqual([]);
    expect(Object.values(clouds).filter(file => file !== undefined && !existsSync(file))).toEqual([]);
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  it('builds beforehand what its clouds count on', () => {
    expect(extrasFor('cloud')).toEqual([]);
    expect(extrasFor('shared')).toEqual(['ceph']);
    expect(extrasFor('upgrade')).toEqual([]);
    vi.stubEnv('UPGRADE_CLOUD', 'cloud-ceph.yaml');
    expect(extrasFor('upgrade')).toEqual(['ceph', 'ingress', 'certificates']);
    vi.unstubAllEnvs();
    expect(extrasFor('chores')).toEqual(['ceph', 'ingress', 'certificates']);
    expect(extrasFor('ceph')).toEqual(['ceph', 'ingress', 'certificates']);
    expect(extrasFor('policies')).toEqual(['ceph', 'ingress', 'certificates', 'policies']);
  });

  it('gives each more time than it usually takes', () => {
    expect(scenarios.filter(({ minutes, limit }) => limit < 2 * minutes)).toEqual([]);
    expect(scenarios.filter(({ core, releases: of }) => core.some(release => !of.includes(release)))).toEqual([]);
  });

  it('has every scenario that a feature is shown by', () => {
    expect(proofs('real').filter(name => !scenarios.some(scenario => scenario.name === name))).toEqual([]);
  });

  it('has a core set for both releases that takes 75 minutes at most', () => {
    const core = groupsOf(select(scenarios, { core: true, releases }));
    expect(new Set(core.map(({ release }) => release)).size).toBe(releases.length);
    expect(sum(core)).toBeLessThanOrEqual(CORE_MINUTES);
  });
});

describe('the plan', () => {
  const scenario = (name: string, more: Partial<Scenario> = {}): Scenario => ({
    name,
    cloud: 'cloud',
    releases,
    core: [],
    minutes: 5,
    limit: 20,
    leaves: 'same',
    ...more,
  });

  it('has a group for each cloud and release, in which who deletes the cloud comes last', () => {
    const table = [
      scenario('ends', { leaves: 'nothing' }),
      scenario('edits', { leaves: 'changed' }),
      scenario('looks'),
      scenario('alone', { cloud: 'none' }),
    ];
    const groups = groupsOf(select(table, { releases: ['2026.1'] }));
    expect(names(groups)).toEqual([['looks', 'edits', 'ends'], ['alone']]);
    // A lab and a cloud before the first, and again after the one that changed it.
    expect(minutesOf(groups[0]!)).toBe(3 * 5 + 2 * (1 + 3));
  });

  it('takes the scenarios and releases that it is told', () => {
    const found = select(scenarios, { releases: ['2025.2'], only: ['ceph', 'cloud'] });
    expect(found.map(({ scenario: { name }, release }) => `${name} ${release}`)).toEqual([
      'cloud 2025.2',
      'ceph 2025.2',
    ]);
    expect(() => select(scenarios, { releases, only: ['nothing'] })).toThrow(/no scenario nothing; there are slice/);
  });

  it.each([1, 2, 3, 5, 20])('cuts it into %i parts that have each group once and are about as long', count => {
    const parts = Array.from({ length: count }, (_, i) => shardOf(all, i + 1, count));
    expect(parts.flat().length).toBe(all.length);
    expect(new Set(parts.flat())).toEqual(new Set(all));
    const longest = Math.max(...all.map(minutesOf));
    expect(Math.max(...parts.map(sum)) - Math.min(...parts.map(sum))).toBeLessThanOrEqual(longest);
  });
});

describe('options', () => {
  it('are read', () => {
    expect(
      optionsOf(['--core', '--release', '2026.1', '--only', 'ceph', '--shard', '2/3', '--fresh', '-o', 'json']),
    ).toEqual({
      core: true,
      releases: ['2026.1'],
      only: ['ceph'],
      shard: { index: 2, count: 3 },
      fresh: true,
      dryRun: false,
      json: true,
      help: false,
    });
    expect(optionsOf([]).releases).toEqual(releases);
  });

  it.each([
    [['--release', '2024.1'], /the lab has no release 2024.1/],
    [['--shard', 'one'], /--shard is i\/n/],
    [['-o', 'yaml'], /-o knows json/],
    [['--nothing'], /nothing/],
    [['ceph'], /ceph/],
  ] as const)('%j is refused', (args, message) => {
    expect(() => optionsOf(args)).toThrow(message);
  });

  it('are explained with examples', () => {
    expect(HELP).toContain('make lab-regression ARGS=--core');
    for (const { name } of scenarios) expect(HELP).toContain(name);
  });
});
