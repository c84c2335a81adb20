import { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import { isWithin, type Owner, readMark } from '../../cloud/ownership.ts';
import { CloudError, type Sql } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { urlHost, urlWord } from '../../world/quote/url.ts';
import { checkGiven } from '../backends/given.ts';
import * as mariadb from '../backends/mariadb.ts';
import { CA_BUNDLE } from '../tls/trust.ts';
import { accountName, keep, namesOf, suffixOf } from './credentials.ts';
import { CONNECTION, caIn } from './given.ts';
import { notLost, syncedBefore } from './lost.ts';
import { refusesPlain } from './secure-transport.ts';
import { ownLogin, staying } from './server.ts';
import { type DatabaseSpec, databaseAccount, specOf, userOf } from './spec.ts';
import type { DatabaseLink } from './types.ts';

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

const unlessTaken = (error: unknown): void => {
  if (!(error instanceof CloudError && error.fault === 'taken')) throw error;
};

/** Takes the users of an owner out of a MariaDB, and its databases if `data`. */
export async function leaveSql(sql: Sql, owner: Owner, data: boolean): Promise<void> {
  const owned = await sql.owned(owner);
  for (const user of owned.users) await sql.dropUser(user, owner);
  if (data) for (const name of owned.databases) await sql.dropDatabase(name, owner);
}

/** `ssl_ca` makes the client insist on TLS and compare the name of the server. */
export const databaseUrl = (link: DatabaseLink): string =>
  `mysql+pymysql://${urlWord(link.user)}:${urlWord(link.password)}@${urlHost(link.host)}:${link.port}/${urlWord(link.database)}?charset=utf8${
    link.ca === undefined ? '' : `&ssl_ca=${CA_BUNDLE}`
  }`;
