import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { Event, Lease, Namespace, type Resource } from '../../kube/resource.ts';
import { dropFinalizer } from './claim.ts';
import type { Hands } from './hands.ts';

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

/** The garbage collector's look at one object, as a dependent and as an owner. */
export async function collect(hands: Hands, resource: Resource, object: KubeObject): Promise<undefined> {
  const finalizers = object.metadata.deletionTimestamp === undefined ? [] : (object.metadata.finalizers ?? []);
  if (finalizers.includes(ORPHAN)) return orphan(hands, resource, object);
  if (finalizers.includes(FOREGROUND)) await foreground(hands, resource, object);
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || object.metadata.deletionTimestamp !== undefined) return;
  const fates = await Promise.all(owners.map(owner => fateOf(hands, object, owner)));
  if (fates.includes('stays')) {
    // An owner that is gone must not hold on beside one that stays.
    const left = owners.filter((_, i) => fates[i] !== 'gone');
    if (left.length < owners.length) await setOwners(hands, resource, object, left);
    return;
  }
  const waits = fates.includes('waits for us');
  await hands.remove(resource, object, { propagation: waits ? 'Foreground' : 'Background' });
}

async function fateOf(
  hands: Hands,
  object: KubeObject,
  owner: OwnerReference,
): Promise<'stays' | 'gone' | 'waits for us'> {
  const resource = hands.view.resourceOf(owner);
  // A kind that nobody serves: the real collector does not dare to delete either.
  if (resource === undefined) return 'stays';
  const namespace = resource.namespaced ? (object.metadata.namespace ?? '') : '';
  const held = hands.view.get(resource, namespace, owner.name);
  if (held?.metadata.uid === owner.uid) {
    const dying = held.metadata.deletionTimestamp !== undefined && held.metadata.finalizers?.includes(FOREGROUND);
    return dying && owner.blockOwnerDeletion ? 'waits for us' : 'stays';
  }
  return (await hands.isGone(resource, namespace, owner.name, owner.uid)) ? 'gone' : 'stays';
}

async function foreground(hands: Hands, resource: Resource, object: KubeObject): Promise<void> {
  const blocking = hands.view
    .dependents(object)
    .filter(d => d.object.metadata.ownerReferences?.some(o => o.uid === object.metadata.uid && o.blockOwnerDeletion));
  if (blocking.length === 0) await dropFinalizer(hands, resource, object, FOREGROUND);
}

async function orphan(hands: Hands, resource: Resource, object: KubeObject): Promise<undefined> {
  for (const d of hands.view.dependents(object)) {
    const left = d.object.metadata.ownerReferences?.filter(o => o.uid !== object.metadata.uid) ?? [];
    await setOwners(hands, d.resource, d.object, left);
  }
  await dropFinalizer(hands, resource, object, ORPHAN);
}

const setOwners = (hands: Hands, resource: Resource, object: KubeObject, ownerReferences: OwnerReference[]) =>
  hands.update(resource, { ...object, metadata: { ...object.metadata, ownerReferences } });

interface NamespaceObject extends KubeObject {
  spec?: { finalizers?: string[] };
}

/** Empties a namespace that is going, then lets it go. */
export async function emptyNamespace(hands: Hands, namespace: NamespaceObject): Promise<undefined> {
  const finalizers = namespace.spec?.finalizers ?? [];
  if (namespace.metadata.deletionTimestamp === undefined || !finalizers.includes('kubernetes')) return;
  const content = hands.view.inNamespace(namespace.metadata.name);
  for (const { resource, object } of content) {
    if (object.metadata.deletionTimestamp === undefined)
      await hands.remove(resource, object, { propagation: 'Background' });
  }
  if (hands.view.inNamespace(namespace.metadata.name).length > 0) return;
  for (const resource of [Event, Lease]) await hands.removeAll(resource, namespace.metadata.name);
  const spec = { ...namespace.spec, finalizers: finalizers.filter(f => f !== 'kubernetes') };
  await hands.update(Namespace, { ...namespace, spec }, 'finalize');
}
