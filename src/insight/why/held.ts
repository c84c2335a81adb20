import { FINALIZER } from '../../runtime/plan/names.ts';
import { ending } from '../../runtime/plan/unmet.ts';
import { backendIn, words } from '../status/standing.ts';
import { stateOf } from '../status/status.ts';
import { isWorkload } from '../status/workloads.ts';
import { causesOf, conditionsOf, type Live, labelOf, type Told, type View } from '../view/view.ts';
import type { Case } from './case.ts';
import { workloadFinding } from './evidence.ts';
import { type Link, refOf } from './finding.ts';

/** One reason that stands by itself: neither on its way, nor because of another object of ours. */
export interface Found {
  readonly case: Case;
  readonly what: string;
  readonly links: readonly Link[];
}

/** What one object of ours says when asked. */
export interface Account {
  readonly object: Live;
  readonly found: readonly Found[];
  readonly edges: readonly { readonly to: Live; readonly afterwards: readonly string[] }[];
  readonly moving: readonly string[];
}

/** An account while it is taken. */
export type Draft = {
  found: Found[];
  edges: { to: Live; afterwards: string[] }[];
  moving: string[];
  readonly object: Live;
};

/** A healthy operator looks at a change within seconds; a deletion without foreign hands is through in this time too. */
const PATIENCE_MS = 60_000;

export const unwell = (view: View, object: Live): boolean =>
  stateOf(object) !== 'ready' ||
  view.owned(object).some(child => isWorkload(child) && workloadFinding(view, child) !== undefined);

/** Nobody has looked at it: the operator is away, or not allowed or told to look here. */
export function unseen(view: View, object: Live, account: Draft): void {
  const observed = (object.status as { observedGeneration?: number } | undefined)?.observedGeneration;
  if (observed !== undefined && observed >= (object.metadata.generation ?? 0)) return;
  const times = [
    object.metadata.creationTimestamp,
    ...(object.metadata.managedFields ?? []).filter(f => f.subresource === undefined).map(f => f.time),
  ];
  const last = Math.max(...times.flatMap(time => (time ? [Date.parse(time)] : [])));
  if (view.now - last < PATIENCE_MS) {
    account.moving.push(`${labelOf(object)}: the operator has yet to look at it`);
    return;
  }
  const what = observed === undefined ? 'no operator has looked at it' : 'no operator has looked at its last change';
  const root = { kind: 'Deployment', namespace: '', name: 'openstack-operator' };
  account.found.push({
    case: { reason: 'NotObserved', root, object, message: what },
    what: `${labelOf(object)}: ${what}`,
    links: [],
  });
}

export function deletion(view: View, object: Live, account: Draft): void {
  const stuck = held(view, object, object);
  if (stuck) account.found.push(stuck);
  const goes = `${labelOf(object)}: being deleted`;
  if (!object.metadata.finalizers?.includes(FINALIZER)) {
    if (!stuck) account.moving.push(goes);
    return;
  }
  const ready = conditionsOf(object).find(c => c.type === 'Ready');
  const cause = causesOf(object).find(each => each.type === 'Ready');
  if (ready === undefined || !['Deleting', 'DeletionBlocked'].includes(ready.reason)) {
    const gone = view.now - Date.parse(object.metadata.deletionTimestamp ?? '') > PATIENCE_MS;
    if (gone) {
      const what = `${labelOf(object)} waits for the operator to take back what it made`;
      account.found.push({
        case: {
          reason: 'NotObserved',
          root: { kind: 'Deployment', namespace: '', name: 'openstack-operator' },
          object,
          message: what,
        },
        what,
        links: [],
      });
    } else account.moving.push(goes);
    return;
  }
  const { condition: row = '' } = cause ?? {};
  const child = goingIn(view, object, cause);
  const behind = [...(child ? [child] : []), ...backendIn(view, object, words(cause))].find(
    other => other !== object && (other === child || unwell(view, other)),
  );
  if (behind && view.ours.includes(behind)) account.edges.push({ to: behind, afterwards: [] });
  else if (child) {
    const below = held(view, object, child);
    if (below) account.found.push(below);
    else account.moving.push(`${labelOf(object)}: ${ready.message}`);
  } else if (ready.reason === 'DeletionBlocked') {
    const what = `the deletion of ${labelOf(object)} is held by ${plain(ready.message, cause)}`;
    account.found.push({
      case: {
        reason: 'DeletionBlocked',
        root: refOf(object),
        object,
        type: row,
        message: ready.message,
        ...(cause && { cause }),
      },
      what,
      links: [],
    });
  } else account.moving.push(`${labelOf(object)}: ${ready.message}`);
}

/** The object that a cause says is being deleted. */
export function goingIn(view: View, object: Live, cause: Told | undefined): Live | undefined {
  if (cause?.reason !== 'Terminating') return undefined;
  const found = view.get(cause.object.kind, cause.object.namespace ?? '', cause.object.name);
  return found === object ? undefined : found;
}

/** A message without what happens next, which is shown beside it. */
export function plain(message: string, cause: Told | undefined): string {
  const end = cause?.next === undefined ? undefined : ending(cause.actor, cause.next);
  return end !== undefined && message.endsWith(end) ? message.slice(0, -end.length) : message;
}

/** The cluster's own finalizers end by themselves when what they protect is gone. */
const OF_THE_CLUSTER = new Set(['foregroundDeletion', 'orphan', FINALIZER]);

/** A deletion that somebody else's finalizer holds, or a pod that still uses the volume. */
export function held(view: View, object: Live, gone: Live): Found | undefined {
  const { deletionTimestamp, finalizers = [] } = gone.metadata;
  if (!deletionTimestamp || view.now - Date.parse(deletionTimestamp) < PATIENCE_MS) return undefined;
  const foreign = finalizers.filter(finalizer => !OF_THE_CLUSTER.has(finalizer));
  if (foreign.length === 0) return undefined;
  const what = `the deletion of ${labelOf(gone)} is held by finalizer ${foreign.join(', ')}`;
  return {
    case: { reason: 'Finalizer', root: refOf(gone), object, message: what },
    what,
    links: [{ what: labelOf(gone), says: `being deleted since ${deletionTimestamp}` }],
  };
}
