import type { KubeObject } from '../../kube/object.ts';
import { PersistentVolumeClaim, Pod, StorageClass } from '../../kube/resource.ts';
import type { Hands } from './hands.ts';
import type { ClaimObject, PodObject } from './objects.ts';

const PROTECTION = 'kubernetes.io/pvc-protection';
const DEFAULT = 'storageclass.kubernetes.io/is-default-class';

/** Binds a claim at once to a volume named after it (no PersistentVolume object); keeps a used one from going. */
export async function claim(hands: Hands, pvc: ClaimObject): Promise<undefined> {
  if (pvc.metadata.deletionTimestamp !== undefined) return release(hands, pvc);
  const classes = hands.view.list(StorageClass);
  const wanted =
    pvc.spec.storageClassName ?? classes.find(c => c.metadata.annotations?.[DEFAULT] === 'true')?.metadata.name;
  if (wanted === undefined || wanted === '') {
    const note = 'no persistent volumes available for this claim and no storage class is set';
    return pend(hands, pvc, 'FailedBinding', note);
  }
  if (!classes.some(c => c.metadata.name === wanted)) {
    return pend(hands, pvc, 'ProvisioningFailed', `storageclass.storage.k8s.io "${wanted}" not found`);
  }
  const volumeName = pvc.spec.volumeName || `pvc-${pvc.metadata.uid}`;
  const bound = pvc.spec.volumeName
    ? pvc
    : await hands.update(PersistentVolumeClaim, {
        ...pvc,
        spec: { ...pvc.spec, storageClassName: wanted, volumeName },
      });
  if (bound === undefined) return;
  const capacity = { storage: pvc.spec.resources?.requests?.storage ?? '1Gi' };
  await hands.setStatus(PersistentVolumeClaim, bound, { phase: 'Bound', accessModes: pvc.spec.accessModes, capacity });
}

async function pend(hands: Hands, pvc: ClaimObject, reason: string, note: string): Promise<undefined> {
  await hands.setStatus(PersistentVolumeClaim, pvc, { phase: 'Pending' });
  await hands.event(pvc, 'Warning', reason, note);
}

async function release(hands: Hands, pvc: ClaimObject): Promise<undefined> {
  const { namespace = '', name, finalizers = [] } = pvc.metadata;
  if (!finalizers.includes(PROTECTION)) return;
  const used = hands.view
    .list<PodObject>(Pod, namespace)
    .some(p => p.spec.nodeName && p.spec.volumes?.some(v => v.persistentVolumeClaim?.claimName === name));
  if (!used) await dropFinalizer(hands, PersistentVolumeClaim, pvc, PROTECTION);
}

export async function dropFinalizer(
  hands: Hands,
  resource: Parameters<Hands['update']>[0],
  object: KubeObject,
  finalizer: string,
): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter(f => f !== finalizer);
  await hands.update(resource, { ...object, metadata: { ...object.metadata, finalizers } });
}
