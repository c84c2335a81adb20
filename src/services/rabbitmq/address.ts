import type { ObjectOf } from '../../../api/kind.ts';
import type { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import type { BusAddress } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { type Place, serviceHost } from '../names.ts';

export type RabbitMQObject = ObjectOf<typeof RabbitMQ>;

export const AMQP_PORT = 5672;
export const MANAGEMENT_PORT = 15672;

export const adminSecret = (object: DeepReadonly<RabbitMQObject>): string => `${object.metadata.name}-admin`;

/** Where clients connect to. */
export const amqpAddress = (place: Place, object: DeepReadonly<RabbitMQObject>): { host: string; port: number } => ({
  host: object.spec.external?.hostname ?? serviceHost(place, object.metadata.name),
  port: object.spec.external?.port ?? AMQP_PORT,
});

/** Where the management API is and who may do everything in it: ours, or one that exists already. */
export async function adminAddress<O extends Managed>(
  cx: Cx<O> & Place,
  object: DeepReadonly<RabbitMQObject>,
): Promise<BusAddress> {
  const { external } = object.spec;
  const { name } = object.metadata;
  if (!external) {
    const { user, password } = await cx.secret(adminSecret(object), ['user', 'password'], `RabbitMQ ${name}`);
    return { url: `http://${serviceHost(cx, name)}:${MANAGEMENT_PORT}`, user, password };
  }
  for (const field of ['hostname', 'managementURL', 'adminSecret'] as const)
    if (external[field] === undefined)
      throw stall({
        reason: 'FieldMissing',
        what: `RabbitMQ ${name} has no spec.external.${field}`,
        who: 'User',
        next: 'set it',
      });
  const field = `RabbitMQ ${name} spec.external.adminSecret`;
  const data: Readonly<Record<string, string>> = await cx.secret(
    external.adminSecret ?? '',
    ['user', 'password'],
    field,
  );
  return {
    url: external.managementURL ?? '',
    user: data.user ?? '',
    password: data.password ?? '',
    ...(data['ca.crt'] !== undefined && { ca: data['ca.crt'] }),
  };
}
