import { MariaDB } from '../../../api/openstack/mariadb.ts';
import { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { password, uuid } from '../../world/world.ts';
import { type BusLink, type DatabaseLink, named, readBus, readDatabase, registerVhost } from '../links.ts';
import * as mariadb from '../mariadb/address.ts';
import * as rabbitmq from '../rabbitmq/address.ts';
import { encoded } from './secrets.ts';

/*
 * Registers a database or a vhost and packs the way in into a Secret with keys hostname, user, password, as Nova's parts
 * take it (seed 000, decision 2). That of a database is completed when the server has the login: whoever finds a hostname
 * in it may write. That of a vhost is complete before, because who makes a schema from it need not wait for the bus.
 */

/** Which server a Secret's login was made in: a cell that is no longer in the spec can't tell any more. */
const INSTANCE = 'openstack.k8s.io/instance';

export interface Order {
  /** Of the Secret. */
  readonly secret: string;
  /** Name of the server's object, and the field that says so. */
  readonly instance: string;
  readonly field: string;
  /** User in the server; also the vhost. */
  readonly user: string;
}

export interface Packed<L> {
  readonly secret: string;
  readonly link: L;
}

/** User names carry the namespace: several clouds may share an external server. */
export const userOf = (cx: { namespace: string; name: string }, part: string): string =>
  `${cx.namespace}-${cx.name}-${part}`.slice(0, 80);

export async function packDatabase<O extends Managed>(
  cx: Cx<O>,
  order: Order,
  database: string,
): Promise<Packed<DatabaseLink>> {
  const server = cx.ready(MariaDB, order.instance, order.field);
  const admin = await mariadb.adminAddress(cx, server);
  const sql = cx.cloud.sql(admin);
  const login = await cx.generate(order.secret, () => ({ user: order.user, password: password(cx.random) }));
  const { incarnation: before } = login as { incarnation?: string };
  const there = (await sql.databases()).includes(database);
  const write = (incarnation: string | undefined) => {
    const { host: hostname, port } = admin;
    const values = { hostname, port: String(port), user: login.user, password: login.password, database };
    return cx.apply(Secret, {
      metadata: { name: order.secret, annotations: { [INSTANCE]: order.instance } },
      type: 'Opaque',
      data: encoded({ ...values, ...(incarnation !== undefined && { incarnation }) }),
    });
  };
  if (before !== undefined && !there) {
    // Forgotten first, made anew in the next pass: a crash between the two must not make it look like the old one.
    await write(undefined);
    throw stall({
      reason: 'DatabaseLost',
      what: `Database ${database} is gone from MariaDB ${order.instance}, and with it the data`,
      who: 'Operator',
      next: 'make it anew, empty; restore a backup afterwards',
      after: 1000,
    });
  }
  const incarnation = before ?? uuid(cx.random);
  await sql.ensureDatabase(database);
  await sql.ensureUser(login.user, login.password, [database]);
  await write(incarnation);
  const link = { host: admin.host, port: admin.port, database, user: login.user, password: login.password };
  return { secret: order.secret, link: { ...link, incarnation } };
}

export async function packBus<O extends Managed>(cx: Cx<O>, order: Order): Promise<Packed<BusLink>> {
  const server = named(cx, RabbitMQ, order.instance, order.field);
  const login = await cx.generate(order.secret, () => ({ user: order.user, password: password(cx.random) }));
  const { host, port } = rabbitmq.amqpAddress(cx, server);
  const vhost = order.user;
  await cx.apply(Secret, {
    metadata: { name: order.secret, annotations: { [INSTANCE]: order.instance } },
    type: 'Opaque',
    data: encoded({ hostname: host, port: String(port), user: login.user, password: login.password, vhost }),
  });
  return { secret: order.secret, link: { host, port, vhost, user: login.user, password: login.password } };
}

export async function registerBus<O extends Managed>(cx: Cx<O>, order: Order, link: BusLink): Promise<void> {
  const server = cx.ready(RabbitMQ, order.instance, order.field);
  await registerVhost(cx, server, link);
}

export const givenDatabase = async <O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
  database: string,
): Promise<Packed<DatabaseLink>> => ({ secret, link: await readDatabase(cx, secret, field, database) });

export const givenBus = async <O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
): Promise<Packed<BusLink>> => ({ secret, link: await readBus(cx, secret, field) });

/** The user goes; the data when `data` says so. A server that is gone or going takes both along (rule 17). */
export async function dropDatabase<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  user: string,
  database: string,
  data: boolean,
): Promise<void> {
  const instance = cx.get(Secret, secret)?.metadata.annotations?.[INSTANCE];
  const server = instance === undefined ? undefined : cx.get(MariaDB, instance);
  if (server === undefined || server.metadata.deletionTimestamp) return;
  const sql = cx.cloud.sql(await mariadb.adminAddress(cx, server));
  await sql.dropUser(user);
  if (data) await sql.dropDatabase(database);
}

export async function dropBus<O extends Managed>(cx: Cx<O>, secret: string, user: string): Promise<void> {
  const instance = cx.get(Secret, secret)?.metadata.annotations?.[INSTANCE];
  const server = instance === undefined ? undefined : cx.get(RabbitMQ, instance);
  if (server === undefined || server.metadata.deletionTimestamp) return;
  const admin = cx.cloud.bus(await rabbitmq.adminAddress(cx, server));
  await admin.dropUser(user);
  await admin.dropVhost(user);
}
