import { refused, rejected, unreachable } from '../../cloud/faults.ts';
import type { CloudError, Sql, SqlAddress } from '../../cloud/ports.ts';
import { fingerprint } from '../../services/tls/x509.ts';
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
  return me?.password === at.password ? { server, me, process } : refused('MariaDB', where, at.user);
}

/** The database behind a service's connection URL, or why the service can't use it. */
export function open(net: Net, url: DatabaseUrl): Database | string {
  const { trust, ...at } = url;
  const session = login(net, { ...at, ...(trust && { ca: trust() ?? '' }) });
  if (session instanceof Error) {
    return session.fault === 'unreachable'
      ? `(pymysql.err.OperationalError) (2003, "Can't connect to MySQL server on '${url.host}'")`
      : `(pymysql.err.OperationalError) (1045, "Access denied for user '${url.user}'")`;
  }
  const database = session.server.databases[url.database];
  const allowed = session.me.all || session.me.databases.includes(url.database);
  // Who may see everything is told that there is none; everybody else learns nothing.
  if (database === undefined && allowed)
    return `(pymysql.err.OperationalError) (1049, "Unknown database '${url.database}'")`;
  return database && allowed
    ? database
    : `(pymysql.err.OperationalError) (1044, "Access denied for user '${url.user}' to database '${url.database}'")`;
}

export function fakeSql(net: Net, at: SqlAddress): Sql {
  const session = () => {
    const opened = login(net, at);
    if (opened instanceof Error) throw opened;
    return opened;
  };
  /** Only who has every right may make and drop. */
  const admin = (): SqlServer => {
    const { server, me } = session();
    if (!me.all) throw rejected('MariaDB', `${at.host}:${at.port}`, `access denied for user ${at.user}`);
    return server;
  };
  const change = (differs: boolean, apply: () => void): boolean => {
    if (!differs) return false;
    net.mutated();
    apply();
    return true;
  };
  return {
    async check() {
      session();
    },
    async ensureDatabase(name) {
      const { databases } = admin();
      return change(databases[name] === undefined, () => {
        databases[name] = { schemas: [] };
      });
    },
    async ensureUser(user, password, databases) {
      const { users } = admin();
      const wanted = [...databases].sort();
      const have = users[user];
      const same =
        have && have.password === password && !have.all && [...have.databases].sort().join() === wanted.join();
      return change(!same, () => {
        users[user] = { password, all: false, databases: wanted };
      });
    },
    async ensureAdmin(user, password) {
      const { users } = admin();
      const same = users[user]?.password === password && users[user].all;
      return change(!same, () => {
        users[user] = { password, all: true, databases: [] };
      });
    },
    async dropUser(user) {
      const { users } = admin();
      return change(users[user] !== undefined, () => delete users[user]);
    },
    async dropDatabase(name) {
      const { databases } = admin();
      return change(databases[name] !== undefined, () => delete databases[name]);
    },
    async column(database, table, column) {
      const { server, me } = session();
      const found = me.all || me.databases.includes(database) ? server.databases[database] : undefined;
      // The one table that anybody asks for.
      if (found?.cells === undefined || table !== 'cell_mappings' || column !== 'name')
        throw rejected('MariaDB', `${at.host}:${at.port}`, `ER_NO_SUCH_TABLE: ${database}.${table}`);
      return Object.keys(found.cells);
    },
    async ensureCertificate(wanted) {
      const { process } = session();
      const shown = fingerprint(process.shows?.() ?? '');
      if (shown === undefined || shown === wanted) return false;
      return change(true, () => process.flush?.());
    },
    async databases() {
      const { server, me } = session();
      return Object.keys(server.databases)
        .filter(name => me.all || me.databases.includes(name))
        .sort();
    },
  };
}
