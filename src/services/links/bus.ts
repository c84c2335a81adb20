import { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { Claim } from '../../cloud/ownership.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { urlHost, urlWord } from '../../world/quote/url.ts';
import { checkGiven } from '../backends/given.ts';
import * as rabbitmq from '../backends/rabbitmq.ts';
import { accountName, keep, type Login } from './credentials.ts';
import { CONNECTION, caIn } from './given.ts';
import { named, ownLogin, staying } from './server.ts';
import { type BusSpec, busAccount, specOf, userOf } from './spec.ts';
import type { BusLink } from './types.ts';

export async function readBus<O extends Managed>(cx: Cx<O>, secret: string, field: string): Promise<BusLink> {
  const data: Record<(typeof CONNECTION)[number], string> & Readonly<Record<string, string | undefined>> =
    await cx.secret(secret, CONNECTION, field);
  checkGiven(data, secret, field);
  const { hostname: host, user, password, port, vhost = '/' } = data;
  const usual = 'ca.crt' in data ? rabbitmq.AMQPS_PORT : rabbitmq.AMQP_PORT;
  const link = { host, port: Number(port ?? usual), vhost, user, password, ...caIn(data, secret, field) };
  const outside = data['hosts-hostname'];
  return outside === undefined
    ? link
    : { ...link, outside: { host: outside, port: Number(data['hosts-port'] ?? link.port) } };
}

/** The connection to a vhost of its own in the bus that the spec names, or to that of a hand-made Secret. */
export async function busLink<O extends Managed>(cx: Cx<O>): Promise<BusLink> {
  const spec = specOf<BusSpec>(cx);
  if (spec.messageBusSecret) return readBus(cx, spec.messageBusSecret, 'spec.messageBusSecret');
  const server = named(cx, RabbitMQ, spec.messageBusInstance, 'spec.messageBusInstance');
  const { secret } = busAccount(cx);
  const base = await accountName(cx, secret, userOf(cx), server.spec.external !== undefined);
  const link = { ...(await rabbitmq.amqpAddress(cx, server)), vhost: base };
  const { login, letGo } = await keep(cx, {
    ...busAccount(cx),
    user: base,
    ensure: async (login, now) => ensureBus(cx, { ...link, ...login }, now),
    drop: async user => cx.cloud.bus(await rabbitmq.adminAddress(cx, server)).dropUser(user, await cx.claim()),
  });
  await letGo();
  return { ...link, user: login.user, password: login.password };
}

/** The bus that the spec names, which must be Ready; undefined where a Secret was given. */
export function busServer<O extends Managed>(cx: Cx<O>): DeepReadonly<ObjectOf<typeof RabbitMQ>> | undefined {
  const { messageBusSecret, messageBusInstance } = specOf<BusSpec>(cx);
  return messageBusSecret ? undefined : cx.ready(RabbitMQ, messageBusInstance, 'spec.messageBusInstance');
}

export async function ensureBus<O extends Managed>(cx: Cx<O>, link: BusLink, proof: Login = link): Promise<void> {
  const server = busServer(cx);
  if (!server) return;
  await cx.effect('MessageBusReady');
  await registerVhost(cx, server, link, await cx.claim(proof));
}

export async function registerVhost<O extends Managed>(
  cx: Cx<O>,
  server: DeepReadonly<ObjectOf<typeof RabbitMQ>>,
  { vhost, user, password }: BusLink,
  claim: Claim,
): Promise<void> {
  const admin = cx.cloud.bus(await rabbitmq.adminAddress(cx, server));
  await admin.ensureVhost(vhost, claim);
  await admin.ensureUser(user, password, vhost, claim);
}

export async function dropBus<O extends Managed>(cx: Cx<O>): Promise<void> {
  const { messageBusSecret, messageBusInstance } = specOf<BusSpec>(cx);
  if (!messageBusSecret) await leaveBus(cx, messageBusInstance, busAccount(cx).secret);
}

/** Takes the users and virtual hosts of an owner out of a RabbitMQ. */
export async function leaveBus<O extends Managed>(
  cx: Cx<O>,
  instance: string | undefined,
  secret: string,
  part?: string,
): Promise<void> {
  const server = staying(cx, RabbitMQ, instance);
  if (!server || !cx.acted()) return;
  const admin = cx.cloud.bus(await rabbitmq.adminAddress(cx, server));
  const claim = await cx.claim(await ownLogin(cx, secret), part);
  const owned = await admin.owned(claim);
  // The user last: its password is the proof of what carries no mark yet.
  for (const name of owned.vhosts) await admin.dropVhost(name, claim);
  for (const name of owned.users) await admin.dropUser(name, claim);
}

export const busUrl = (link: BusLink): string =>
  `rabbit://${urlWord(link.user)}:${urlWord(link.password)}@${urlHost(link.host)}:${link.port}/${urlWord(link.vhost)}`;
