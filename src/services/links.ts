import type { Release } from '../../api/blocks/common.ts';
import type { AnyKind, ObjectOf } from '../../api/kind.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import type { Identity, Sql } from '../cloud/ports.ts';
import type { DeepReadonly } from '../kube/object.ts';
import { Job } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { stall, wait } from '../runtime/plan/unmet.ts';
import { type Account, keep, namesOf } from './credentials.ts';
import type { HostAddress } from './hosts.ts';
import * as keystone from './keystone/address.ts';
import * as mariadb from './mariadb/address.ts';
import { memcachedServers } from './memcached/address.ts';
import type { Place } from './names.ts';
import * as rabbitmq from './rabbitmq/address.ts';
import { servingSecret } from './tls/certificate.ts';
import { CA_BUNDLE, trustOf } from './tls/trust.ts';
import { blocks } from './tls/x509.ts';

/** A way into one database, ready to be written into a config file. */
export interface DatabaseLink {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Differs when the database was made anew, empty: what was done in it is due again. */
  readonly incarnation?: string;
  /** PEM; there when the way is encrypted. */
  readonly ca?: string;
}

export interface BusLink {
  readonly host: string;
  readonly port: number;
  readonly vhost: string;
  readonly user: string;
  readonly password: string;
  readonly ca?: string;
  /** Where hosts outside the cluster reach it. */
  readonly outside?: HostAddress;
}

/** A service user of Keystone. */
export interface IdentityLink {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly project: string;
  readonly region: string;
  readonly ca?: string;
  /** Where hosts outside the cluster reach it. */
  readonly outside?: string;
}

export interface CacheLink {
  /** host:port; without any, nothing is cached. */
  readonly servers: readonly string[];
  readonly ca?: string;
}

interface IdentitySpec {
  readonly keystoneInstance: string;
  readonly keystoneSecret?: string;
}
interface DatabaseSpec {
  readonly databaseInstance: string;
  readonly databaseSecret?: string;
  readonly deletionPolicy: 'Retain' | 'Delete';
}
interface BusSpec {
  readonly messageBusInstance: string;
  readonly messageBusSecret?: string;
}
interface CacheSpec {
  readonly release: Release;
  /** Absent from kinds that take addresses only; without any, nothing is cached. */
  readonly memcachedInstance?: string;
  readonly memcachedServers?: readonly string[];
  readonly memcachedSecret?: string;
}

const specOf = <S>(cx: Cx<Managed>): S => cx.spec as unknown as S;

/** User names in MariaDB and RabbitMQ carry the namespace: several clouds may share an external server. */
const userOf = (cx: Place): string => `${cx.namespace}-${cx.name}`.slice(0, 80);

const CONNECTION = ['hostname', 'user', 'password'] as const;
const IDENTITY = ['url', 'user', 'password', 'project', 'region'] as const;

/** A CA in a hand-made Secret means that the way is encrypted. */
function caIn(data: object, secret: string, field: string): { readonly ca?: string } {
  const ca = (data as Readonly<Record<string, string | undefined>>)['ca.crt'];
  if (ca === undefined) return {};
  if (blocks(ca).length > 0) return { ca };
  throw stall({
    reason: 'CertificateInvalid',
    what: `Secret ${secret}, named in ${field}: ca.crt holds no certificate`,
    who: 'User',
    next: 'put the PEM certificate of the CA there, or remove ca.crt if the way may be plain',
  });
}

/** A database that a Secret opens; `field` is the field that names it, `name` the database unless the Secret says. */
export async function readDatabase<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
  name: string,
): Promise<DatabaseLink> {
  const data: Record<(typeof CONNECTION)[number], string> & { port?: string; database?: string; incarnation?: string } =
    await cx.secret(secret, CONNECTION, field);
  const { hostname: host, user, password, port, database = name, incarnation } = data;
  const link = { host, port: Number(port ?? mariadb.PORT), database, user, password };
  return { ...link, ...(incarnation !== undefined && { incarnation }), ...caIn(data, secret, field) };
}

export async function readBus<O extends Managed>(cx: Cx<O>, secret: string, field: string): Promise<BusLink> {
  const data: Record<(typeof CONNECTION)[number], string> & Readonly<Record<string, string | undefined>> =
    await cx.secret(secret, CONNECTION, field);
  const { hostname: host, user, password, port, vhost = '/' } = data;
  const usual = 'ca.crt' in data ? rabbitmq.AMQPS_PORT : rabbitmq.AMQP_PORT;
  const link = { host, port: Number(port ?? usual), vhost, user, password, ...caIn(data, secret, field) };
  const outside = data['hosts-hostname'];
  return outside === undefined
    ? link
    : { ...link, outside: { host: outside, port: Number(data['hosts-port'] ?? link.port) } };
}

export async function readIdentity<O extends Managed>(cx: Cx<O>, secret: string, field: string): Promise<IdentityLink> {
  const { url, user, password, project, region, ...more } = await cx.secret(secret, IDENTITY, field);
  const outside = (more as Readonly<Record<string, string | undefined>>)['hosts-url'];
  const link = { url, user, password, project, region, ...caIn(more, secret, field) };
  return outside === undefined ? link : { ...link, outside };
}

/**
 * Creates database and user in the instance that the spec names, or reads a hand-made Secret. The user may open all of
 * the object's databases, which are `among`.
 */
export async function database<O extends Managed>(
  cx: Cx<O>,
  name: string,
  among: readonly string[] = [name],
): Promise<DatabaseLink> {
  const spec = specOf<DatabaseSpec>(cx);
  if (spec.databaseSecret) return readDatabase(cx, spec.databaseSecret, 'spec.databaseSecret', name);
  const server = cx.ready(MariaDB, spec.databaseInstance, 'spec.databaseInstance');
  const admin = await mariadb.adminAddress(cx, server);
  const sql = cx.cloud.sql(admin);
  await forgetLost(cx, sql, name);
  await sql.ensureDatabase(name);
  const { login, letGo } = await keep(cx, {
    ...databaseAccount(cx),
    user: userOf(cx),
    ensure: ({ user, password }) => sql.ensureUser(user, password, among),
    first: true,
    prove: login => cx.cloud.sql({ ...admin, ...login }).check(),
    drop: user => sql.dropUser(user),
  });
  await letGo();
  const { host, port, ca } = admin;
  return { host, port, database: name, user: login.user, password: login.password, ...(ca !== undefined && { ca }) };
}

/**
 * A database that is gone although work was done in it. The Jobs that did it are named by their inputs, which are what
 * they were, so they and the record of them must go first: else an empty database would count as one with a schema.
 */
async function forgetLost<O extends Managed>(cx: Cx<O>, sql: Sql, name: string): Promise<void> {
  const done = Object.keys(cx.status.hashes ?? {});
  if (done.length === 0 || (await sql.databases()).includes(name)) return;
  const ours = { 'app.kubernetes.io/name': cx.object.kind.toLowerCase(), 'app.kubernetes.io/instance': cx.name };
  for (const job of cx.list(Job, ours)) await cx.remove(Job, job.metadata.name);
  cx.report({ hashes: {} } as Partial<NonNullable<O['status']>>);
  throw stall({
    reason: 'DatabaseLost',
    what: `Database ${name} is gone from MariaDB ${specOf<DatabaseSpec>(cx).databaseInstance}, and with it the data`,
    who: 'Operator',
    next: 'make it anew, empty; restore a backup afterwards',
    after: 1000,
  });
}

/** The user goes; the data goes when the policy says so. */
export async function dropDatabase<O extends Managed>(cx: Cx<O>, name: string): Promise<void> {
  const { databaseSecret, databaseInstance, deletionPolicy } = specOf<DatabaseSpec>(cx);
  if (databaseSecret) return;
  await leaveSql(cx, databaseInstance, userOf(cx), deletionPolicy === 'Delete' ? name : undefined);
}

/** A server that is gone or going takes users and data along (rule 17). */
function staying<O extends Managed, K extends AnyKind>(cx: Cx<O>, kind: K, name: string | undefined) {
  const server = name === undefined ? undefined : cx.get(kind, name);
  return server?.metadata.deletionTimestamp ? undefined : server;
}

/** Takes a user in all its names out of a MariaDB, and a database if one is named. */
export async function leaveSql<O extends Managed>(
  cx: Cx<O>,
  instance: string | undefined,
  user: string,
  database: string | undefined,
): Promise<void> {
  const server = staying(cx, MariaDB, instance);
  if (!server) return;
  const sql = cx.cloud.sql(await mariadb.adminAddress(cx, server));
  for (const name of namesOf(user)) await sql.dropUser(name);
  if (database !== undefined) await sql.dropDatabase(database);
}

/** Takes a user in all its names out of a RabbitMQ, and the vhost of that name. */
export async function leaveBus<O extends Managed>(
  cx: Cx<O>,
  instance: string | undefined,
  user: string,
): Promise<void> {
  const server = staying(cx, RabbitMQ, instance);
  if (!server) return;
  const admin = cx.cloud.bus(await rabbitmq.adminAddress(cx, server));
  for (const name of namesOf(user)) await admin.dropUser(name);
  await admin.dropVhost(user);
}

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
  throw wait({ reason: 'NotFound', what, who: 'User', next: `create it, or name another one in ${field}` });
}

/** The way into a vhost of its own in the bus that the spec names, or into that of a hand-made Secret. */
export async function busLink<O extends Managed>(cx: Cx<O>): Promise<BusLink> {
  const spec = specOf<BusSpec>(cx);
  if (spec.messageBusSecret) return readBus(cx, spec.messageBusSecret, 'spec.messageBusSecret');
  const server = named(cx, RabbitMQ, spec.messageBusInstance, 'spec.messageBusInstance');
  const link = { ...(await rabbitmq.amqpAddress(cx, server)), vhost: userOf(cx) };
  const { login, letGo } = await keep(cx, {
    ...busAccount(cx),
    user: userOf(cx),
    ensure: async login => ensureBus(cx, { ...link, ...login }),
    drop: async user => cx.cloud.bus(await rabbitmq.adminAddress(cx, server)).dropUser(user),
  });
  await letGo();
  return { ...link, user: login.user, password: login.password };
}

/** The bus that the spec names, which must be Ready; undefined where a Secret was given. */
export function busServer<O extends Managed>(cx: Cx<O>): DeepReadonly<ObjectOf<typeof RabbitMQ>> | undefined {
  const { messageBusSecret, messageBusInstance } = specOf<BusSpec>(cx);
  return messageBusSecret ? undefined : cx.ready(RabbitMQ, messageBusInstance, 'spec.messageBusInstance');
}

export async function ensureBus<O extends Managed>(cx: Cx<O>, link: BusLink): Promise<void> {
  const server = busServer(cx);
  if (server) await registerVhost(cx, server, link);
}

export async function registerVhost<O extends Managed>(
  cx: Cx<O>,
  server: DeepReadonly<ObjectOf<typeof RabbitMQ>>,
  { vhost, user, password }: BusLink,
): Promise<void> {
  const admin = cx.cloud.bus(await rabbitmq.adminAddress(cx, server));
  await admin.ensureVhost(vhost);
  await admin.ensureUser(user, password, vhost);
}

export async function dropBus<O extends Managed>(cx: Cx<O>): Promise<void> {
  const { messageBusSecret, messageBusInstance } = specOf<BusSpec>(cx);
  if (!messageBusSecret) await leaveBus(cx, messageBusInstance, userOf(cx));
}

/** Where it caches; nowhere without an instance. */
export async function cache<O extends Managed>(cx: Cx<O>): Promise<CacheLink> {
  const link = await cacheLink(cx);
  const { release } = specOf<CacheSpec>(cx);
  if (link.ca === undefined || cachesOverTls(release)) return link;
  throw stall({
    reason: 'NotSupported',
    what: `The way to memcached is encrypted, and the clients of it in ${release} speak no TLS`,
    who: 'User',
    next: 'set tls.enabled of the Memcached to false, or leave spec.memcachedSecret out',
  });
}

/** keystonemiddleware of 2025.1 has no option for it, and the pool of its oslo.cache does not read the one it has. */
export const cachesOverTls = (release: Release): boolean => release >= '2025.2';

async function cacheLink<O extends Managed>(cx: Cx<O>): Promise<CacheLink> {
  const { memcachedServers: servers, memcachedInstance: instance, memcachedSecret: secret } = specOf<CacheSpec>(cx);
  if (servers || !instance) {
    const field = 'spec.memcachedSecret';
    return { servers: servers ?? [], ...(secret && caIn(await cx.secret(secret, ['ca.crt'], field), secret, field)) };
  }
  const server = named(cx, Memcached, instance, 'spec.memcachedInstance or spec.memcachedServers');
  const ca = await trustOf(cx, server);
  return { servers: memcachedServers(server, cx), ...(ca !== undefined && { ca }) };
}

/** The same way for parts that take addresses and Secrets only. */
export const cacheFields = <O extends Managed>(cx: Cx<O>, link: CacheLink) => ({
  memcachedServers: [...link.servers],
  ...(link.ca !== undefined && {
    memcachedSecret: specOf<CacheSpec>(cx).memcachedSecret ?? servingSecret(specOf<CacheSpec>(cx).memcachedInstance!),
  }),
});

/** Where service users live. */
const SERVICE_PROJECT = 'service';

/** The service user in the Keystone that the spec names, or that of a hand-made Secret. Named after the object: two of a kind must not share one. */
export async function identityLink<O extends Managed>(cx: Cx<O>): Promise<IdentityLink> {
  const spec = specOf<IdentitySpec>(cx);
  if (spec.keystoneSecret) return readIdentity(cx, spec.keystoneSecret, 'spec.keystoneSecret');
  const server = named(cx, Keystone, spec.keystoneInstance, 'spec.keystoneInstance');
  const ca = await trustOf(cx, server);
  const link = {
    url: keystone.internalUrl(cx, server),
    project: SERVICE_PROJECT,
    region: server.spec.region,
    ...(ca !== undefined && { ca }),
  };
  // Two users, not two passwords of one: a new password would end every token that the old one got.
  const { login, letGo } = await keep(cx, {
    ...identityAccount(cx),
    user: cx.name,
    ensure: login => ensureIdentity(cx, { ...link, ...login }),
    prove: login => cx.cloud.identity({ ...link, ...login }).check(),
    drop: async user => (await identityAdmin(cx))?.dropUser(user),
  });
  await letGo();
  return { ...link, user: login.user, password: login.password };
}

const databaseAccount = (cx: Place): Account => ({ target: 'database', secret: `${cx.name}-database` });
const busAccount = (cx: Place): Account => ({ target: 'message-bus', secret: `${cx.name}-message-bus` });
const identityAccount = (cx: Place): Account => ({ target: 'identity', secret: `${cx.name}-identity` });

/** The logins that the operator made for an object which uses these; a hand-made Secret is its maker's to replace. */
export function accountsOf<O extends Managed>(
  cx: Cx<O>,
  uses: { readonly database: boolean; readonly bus: boolean; readonly identity: boolean },
): readonly Account[] {
  const spec = specOf<Partial<DatabaseSpec & BusSpec & IdentitySpec>>(cx);
  return [
    ...(uses.database && !spec.databaseSecret ? [databaseAccount(cx)] : []),
    ...(uses.bus && !spec.messageBusSecret ? [busAccount(cx)] : []),
    ...(uses.identity && !spec.keystoneSecret ? [identityAccount(cx)] : []),
  ];
}

/** Creates the user, unless a Secret was given. */
export async function ensureIdentity<O extends Managed>(
  cx: Cx<O>,
  { user, password, project }: IdentityLink,
): Promise<void> {
  // `service` beside `admin`: Nova and Cinder ask for it since 2025.2 (CVE-2023-2088).
  await (await identityAdmin(cx))?.ensureUser(user, password, project, ['admin', 'service']);
}

export async function dropIdentity<O extends Managed>(cx: Cx<O>): Promise<void> {
  const admin = await identityAdmin(cx, true);
  for (const user of namesOf(cx.name)) await admin?.dropUser(user);
}

/** The Keystone that the spec names, which must be Ready; undefined where a Secret was given. */
export function keystoneServer<O extends Managed>(cx: Cx<O>): DeepReadonly<ObjectOf<typeof Keystone>> | undefined {
  const { keystoneSecret, keystoneInstance } = specOf<IdentitySpec>(cx);
  return keystoneSecret ? undefined : cx.ready(Keystone, keystoneInstance, 'spec.keystoneInstance');
}

/**
 * Keystone with the rights to write the catalog; undefined when the user brought a Secret, whose user may not.
 * `leaving`: also undefined when Keystone is gone or going, which takes users and catalog along (rule 17).
 */
export async function identityAdmin<O extends Managed>(cx: Cx<O>, leaving = false): Promise<Identity | undefined> {
  const { keystoneSecret, keystoneInstance } = specOf<IdentitySpec>(cx);
  if (leaving && keystoneSecret) return undefined;
  const found = leaving ? cx.get(Keystone, keystoneInstance) : keystoneServer(cx);
  if (found === undefined || (leaving && found.metadata.deletionTimestamp)) return undefined;
  return cx.cloud.identity(await keystone.adminAddress(cx, found));
}

/** Percent-encoding of every reserved character: SQLAlchemy and oslo.messaging both decode it. */
const quoted = (text: string): string => encodeURIComponent(text);

/** `ssl_ca` makes the client insist on TLS and compare the name of the server. */
export const databaseUrl = (link: DatabaseLink): string =>
  `mysql+pymysql://${quoted(link.user)}:${quoted(link.password)}@${link.host}:${link.port}/${link.database}?charset=utf8${
    link.ca === undefined ? '' : `&ssl_ca=${CA_BUNDLE}`
  }`;

export const busUrl = (link: BusLink): string =>
  `rabbit://${quoted(link.user)}:${quoted(link.password)}@${link.host}:${link.port}/${quoted(link.vhost)}`;
