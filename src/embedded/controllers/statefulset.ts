import type { KubeObject } from '../../kube/object.ts';
import { PersistentVolumeClaim, Pod, type Resource, StatefulSet } from '../../kube/resource.ts';
import { type Hands, ownerOf, shortHash } from './hands.ts';
import { type ClaimObject, isActive, isReady, type PodObject, type PodTemplate, type Workload } from './objects.ts';
import { makePod, podFrom } from './replicaset.ts';
import { byAge } from './view.ts';

export const ControllerRevision: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
};

interface RevisionObject extends KubeObject {
  revision: number;
  data: { spec: { template: PodTemplate } };
}

interface StatefulSetObject extends Workload {
  spec: Workload['spec'] & {
    serviceName?: string;
    podManagementPolicy?: 'OrderedReady' | 'Parallel';
    updateStrategy?: { type?: 'RollingUpdate' | 'OnDelete'; rollingUpdate?: { partition?: number } };
    ordinals?: { start?: number };
    volumeClaimTemplates?: { metadata: { name: string; labels?: Record<string, string> }; spec: ClaimObject['spec'] }[];
  };
  status?: { currentRevision?: string; currentReplicas?: number; [field: string]: unknown };
}

const HASH = 'controller-revision-hash';
const runs = (pod: PodObject) => pod.metadata.labels?.[HASH];

export type Move = { readonly make: number } | { readonly remove: number };

/** One member of the set as the decision sees it; `absent` has no pod, `broken` has finished and must go. */
export interface Member {
  readonly ordinal: number;
  readonly is: 'absent' | 'broken' | 'leaving' | 'starting' | 'ready';
  /** Runs the newest template. */
  readonly updated: boolean;
}

/** The next steps; more than one only when the set is Parallel (kubernetes pkg/controller/statefulset). */
export function steps(
  members: readonly Member[],
  surplus: readonly Member[],
  parallel: boolean,
  rollFrom: number | undefined,
  /** As Kubernetes does from 1.37 on (MaxUnavailableStatefulSet): none that serves goes while another one is away. */
  counts = false,
): Move[] {
  const moves: Move[] = [];
  for (const m of members) {
    if (m.is === 'absent') moves.push({ make: m.ordinal });
    else if (m.is === 'broken') moves.push({ remove: m.ordinal });
    // In order: nobody after one that is not ready yet.
    if (!parallel && m.is !== 'ready') return moves;
  }
  for (const m of [...surplus].sort((a, b) => b.ordinal - a.ordinal)) {
    if (m.is !== 'leaving') moves.push({ remove: m.ordinal });
    if (!parallel) return moves;
  }
  if (moves.length > 0 || rollFrom === undefined) return moves;
  if (parallel && counts) {
    const old = members.filter(m => m.ordinal >= rollFrom && !m.updated).reverse();
    const next = members.every(m => m.is === 'ready') ? old.slice(0, 1) : old.filter(m => m.is === 'starting');
    return next.map(m => ({ remove: m.ordinal }));
  }
  for (const m of [...members].reverse()) {
    if (m.ordinal < rollFrom) break;
    if (!m.updated && m.is !== 'leaving') return [{ remove: m.ordinal }];
    if (m.is !== 'ready') break;
  }
  return moves;
}

export async function statefulSet(hands: Hands, set: StatefulSetObject, counts = false): Promise<undefined> {
  const { name } = set.metadata;
  const update = `${name}-${shortHash(set.spec.template)}`;
  const current = set.status?.currentRevision ?? update;
  const pods = hands.view.controlled<PodObject>(Pod, set);
  if (set.metadata.deletionTimestamp === undefined) {
    await keepRevisions(hands, set, update, new Set([current, ...pods.map(p => runs(p) ?? '')]));
    const start = set.spec.ordinals?.start ?? 0;
    const strategy = set.spec.updateStrategy;
    const partition = strategy?.rollingUpdate?.partition ?? 0;
    const byOrdinal = new Map(pods.map(p => [Number(p.metadata.name.slice(name.length + 1)), p]));
    const ordinals = Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => start + i);
    const member = (ordinal: number): Member => memberOf(ordinal, byOrdinal.get(ordinal), update);
    const surplus = [...byOrdinal.keys()].filter(o => !ordinals.includes(o)).map(member);
    const rollFrom = strategy?.type === 'OnDelete' ? undefined : start + partition;
    const parallel = set.spec.podManagementPolicy === 'Parallel';
    for (const move of steps(ordinals.map(member), surplus, parallel, rollFrom, counts)) {
      if ('remove' in move) await hands.remove(Pod, byOrdinal.get(move.remove)!);
      else {
        // While a roll is under way, members below it come back as they were.
        const below = partition > 0 ? start + partition : start + Number(set.status?.currentReplicas ?? 0);
        const revision = strategy?.type !== 'OnDelete' && move.make < below ? current : update;
        await make(hands, set, move.make, revision);
      }
    }
  }
  await report(hands, set, current, update);
}

function memberOf(ordinal: number, pod: PodObject | undefined, update: string): Member {
  if (pod === undefined) return { ordinal, is: 'absent', updated: false };
  const is = pod.metadata.deletionTimestamp
    ? 'leaving'
    : !isActive(pod)
      ? 'broken'
      : isReady(pod)
        ? 'ready'
        : 'starting';
  return { ordinal, is, updated: runs(pod) === update };
}

async function make(hands: Hands, set: StatefulSetObject, ordinal: number, revision: string): Promise<void> {
  const { namespace = '', name } = set.metadata;
  const pod = `${name}-${ordinal}`;
  const claims = set.spec.volumeClaimTemplates ?? [];
  for (const { metadata, spec } of claims) {
    const claim = `${metadata.name}-${pod}`;
    if (hands.view.get(PersistentVolumeClaim, namespace, claim)) continue;
    const labels = { ...metadata.labels, ...set.spec.selector.matchLabels };
    await hands.create<ClaimObject>(PersistentVolumeClaim, { metadata: { name: claim, namespace, labels }, spec });
  }
  const kept = hands.view.get<RevisionObject>(ControllerRevision, namespace, revision);
  const object = podFrom(set, kept?.data.spec.template ?? set.spec.template, pod, {
    [HASH]: revision,
    'statefulset.kubernetes.io/pod-name': pod,
    'apps.kubernetes.io/pod-index': String(ordinal),
  });
  object.spec.hostname = pod;
  if (set.spec.serviceName) object.spec.subdomain = set.spec.serviceName;
  const mounted = claims.map(c => ({
    name: c.metadata.name,
    persistentVolumeClaim: { claimName: `${c.metadata.name}-${pod}` },
  }));
  const others = (object.spec.volumes ?? []).filter(v => !mounted.some(m => m.name === v.name));
  if (mounted.length > 0) object.spec.volumes = [...others, ...mounted];
  await makePod(hands, set, object);
}

async function keepRevisions(hands: Hands, set: StatefulSetObject, update: string, live: Set<string>): Promise<void> {
  const kept = hands.view.controlled<RevisionObject>(ControllerRevision, set);
  const newest = Math.max(0, ...kept.map(r => r.revision));
  const mine = kept.find(r => r.metadata.name === update);
  if (mine === undefined) {
    await hands.create<RevisionObject>(ControllerRevision, {
      metadata: {
        name: update,
        namespace: set.metadata.namespace!,
        labels: { ...set.spec.selector.matchLabels, [HASH]: update },
        ownerReferences: [ownerOf(set)],
      },
      revision: newest + 1,
      data: { spec: { template: set.spec.template } },
    });
  } else if (mine.revision < newest) await hands.update(ControllerRevision, { ...mine, revision: newest + 1 });
  const idle = kept
    .filter(r => r.metadata.name !== update && !live.has(r.metadata.name))
    .sort((a, b) => a.revision - b.revision);
  for (const r of idle.slice(0, Math.max(0, idle.length - (set.spec.revisionHistoryLimit ?? 10)))) {
    await hands.remove(ControllerRevision, r);
  }
}

async function report(hands: Hands, set: StatefulSetObject, current: string, update: string): Promise<void> {
  const { namespace = '', name } = set.metadata;
  const pods = hands.view.controlled<PodObject>(Pod, set).sort(byAge).filter(isActive);
  const ready = pods.filter(isReady).length;
  const updated = pods.filter(p => runs(p) === update);
  const done =
    updated.length === (set.spec.replicas ?? 1) && ready === updated.length && pods.length === updated.length;
  const revision = done ? update : current;
  const at = pods.filter(p => runs(p) === revision).length;
  const onDelete = set.spec.updateStrategy?.type === 'OnDelete';
  const latest = hands.view.get<StatefulSetObject>(StatefulSet, namespace, name) ?? set;
  await hands.setStatus(StatefulSet, latest, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    readyReplicas: ready || undefined,
    availableReplicas: ready,
    currentReplicas: at || undefined,
    updatedReplicas: updated.length || undefined,
    currentRevision: onDelete ? current : revision,
    updateRevision: update,
    collisionCount: 0,
  });
}
