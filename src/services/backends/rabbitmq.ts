import type { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { BusAddress } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type HostAddress, hostAddress } from '../hosts.ts';
import { type Place, serviceHost } from '../names.ts';
import { overTls, schemeOf } from '../tls/certificate.ts';
import { trustOf } from '../tls/trust.ts';
import { externalLogin, identityOf } from './server.ts';

export type RabbitMQObject = ObjectOf<typeof RabbitMQ>;

export const AMQP_PORT = 5672;
export const AMQPS_PORT = 5671;
const MANAGEMENT_PORT = 15672;
const MANAGEMENT_TLS_PORT = 15671;

/** By the names of the Service. Over TLS both are others, so that nobody who speaks in plain is answered by chance. */
export const portsOf = (spec: unknown): { readonly amqp: number; readonly management: number } =>
  overTls(spec)
    ? { amqp: AMQPS_PORT, management: MANAGEMENT_TLS_PORT }
    : { amqp: AMQP_PORT, management: MANAGEMENT_PORT };

export const adminSecret = (object: DeepReadonly<RabbitMQObject>): string => `${object.metadata.name}-admin`;

/** Where clients connect to. */
export async function amqpAddress<O extends Managed>(
  cx: Cx<O> & Place,
  object: DeepReadonly<RabbitMQObject>,
): Promise<{ host: string; port: number; ca: string | undefined }> {
  const { external } = object.spec;
  const ca = external ? (await cx.secretIfAny(external.adminSecret ?? ''))?.['ca.crt'] : await trustOf(cx, object);
  const host = external?.hostname ?? serviceHost(cx, object.metadata.name);
  const port = external?.port ?? portsOf(object.spec).amqp;
  // A CA may be there for the management API alone: the port that has always been plain stays so.
  return { host, port, ca: port === AMQP_PORT ? undefined : ca };
}

/** Where hosts outside the cluster connect to. One that is not ours is where it is. */
export function hostsAddress<O extends Managed>(
  cx: Cx<O>,
  { spec, metadata }: DeepReadonly<RabbitMQObject>,
): HostAddress | undefined {
  const { amqp: port } = portsOf(spec);
  const { hostname: host, port: other } = spec.external ?? {};
  return host === undefined ? hostAddress(cx, spec, { service: metadata.name, port }) : { host, port: other ?? port };
}

/** Where the management API is and who may do everything in it: ours, or one that exists already. */
export async function adminAddress<O extends Managed>(
  cx: Cx<O> & Place,
  object: DeepReadonly<RabbitMQObject>,
): Promise<BusAddress> {
  const { external } = object.spec;
  if (external) {
    const login = await externalLogin(cx, object, external, ['hostname', 'managementURL', 'adminSecret']);
    return { ...login, url: external.managementURL ?? '' };
  }
  const { name } = object.metadata;
  const { user, password } = await cx.secret(adminSecret(object), ['user', 'password'], `RabbitMQ ${name}`);
  const url = `${schemeOf(object.spec)}://${serviceHost(cx, name)}:${portsOf(object.spec).management}`;
  return { url, user, password, ...(await identityOf(cx, object)) };
}
