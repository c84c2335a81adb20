import type { KubeObject } from '../../kube/object.ts';
import { Pod, ReplicaSet } from '../../kube/resource.ts';
import { type Hands, ownerOf, Refused } from './hands.ts';
import { isActive, isReady, type PodObject, type PodTemplate, type Workload } from './objects.ts';

export function podFrom(
  owner: KubeObject,
  template: PodTemplate,
  name: string,
  labels: Record<string, string> = {},
): Omit<PodObject, 'apiVersion' | 'kind'> {
  return {
    metadata: {
      name,
      namespace: owner.metadata.namespace ?? '',
      labels: { ...template.metadata?.labels, ...labels },
      ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
      ownerReferences: [ownerOf(owner)],
    },
    spec: structuredClone(template.spec),
  };
}

/** Makes the pod, or says on its owner why the server would not have it (a quota, a policy). */
export async function makePod(
  hands: Hands,
  owner: KubeObject,
  pod: Omit<PodObject, 'apiVersion' | 'kind'>,
): Promise<void> {
  try {
    await hands.create<PodObject>(Pod, pod);
  } catch (error) {
    if (error instanceof Refused) await hands.event(owner, 'Warning', 'FailedCreate', `Error creating: ${error.says}`);
    throw error;
  }
}

/** Which to give up first: not scheduled, not ready, youngest. */
export function victims(pods: readonly PodObject[], count: number): PodObject[] {
  const worth = (p: PodObject) => (p.spec.nodeName ? 2 : 0) + (isReady(p) ? 1 : 0);
  return [...pods]
    .reverse()
    .sort((a, b) => worth(a) - worth(b))
    .slice(0, count);
}

export async function replicaSet(hands: Hands, set: Workload): Promise<undefined> {
  const pods = hands.view.controlled<PodObject>(Pod, set).filter(isActive);
  const want = set.spec.replicas ?? 1;
  if (set.metadata.deletionTimestamp === undefined) {
    for (let i = pods.length; i < want; i++) {
      await makePod(hands, set, podFrom(set, set.spec.template, `${set.metadata.name}-${hands.suffix()}`));
    }
    for (const pod of victims(pods, Math.max(0, pods.length - want))) await hands.remove(Pod, pod);
  }
  const left = hands.view.controlled<PodObject>(Pod, set).filter(isActive);
  const ready = left.filter(isReady).length;
  await hands.setStatus(
    ReplicaSet,
    hands.view.get<Workload>(ReplicaSet, set.metadata.namespace!, set.metadata.name) ?? set,
    {
      replicas: left.length,
      fullyLabeledReplicas: left.length,
      // Zero is absent on the wire.
      readyReplicas: ready || undefined,
      availableReplicas: ready || undefined,
      observedGeneration: set.metadata.generation,
    },
  );
}
