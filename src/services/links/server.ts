import type { AnyKind, ObjectOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { SKIP_UNDO_ANNOTATION, USERS } from '../../runtime/plan/names.ts';
import { subjectOf, wait } from '../../runtime/plan/unmet.ts';
import type { Login } from './credentials.ts';

/** The object of a server, and whether it is still of use to who leaves. */

/** The object of ours that a field names: its address is known before it runs, so config need not wait for it. */
export function named<O extends Managed, K extends AnyKind>(
  cx: Cx<O>,
  kind: K,
  name: string,
  field: string,
): DeepReadonly<ObjectOf<K>> {
  const found = cx.get(kind, name);
  if (found) return found;
  const what = `${kind.kind} ${name} does not exist`;
  const about = subjectOf(kind, name);
  throw wait({
    reason: 'NotFound',
    about,
    what,
    who: 'User',
    next: `create it, or name another one in ${field}`,
    field,
  });
}

/**
 * A server that is gone takes users and data along. One that is being deleted waits for the objects that name it, so it
 * serves until then; unless it was told not to wait.
 */
export function staying<O extends Managed, K extends AnyKind>(cx: Cx<O>, kind: K, name: string | undefined) {
  const server = name === undefined ? undefined : cx.get(kind, name);
  if (!server?.metadata.deletionTimestamp) return server;
  const skipped = server.metadata.annotations?.[SKIP_UNDO_ANNOTATION] ?? '';
  return skipped.split(',').some(word => word.trim() === USERS) ? undefined : server;
}

/** The login in a Secret of this object. One that another object owns under this name proves nothing. */
export async function ownLogin<O extends Managed>(cx: Cx<O>, secret: string): Promise<Login | undefined> {
  const owner = cx.get(Secret, secret)?.metadata.ownerReferences?.find(ref => ref.controller);
  if (owner?.uid !== cx.object.metadata.uid) return undefined;
  const { user, password } = (await cx.secretIfAny(secret)) ?? {};
  return user && password ? { user, password } : undefined;
}
