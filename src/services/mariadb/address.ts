import type { ObjectOf } from '../../../api/kind.ts';
import type { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { SqlAddress } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { type Place, serviceHost } from '../names.ts';
import { trustOf } from '../tls/trust.ts';

export type MariaDBObject = ObjectOf<typeof MariaDB>;

export const PORT = 3306;
export const ROOT = 'root';

export const rootSecret = (object: DeepReadonly<MariaDBObject>): string =>
  object.spec.secret ?? `${object.metadata.name}-root`;

/** Where the server is and who may do everything in it: ours, or one that exists already. */
export async function adminAddress<O extends Managed>(
  cx: Cx<O> & Place,
  object: DeepReadonly<MariaDBObject>,
): Promise<SqlAddress> {
  const { external } = object.spec;
  const { name, uid } = object.metadata;
  if (!external) {
    const keys: { password: string; user?: string } = await cx.secret(
      rootSecret(object),
      ['password'],
      `MariaDB ${name} spec.secret`,
    );
    // The name is ours to change with the password, unless the Secret is not ours.
    const user = object.spec.secret ? ROOT : (keys.user ?? ROOT);
    const ca = await trustOf(cx, object);
    const at = { host: serviceHost(cx, name), port: PORT, user, password: keys.password };
    return { ...at, ...(ca !== undefined && { ca }), ...(uid !== undefined && { instance: uid }) };
  }
  for (const field of ['hostname', 'adminSecret'] as const)
    if (external[field] === undefined)
      throw stall({
        reason: 'FieldMissing',
        what: `MariaDB ${name} has no spec.external.${field}`,
        who: 'User',
        next: 'set it',
      });
  const field = `MariaDB ${name} spec.external.adminSecret`;
  const data: Readonly<Record<string, string>> = await cx.secret(
    external.adminSecret ?? '',
    ['user', 'password'],
    field,
  );
  return {
    host: external.hostname ?? '',
    port: external.port,
    user: data.user ?? '',
    password: data.password ?? '',
    ...(data['ca.crt'] !== undefined && { ca: data['ca.crt'] }),
  };
}
