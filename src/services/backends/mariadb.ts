import type { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { SqlAddress } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Place, serviceHost } from '../names.ts';
import { externalLogin, identityOf } from './server.ts';

export type MariaDBObject = ObjectOf<typeof MariaDB>;

export const PORT = 3306;
export const ROOT = 'root';

export const rootSecret = (object: DeepReadonly<MariaDBObject>): string =>
  object.spec.secret ?? `${object.metadata.name}-root`;

export const initSecret = (object: DeepReadonly<MariaDBObject>): string => `${object.metadata.name}-init`;

/** One that is to be plain again refuses plain connections until it is reconfigured: with it is the CA of the last TLS that it had. */
const lastCa = async <O extends Managed>(
  cx: Cx<O>,
  object: DeepReadonly<MariaDBObject>,
): Promise<string | undefined> =>
  object.status?.secureTransport === true ? (await cx.secretIfAny(initSecret(object)))?.['ca.crt'] : undefined;

/** Whether a name, as somebody wrote it into a Secret or URL, is that of this server or of one of its members. */
export function isAt({ metadata: { name, namespace = '' } }: DeepReadonly<MariaDBObject>, host: string): boolean {
  const [first = '', second, third] = host.toLowerCase().split('.');
  const home = (label: string | undefined): boolean => label === undefined || label === namespace;
  const members = `${name}-members`;
  return ((first === name || first === members) && home(second)) || (second === members && home(third));
}

/** Where the server is and who may do everything in it: ours, or one that exists already. */
export async function adminAddress<O extends Managed>(
  cx: Cx<O> & Place,
  object: DeepReadonly<MariaDBObject>,
): Promise<SqlAddress> {
  const { external, secret } = object.spec;
  if (external) {
    const login = await externalLogin(cx, object, external, ['hostname', 'adminSecret']);
    return { ...login, host: external.hostname ?? '', port: external.port };
  }
  const { name } = object.metadata;
  const field = `MariaDB ${name} spec.secret`;
  const keys: { password: string; user?: string } = await cx.secret(rootSecret(object), ['password'], field);
  // The name is ours to change with the password, unless the Secret is not ours.
  const user = secret ? ROOT : (keys.user ?? ROOT);
  const at = { host: serviceHost(cx, name), port: PORT, user, password: keys.password };
  const { ca, ...instance } = await identityOf(cx, object);
  return { ...at, ...instance, ca: ca ?? (await lastCa(cx, object)) };
}
