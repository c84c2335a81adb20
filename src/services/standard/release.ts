import type { DeepReadonly } from '../../kube/object.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { keptKey, OWNER_SECRET } from '../../runtime/plan/names.ts';
import type { Plan, Version } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';

/** Which way leads from one release of OpenStack to another. */
export type Way =
  | 'same'
  /** To the release after it. */
  | 'next'
  /** From a SLURP release to the one after it, over the release between them. */
  | 'slurp'
  | 'backwards'
  /** Over releases that must not be left out. */
  | 'skips'
  /** One of the two is no release. */
  | 'unknown';

/** Two a year; the first of each year is a SLURP release (governance.openstack.org, release naming and cadence). */
function placeOf(release: string): { readonly index: number; readonly slurp: boolean } | undefined {
  const found = /^(\d{4})\.([12])$/.exec(release);
  return found ? { index: 2 * Number(found[1]) + Number(found[2]), slurp: found[2] === '1' } : undefined;
}

/** What OpenStack supports, whatever this operator does. */
export function wayOf(from: string, to: string): Way {
  if (from === to) return 'same';
  const [here, there] = [placeOf(from), placeOf(to)];
  if (here === undefined || there === undefined) return 'unknown';
  const steps = there.index - here.index;
  if (steps < 0) return 'backwards';
  if (steps === 1) return 'next';
  return steps === 2 && here.slurp && there.slurp ? 'slurp' : 'skips';
}

/** Ways that this version of the operator can go on a running cloud: none. An upgrade is a feature of its own. */
const CAN: readonly Way[] = ['same'];

const WHY: Readonly<Record<Exclude<Way, 'same'>, string>> = {
  next: 'this version of the operator does not upgrade what runs',
  slurp: 'this version of the operator does not upgrade what runs',
  backwards: 'OpenStack does not go back to an earlier release, its databases have the schema of the later one',
  skips: 'OpenStack goes to the next release, or from a SLURP release (the first of a year) to the next of those',
  unknown: 'it is no way between two releases of OpenStack',
};

/** Why release `from` can't be changed to `to`; undefined: it can. Nothing runs yet where `from` is undefined. */
export function releaseProblem(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  const way = wayOf(from, to);
  return way === 'same' || CAN.includes(way) ? undefined : WHY[way];
}

interface Released {
  readonly spec?: { readonly release?: string; readonly deletionPolicy?: string };
  readonly status?: { readonly release?: string };
}

export const runningRelease = (object: unknown): string | undefined =>
  (object as Released | undefined)?.status?.release;
export const wantedRelease = (object: unknown): string | undefined => (object as Released | undefined)?.spec?.release;

/** It runs, and is to run another release. */
export const changesRelease = (object: unknown): boolean => {
  const from = runningRelease(object);
  return from !== undefined && from !== wantedRelease(object);
};

/** The row that is an authenticated request to the service itself; a kind without one runs when all of its rows are well. */
const PROOF = 'Answering';

/**
 * A release change that can't be carried out stops the pass before its first row: what runs goes on running with the
 * objects of its release. `status.release` is what answered, not what was asked for.
 */
const version: Version<Managed> = {
  type: 'ReleaseSupported',
  proof: PROOF,
  running: runningRelease,
  keepsData: object => (object as Released).spec?.deletionPolicy === 'Retain',
  refuse: (object, kept) => {
    const [from, to] = [runningRelease(object) ?? kept, wantedRelease(object)];
    const why = releaseProblem(from, to);
    if (why === undefined) return undefined;
    const { kind, metadata } = object;
    const has = kept === undefined ? `runs release ${from}` : `finds data of release ${from} that was retained`;
    return stall({
      reason: 'ReleaseChangeRefused',
      field: 'spec.release',
      release: from,
      what: `${kind} ${metadata.name} ${has}, and spec.release asks for ${to}: ${why}. Nothing below it is written meanwhile`,
      who: 'User',
      next: `set spec.release back to ${from}${kept === undefined ? '' : `; or, if that data is gone, remove key ${keptKey(object)} from Secret ${OWNER_SECRET}`}`,
    });
  },
  proved: (object: DeepReadonly<Managed>) => {
    const release = wantedRelease(object);
    return release === undefined ? {} : { release };
  },
};

/** The same plan for a kind that has `spec.release`, kept from changes of it that can't work. */
export function withRelease<P extends Plan<never>>(plan: P): P {
  const { specFields = [] } = plan.kind as { readonly specFields?: readonly string[] };
  return specFields.includes('release') ? { ...plan, version } : plan;
}
