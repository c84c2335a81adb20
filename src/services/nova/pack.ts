import { MariaDB } from '../../../api/openstack/mariadb.ts';
import { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { uuid } from '../../world/clock.ts';
import * as mariadb from '../backends/mariadb.ts';
import * as rabbitmq from '../backends/rabbitmq.ts';
import type { HostAddress } from '../hosts.ts';
import { leaveBus, readBus, registerVhost } from '../links/bus.ts';
import { type Account, accountName, type Kept, keep, type Login, namesOf } from '../links/credentials.ts';
import { databaseNameOn, leaveSql, markOlder, readDatabase } from '../links/database.ts';
import { notLost } from '../links/lost.ts';
import { named, staying } from '../links/server.ts';
import type { BusLink, DatabaseLink } from '../links/types.ts';
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
  /** User in the server; also the vhost. On a server that others use too it gets a suffix. */
  readonly user: string;
  /** Of Nova: `api`, `top` or the cell. The mark of what is made names it. */
  readonly part: string;
  /** Whose undo is due from then on; the one that asks, unless given. */
  readonly row?: string;
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
  derived: string,
  /** A part of Nova has made the schema. */
  made: boolean,
): Promise<Packed<DatabaseLink>> {
  const server = cx.ready(MariaDB, order.instance, order.field);
  const admin = await mariadb.adminAddress(cx, server);
  const sql = cx.cloud.sql(admin);
  const shared = server.spec.external !== undefined;
  const base = await accountName(cx, order.secret, order.user, shared);
  const before = await cx.secretIfAny(order.secret);
  const database = before?.database ?? (await databaseNameOn(cx, sql, { derived }, shared, base));
  const found = (await sql.databases())[database];
  const had = before?.incarnation !== undefined && (found === undefined || made);
  const loss = await notLost(cx, sql, database, order.instance, had);
  await cx.effect(order.row);
  // Another one after a loss that was accepted: what was done in the old one is due again.
  const incarnation = (loss === 'kept' && before?.incarnation) || uuid(cx.random);
  const { login, letGo } = await keep(cx, {
    ...accountOf(order, 'database'),
    user: base,
    ensure: async ({ user, password }, now) => {
      const claim = await cx.claim(now, order.part);
      await sql.ensureDatabase(database, claim, namesOf(base));
      await sql.ensureUser(user, password, [database], claim);
    },
    first: true,
    prove: login => cx.cloud.sql({ ...admin, ...login }).check(),
    drop: async user => sql.dropUser(user, await cx.owner(order.part)),
    values: {
      hostname: admin.host,
      port: String(admin.port),
      database,
      ...caOf(admin.ca),
      incarnation,
    },
  });
  const { host, port, ca } = admin;
  const link = { host, port, database, user: login.user, password: login.password, ca };
  return { secret: order.secret, link: { ...link, incarnation }, letGo };
}

export async function packBus<O extends Managed>(cx: Cx<O>, order: Order): Promise<Packed<BusLink>> {
  const server = named(cx, RabbitMQ, order.instance, order.field);
  const { host, port, ca } = await rabbitmq.amqpAddress(cx, server);
  const base = await accountName(cx, order.secret, order.user, server.spec.external !== undefined);
  const place = { host, port, vhost: base, ca };
  const { login, letGo } = await keep(cx, {
    ...accountOf(order, 'message-bus'),
    user: base,
    ensure: (login, now) => registerBus(cx, order, { ...place, ...login }, now),
    drop: async user =>
      cx.cloud.bus(await rabbitmq.adminAddress(cx, server)).dropUser(user, await cx.claim(undefined, order.part)),
    values: {
      hostname: host,
      port: String(port),
      vhost: base,
      ...caOf(ca),
      ...forHosts(rabbitmq.hostsAddress(cx, server)),
    },
  });
  return { secret: order.secret, link: { ...place, user: login.user, password: login.password }, letGo };
}

/** Under names of their own: whoever is in the cluster goes on as before. */
const forHosts = (at: HostAddress | undefined): Readonly<Record<string, string>> =>
  at === undefined ? {} : { 'hosts-hostname': at.host, 'hosts-port': String(at.port) };

const accountOf = ({ secret, instance }: Order, target: Account['target']) => ({
  target,
  secret,
  annotations: { [INSTANCE]: instance },
});

export async function registerBus<O extends Managed>(
  cx: Cx<O>,
  order: Order,
  link: BusLink,
  proof: Login = link,
): Promise<void> {
  const server = cx.ready(RabbitMQ, order.instance, order.field);
  await cx.effect(order.row);
  await registerVhost(cx, server, link, await cx.claim(proof, order.part));
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

/**
 * The user goes; the data goes when Nova is being deleted and its policy says so. Then that of cells which were taken out
 * before goes too: it carries the mark of this Nova.
 */
export async function dropDatabase<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  part: string,
  derived: string,
): Promise<void> {
  const { databaseInstance, deletionPolicy } = cx.spec as { databaseInstance?: string; deletionPolicy?: string };
  const server = staying(cx, MariaDB, instanceOf(cx, secret) ?? databaseInstance);
  if (!server || !cx.acted()) return;
  const sql = cx.cloud.sql(await mariadb.adminAddress(cx, server));
  await markOlder(cx, sql, secret, [derived], part);
  const going = cx.object.metadata.deletionTimestamp !== undefined;
  await leaveSql(sql, await cx.owner(going && part === 'api' ? undefined : part), going && deletionPolicy === 'Delete');
}

export async function dropBus<O extends Managed>(cx: Cx<O>, secret: string, part: string): Promise<void> {
  const { messageBusInstance } = cx.spec as { messageBusInstance?: string };
  await leaveBus(cx, instanceOf(cx, secret) ?? messageBusInstance, secret, part);
}
