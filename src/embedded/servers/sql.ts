import { refusedBySql, rejected, unreachable } from '../../cloud/faults.ts';
import { type Claim, isWithin, type Mark, markOf, type Owner, readMark } from '../../cloud/ownership.ts';
import type { CloudError, SecureTransport, Sql, SqlAddress } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { fingerprint } from '../../world/x509.ts';
import { misfit } from './handshake.ts';
import type { Database, DatabaseUrl, Net, Served, SqlServer, SqlUser } from './state.ts';

/** A login, or the error that the real server would cause. */
export function login(
  net: Net,
  at: SqlAddress,
): { server: SqlServer; me: SqlUser; process: Extract<Served, { is: 'sql' }> } | CloudError {
  const where = `${at.host}:${at.port}`;
  const process = net.find('sql', at.host, at.port);
  const server = process && net.disks.sql[process.volume];
  if (process === undefined || server === undefined) return unreachable('MariaDB', where, 'connection refused');
  const why = misfit(process, { host: at.host, tls: at.ca !== undefined, ca: at.ca });
  if (why) return unreachable('MariaDB', where, why);
  const me = server.users[at.user];
  const secure = at.ca !== undefined || !process.transport.required;
  return secure && me?.password === at.password ? { server, me, process } : refusedBySql(where, at.user, at.ca);
}

/** The database behind a service's connection URL, or why the service can't use it. */
export function open(net: Net, url: DatabaseUrl): Database | string {
  const { trust, ...at } = url;
  const session = login(net, { ...at, ca: trust && (trust() ?? '') });
  if (session instanceof Error) {
    return session.fault === 'unreachable'
      ? `(pymysql.err.OperationalError) (2003, "Can't connect to MySQL server on '${url.host}'")`
      : `(pymysql.err.OperationalError) (1045, "Access denied for user '${url.user}'")`;
  }
  const database = session.server.databases[url.database];
  const allowed = session.me.all || session.me.databases.includes(url.database);
  // A user who may see everything gets an answer that there is none; others get no information.
  if (database === undefined && allowed)
    return `(pymysql.err.OperationalError) (1049, "Unknown database '${url.database}'")`;
  return database && allowed
    ? database
    : `(pymysql.err.OperationalError) (1044, "Access denied for user '${url.user}' to database '${url.database}'")`;
}

class FakeSql implements Sql {
  readonly #net: Net;
  readonly #at: SqlAddress;
  readonly #where: string;

  constructor(net: Net, at: SqlAddress) {
    this.#net = net;
    this.#at = at;
    this.#where = `MariaDB ${at.host}:${at.port}`;
  }

  async check() {
    this.#session();
  }

  async ensureDatabase(name: string, claim: Claim, users: readonly string[]) {
    const server = this.#admin();
    if (SYSTEM.includes(name.toLowerCase()))
      throw rejected('MariaDB', `${this.#at.host}:${this.#at.port}`, `database ${name} belongs to the server itself`);
    const mark = markOf(claim.owner, users);
    const have = server.databases[name];
    if (have?.comment === mark) return false;
    const found = { what: 'Database', name, where: this.#where };
    if (have) await settle({ ...found, text: have.comment ?? '' }, claim, () => opens(server, name, claim));
    for (const user of users) await this.#mayUse(server, user, claim);
    return this.#change(true, () => {
      server.databases[name] = { ...(have ?? { schemas: [] }), comment: mark };
    });
  }

  async ensureUser(user: string, password: string, databases: readonly string[], claim: Claim) {
    const server = this.#admin();
    await this.#mayUse(server, user, claim);
    const { users } = server;
    const wanted = [...databases].sort();
    const have = users[user];
    const same = have && have.password === password && !have.all && [...have.databases].sort().join() === wanted.join();
    return this.#change(!same, () => {
      users[user] = { password, all: false, databases: wanted };
    });
  }

  async ensureAdmin(user: string, password: string) {
    const { users } = this.#admin();
    const same = users[user]?.password === password && users[user].all;
    return this.#change(!same, () => {
      users[user] = { password, all: true, databases: [] };
    });
  }

  async dropUser(user: string, owner: Owner | undefined) {
    const server = this.#admin();
    const { users } = server;
    const ours = owner === undefined || isWithin(holderOf(server, user), owner);
    return this.#change(users[user] !== undefined && ours, () => delete users[user]);
  }

  async dropDatabase(name: string, owner: Owner) {
    const { databases } = this.#admin();
    return this.#change(isWithin(readMark(databases[name]?.comment), owner), () => delete databases[name]);
  }

  async owned(owner: Owner) {
    const { databases, users } = this.#admin();
    const held = Object.entries(databases).filter(([, { comment }]) => isWithin(readMark(comment), owner));
    const listed = new Set(held.flatMap(([, { comment }]) => readMark(comment)?.users ?? []));
    return { databases: held.map(([name]) => name), users: [...listed].filter(user => users[user] !== undefined) };
  }

  async column(database: string, table: string, column: string) {
    const { server, me } = this.#session();
    const found = me.all || me.databases.includes(database) ? server.databases[database] : undefined;
    // The one table that anybody asks for.
    if (found?.cells === undefined || table !== 'cell_mappings' || column !== 'name')
      throw rejected('MariaDB', `${this.#at.host}:${this.#at.port}`, `ER_NO_SUCH_TABLE: ${database}.${table}`);
    return Object.keys(found.cells);
  }

  async ensureCertificate(wanted: string) {
    const { process } = this.#session();
    const shown = fingerprint(process.shows?.() ?? '');
    if (shown === undefined || shown === wanted) return false;
    return this.#change(true, () => process.flush?.());
  }

  async ensureSecureTransport(wanted: SecureTransport) {
    this.#admin();
    const { transport } = this.#session().process;
    const required = wanted === 'ON';
    return this.#change(transport.required !== required, () => {
      transport.required = required;
    });
  }

  async databases() {
    const { server, me } = this.#session();
    const seen = Object.entries(server.databases).filter(([name]) => me.all || me.databases.includes(name));
    return Object.fromEntries(
      seen
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { comment, schemas }]) => [
          name,
          { ...(comment !== undefined && { mark: comment }), empty: schemas.length === 0 },
        ]),
    );
  }

  #session() {
    if (this.#at.ca === undefined)
      this.#net.plainTo(this.#net.find('sql', this.#at.host, this.#at.port), `sql ${this.#at.host}`);
    const opened = login(this.#net, this.#at);
    if (opened instanceof Error) throw opened;
    return opened;
  }

  /** Only who has every right may make and drop. */
  #admin(): SqlServer {
    const { server, me } = this.#session();
    if (!me.all)
      throw rejected('MariaDB', `${this.#at.host}:${this.#at.port}`, `access denied for user ${this.#at.user}`);
    return server;
  }

  async #mayUse(server: SqlServer, user: string, claim: Claim): Promise<void> {
    const have = server.users[user];
    if (have === undefined) return;
    const mark = holderOf(server, user);
    const proven = () => claim.proof?.user === user && claim.proof.password === have.password;
    await settle({ what: 'User', name: user, where: this.#where, text: mark ? markOf(mark) : '' }, claim, proven);
  }

  #change(differs: boolean, apply: () => void): boolean {
    if (!differs) return false;
    this.#net.mutated();
    apply();
    return true;
  }
}

export const fakeSql = (net: Net, at: SqlAddress): Sql => new FakeSql(net, at);

const SYSTEM = ['information_schema', 'mysql', 'performance_schema', 'sys'];

/** The mark that lists this user. */
function holderOf({ databases }: SqlServer, user: string): Mark | undefined {
  const marks = Object.values(databases).map(({ comment }) => readMark(comment));
  return marks.find(mark => mark?.users.includes(user));
}

/** Whether the credentials of the claim log in and may use this database. */
function opens({ users }: SqlServer, name: string, { proof }: Claim): boolean {
  const user = proof && users[proof.user];
  return user !== undefined && user.password === proof?.password && user.databases.includes(name);
}
