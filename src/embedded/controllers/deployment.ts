import { Deployment, Pod, ReplicaSet } from '../../kube/resource.ts';
import { type Hands, ownerOf, shortHash, withCondition } from './hands.ts';
import { isActive, type PodObject, type Workload, type WorkloadCondition } from './objects.ts';

interface DeploymentObject extends Workload {
  spec: Workload['spec'] & {
    paused?: boolean;
    progressDeadlineSeconds?: number;
    strategy?: { type?: string; rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string } };
  };
  status?: { conditions?: WorkloadCondition[]; [field: string]: unknown };
}

const REVISION = 'deployment.kubernetes.io/revision';
const HASH = 'pod-template-hash';
const revisionOf = (set: Workload) => Number(set.metadata.annotations?.[REVISION] ?? 0);
const count = (set: Workload, field: string) => Number(set.status?.[field] ?? 0);
const sum = (sets: readonly Workload[], of: (set: Workload) => number) => sets.reduce((n, s) => n + of(s), 0);

export interface Scale {
  /** Wanted by the Deployment. */
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly fresh: { readonly replicas: number; readonly available: number };
  /** Oldest first. */
  readonly old: readonly { readonly replicas: number; readonly available: number }[];
}

/** One step of a rolling update: replicas of the new set and of each old one (kubernetes pkg/controller/deployment/rolling.go). */
export function roll(s: Scale): { fresh: number; old: number[] } {
  const old = s.old.map(o => o.replicas);
  const total = s.fresh.replicas + old.reduce((a, b) => a + b, 0);
  if (s.fresh.replicas > s.replicas) return { fresh: s.replicas, old };
  const room = s.replicas + s.maxSurge - total;
  if (s.fresh.replicas < s.replicas && room > 0) {
    return { fresh: s.fresh.replicas + Math.min(room, s.replicas - s.fresh.replicas), old };
  }
  const floor = s.replicas - s.maxUnavailable;
  // Old pods that serve nobody go first: they cost no availability.
  let spare = total - floor - (s.fresh.replicas - s.fresh.available);
  if (spare <= 0) return { fresh: s.fresh.replicas, old };
  s.old.forEach((o, i) => {
    const cut = Math.max(0, Math.min(spare, o.replicas - o.available));
    old[i]! -= cut;
    spare -= cut;
  });
  let surplus = s.fresh.available + s.old.reduce((n, o) => n + o.available, 0) - floor;
  s.old.forEach((_, i) => {
    const cut = Math.max(0, Math.min(surplus, old[i]!));
    old[i]! -= cut;
    surplus -= cut;
  });
  return { fresh: s.fresh.replicas, old };
}

/** A number, or a share of the replicas: surge rounds up, unavailability down, and not both may be zero. */
export function budget(spec: DeploymentObject['spec']): { maxSurge: number; maxUnavailable: number } {
  const replicas = spec.replicas ?? 1;
  const read = (value: number | string, round: (n: number) => number) =>
    typeof value === 'number' ? value : round((Number.parseFloat(value) / 100) * replicas);
  const maxSurge = read(spec.strategy?.rollingUpdate?.maxSurge ?? '25%', Math.ceil);
  const maxUnavailable = read(spec.strategy?.rollingUpdate?.maxUnavailable ?? '25%', Math.floor);
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

export async function deployment(hands: Hands, d: DeploymentObject): Promise<number | undefined> {
  if (d.metadata.deletionTimestamp !== undefined) return undefined;
  const hash = shortHash(d.spec.template);
  const sets = hands.view.controlled<Workload>(ReplicaSet, d);
  let fresh = sets.find(s => s.metadata.labels?.[HASH] === hash);
  const old = sets.filter(s => s !== fresh);
  const revision = Math.max(0, ...old.map(revisionOf)) + 1;
  if (d.spec.paused !== true && (fresh === undefined || revisionOf(fresh) < revision)) {
    fresh = fresh ? await numbered(hands, fresh, revision) : await newSet(hands, d, hash, revision);
  }
  const all = fresh ? [...old, fresh] : old;
  if (fresh) await scale(hands, d, fresh, old);
  await numberDeployment(hands, d, fresh ? revisionOf(fresh) : revision - 1);
  const limit = d.spec.revisionHistoryLimit ?? 10;
  const idle = old
    .filter(s => (s.spec.replicas ?? 0) === 0 && count(s, 'replicas') === 0)
    .sort((a, b) => revisionOf(a) - revisionOf(b));
  for (const set of idle.slice(0, Math.max(0, idle.length - limit))) await hands.remove(ReplicaSet, set);
  return report(hands, d, fresh, all);
}

async function newSet(
  hands: Hands,
  d: DeploymentObject,
  hash: string,
  revision: number,
): Promise<Workload | undefined> {
  const { template, selector } = d.spec;
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  return hands.create<Workload>(ReplicaSet, {
    metadata: {
      name: `${d.metadata.name}-${hash}`,
      namespace: d.metadata.namespace!,
      labels,
      annotations: { ...templateAnnotations(d), [REVISION]: String(revision) },
      ownerReferences: [ownerOf(d)],
    },
    spec: {
      replicas: 0,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}

/** The Deployment's annotations go to its sets, but for the one that kubectl's client-side apply keeps. */
const templateAnnotations = (d: DeploymentObject) =>
  Object.fromEntries(
    Object.entries(d.metadata.annotations ?? {}).filter(
      ([k]) => k !== 'kubectl.kubernetes.io/last-applied-configuration',
    ),
  );

const annotated = <T extends Workload>(object: T, revision: number): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [REVISION]: String(revision) } },
});

const numbered = (hands: Hands, set: Workload, revision: number) => hands.update(ReplicaSet, annotated(set, revision));

async function numberDeployment(hands: Hands, d: DeploymentObject, revision: number): Promise<void> {
  if (revision > 0 && revisionOf(d) !== revision) await hands.update(Deployment, annotated(d, revision));
}

async function scale(hands: Hands, d: DeploymentObject, fresh: Workload, old: Workload[]): Promise<void> {
  const replicas = d.spec.replicas ?? 1;
  const size = (s: Workload) => ({ replicas: s.spec.replicas ?? 0, available: count(s, 'availableReplicas') });
  let next: { fresh: number; old: number[] };
  if (d.spec.strategy?.type === 'Recreate') {
    // Not one old process may be left, those on their way out included.
    const gone = old.every(s =>
      hands.view.controlled<PodObject>(Pod, s).every(p => !isActive(p) && !p.metadata.deletionTimestamp),
    );
    next = { fresh: gone ? replicas : (fresh.spec.replicas ?? 0), old: old.map(() => 0) };
  } else next = roll({ replicas, ...budget(d.spec), fresh: size(fresh), old: old.map(size) });
  const resize = async (set: Workload, to: number) => {
    if ((set.spec.replicas ?? 0) !== to)
      await hands.update(ReplicaSet, { ...set, spec: { ...set.spec, replicas: to } });
  };
  await resize(fresh, next.fresh);
  for (const [i, set] of old.entries()) await resize(set, next.old[i]!);
}

/** A condition with both of its times: it is updated when something moved, and changes over when its status does. */
function dated(d: DeploymentObject, next: WorkloadCondition, moved: boolean, now: string): WorkloadCondition {
  const old = d.status?.conditions?.find(c => c.type === next.type);
  const same = old?.reason === next.reason && old?.status === next.status && !moved;
  return { ...next, lastUpdateTime: same ? old?.lastUpdateTime : now };
}

async function report(
  hands: Hands,
  d: DeploymentObject,
  fresh: Workload | undefined,
  all: Workload[],
): Promise<number | undefined> {
  const now = hands.time();
  const replicas = d.spec.replicas ?? 1;
  const have = sum(all, s => count(s, 'replicas'));
  const updated = fresh ? count(fresh, 'replicas') : 0;
  const available = sum(all, s => count(s, 'availableReplicas'));
  const numbers = {
    observedGeneration: d.metadata.generation,
    replicas: have || undefined,
    updatedReplicas: updated || undefined,
    readyReplicas: sum(all, s => count(s, 'readyReplicas')) || undefined,
    availableReplicas: available || undefined,
    unavailableReplicas: Math.max(0, replicas - available) || undefined,
  };
  const done = updated === replicas && have === replicas && available === replicas;
  const moved = Object.entries(numbers).some(([field, n]) => d.status?.[field] !== n);
  const before = d.status?.conditions?.find(c => c.type === 'Progressing');
  const since = moved || before?.lastUpdateTime === undefined ? now : before.lastUpdateTime;
  const left = Date.parse(since) + (d.spec.progressDeadlineSeconds ?? 600) * 1000 - hands.clock.wall();
  const stays = before?.reason === 'ProgressDeadlineExceeded' && !moved;
  const late = !done && (left <= 0 || stays);
  const set = `ReplicaSet "${fresh?.metadata.name ?? ''}"`;
  const progressing: WorkloadCondition = late
    ? progress('False', 'ProgressDeadlineExceeded', `${set} has timed out progressing.`)
    : done
      ? progress('True', 'NewReplicaSetAvailable', `${set} has successfully progressed.`)
      : progress('True', 'ReplicaSetUpdated', `${set} is progressing.`);
  const enough = available >= replicas - budget(d.spec).maxUnavailable;
  const availability: WorkloadCondition = {
    type: 'Available',
    status: enough ? 'True' : 'False',
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: enough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
  };
  const conditions = withCondition(
    withCondition(d.status?.conditions, dated(d, availability, false, now), now),
    dated(d, progressing, moved && !late, now),
    now,
  );
  const current = hands.view.get<DeploymentObject>(Deployment, d.metadata.namespace!, d.metadata.name) ?? d;
  await hands.setStatus(Deployment, current, { ...numbers, conditions });
  return done || late ? undefined : Math.max(left, 1_000);
}

const progress = (status: 'True' | 'False', reason: string, message: string): WorkloadCondition => ({
  type: 'Progressing',
  status,
  reason,
  message,
});
