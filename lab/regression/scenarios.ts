import { type Release, releases } from '../images/names.ts';

/** What a scenario finds when it begins: nothing but the operator, or a cloud of one of these files that is Ready. */
export const clouds = {
  none: undefined,
  cloud: 'lab/cloud.yaml',
  ceph: 'lab/cloud-ceph.yaml',
  ovs: 'lab/cloud-ovs.yaml',
} as const;
export type CloudName = keyof typeof clouds;

/** What is fetched or started before, because the lab's network leads nowhere. */
export type Need = 'browser' | 'extras' | 'ceph' | 'policies' | 'tempest' | 'previous';

export interface Scenario {
  /** test/e2e/<name>.lab.test.ts */
  readonly name: string;
  readonly cloud: CloudName;
  readonly releases: readonly Release[];
  /** Releases for which it is in the core set: both together take 75 minutes at most. */
  readonly core: readonly Release[];
  /** What it usually takes on two cores, without the cloud that it finds. */
  readonly minutes: number;
  /** It is ended after so long. */
  readonly limit: number;
  /**
   * What is there afterwards: all as before, a cloud that differs, or none any more. Whatever follows something else than
   * `same`, or a failure, begins on a lab that was started anew.
   */
  readonly leaves: 'same' | 'changed' | 'nothing';
  readonly needs?: readonly Need[];
  readonly env?: Readonly<Record<string, string>>;
}

const both = releases;
const [older, newer] = releases;

/** In the order of their groups; within a group those that leave all as before come first, those that delete it last. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'slice',
    cloud: 'none',
    releases: both,
    core: [older],
    minutes: 9,
    limit: 30,
    leaves: 'same',
    env: { REST: '60', CYCLES: '1' },
  },
  { name: 'why', cloud: 'none', releases: both, core: [], minutes: 10, limit: 40, leaves: 'same' },
  { name: 'plan', cloud: 'none', releases: both, core: [], minutes: 10, limit: 40, leaves: 'same' },
  { name: 'render', cloud: 'none', releases: both, core: [], minutes: 5, limit: 30, leaves: 'same' },
  {
    name: 'shared',
    cloud: 'none',
    releases: both,
    core: [],
    minutes: 13,
    limit: 45,
    leaves: 'nothing',
    needs: ['ceph'],
  },
  {
    name: 'upgrade',
    cloud: 'none',
    releases: both,
    core: [],
    minutes: 10,
    limit: 40,
    leaves: 'nothing',
    needs: ['previous'],
  },
  {
    name: 'policies',
    cloud: 'none',
    releases: both,
    core: [],
    minutes: 12,
    limit: 45,
    leaves: 'nothing',
    needs: ['policies'],
  },
  { name: 'secrets', cloud: 'cloud', releases: both, core: [], minutes: 4, limit: 30, leaves: 'same' },
  { name: 'two', cloud: 'cloud', releases: both, core: [newer], minutes: 5, limit: 30, leaves: 'same' },
  {
    name: 'cloud',
    cloud: 'cloud',
    releases: both,
    core: both,
    minutes: 10,
    limit: 40,
    leaves: 'nothing',
    env: { REST: '60' },
  },
  {
    name: 'tempest',
    cloud: 'ceph',
    releases: both,
    core: [],
    minutes: 14,
    limit: 60,
    leaves: 'same',
    needs: ['tempest'],
  },
  { name: 'chores', cloud: 'ceph', releases: both, core: [], minutes: 8, limit: 40, leaves: 'same' },
  { name: 'stores', cloud: 'ceph', releases: both, core: [], minutes: 7, limit: 40, leaves: 'same' },
  { name: 'outside', cloud: 'ceph', releases: both, core: [], minutes: 8, limit: 40, leaves: 'same' },
  { name: 'living', cloud: 'ceph', releases: both, core: [], minutes: 28, limit: 60, leaves: 'changed' },
  {
    name: 'ceph',
    cloud: 'ceph',
    releases: both,
    core: both,
    minutes: 8,
    limit: 40,
    leaves: 'nothing',
    needs: ['browser', 'extras'],
  },
  { name: 'ovs', cloud: 'ovs', releases: both, core: [], minutes: 5, limit: 30, leaves: 'nothing' },
  // It makes its cloud itself, in a namespace that already refuses pods of the node.
  { name: 'nodes', cloud: 'none', releases: both, core: [], minutes: 9, limit: 40, leaves: 'nothing' },
];

/** A lab anew, and what its cloud takes to Ready, extras included. */
export const LAB_MINUTES = 1;
export const CLOUD_MINUTES: Readonly<Record<CloudName, number>> = { none: 0, cloud: 3, ceph: 4, ovs: 3 };
