import { below, conditionsOf, type Live, type View } from '../view/view.ts';

/** How far a workload or a Job is. */
export interface Progress {
  readonly kind: string;
  readonly name: string;
  readonly wanted: number;
  readonly ready: number;
  readonly updated: number;
  /** What moves at the moment, in a few words; undefined at rest. */
  readonly doing?: string;
}

type Counts = Readonly<Record<string, number | undefined>>;

export const isWorkload = (object: Live): boolean => ['Deployment', 'StatefulSet', 'DaemonSet'].includes(object.kind);

export function progressOf(object: Live): Progress {
  const status = (object.status ?? {}) as Counts;
  const spec = (object.spec ?? {}) as Counts;
  const daemon = object.kind === 'DaemonSet';
  const wanted = daemon ? (status.desiredNumberScheduled ?? 0) : (spec.replicas ?? 1);
  const ready = (daemon ? status.numberReady : status.readyReplicas) ?? 0;
  const updated = (daemon ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
  const base = { kind: object.kind, name: object.metadata.name, wanted, ready, updated };
  const seen = (status.observedGeneration ?? 0) >= (object.metadata.generation ?? 0);
  const byHand =
    (object.spec as { updateStrategy?: { type?: string } } | undefined)?.updateStrategy?.type === 'OnDelete';
  const total = daemon ? wanted : (status.replicas ?? wanted);
  if (!seen) return { ...base, doing: 'not observed yet' };
  if (updated < wanted && !byHand && total > updated)
    return { ...base, doing: `rolling, ${updated} of ${wanted} updated` };
  if (ready < wanted) return { ...base, doing: `${ready} of ${wanted} ready` };
  if (total > wanted) return { ...base, doing: `${total - wanted} old to go` };
  return base;
}

/** A Job that neither completed nor gave up. */
export const isRunning = (job: Live): boolean =>
  !conditionsOf(job).some(c => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True');

/** What moves below an object of ours, without what belongs to objects of ours further down. */
export function movesOf(view: View, object: Live): readonly string[] {
  return view.owned(object).flatMap(child => {
    if (isWorkload(child)) {
      const { doing } = progressOf(child);
      return doing ? [`${child.metadata.name}: ${doing}`] : [];
    }
    return child.kind === 'Job' && isRunning(child) ? [`${child.metadata.name} runs`] : [];
  });
}

/** Pods wanted and ready of everything below an object. */
export function podsOf(view: View, object: Live): { readonly wanted: number; readonly ready: number } {
  const all = below(view, object).filter(isWorkload).map(progressOf);
  return {
    wanted: all.reduce((sum, one) => sum + one.wanted, 0),
    ready: all.reduce((sum, one) => sum + Math.min(one.ready, one.wanted), 0),
  };
}
