import { TLSSocket } from 'node:tls';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { refused, rejected, unreachable } from '../cloud/faults.ts';
import type { CloudError, Sql, SqlAddress } from '../cloud/ports.ts';
import {
  accountOf,
  alterUser,
  createDatabase,
  createUser,
  EVERYWHERE,
  grantAll,
  isPlainName,
  nativeHash,
  scopeOf,
} from '../cloud/statements.ts';
import { DEADLINE, type Dial } from './dial.ts';
import { reasonOf } from './http.ts';

/** MariaDB by mysql2. Looks first and writes only what differs: at rest nothing but SELECT and SHOW reaches the server. */

const SYSTEM = ['information_schema', 'mysql', 'performance_schema', 'sys'];

interface Account extends RowDataPacket {
  plugin: string;
  authentication_string: string;
}

export function realSql(at: SqlAddress, dial: Dial, deadline = DEADLINE): Sql {
  const where = `${at.host}:${at.port}`;
  const names = (...all: string[]) => {
    const odd = all.find(name => !isPlainName(name));
    if (odd !== undefined) throw rejected('MariaDB', where, `${JSON.stringify(odd)} is no name for a user or database`);
  };

  /** One connection per call: calls are minutes apart, and an idle one would only be cut by the server. */
  async function session<T>(work: (run: Run, shown: string | undefined) => Promise<T>): Promise<T> {
    const { createConnection } = await import('mysql2/promise');
    let connection: Connection | undefined;
    try {
      const to = await dial(at.host, at.port);
      connection = await createConnection({
        host: to.host,
        port: to.port,
        user: at.user,
        password: at.password,
        connectTimeout: deadline,
        ...(at.ca !== undefined && { ssl: { ca: at.ca, servername: at.host } as object }),
      });
      const open = connection;
      const result = await work(async (sql, values = []) => {
        const [rows] = await open.query({ sql, values: [...values], timeout: deadline });
        return rows as RowDataPacket[];
      }, shownBy(open));
      // A goodbye: without it the server's log fills with aborted connections.
      await open.end();
      return result;
    } catch (error) {
      connection?.destroy();
      throw translate(error, where, at.user);
    }
  }

  return {
    check: () => session(async run => void (await run('SELECT 1'))),

    async ensureDatabase(name) {
      names(name);
      return session(async run => {
        const found = await run('SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?', [name]);
        if (found.length > 0) return false;
        await run(createDatabase(name));
        return true;
      });
    },

    async ensureUser(user, password, databases) {
      names(user, ...databases);
      return session(async run => {
        const made = await ensureAccount(run, user, password);
        return (await ensureGrants(run, accountOf(user), databases)) || made;
      });
    },

    async ensureAdmin(user, password) {
      names(user);
      return session(async run => {
        const made = await ensureAccount(run, user, password);
        const rows = await run(`SHOW GRANTS FOR ${accountOf(user)}`);
        const all = rows.map(row => String(Object.values(row)[0]));
        if (all.some(line => /^GRANT ALL PRIVILEGES ON \*\.\* .*WITH GRANT OPTION/.test(line))) return made;
        await run(`GRANT ALL PRIVILEGES ON *.* TO ${accountOf(user)} WITH GRANT OPTION`);
        return true;
      });
    },

    async dropUser(user) {
      names(user);
      return session(async run => {
        const found = await run('SELECT User FROM mysql.user WHERE User = ? AND Host = ?', [user, EVERYWHERE]);
        if (found.length === 0) return false;
        await run(`DROP USER IF EXISTS ${accountOf(user)}`);
        return true;
      });
    },

    async dropDatabase(name) {
      names(name);
      if (SYSTEM.includes(name)) throw rejected('MariaDB', where, `${name} belongs to the server`);
      return session(async run => {
        const found = await run('SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?', [name]);
        if (found.length === 0) return false;
        await run(`DROP DATABASE IF EXISTS \`${name}\``);
        return true;
      });
    },

    async column(database, table, column) {
      names(database, table, column);
      return session(async run => {
        const rows = await run(`SELECT \`${column}\` AS value FROM \`${database}\`.\`${table}\``);
        return rows.map(row => String(row.value));
      });
    },

    ensureCertificate: fingerprint =>
      session(async (run, shown) => {
        if (shown === undefined || shown === fingerprint) return false;
        await run('FLUSH SSL');
        return true;
      }),

    databases: () =>
      session(async run => {
        const rows = await run('SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA');
        return rows
          .map(r => String(r.name))
          .filter(name => !SYSTEM.includes(name))
          .sort();
      }),
  };
}

/** The fingerprint of the certificate at the other end; undefined where the way is plain. */
function shownBy(connection: Connection): string | undefined {
  const { stream } = (connection as Connection & { connection?: { stream?: unknown } }).connection ?? {};
  return stream instanceof TLSSocket ? stream.getPeerCertificate().fingerprint256 : undefined;
}

type Run = (sql: string, values?: readonly string[]) => Promise<RowDataPacket[]>;

/** The user with this password, whatever it may do. */
async function ensureAccount(run: Run, user: string, password: string): Promise<boolean> {
  const [have] = (await run('SELECT plugin, authentication_string FROM mysql.user WHERE User = ? AND Host = ?', [
    user,
    EVERYWHERE,
  ])) as Account[];
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

function translate(error: unknown, where: string, user: string): CloudError {
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
  if (code === 'ER_ACCESS_DENIED_ERROR' || errno === 1045 || errno === 1698) return refused('MariaDB', where, user);
  // 1053: in shutdown; 1040: too many connections. Both pass by themselves.
  if (sqlState === undefined || errno === 1053 || errno === 1040) {
    return unreachable('MariaDB', where, sqlState === undefined ? reasonOf(error) : code, error);
  }
  return rejected('MariaDB', where, `${code}: ${(sqlMessage ?? '').slice(0, 200)}`);
}
