import { createHash } from 'node:crypto';
import { sqlName, sqlText } from '../world/quote/sql.ts';

/** SQL that makes databases and users: sent by the real world, and written into Jobs by `render --as jobs`. */

/** OpenStack's tables are made for three-byte UTF-8 (openstack-facts 2b). */
const CHARSET = 'CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci';
/** The host part of every account: pods have any address. */
export const EVERYWHERE = '%';

/** Names we make are plain; anything else in an identifier is a mistake, or worse. */
export const isPlainName = (name: string): boolean => /^[A-Za-z0-9_.-]{1,80}$/.test(name);

/** What mysql_native_password stores: the password itself never appears in a statement, a log or a binlog. */
export const nativeHash = (password: string): string => {
  const inner = createHash('sha1').update(password, 'utf8').digest();
  return `*${createHash('sha1').update(new Uint8Array(inner)).digest('hex').toUpperCase()}`;
};

export const accountOf = (user: string): string => `${sqlText(user)}@'${EVERYWHERE}'`;
const via = (password: string): string => `IDENTIFIED VIA mysql_native_password USING '${nativeHash(password)}'`;

/** Where rights are given. In GRANT an underscore of a database name is a wildcard unless escaped. */
export const scopeOf = (database: string): string => `${sqlName(database.replace(/[\\_%]/g, '\\$&'))}.*`;

const comment = (mark: string): string => `COMMENT ${sqlText(mark)}`;
/** In one statement: the database never exists without its owner (MariaDB 10.5 or later). */
export const createDatabase = (name: string, mark: string): string =>
  `CREATE DATABASE ${sqlName(name)} ${CHARSET} ${comment(mark)}`;
/** The same for a script that may run twice. */
export const createDatabaseOnce = (name: string, mark: string): string =>
  createDatabase(name, mark).replace('CREATE DATABASE', 'CREATE DATABASE IF NOT EXISTS');
export const markDatabase = (name: string, mark: string): string => `ALTER DATABASE ${sqlName(name)} ${comment(mark)}`;
/**
 * In one statement: does something only while a database carries this comment. A mark set between a look at it and
 * what follows would lose it. For the values name and comment.
 */
export const whileMarked = (statement: string): string =>
  `BEGIN NOT ATOMIC IF EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ? AND BINARY SCHEMA_COMMENT = ?) THEN ${statement}; END IF; END`;
export const createUser = (user: string, password: string): string =>
  `CREATE USER IF NOT EXISTS ${accountOf(user)} ${via(password)}`;
export const alterUser = (user: string, password: string): string => `ALTER USER ${accountOf(user)} ${via(password)}`;
export const grantAll = (scope: string, account: string): string => `GRANT ALL PRIVILEGES ON ${scope} TO ${account}`;
