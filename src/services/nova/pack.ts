import { MariaDB } from '../../../api/openstack/mariadb.ts';
import { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { uuid } from '../../world/world.ts';
import { type Account, type Kept, keep } from '../credentials.ts';
import type { HostAddress } from '../hosts.ts';
import {
  type BusLink,
  type DatabaseLink,
  leaveBus,
  leaveSql,
  named,
  readBus,
  readDatabase,
  registerVhost,
} from '../links.ts';
import * as mariadb from '../mariadb/address.ts';
import * as rabbitmq from '../rabbitmq/address.ts';
import { packed as caOf } from './secrets.ts';

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
  /** Takes back the login that was replaced, when nobody uses it any more. */
  readonly letGo: Kept['letGo'];
}

const nothingToLetGo = async (): Promise<void> => {};

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
  const before = (await cx.secretIfAny(order.secret))?.incarnation;
  const there = (await sql.databases()).includes(database);
  const packed = (incarnation: string | undefined) =>
    keep(cx, {
      ...accountOf(order, 'database'),
      ensure: ({ user, password }) => sql.ensureUser(user, password, [database]),
      first: true,
      prove: login => cx.cloud.sql({ ...admin, ...login }).check(),
      drop: user => sql.dropUser(user),
      values: {
        hostname: admin.host,
        port: String(admin.port),
        database,
        ...caOf(admin.ca),
        ...(incarnation !== undefined && { incarnation }),
      },
    });
  if (before !== undefined && !there) {
    // Forgotten first, made anew in the next pass: a crash between the two must not make it look like the old one.
    await packed(undefined);
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
  const { login, letGo } = await packed(incarnation);
  const { host, port, ca } = admin;
  const link = { host, port, database, user: login.user, password: login.password, ...(ca !== undefined && { ca }) };
  return { secret: order.secret, link: { ...link, incarnation }, letGo };
}

export async function packBus<O extends Managed>(cx: Cx<O>, order: Order): Promise<Packed<BusLink>> {
  const server = named(cx, RabbitMQ, order.instance, order.field);
  const { host, port, ca } = await rabbitmq.amqpAddress(cx, server);
  const place = { host, port, vhost: order.user, ...(ca !== undefined && { ca }) };
  const { login, letGo } = await keep(cx, {
    ...accountOf(order, 'message-bus'),
    ensure: login => registerBus(cx, order, { ...place, ...login }),
    drop: async user => cx.cloud.bus(await rabbitmq.adminAddress(cx, server)).dropUser(user),
    values: {
      hostname: host,
      port: String(port),
      vhost: order.user,
      ...caOf(ca),
      ...forHosts(rabbitmq.hostsAddress(cx, server)),
    },
  });
  return { secret: order.secret, link: { ...place, user: login.user, password: login.password }, letGo };
}

/** Under names of their own: whoever is in the cluster goes on as before. */
const forHosts = (at: HostAddress | undefined): Readonly<Record<string, string>> =>
  at === undefined ? {} : { 'hosts-hostname': at.host, 'hosts-port': String(at.port) };

const accountOf = ({ secret, user, instance }: Order, target: Account['target']) => ({
  target,
  secret,
  user,
  annotations: { [INSTANCE]: instance },
});

export async function registerBus<O extends Managed>(cx: Cx<O>, order: Order, link: BusLink): Promise<void> {
  const server = cx.ready(RabbitMQ, order.instance, order.field);
  await registerVhost(cx, server, link);
}

export const givenDatabase = async <O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
  database: string,
): Promise<Packed<DatabaseLink>> => ({
  secret,
  link: await readDatabase(cx, secret, field, database),
  letGo: nothingToLetGo,
});

export const givenBus = async <O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
): Promise<Packed<BusLink>> => ({ secret, link: await readBus(cx, secret, field), letGo: nothingToLetGo });

const instanceOf = <O extends Managed>(cx: Cx<O>, secret: string): string | undefined =>
  cx.get(Secret, secret)?.metadata.annotations?.[INSTANCE];

/** The user goes; the data when `data` says so. */
export async function dropDatabase<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  user: string,
  database: string,
  data: boolean,
): Promise<void> {
  await leaveSql(cx, instanceOf(cx, secret), user, data ? database : undefined);
}

export async function dropBus<O extends Managed>(cx: Cx<O>, secret: string, user: string): Promise<void> {
  await leaveBus(cx, instanceOf(cx, secret), user);
}
