import type { Release } from '../images/names.ts';
import { CLOUD_MINUTES, type CloudName, LAB_MINUTES, type Scenario } from './scenarios.ts';

export interface Item {
  readonly scenario: Scenario;
  readonly release: Release;
}

/** Scenarios that share a cloud, which is deployed once for them unless one of them spoils it. */
export interface Group {
  readonly release: Release;
  readonly cloud: CloudName;
  readonly items: readonly Item[];
}

export interface Selection {
  readonly core?: boolean;
  readonly releases: readonly Release[];
  readonly only?: readonly string[];
}

export function select(table: readonly Scenario[], { core = false, releases, only }: Selection): Item[] {
  const unknown = only?.filter(name => !table.some(scenario => scenario.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`no scenario ${unknown.join(', ')}; there are ${table.map(({ name }) => name).join(', ')}`);
  return releases.flatMap(release =>
    table
      .filter(({ name }) => only === undefined || only.includes(name))
      .filter(scenario => (core ? scenario.core : scenario.releases).includes(release))
      .map(scenario => ({ scenario, release })),
  );
}

const RANK = { same: 0, changed: 1, nothing: 2 } as const;

export function groupsOf(items: readonly Item[]): Group[] {
  const groups = new Map<string, { release: Release; cloud: CloudName; items: Item[] }>();
  for (const item of items) {
    const { release, scenario } = item;
    const key = `${release} ${scenario.cloud}`;
    const group = groups.get(key) ?? { release, cloud: scenario.cloud, items: [] };
    group.items.push(item);
    groups.set(key, group);
  }
  // A stable sort: the order of the table stays among equals.
  for (const group of groups.values()) group.items.sort((a, b) => RANK[a.scenario.leaves] - RANK[b.scenario.leaves]);
  return [...groups.values()];
}

/** Expected minutes, with every start of the lab and every cloud in it. */
export function minutesOf({ cloud, items }: Group): number {
  let [minutes, clean] = [0, false];
  for (const { scenario } of items) {
    if (!clean) minutes += LAB_MINUTES + CLOUD_MINUTES[cloud];
    minutes += scenario.minutes;
    clean = scenario.leaves === 'same';
  }
  return minutes;
}

/** The groups of one of several machines or sessions: the longest first, each to whom has least to do. */
export function shardOf(groups: readonly Group[], index: number, count: number): Group[] {
  if (!Number.isInteger(index) || !Number.isInteger(count) || index < 1 || index > count)
    throw new Error(`a shard is i/n with i from 1 to n, not ${index}/${count}`);
  const shards = Array.from({ length: count }, () => ({ minutes: 0, groups: new Set<Group>() }));
  for (const group of [...groups].sort((a, b) => minutesOf(b) - minutesOf(a))) {
    const least = shards.reduce((a, b) => (b.minutes < a.minutes ? b : a));
    least.minutes += minutesOf(group);
    least.groups.add(group);
  }
  return groups.filter(group => shards[index - 1]!.groups.has(group));
}
