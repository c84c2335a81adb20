import { PersistentVolumeClaim, StatefulSet, StorageClass } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { MANAGED_LABEL } from '../../runtime/plan/names.ts';
import { stall, subjectOf, wait } from '../../runtime/plan/unmet.ts';

interface Stored {
  readonly replicas: number;
  readonly storageSize: string;
  readonly storageClass?: string;
}

/** Waits for a storage class that was named and is not there, instead of leaving a pod pending without a word. */
export const storageClass = <O extends Managed>(cx: Cx<O>): void =>
  existingClass(cx, (cx.spec as Partial<Stored>).storageClass, 'spec.storageClass');

export function existingClass<O extends Managed>(cx: Cx<O>, name: string | undefined, field: string): void {
  if (name !== undefined && cx.get(StorageClass, name) === undefined)
    throw wait({
      reason: 'StorageClassNotFound',
      about: subjectOf(StorageClass, name),
      what: `StorageClass ${name}, named in ${field}, does not exist`,
      who: 'User',
      next: 'create it, or create this object again with another one',
    });
}

/** Clusters of three are a matter of their own (quorum); until they come, saying so beats a cluster that is none. */
export function oneReplica<O extends Managed>(cx: Cx<O>): void {
  const { replicas } = cx.spec as Partial<Stored>;
  if (replicas !== undefined && replicas > 1)
    throw stall({
      reason: 'NotSupported',
      field: 'spec.replicas',
      what: `spec.replicas is ${replicas}, and this version runs one member only`,
      who: 'User',
      next: 'set it to 1, or use an external cluster in spec.external',
    });
}

export const claimTemplate = <O extends Managed>(cx: Cx<O>, labels: Readonly<Record<string, string>>) => {
  const spec = cx.spec as unknown as Stored;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels: { ...labels, [MANAGED_LABEL]: 'true' } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(spec.storageClass && { storageClassName: spec.storageClass }),
      resources: { requests: { storage: spec.storageSize } },
      volumeMode: 'Filesystem',
    },
    // The list is atomic: what the server adds to it must be in our text, or it never matches the live object.
    status: { phase: 'Pending' },
  };
};

/** Under Delete the volumes go, after the pods that hold them; under Retain a later object of this name finds them. */
export async function removeData<O extends Managed>(
  cx: Cx<O>,
  policy: 'Retain' | 'Delete',
  set: string = cx.name,
): Promise<void> {
  if (policy !== 'Delete') return;
  await cx.remove(StatefulSet, set);
  const { replicas } = cx.spec as unknown as Stored;
  for (let ordinal = 0; ordinal < replicas; ordinal++) await cx.remove(PersistentVolumeClaim, `data-${set}-${ordinal}`);
}

/**
 * One volume for all pods of a service, made at most once and kept by name. Who may mount it is fixed at its creation:
 * by one node, or by all where more than one pod was asked for.
 */
export async function sharedClaim<O extends Managed>(cx: Cx<O>, name: string): Promise<void> {
  storageClass(cx);
  const { replicas, storageSize, storageClass: storageClassName } = cx.spec as unknown as Stored;
  const found = cx.get(PersistentVolumeClaim, name)?.spec as { readonly accessModes?: readonly string[] } | undefined;
  const accessModes = found?.accessModes ?? [replicas > 1 ? 'ReadWriteMany' : 'ReadWriteOnce'];
  if (replicas > 1 && !accessModes.includes('ReadWriteMany'))
    throw stall({
      reason: 'VolumeNotShared',
      field: 'spec.replicas',
      what: `PersistentVolumeClaim ${name} can be mounted by one node only, and spec.replicas is ${replicas}`,
      who: 'User',
      next: 'set it to 1, or move the data to a ReadWriteMany claim of that name',
    });
  const body = {
    metadata: { name },
    spec: {
      accessModes: [...accessModes],
      ...(storageClassName && { storageClassName }),
      resources: { requests: { storage: storageSize } },
      volumeMode: 'Filesystem',
    },
  };
  await cx.apply(PersistentVolumeClaim, body, { retain: true });
}

/** The volume goes after the pods that hold it. */
export async function removeClaim<O extends Managed>(cx: Cx<O>, set: string, name: string): Promise<void> {
  await cx.remove(StatefulSet, set);
  await cx.remove(PersistentVolumeClaim, name);
}
