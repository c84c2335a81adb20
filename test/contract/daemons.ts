import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureKeystone, ensurePackages, programs } from './setup.ts';

/** Real servers on 127.0.0.1, in a folder that goes with them. */

export interface Daemon {
  readonly port: number;
  stop(): Promise<void>;
}

const exec = promisify(execFile);
const folders: string[] = [];
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

export function folder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `contract-${name}-`));
  folders.push(path);
  return path;
}

export function removeFolders(): void {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

type Started = ReturnType<typeof start>;

function start(command: string, args: readonly string[], log: string, env: NodeJS.ProcessEnv = {}) {
  const out = openSync(log, 'a');
  const child = spawn(command, args, { stdio: ['ignore', out, out], env: { ...process.env, ...env } });
  living.add(child);
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  void ended.then(() => living.delete(child));
  return {
    exited: () => child.exitCode !== null || child.signalCode !== null,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const patience = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(patience);
    },
  };
}

/** Waits for the first good answer; stops what did not get so far. */
async function until(what: string, log: string, server: Started, ready: () => Promise<unknown>): Promise<void> {
  const end = Date.now() + 120_000;
  for (;;) {
    try {
      await ready();
      return;
    } catch (error) {
      if (server.exited() || Date.now() > end) {
        await server.stop();
        const text = readFileSync(log, 'utf8').split('\n').slice(-30).join('\n');
        throw new Error(`${what} did not start: ${String(error)}\n${text}`);
      }
    }
    await new Promise(resolve => setTimeout(resolve, 200));
  }
}

export interface MariaDb extends Daemon {
  readonly rootPassword: string;
  /** Statements that it got so far. */
  statements(): string[];
}

export async function startMariaDb(
  ready: (port: number, password: string) => Promise<unknown>,
  /** Lines of my.cnf beside those of the test. */
  settings: readonly string[] = [],
  /** Lines of its init file beside those of the test. */
  first: readonly string[] = [],
): Promise<MariaDb> {
  ensurePackages();
  const dir = folder('mariadb');
  const [port, log, general] = [await freePort(), join(dir, 'log'), join(dir, 'general.log')];
  const rootPassword = `Root${randomBytes(8).toString('hex')}`;
  const data = join(dir, 'data');
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const install = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  await exec(programs.installDb, [...install, ...user]);
  const init = join(dir, 'init.sql');
  const grants = [
    `CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '${rootPassword}';`,
    "GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;",
    // They would be preferred to 'root'@'%' for connections from this machine.
    "DROP USER IF EXISTS 'root'@'localhost', 'root'@'127.0.0.1', 'root'@'::1';",
  ];
  writeFileSync(init, `${[...grants, ...first].join('\n')}\n`, { mode: 0o600 });
  const server = start(
    programs.mariadbd,
    [
      ...['--no-defaults', `--datadir=${data}`, `--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve'],
      ...[`--socket=${join(dir, 'sock')}`, `--pid-file=${join(dir, 'pid')}`, `--init-file=${init}`, ...user],
      ...['--general-log=1', `--general-log-file=${general}`, '--innodb-buffer-pool-size=32M'],
      ...settings.map(line => `--${line.replace(/\s*=\s*/, '=')}`),
    ],
    log,
  );
  await until('MariaDB', log, server, () => ready(port, rootPassword));
  return {
    port,
    rootPassword,
    statements: () =>
      readFileSync(general, 'utf8')
        .split('\n')
        .flatMap(line => /\s(?:Query|Execute|Prepare)\t(.*)$/.exec(line)?.[1] ?? []),
    stop: () => server.stop(),
  };
}

export interface Rabbit extends Daemon {
  readonly amqp: number;
  readonly user: string;
  readonly password: string;
  /** `METHOD path` of the requests to the management API so far. */
  requests(): string[];
  ctl(...args: string[]): Promise<string>;
}

export async function startRabbit(
  ready: (port: number, user: string, password: string) => Promise<unknown>,
  /** How it listens, where that is not in plain. */
  listeners?: (amqp: number, management: number) => readonly string[],
): Promise<Rabbit> {
  ensurePackages();
  const dir = folder('rabbitmq');
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const [management, amqp, dist, epmdPort] = ports as [number, number, number, number];
  const [user, password, log] = ['admin', `Bus${randomBytes(8).toString('hex')}`, join(dir, 'log')];
  const conf = [
    ...(listeners?.(amqp, management) ?? [
      `listeners.tcp.default = 127.0.0.1:${amqp}`,
      'management.tcp.ip = 127.0.0.1',
      `management.tcp.port = ${management}`,
    ]),
    `management.http_log_dir = ${join(dir, 'http')}`,
    `default_user = ${user}`,
    `default_pass = ${password}`,
    'default_user_tags.administrator = true',
  ];
  writeFileSync(join(dir, 'rabbitmq.conf'), `${conf.join('\n')}\n`);
  writeFileSync(join(dir, 'plugins'), '[rabbitmq_management].\n');
  mkdirSync(join(dir, 'http'));
  const env = {
    HOME: dir,
    RABBITMQ_NODENAME: `contract${management}@localhost`,
    RABBITMQ_CONFIG_FILE: join(dir, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
    RABBITMQ_MNESIA_BASE: join(dir, 'mnesia'),
    RABBITMQ_LOG_BASE: join(dir, 'logs'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_DIST_PORT: String(dist),
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+sbwt none -kernel inet_dist_use_interface {127,0,0,1}',
  };
  // Erlang would start the port mapper in the background and leave it behind.
  const epmd = start(programs.epmd, ['-port', String(epmdPort), '-address', '127.0.0.1'], join(dir, 'epmd.log'));
  const server = start(programs.rabbitServer, [], log, env);
  await until('RabbitMQ', log, server, () => ready(management, user, password));
  return {
    port: management,
    amqp,
    user,
    password,
    requests: () => {
      // One file per hour.
      const text = readdirSync(join(dir, 'http')).map(f => readFileSync(join(dir, 'http', f), 'utf8'));
      return text
        .join('\n')
        .split('\n')
        .flatMap(line => /"(GET|PUT|POST|DELETE|PATCH) (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? []);
    },
    ctl: async (...args) => (await exec(programs.rabbitctl, args, { env: { ...process.env, ...env } })).stdout,
    async stop() {
      await server.stop();
      await epmd.stop('SIGKILL');
    },
  };
}

export interface Keystone extends Daemon {
  readonly password: string;
  /** `METHOD path` of the requests so far. */
  requests(): string[];
  /** Replaces every key: all tokens issued so far are void. */
  replaceKeys(): void;
}

export async function startKeystone(
  connection: string,
  ready: (port: number, password: string) => Promise<unknown>,
  /** Its uwsgi, where that is not the plain one of the test. */
  iniOf?: (port: number, venv: string) => string,
): Promise<Keystone> {
  const venv = ensureKeystone();
  const dir = folder('keystone');
  const [port, log, password] = [await freePort(), join(dir, 'log'), `Admin${randomBytes(8).toString('hex')}`];
  const [fernet, credential] = [join(dir, 'fernet-keys'), join(dir, 'credential-keys')];
  const writeKeys = (path: string) => {
    mkdirSync(path, { recursive: true });
    for (const key of ['0', '1'])
      writeFileSync(join(path, key), `${randomBytes(32).toString('base64url')}=`, { mode: 0o600 });
  };
  for (const path of [fernet, credential]) writeKeys(path);
  const conf = join(dir, 'keystone.conf');
  const text = [
    `[database]\nconnection = ${connection}`,
    `[token]\nprovider = fernet`,
    `[fernet_tokens]\nkey_repository = ${fernet}`,
    // Without it bootstrap looks for the default folder, and fails.
    `[fernet_receipts]\nkey_repository = ${fernet}`,
    `[credential]\nkey_repository = ${credential}`,
    // In memory, so there must be one process: a second one would not see what the first one changed.
    '[cache]\nenabled = true\nbackend = dogpile.cache.memory',
  ];
  writeFileSync(conf, `${text.join('\n')}\n`, { mode: 0o600 });
  const manage = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    exec(join(venv, 'bin', 'keystone-manage'), ['--config-file', conf, ...args], { env: { ...process.env, ...env } });
  await manage(['db_sync']);
  await manage(['bootstrap', '--bootstrap-region-id', 'RegionOne'], {
    OS_BOOTSTRAP_PASSWORD: password,
    OS_BOOTSTRAP_PUBLIC_URL: `http://127.0.0.1:${port}`,
    OS_BOOTSTRAP_INTERNAL_URL: `http://127.0.0.1:${port}`,
  });
  const ini = join(dir, 'uwsgi.ini');
  if (iniOf) writeFileSync(ini, iniOf(port, venv));
  const server = start(
    join(venv, 'bin', 'uwsgi'),
    iniOf
      ? ['--ini', ini]
      : [
          ...['--http-socket', `127.0.0.1:${port}`, '--master', '--processes', '1', '--lazy-apps', '--need-app'],
          ...['--die-on-term', '--buffer-size', '65535', '--virtualenv', venv, '--enable-threads'],
          ...['--module', 'keystone.wsgi.api:application', '--add-header', 'Connection: close'],
        ],
    log,
    { OS_KEYSTONE_CONFIG_FILES: conf },
  );
  await until('Keystone', log, server, () => ready(port, password));
  return {
    port,
    password,
    requests: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .flatMap(line => /\] (GET|HEAD|PUT|POST|DELETE|PATCH) (\S+) =>/.exec(line)?.slice(1, 3).join(' ') ?? []),
    replaceKeys: () => writeKeys(fernet),
    stop: () => server.stop(),
  };
}
