import type { Informer } from '../kube/cache/cache.ts';
import { type AnyObject, type DeepReadonly, type KubeObject, keyOf, type ObjectMeta, refOf } from '../kube/object.ts';
import { type Resource, resourceName } from '../kube/resource.ts';
import { LOW, NORMAL } from './queue.ts';

export type Enqueue = (key: string, priority?: number) => void;

/** What wakes a controller: from the call on it enqueues keys. `synced` once all that exists was enqueued. */
export type Source = (enqueue: Enqueue) => { readonly name: string; readonly synced: Promise<void>; stop(): void };

type Keys<T> = (object: DeepReadonly<T>) => Iterable<string>;
type Changed<T> = (before: DeepReadonly<T>, after: DeepReadonly<T>) => boolean;

/** The kind itself. Our own status writes do not come back as work unless `when` says so. */
export const watchOwn = <T extends KubeObject>(informer: Informer<T>, when: Changed<T> = changedByOthers): Source =>
  source(informer, object => [keyOf(refOf(object as KubeObject))], when);

/** Objects whose owner references name the kind (group and kind; versions come and go). */
export const watchOwned = <T extends KubeObject>(informer: Informer<T>, owner: Resource): Source =>
  source(informer, object => ownersOf(object as DeepReadonly<KubeObject>, owner));

/** Objects from which keys follow. `map` is pure in its argument; find users by an index, never by listing all. */
export const watchMapped = <T extends KubeObject>(informer: Informer<T>, map: Keys<T>): Source => source(informer, map);

/**
 * On update the keys of both states are enqueued, each once: an object that changes hands concerns its old owner too.
 * An update that changed nothing (resync) and the initial list wait behind what somebody just did.
 */
function source<T extends KubeObject>(informer: Informer<T>, keys: Keys<T>, when: Changed<T> = () => true): Source {
  return enqueue => ({
    name: resourceName(informer.resource),
    synced: informer.synced,
    stop: informer.onChange({
      added(object, { initial }) {
        for (const key of keys(object)) enqueue(key, initial ? LOW : NORMAL);
      },
      updated(before, after) {
        const same = version(before) === version(after);
        if (!same && !when(before, after)) return;
        for (const key of new Set([...keys(before), ...keys(after)])) enqueue(key, same ? LOW : NORMAL);
      },
      deleted(object) {
        for (const key of keys(object)) enqueue(key, NORMAL);
      },
    }),
  });
}

/** T extends KubeObject, but the compiler cannot see that through DeepReadonly of an open type. */
const metaOf = (object: unknown) => (object as DeepReadonly<AnyObject>).metadata;
const version = (object: unknown) => metaOf(object).resourceVersion;

function ownersOf(object: DeepReadonly<KubeObject>, owner: Resource): readonly string[] {
  const { ownerReferences = [], namespace = '' } = object.metadata;
  return ownerReferences
    .filter(ref => ref.kind === owner.kind && groupOf(ref.apiVersion) === owner.group)
    .map(ref => keyOf({ namespace: owner.namespaced ? namespace : '', name: ref.name }));
}

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

/**
 * Spec, labels, annotations, owners, finalizers or deletion changed; status did not. A kind without generation (Secret,
 * ConfigMap) has no status to compare.
 */
export function changedByOthers(before: unknown, after: unknown): boolean {
  const [a, b] = [metaOf(before), metaOf(after)];
  if (a.uid !== b.uid || a.generation !== b.generation || b.generation === undefined) return true;
  if (a.deletionTimestamp !== b.deletionTimestamp) return true;
  return (
    !sameMap(a.labels, b.labels) ||
    !sameMap(a.annotations, b.annotations) ||
    owners(a) !== owners(b) ||
    a.finalizers?.join() !== b.finalizers?.join()
  );
}

const owners = ({ ownerReferences }: DeepReadonly<ObjectMeta>) => ownerReferences?.map(owner => owner.uid).join();

function sameMap(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every(name => a[name] === b[name]);
}
