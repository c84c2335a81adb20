import type { Release } from '../../api/blocks/common.ts';
import type { AnyKind, ObjectOf } from '../../api/kind.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { type Claim, isWithin, type Owner, readMark } from '../cloud/ownership.ts';
import { CloudError, type FoundDatabase, type Identity, type Sql } from '../cloud/ports.ts';
import type { DeepReadonly } from '../kube/object.ts';
import { Job, Secret } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { ACCEPT_LOSS_ANNOTATION, SKIP_UNDO_ANNOTATION, USERS } from '../runtime/plan/names.ts';
import { stall, subjectOf, type Unmet, wait } from '../runtime/plan/unmet.ts';
import { urlHost, urlWord } from '../world/quote/url.ts';
import { type Account, accountName, keep, type Login, namesOf, suffixOf } from './credentials.ts';
import { checkGiven } from './given.ts';
import type { HostAddress } from './hosts.ts';
import * as keystone from './keystone/address.ts';
import * as mariadb from './mariadb/address.ts';
import { refusesPlain } from './mariadb/transport.ts';
import { memcachedServers } from './memcached/address.ts';
import type { Place } from './names.ts';
import * as rabbitmq from './rabbitmq/address.ts';
import { iso } from './schedule.ts';
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
  /** PEM: the way is encrypted. undefined: it is plain. Never optional, so that nobody forgets it. */
  readonly ca: string | undefined;
}

export interface BusLink {
  readonly host: string;
  readonly port: number;
  readonly vhost: string;
  readonly user: string;
  readonly password: string;
  readonly ca: string | undefined;
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
  readonly ca: string | undefined;
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
function caIn(data: object, secret: string, field: string): { readonly ca: string | undefined } {
  const ca = (data as Readonly<Record<string, string | undefined>>)['ca.crt'];
  if (ca === undefined) return { ca };
  if (blocks(ca).length > 0) return { ca };
  throw stall({
    reason: 'CertificateInvalid',
    about: subjectOf(Secret, secret),
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
  checkGiven(data, secret, field);
  const { hostname: host, user, password, port, database = name, incarnation } = data;
  const link = { host, port: Number(port ?? mariadb.PORT), database, user, password, ...caIn(data, secret, field) };
  if (link.ca === undefined) takesPlain(cx, host, secret, field);
  return { ...link, ...(incarnation !== undefined && { incarnation }) };
}

/** A server of ours that refuses plain connections stops that first, when it sees the Secret too (mariadb/transport.ts). */
function takesPlain<O extends Managed>(cx: Cx<O>, host: string, secret: string, field: string): void {
  const server = cx.list(MariaDB, {}).find(each => refusesPlain(each as DeepReadonly<ObjectOf<typeof MariaDB>>, host));
  if (server === undefined) return;
  throw wait({
    reason: 'SecretIncomplete',
    about: subjectOf(Secret, secret),
    keys: ['ca.crt'],
    what: `Secret ${secret}, named in ${field}, has no key ca.crt, and MariaDB ${server.metadata.name} refuses connections without TLS until it has seen that`,
    who: 'Operator',
    next: 'allow plain connections; better, put the CA of the server into ca.crt',
  });
}

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

export async function readIdentity<O extends Managed>(cx: Cx<O>, secret: string, field: string): Promise<IdentityLink> {
  const data = await cx.secret(secret, IDENTITY, field);
  checkGiven(data, secret, field, ['user', 'password', 'project', 'region']);
  const { url, user, password, project, region, ...more } = data;
  const outside = (more as Readonly<Record<string, string | undefined>>)['hosts-url'];
  const link = { url, user, password, project, region, ...caIn(more, secret, field) };
  return outside === undefined ? link : { ...link, outside };
}

/** A database that an object asks for: by the name that its user gave, or by one that is derived. */
export interface WantedDatabase {
  readonly derived: string;
  readonly given?: string | undefined;
}

/**
 * Creates databases and one user for them in the instance that the spec names, or reads a hand-made Secret. In the order
 * of `wanted`.
 */
export async function databases<O extends Managed>(
  cx: Cx<O>,
  wanted: readonly WantedDatabase[],
): Promise<readonly DatabaseLink[]> {
  const spec = specOf<DatabaseSpec>(cx);
  if (spec.databaseSecret) {
    const [secret, field] = [spec.databaseSecret, 'spec.databaseSecret'];
    return cx.all(wanted.map(({ given, derived }) => readDatabase(cx, secret, field, given ?? derived)));
  }
  const server = cx.ready(MariaDB, spec.databaseInstance, 'spec.databaseInstance');
  const admin = await mariadb.adminAddress(cx, server);
  const sql = cx.cloud.sql(admin);
  const shared = server.spec.external !== undefined;
  const { secret } = databaseAccount(cx);
  const base = await accountName(cx, secret, userOf(cx), shared);
  const names = await cx.all(wanted.map(each => databaseNameOn(cx, sql, each, shared, base)));
  for (const name of names) await notLost(cx, sql, name, spec.databaseInstance, syncedBefore(cx));
  await cx.effect('DatabaseReady');
  const { login, letGo } = await keep(cx, {
    ...databaseAccount(cx),
    user: base,
    ensure: async ({ user, password }, now) => {
      const claim = await cx.claim(now);
      for (const name of names) await sql.ensureDatabase(name, claim, namesOf(base));
      await sql.ensureUser(user, password, names, claim);
    },
    first: true,
    prove: login => cx.cloud.sql({ ...admin, ...login }).check(),
    drop: async user => sql.dropUser(user, await cx.owner()),
  });
  await letGo();
  const { host, port, ca } = admin;
  const { user, password } = login;
  return names.map(database => ({ host, port, database, user, password, ca }));
}

/** Of one database. */
export const database = async <O extends Managed>(cx: Cx<O>, wanted: WantedDatabase): Promise<DatabaseLink> =>
  (await databases(cx, [wanted]))[0]!;

/**
 * On a server of our own a derived name is used as it is. On one that others may use too it gets a suffix from the owner's
 * id, unless a database of the plain name is this object's already: a cloud that runs there keeps its names.
 */
export async function databaseNameOn<O extends Managed>(
  cx: Cx<O>,
  sql: Sql,
  { derived, given }: WantedDatabase,
  shared: boolean,
  account: string,
): Promise<string> {
  if (given !== undefined) return given;
  if (!shared) return derived;
  const { owner, adopt } = await cx.claim();
  const found = (await sql.databases())[derived];
  // An account without the suffix is of before there were marks, also when its database is gone or somebody else's now.
  if (!account.endsWith(`-${suffixOf(owner)}`)) return derived;
  const suffixed = `${derived.slice(0, 57)}_${suffixOf(owner)}`;
  if (found === undefined) return suffixed;
  const adopted = adopt?.split(',').some(word => [derived, readMark(found.mark)?.id].includes(word.trim()));
  return adopted || isWithin(readMark(found.mark), owner) ? derived : suffixed;
}

/** Whether Jobs of this object have made a schema. */
const syncedBefore = <O extends Managed>(cx: Cx<O>): boolean => Object.keys(cx.status.hashes ?? {}).length > 0;

interface Lossy {
  readonly lostSince?: string;
}

/**
 * A database that is gone, or empty, although a schema was made in it. It is never made anew silently: the user restores
 * it, or accepts the loss by an annotation with the time of this very loss. Then the Jobs that made the schema, and the
 * record of them, go first: they are named by their inputs, which are what they were.
 */
export async function notLost<O extends Managed>(
  cx: Cx<O>,
  sql: Sql,
  name: string,
  instance: string,
  had: boolean,
): Promise<'kept' | 'accepted'> {
  const known = (await sql.databases())[name];
  // What was known a moment ago may be of before the schema was made.
  const found = had && known?.empty !== false ? (await sql.databases('now'))[name] : known;
  const { lostSince } = cx.status as Lossy;
  if (!had || (found !== undefined && !found.empty)) {
    // An object may have several databases: only when none of them is lost is there nothing to accept.
    if (lostSince !== undefined && found !== undefined) cx.clear('lostSince');
    return 'kept';
  }
  const since = lostSince ?? iso(cx.serverTime());
  if (cx.object.metadata.annotations?.[ACCEPT_LOSS_ANNOTATION] === since) {
    const ours = { 'app.kubernetes.io/name': cx.object.kind.toLowerCase(), 'app.kubernetes.io/instance': cx.name };
    for (const job of cx.list(Job, ours)) await cx.remove(Job, job.metadata.name);
    cx.report({ hashes: {}, lostSince: undefined } as never);
    cx.event({
      reason: 'DataLossAccepted',
      note: `Database ${name} is created again, empty, as annotation ${ACCEPT_LOSS_ANNOTATION} says`,
    });
    // The record of the Jobs goes with this pass; they are due in the next one.
    cx.again(1000);
    return 'accepted';
  }
  cx.report({ lostSince: since } as never);
  throw lost(cx, name, instance, found, since);
}

function lost<O extends Managed>(
  cx: Cx<O>,
  name: string,
  instance: string,
  found: FoundDatabase | undefined,
  since: string,
): Unmet {
  const object = `${cx.object.kind.toLowerCase()} ${cx.name} -n ${cx.namespace}`;
  return stall({
    reason: 'DatabaseLost',
    about: subjectOf(MariaDB, instance),
    what: `Database ${name} on MariaDB ${instance} ${found ? 'is empty' : 'does not exist'}, though its schema was created before`,
    who: 'User',
    next: `restore it from a backup, or accept the loss: kubectl annotate --overwrite ${object} ${ACCEPT_LOSS_ANNOTATION}=${since}`,
    // What happens inside a server is shown by no watch.
    after: 30_000,
  });
}

/** The user goes; the data goes when the object is being deleted and its policy says so. */
export async function dropDatabases<O extends Managed>(cx: Cx<O>, wanted: readonly WantedDatabase[]): Promise<void> {
  const { databaseSecret, databaseInstance, deletionPolicy } = specOf<DatabaseSpec>(cx);
  if (databaseSecret || !cx.acted()) return;
  const server = staying(cx, MariaDB, databaseInstance);
  if (!server) return;
  const sql = cx.cloud.sql(await mariadb.adminAddress(cx, server));
  const { secret } = databaseAccount(cx);
  await markOlder(
    cx,
    sql,
    secret,
    wanted.map(({ given, derived }) => given ?? derived),
  );
  await leaveSql(sql, await cx.owner(), deletionPolicy === 'Delete');
}

/**
 * Gives marks to what this object made before there were marks, so that it can be dropped: an operator may be upgraded
 * and the object deleted at once. What its credentials do not open stays.
 */
export async function markOlder<O extends Managed>(
  cx: Cx<O>,
  sql: Sql,
  secret: string,
  names: readonly string[],
  part?: string,
): Promise<void> {
  const login = await ownLogin(cx, secret);
  if (login === undefined) return;
  const { user } = login;
  const there = await sql.databases();
  const claim = await cx.claim(login, part);
  for (const name of names) {
    if (there[name] === undefined || there[name].mark !== undefined) continue;
    await sql.ensureDatabase(name, claim, namesOf(user.replace(/_b$/, ''))).catch(unlessTaken);
  }
}

/** The login in a Secret of this object. One that another object owns under this name proves nothing. */
async function ownLogin<O extends Managed>(cx: Cx<O>, secret: string): Promise<Login | undefined> {
  const owner = cx.get(Secret, secret)?.metadata.ownerReferences?.find(ref => ref.controller);
  if (owner?.uid !== cx.object.metadata.uid) return undefined;
  const { user, password } = (await cx.secretIfAny(secret)) ?? {};
  return user && password ? { user, password } : undefined;
}

const unlessTaken = (error: unknown): void => {
  if (!(error instanceof CloudError && error.fault === 'taken')) throw error;
};

/**
 * A server that is gone takes users and data along. One that is being deleted waits for the objects that name it, so it
 * serves until then; unless it was told not to wait.
 */
export function staying<O extends Managed, K extends AnyKind>(cx: Cx<O>, kind: K, name: string | undefined) {
  const server = name === undefined ? undefined : cx.get(kind, name);
  if (!server?.metadata.deletionTimestamp) return server;
  const skipped = server.metadata.annotations?.[SKIP_UNDO_ANNOTATION] ?? '';
  return skipped.split(',').some(word => word.trim() === USERS) ? undefined : server;
}

/** Takes the users of an owner out of a MariaDB, and its databases if `data`. */
export async function leaveSql(sql: Sql, owner: Owner, data: boolean): Promise<void> {
  const owned = await sql.owned(owner);
  for (const user of owned.users) await sql.dropUser(user, owner);
  if (data) for (const name of owned.databases) await sql.dropDatabase(name, owner);
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
  const about = subjectOf(kind, name);
  throw wait({
    reason: 'NotFound',
    about,
    what,
    who: 'User',
    next: `create it, or name another one in ${field}`,
    field,
  });
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

/** Where it caches; nowhere without an instance. */
export async function cache<O extends Managed>(cx: Cx<O>): Promise<CacheLink> {
  const link = await cacheLink(cx);
  const { release } = specOf<CacheSpec>(cx);
  if (link.ca === undefined || cachesOverTls(release)) return link;
  throw stall({
    reason: 'NotSupported',
    field: 'spec.memcachedSecret',
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
    const { ca } = secret ? caIn(await cx.secret(secret, ['ca.crt'], field), secret, field) : {};
    return { servers: servers ?? [], ...(ca !== undefined && { ca }) };
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
  const link = {
    url: keystone.internalUrl(cx, server),
    project: SERVICE_PROJECT,
    region: server.spec.region,
    ca: await trustOf(cx, server),
  };
  // Two users, not two passwords of one: a new password would end every token that the old one got.
  const { login, letGo } = await keep(cx, {
    ...identityAccount(cx),
    user: cx.name,
    ensure: login => ensureIdentity(cx, { ...link, ...login }),
    prove: login => cx.cloud.identity({ ...link, ...login }).check(),
    drop: async user => (await identityAdmin(cx))?.dropUser(user, await cx.owner()),
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
  const admin = await identityAdmin(cx);
  if (!admin) return;
  await cx.effect('IdentityReady');
  // `service` beside `admin`: Nova and Cinder ask for it since 2025.2 (CVE-2023-2088).
  await admin.ensureUser(user, password, project, ['admin', 'service'], await cx.claim({ user, password }));
}

export async function dropIdentity<O extends Managed>(cx: Cx<O>): Promise<void> {
  if (!cx.acted()) return;
  const admin = await identityAdmin(cx, true);
  for (const user of namesOf(cx.name)) await admin?.dropUser(user, await cx.owner());
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
  const found = leaving ? staying(cx, Keystone, keystoneInstance) : keystoneServer(cx);
  if (found === undefined) return undefined;
  return cx.cloud.identity(await keystone.adminAddress(cx, found));
}

/** `ssl_ca` makes the client insist on TLS and compare the name of the server. */
export const databaseUrl = (link: DatabaseLink): string =>
  `mysql+pymysql://${urlWord(link.user)}:${urlWord(link.password)}@${urlHost(link.host)}:${link.port}/${urlWord(link.database)}?charset=utf8${
    link.ca === undefined ? '' : `&ssl_ca=${CA_BUNDLE}`
  }`;

export const busUrl = (link: BusLink): string =>
  `rabbit://${urlWord(link.user)}:${urlWord(link.password)}@${urlHost(link.host)}:${link.port}/${urlWord(link.vhost)}`;
