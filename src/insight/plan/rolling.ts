import { hashOf } from '../../runtime/plan/canonical.ts';
import { isWorkload, progressOf } from '../status/workloads.ts';
import type { Live } from '../view/view.ts';

/** Something that happened to a workload or a Job. */
export interface Moment {
  readonly at: number;
  readonly kind: string;
  readonly name: string;
  /** `rolls`: its pod template changed. `done`: all of its pods are there and run what it says. */
  readonly is: 'created' | 'rolls' | 'done' | 'deleted';
}

/** Feed it every object that a store answers a write with, in order; it notes what happened to workloads and Jobs. */
export function momentsOf(
  now: () => number,
  moments: Moment[],
): (object: Live, how: 'seen' | 'written' | 'deleted') => void {
  const known = new Map<string, { template: string; open: boolean }>();
  return (object, how) => {
    if (typeof object !== 'object' || object === null || !object.metadata) return;
    if (!isWorkload(object) && object.kind !== 'Job') return;
    const { kind, metadata } = object;
    const { name } = metadata;
    const key = `${kind} ${metadata.namespace}/${name}`;
    const note = (is: Moment['is']): void => void moments.push({ at: now(), kind, name, is });
    const template = hashOf((object.spec as { template?: unknown } | undefined)?.template ?? {});
    const before = known.get(key);
    if (how === 'deleted' || metadata.deletionTimestamp) {
      if (before) note('deleted');
      known.delete(key);
      return;
    }
    const done = isWorkload(object) ? progressOf(object).doing === undefined : isComplete(object);
    if (how === 'seen') return void known.set(key, { template, open: !done });
    if (before === undefined) note('created');
    else if (before.template !== template) note('rolls');
    const open = before === undefined || before.template !== template || before.open;
    if (open && done && before?.template === template) note('done');
    known.set(key, { template, open: open && !(done && before?.template === template) });
  };
}

const isComplete = (job: Live): boolean =>
  ((job.status as { conditions?: readonly { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
    c => c.type === 'Complete' && c.status === 'True',
  );

export interface Step {
  readonly kind: string;
  readonly name: string;
  readonly is: 'created' | 'rolls';
  /** Steps of the same wave may go at the same time; each wave begins after something of the wave before is done. */
  readonly wave: number;
}

/** Which workloads and Jobs start or roll, and in which order, where `order` has pairs of an earlier and a later one. */
export function stepsOf(moments: readonly Moment[], order: readonly Pair[]): readonly Step[] {
  const waves = new Map<string, number>();
  return startsOf(moments).map(m => {
    const before = order.filter(([, later]) => later === nameOf(m)).map(([earlier]) => waves.get(earlier) ?? 0);
    const wave = 1 + Math.max(0, ...before);
    waves.set(nameOf(m), wave);
    return { kind: m.kind, name: m.name, is: m.is as Step['is'], wave };
  });
}

/** `Deployment keystone-api` before `Deployment placement-api`. */
export type Pair = readonly [earlier: string, later: string];
const nameOf = (m: Moment): string => `${m.kind} ${m.name}`;
const same = (a: Moment, b: Moment): boolean => a.kind === b.kind && a.name === b.name;
const begins = (m: Moment): boolean => m.is === 'created' || m.is === 'rolls';

/** The first start or roll of each. */
const startsOf = (moments: readonly Moment[]): readonly Moment[] =>
  moments.filter((m, i) => begins(m) && !moments.slice(0, i).some(o => begins(o) && same(o, m)));

/** Pairs of which the first is through with all of its rolls before the second begins. */
export function precedes(moments: readonly Moment[]): readonly Pair[] {
  const first = startsOf(moments);
  const ends = new Map(
    first.map(m => {
      const last = moments.findLastIndex(o => begins(o) && same(o, m));
      return [m, moments.findIndex((o, i) => i > last && o.is === 'done' && same(o, m))] as const;
    }),
  );
  return first.flatMap(later =>
    first
      .filter(earlier => earlier !== later && ends.get(earlier)! >= 0 && ends.get(earlier)! < moments.indexOf(later))
      .map((earlier): Pair => [nameOf(earlier), nameOf(later)]),
  );
}
