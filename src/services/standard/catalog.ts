import type { AnyKind } from '../../../api/schema/kind.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';

interface Registered {
  readonly keystoneInstance?: string;
  readonly keystoneSecret?: string;
}

/** Creation times have a resolution of one second: names decide among equals, so that all agree on who is first. */
const age = ({ metadata }: DeepReadonly<AnyObject>): string => `${metadata.creationTimestamp} ${metadata.name}`;

/**
 * A catalog has one entry of a type: of several objects of one kind with one Keystone the oldest stands in it,
 * and the others say so. When it goes, the next takes over: its deletion is an event for all who looked.
 */
export async function standsInCatalog<O extends Managed>(cx: Cx<O>, kind: AnyKind): Promise<boolean> {
  const own = cx.spec as Registered;
  const others = cx.wishes(kind).filter(other => {
    const { keystoneInstance, keystoneSecret } = other.spec as Registered;
    const same = keystoneInstance === own.keystoneInstance;
    return (
      same && !keystoneSecret && !other.metadata.deletionTimestamp && other.metadata.uid !== cx.object.metadata.uid
    );
  });
  const [first] = others.filter(other => age(other) < age(cx.object as DeepReadonly<AnyObject>)).sort(byAge);
  if (first === undefined) {
    await cx.effect();
    return true;
  }
  cx.note(
    `${kind.kind} ${first.metadata.name} is older and stands in the catalog; when it is deleted, this one takes over`,
  );
  return false;
}

const byAge = (a: DeepReadonly<AnyObject>, b: DeepReadonly<AnyObject>): number => (age(a) < age(b) ? -1 : 1);
