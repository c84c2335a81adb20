import { connect, isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { assertTerm, within } from '../cloud/during.ts';
import { refusedBySql, rejected, unreachable } from '../cloud/faults.ts';
import { type Claim, isMarkOf, isWithin, type Mark, markOf, type Owner, readMark } from '../cloud/ownership.ts';
import type { CloudError, SecureTransport, Sql, SqlAddress, Term } from '../cloud/ports.ts';
import { settle } from '../cloud/settle.ts';
import {
  accountOf,
  alterUser,
  createDatabase,
  createUser,
  EVERYWHERE,
  grantAll,
  isPlainName,
  markDatabase,
  nativeHash,
  scopeOf,
  whileMarked,
} from '../cloud/statements.ts';
import { sqlName } from '../world/quote/sql.ts';
import { DEADLINE, type Dial } from './http/dial.ts';
import { reasonOf } from './http/http.ts';

/** MariaDB by mysql2. Looks first and writes only what differs: at rest nothing but SELECT and SHOW reaches the server. */

const SYSTEM = ['information_schema', 'mysql', 'performance_schema', 'sys'];
/** A server may be set to know no case of names. */
const isSystem = (name: string): boolean => SYSTEM.includes(name.toLowerCase());

interface Account extends RowDataPacket {
  plugin: string;
  authentication_string: string;
}

export interface SqlOptions {
  readonly deadline?: number | undefined;
  readonly term?: Term | undefined;
}

class RealSql implements Sql {
  readonly #at: SqlAddress;
  readonly #dial: Dial;
  readonly #deadline: number;
  readonly #term: Term | undefined;
  readonly #where: string;

  constructor(at: SqlAddress, dial: Dial, { deadline = DEADLINE, term }: SqlOptions = {}) {
    this.#at = at;
    this.#dial = dial;
    this.#deadline = deadline;
    this.#term = term;
    this.#where = `${at.host}:${at.port}`;
  }

  check() {
    return this.#session(async run => void (await run('SELECT 1')));
  }

  async ensureDatabase(name: string, claim: Claim, users: readonly string[]) {
    this.#names(name, ...users);
    if (isSystem(name)) throw this.#belongsToServer(name);
    const mark = markOf(claim.owner, users);
    return this.#session(async run => {
      const text = await commentOf(run, name);
      if (text === mark) return false;
      const found = { what: 'Database', name, where: `MariaDB ${this.#where}` };
      if (text !== undefined) await settle({ ...found, text }, claim, () => opensDatabase(run, name, claim));
      for (const user of users) await mayUse(run, user, claim, this.#where);
      if (text === undefined) await run(createDatabase(name, mark));
      else await run(whileMarked(markDatabase(name, mark)), [name, text]);
      if ((await commentOf(run, name)) !== mark)
        throw unreachable('MariaDB', this.#where, `the owner of database ${name} changed just now`);
      return true;
    });
  }

  async ensureUser(user: string, password: string, databases: readonly string[], claim: Claim) {
    this.#names(user, ...databases);
    return this.#session(async run => {
      await mayUse(run, user, claim, this.#where);
      const made = await ensureAccount(run, user, password);
      return (await ensureGrants(run, accountOf(user), databases)) || made;
    });
  }

  async ensureAdmin(user: string, password: string) {
    this.#names(user);
    return this.#session(async run => {
      const made = await ensureAccount(run, user, password);
      const rows = await run(`SHOW GRANTS FOR ${accountOf(user)}`);
      const all = rows.map(row => String(Object.values(row)[0]));
      if (all.some(line => /^GRANT ALL PRIVILEGES ON \*\.\* .*WITH GRANT OPTION/.test(line))) return made;
      await run(`GRANT ALL PRIVILEGES ON *.* TO ${accountOf(user)} WITH GRANT OPTION`);
      return true;
    });
  }

  async dropUser(user: string, owner: Owner | undefined) {
    this.#names(user);
    return this.#session(async run => {
      if ((await accountRow(run, user)) === undefined) return false;
      const drop = `DROP USER IF EXISTS ${accountOf(user)}`;
      const holder = owner && (await holderOf(run, user));
      if (owner === undefined) await run(drop);
      else if (holder && isWithin(holder.mark, owner)) await run(whileMarked(drop), [holder.name, holder.text]);
      return (await accountRow(run, user)) === undefined;
    });
  }

  async dropDatabase(name: string, owner: Owner) {
    this.#names(name);
    if (isSystem(name)) throw this.#belongsToServer(name);
    return this.#session(async run => {
      const text = await commentOf(run, name);
      if (text === undefined || !isWithin(readMark(text), owner)) return false;
      await run(whileMarked(`DROP DATABASE ${sqlName(name)}`), [name, text]);
      return (await commentOf(run, name)) === undefined;
    });
  }

  owned(owner: Owner) {
    return this.#session(async run => {
      const held = (await markedDatabases(run)).filter(({ mark }) => isWithin(mark, owner));
      const users: string[] = [];
      for (const user of new Set(held.flatMap(({ mark }) => mark.users)))
        if (await accountRow(run, user)) users.push(user);
      return { databases: held.map(({ name }) => name), users };
    });
  }

  async column(database: string, table: string, column: string) {
    this.#names(database, table, column);
    return this.#session(async run => {
      const rows = await run(`SELECT ${sqlName(column)} AS value FROM ${sqlName(database)}.${sqlName(table)}`);
      return rows.map(row => String(row.value));
    });
  }

  ensureCertificate(fingerprint: string) {
    return this.#session(async (run, shown) => {
      if (shown === undefined || shown === fingerprint) return false;
      await run('FLUSH SSL');
      return true;
    });
  }

  ensureSecureTransport(wanted: SecureTransport) {
    return this.#session(async run => {
      const [row] = await run('SELECT @@GLOBAL.require_secure_transport AS value');
      if ((Number(row?.value) === 1) === (wanted === 'ON')) return false;
      await run(`SET GLOBAL require_secure_transport = ${wanted}`);
      return true;
    });
  }

  databases() {
    return this.#session(async run => {
      const rows = await run('SELECT SCHEMA_NAME AS name, SCHEMA_COMMENT AS mark FROM information_schema.SCHEMATA');
      const full = await run('SELECT DISTINCT TABLE_SCHEMA AS name FROM information_schema.TABLES');
      const filled = new Set(full.map(row => String(row.name)));
      return Object.fromEntries(
        rows
          .map(row => ({ name: String(row.name), mark: String(row.mark ?? '') }))
          .filter(({ name }) => !isSystem(name))
          .map(({ name, mark }) => [name, { ...(mark !== '' && { mark }), empty: !filled.has(name) }]),
      );
    });
  }

  #names(...all: string[]) {
    const odd = all.find(name => !isPlainName(name));
    if (odd !== undefined)
      throw rejected('MariaDB', this.#where, `${JSON.stringify(odd)} is no name for a user or database`);
  }

  #belongsToServer(name: string) {
    return rejected('MariaDB', this.#where, `database ${name} belongs to the server itself`);
  }

  /** One connection per call: calls are minutes apart, and an idle one would only be cut by the server. */
  async #session<T>(work: (run: Run, shown: string | undefined) => Promise<T>): Promise<T> {
    if (this.#term) assertTerm(this.#term);
    let connection: Connection | undefined;
    const talk = async (): Promise<T> => {
      const open = await this.#opened();
      connection = open;
      const result = await work(async (sql, values = []) => {
        // A call is several statements, and the lease may be lost between any two of them.
        if (this.#term) assertTerm(this.#term);
        const [rows] = await open.query({ sql, values: [...values], timeout: this.#deadline });
        return rows as RowDataPacket[];
      }, shownBy(open));
      // A goodbye: without it the server's log fills with aborted connections.
      await open.end();
      return result;
    };
    try {
      return await (this.#term ? within(this.#term.signal, talk(), () => connection?.destroy()) : talk());
    } catch (error) {
      connection?.destroy();
      // Our own doing says nothing about the server.
      if (this.#term) assertTerm(this.#term);
      throw translate(error, this.#where, this.#at);
    }
  }

  async #opened(): Promise<Connection> {
    const { createConnection } = await import('mysql2/promise');
    const to = await this.#dial(this.#at.host, this.#at.port);
    const open = await createConnection({
      // mysql2 compares the name in the certificate with this one; the way there may lead over a port of this machine.
      host: this.#at.host,
      port: this.#at.port,
      stream: () => connect(to.port, to.host),
      user: this.#at.user,
      password: this.#at.password,
      connectTimeout: this.#deadline,
      ...(this.#at.ca !== undefined && { ssl: { ca: this.#at.ca, verifyIdentity: isIP(this.#at.host) === 0 } }),
    });
    // Who hung up meanwhile was not there to cut it.
    if (this.#term?.signal.aborted) open.destroy();
    return open;
  }
}

export const realSql = (at: SqlAddress, dial: Dial, options: SqlOptions = {}): Sql => new RealSql(at, dial, options);

/** The comment of a database; undefined when there is none of that name. */
async function commentOf(run: Run, name: string): Promise<string | undefined> {
  const [row] = await run('SELECT SCHEMA_COMMENT AS mark FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?', [
    name,
  ]);
  return row && String(row.mark ?? '');
}

interface Marked {
  readonly name: string;
  /** As it is written. */
  readonly text: string;
  readonly mark: Mark;
}

async function markedDatabases(run: Run): Promise<readonly Marked[]> {
  const rows = await run(
    "SELECT SCHEMA_NAME AS name, SCHEMA_COMMENT AS mark FROM information_schema.SCHEMATA WHERE SCHEMA_COMMENT LIKE 'openstack-operator:%'",
  );
  return rows.flatMap(row => {
    const text = String(row.mark);
    const mark = readMark(text);
    return mark ? [{ name: String(row.name), text, mark }] : [];
  });
}

/** The database whose mark lists this user. */
const holderOf = async (run: Run, user: string): Promise<Marked | undefined> =>
  (await markedDatabases(run)).find(({ mark }) => mark.users.includes(user));

/** A user that exists must be listed by a database of this object, or open with the password of its Secret. */
async function mayUse(run: Run, user: string, claim: Claim, where: string): Promise<void> {
  const account = await accountRow(run, user);
  if (account === undefined) return;
  const mark = (await holderOf(run, user))?.mark;
  const text = mark && markOf(mark);
  if (text && isMarkOf(text, claim.owner)) return;
  const found = { what: 'User', name: user, where: `MariaDB ${where}`, ...(text && { text }) };
  await settle(found, claim, () => opensAccount(account, user, claim));
}

const opensAccount = (account: Account, user: string, { proof }: Claim): boolean =>
  proof !== undefined &&
  proof.user === user &&
  account.authentication_string?.toUpperCase() === nativeHash(proof.password);

/** Whether the credentials of the claim log in and may use this database. */
async function opensDatabase(run: Run, name: string, claim: Claim): Promise<boolean> {
  const { proof } = claim;
  const account = proof && (await accountRow(run, proof.user));
  if (!proof || !account || !opensAccount(account, proof.user, claim)) return false;
  const rows = await run(`SHOW GRANTS FOR ${accountOf(proof.user)}`);
  return rows.some(row => grantOf(String(Object.values(row)[0]))?.on === scopeOf(name));
}

async function accountRow(run: Run, user: string): Promise<Account | undefined> {
  const [row] = await run('SELECT plugin, authentication_string FROM mysql.user WHERE User = ? AND Host = ?', [
    user,
    EVERYWHERE,
  ]);
  return row as Account | undefined;
}

/** The fingerprint of the certificate at the other end; undefined where the way is plain. */
function shownBy(connection: Connection): string | undefined {
  const { stream } = (connection as Connection & { connection?: { stream?: unknown } }).connection ?? {};
  return stream instanceof TLSSocket ? stream.getPeerCertificate().fingerprint256 : undefined;
}

type Run = (sql: string, values?: readonly string[]) => Promise<RowDataPacket[]>;

/** The user with this password, whatever it may do. */
async function ensureAccount(run: Run, user: string, password: string): Promise<boolean> {
  const have = await accountRow(run, user);
  if (have?.plugin === 'mysql_native_password' && have.authentication_string.toUpperCase() === nativeHash(password))
    return false;
  await run(have === undefined ? createUser(user, password) : alterUser(user, password));
  return true;
}

/** Every right on these databases and none elsewhere. */
async function ensureGrants(run: Run, account: string, databases: readonly string[]): Promise<boolean> {
  const rows = await run(`SHOW GRANTS FOR ${account}`);
  const grants = rows.map(row => grantOf(String(Object.values(row)[0]))).filter(g => g !== undefined);
  const wanted = new Set(databases.map(scopeOf));
  let changed = false;
  for (const { rights, on } of grants) {
    const right = wanted.has(on) ? 'ALL PRIVILEGES' : on === '*.*' ? 'USAGE' : undefined;
    if (rights === right) continue;
    // Too much, elsewhere or not enough: what is right is granted again below.
    await run(`REVOKE ALL PRIVILEGES ON ${on} FROM ${account}`);
    changed = true;
  }
  const complete = new Set(grants.filter(g => g.rights === 'ALL PRIVILEGES').map(g => g.on));
  for (const on of wanted) {
    if (complete.has(on)) continue;
    await run(grantAll(on, account));
    changed = true;
  }
  return changed;
}

/** GRANT rights ON scope TO ... ; undefined for a granted role, which we neither make nor touch. */
export function grantOf(line: string): { rights: string; on: string } | undefined {
  const found = /^GRANT (.+) ON (\S+) TO /.exec(line);
  return found ? { rights: found[1]!, on: found[2]! } : undefined;
}

function translate(error: unknown, where: string, { user, ca }: SqlAddress): CloudError {
  if (error instanceof Error && error.name === 'CloudError') return error as CloudError;
  const {
    code = '',
    errno,
    sqlMessage,
    sqlState,
  } = (error ?? {}) as {
    code?: string;
    errno?: number;
    sqlMessage?: string;
    sqlState?: string;
  };
  if (code === 'ER_ACCESS_DENIED_ERROR' || errno === 1045 || errno === 1698) return refusedBySql(where, user, ca);
  // 1053: in shutdown; 1040: too many connections. Both pass by themselves.
  if (sqlState === undefined || errno === 1053 || errno === 1040) {
    return unreachable('MariaDB', where, sqlState === undefined ? reasonOf(error) : code, error);
  }
  return rejected('MariaDB', where, `${code}: ${(sqlMessage ?? '').slice(0, 200)}`);
}
