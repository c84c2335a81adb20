import type { Keystone } from '../../../api/openstack/keystone.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { IdentityAddress } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Exposed, ingressUrl } from '../exposure/ingress.ts';
import { hostAddress } from '../hosts.ts';
import { type Place, serviceHost } from '../names.ts';
import { schemeOf } from '../tls/certificate.ts';
import { trustOf } from '../tls/trust.ts';

export type KeystoneObject = ObjectOf<typeof Keystone>;

export const PORT = 5000;

export const adminSecret = (object: DeepReadonly<KeystoneObject>): string =>
  object.spec.adminPasswordSecret ?? `${object.metadata.name}-admin`;

export const internalUrl = (place: Place, object: DeepReadonly<KeystoneObject>): string =>
  `${schemeOf(object.spec)}://${serviceHost(place, `${object.metadata.name}-api`)}:${PORT}`;

export const publicUrl = (place: Place, object: DeepReadonly<KeystoneObject>): string =>
  object.spec.publicURL ?? ingressUrl(object.spec as Exposed) ?? internalUrl(place, object);

/** Where hosts outside the cluster reach it: by an address of their own, or where everybody does. */
export function hostsUrl<O extends Managed>(cx: Cx<O>, object: DeepReadonly<KeystoneObject>): string | undefined {
  const at = hostAddress(cx, object.spec, { service: `${object.metadata.name}-api`, port: PORT });
  if (at) return `${schemeOf(object.spec)}://${at.host}:${at.port}`;
  const open = publicUrl(cx, object);
  return open === internalUrl(cx, object) ? undefined : open;
}

export async function adminAddress<O extends Managed>(
  cx: Cx<O> & Place,
  object: DeepReadonly<KeystoneObject>,
): Promise<IdentityAddress> {
  const field = `Keystone ${object.metadata.name} spec.adminPasswordSecret`;
  const { password } = await cx.secret(adminSecret(object), ['password'], field);
  const { adminUser: user, adminProject: project, region } = object.spec;
  const ca = await trustOf(cx, object);
  return { url: internalUrl(cx, object), user, password, project, region, ca };
}
