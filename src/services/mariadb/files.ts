import { sqlText } from '../../world/quote/sql.ts';
import type { ConfigFile } from '../config/config.ts';
import type { Login } from '../links/credentials.ts';
import { OWN_CERTIFICATE, OWN_KEY } from '../tls/trust.ts';

/** The image's own folder is left alone: distributions disagree on what they put there. */
const FOLDER = '/etc/mysql/operator';
export const DATA = '/var/lib/mysql';
export const SOCKET = `${DATA}/mysql.sock`;

/** A volume's root may belong to root and hold lost+found, so the data lives one level down. */
export const DATADIR = `${DATA}/data`;

/** In a folder of its own, because it is mounted by itself. */
export const INIT = `${FOLDER}/init`;
const INIT_FILE = `${INIT}/init.sql`;

const settings: Readonly<Record<string, string | number>> = {
  datadir: DATADIR,
  socket: SOCKET,
  'pid-file': `${DATA}/mariadb.pid`,
  'bind-address': '0.0.0.0',
  'skip-name-resolve': 'ON',
  binlog_format: 'ROW',
  'default-storage-engine': 'innodb',
  innodb_autoinc_lock_mode: 2,
  innodb_flush_log_at_trx_commit: 1,
  'character-set-server': 'utf8mb3',
  'collation-server': 'utf8mb3_general_ci',
  max_connections: 4096,
  max_allowed_packet: '64M',
  init_file: INIT_FILE,
};

/**
 * The root password is set at every start from the Secret, so the Secret is the truth and a lost password is
 * fixed by a restart. One statement per line: that is all --init-file understands.
 */
export const initSql = (root: Login, requireTls: boolean): string =>
  [
    `CREATE USER IF NOT EXISTS ${sqlText(root.user)}@'%'`,
    `ALTER USER ${sqlText(root.user)}@'%' IDENTIFIED BY ${sqlText(root.password)}`,
    `GRANT ALL PRIVILEGES ON *.* TO ${sqlText(root.user)}@'%' WITH GRANT OPTION`,
    // May log in from inside the pod and do nothing: what probes need, without a refusal in the log each time.
    "CREATE USER IF NOT EXISTS 'probe'@'localhost'",
    // The installer leaves local administrators without a password; inside a pod, everything is local.
    "DROP USER IF EXISTS 'root'@'localhost', 'root'@'127.0.0.1', 'root'@'::1', ''@'localhost'",
    // A running server is reconfigured by SQL (transport.ts); this keeps the setting for its next start.
    ...(requireTls ? ['SET GLOBAL require_secure_transport = ON'] : []),
  ]
    .map(statement => `${statement};\n`)
    .join('');

/** Plain connections are taken too until transport.ts says otherwise: here it would restart the server. */
const encrypted = { 'ssl-cert': OWN_CERTIFICATE, 'ssl-key': OWN_KEY, tls_version: 'TLSv1.2,TLSv1.3' } as const;

/** `mark`: restarts the server when it changes. */
export function mariadbFiles(mark: string, customServiceConfig: string | undefined, tls: boolean): ConfigFile[] {
  const mysqld = Object.entries({ ...settings, ...(tls && encrypted) }).map(([key, value]) => `${key} = ${value}\n`);
  const file = (key: string, path: string, text: string): ConfigFile => ({ key, path: `${FOLDER}/${path}`, text });
  return [
    file('my.cnf', 'my.cnf', `!includedir ${FOLDER}/conf.d\n`),
    file('01-mariadb.cnf', 'conf.d/01-mariadb.cnf', `[mysqld]\n${mysqld.join('')}`),
    ...(customServiceConfig
      ? [file('02-mariadb-override.cnf', 'conf.d/02-mariadb-override.cnf', customServiceConfig)]
      : []),
    file('root-mark', 'root-mark', `${mark}\n`),
  ];
}

export const SERVER_ARGV = ['mariadbd', `--defaults-file=${FOLDER}/my.cnf`];

/**
 * Makes the system tables once. In a folder of its own that is renamed at the end: an install that was cut off is
 * made anew, and the tool's exit code, which is 0 also when it failed, is not trusted.
 */
export const INSTALL_SCRIPT = [
  'set -eu',
  `if [ -d ${DATADIR}/mysql ]; then exit 0; fi`,
  `rm -rf ${DATADIR}.new`,
  `mariadb-install-db --datadir=${DATADIR}.new --auth-root-authentication-method=normal --skip-test-db >&2`,
  `test -d ${DATADIR}.new/mysql`,
  `mv ${DATADIR}.new ${DATADIR}`,
].join('\n');

export const PING = ['mariadb-admin', `--socket=${SOCKET}`, '--user=probe', 'ping'];
