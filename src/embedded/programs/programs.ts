import { lookup, parse } from '../../oslo/parse.ts';
import type { PodObject } from '../controllers/objects.ts';
import { commandOf, type Exit, type Outcome, type Programs, type Run } from '../controllers/program.ts';
import { open } from '../servers/sql.ts';
import type { Caller, DatabaseUrl, KeystoneRows, Net, Served } from '../servers/state.ts';
import { cephJob } from './ceph.ts';
import { cinderReports } from './cinder.ts';
import {
  databaseUrlIn,
  novaCheckCell,
  novaComputes,
  novaDeleteCell,
  novaEnsureCell,
  novaReports,
  novaSync,
} from './nova.ts';

/** Notes that a server now runs in the pod. */
type Serve = (pod: PodObject, process: Served) => void;
type Row = readonly [command: RegExp, program: (run: Run, net: Net, serve: Serve) => Outcome];

/** Milliseconds from `lab.md` 2, rounded: the order of things is what matters. */
const SERVER = { serves: true, readyAfter: 1_000 } as const;
const SLOW_SERVER = { serves: true, readyAfter: 12_000 } as const;
const SYNC = 8_000;

/** What each command does. The first row that matches wins; a command without a row succeeds in a Job and serves elsewhere. */
const ROWS: readonly Row[] = [
  // The install script of an init container names the server's tools too: it only prepares the volume.
  [/mariadb-install-db/, () => ({ exit: 0, after: 3_000 })],
  [/\b(mariadbd|mysqld)/, startMariadb],
  [/\brabbitmq-server\b/, startRabbit],
  [/\bkeystone-manage\s+db_sync/, (run, net) => syncSchema(run, net, 'keystone', emptyKeystone)],
  [/\bkeystone-manage\s+bootstrap/, (run, net) => ({ after: SYNC, end: () => bootstrap(run, net) })],
  // `placement-manage db sync`, `glance-manage db_sync`, `nova-manage api_db sync`, `neutron-db-manage upgrade heads` ...
  [/\b(\w+)-(db-)?manage\s+.*(\b|_)(sync|upgrade)\b/, (run, net) => syncSchema(run, net, serviceOf(commandOf(run)))],
  [/\/nova\/db-sync\.sh\b/, novaSync],
  [/\bnova-(conductor|scheduler)\b/, novaReports],
  [/\bnova-compute\b|\/compute-start\.sh\b/, novaComputes],
  [
    /\bcinder-(scheduler|volume|backup)\b|\/cinder\/lvm-start\.sh\b/,
    (run, net) => cinderReports(run, databaseOf(run, net), net),
  ],
  [/\/nova\/ensure-cell\.sh\b/, novaEnsureCell],
  [/\/nova\/check-cell\.sh\b/, novaCheckCell],
  [/\/nova\/delete-cell\.sh\b/, novaDeleteCell],
  [/\/openstack\/ceph\/ceph\.sh\b/, cephJob],
  [/\bnova-novncproxy\b/, startConsole],
  [/\buwsgi\b/, startUwsgi],
];

export const table =
  (net: Net, serve: Serve): Programs =>
  run => {
    const missing = uncopied(run);
    if (missing) return { exit: 1, message: `MissingRequiredSource: ${missing} file is not found`, after: 1_000 };
    const command = commandOf(run);
    const row = ROWS.find(([pattern]) => pattern.test(command));
    if (row) return row[1](run, net, serve);
    const ends = run.pod.spec.restartPolicy === 'Never' || run.pod.spec.restartPolicy === 'OnFailure';
    // What stands beside the main container is not what the pod's Service leads to.
    if (!ends && run.pod.spec.containers[0] === run.container) serve(run.pod, { is: 'other' });
    return undefined;
  };

/** A file that the image's start script copies, and that is not mounted. */
function uncopied(run: Run): string | undefined {
  const description = run.file('/var/lib/kolla/config_files/config.json');
  if (description === undefined) return undefined;
  const { config_files: wanted = [] } = JSON.parse(description) as { config_files?: { source: string }[] };
  return wanted.map(file => file.source).find(source => run.file(source) === undefined);
}

const serviceOf = (command: string) => /\b(\w+?)-(db-)?manage/.exec(command)?.[1] ?? 'unknown';

/** The data lives with the claim under this path, or dies with the pod. */
const diskOf = (run: Run, path: string) => run.volume(path) ?? run.pod.metadata.uid ?? '';

/** A string of MariaDB, as the server reads it. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', 0: '\0', Z: '\x1a' };
const unescaped = (text: string): string =>
  text.replace(/''|\\(.)/g, (_, letter?: string) => (letter === undefined ? "'" : (ESCAPES[letter] ?? letter)));

function startMariadb(run: Run, net: Net, serve: Serve): Outcome {
  const volume = diskOf(run, '/var/lib/mysql');
  // Statements of --init-file run at every start, so the Secret wins over what the volume remembers.
  const found = textOf(run, /init\.sql$/)
    .map(text => /ALTER USER '(\w+)'@'%' IDENTIFIED BY '((?:[^'\\]|''|\\.)*)'/.exec(text))
    .find(match => match !== null);
  const [, root = 'root', init] = found ?? [];
  const given = (init && unescaped(init)) ?? run.env.MARIADB_ROOT_PASSWORD ?? run.env.DB_ROOT_PASSWORD;
  const server = net.disks.sql[volume];
  if (server === undefined) {
    if (given === undefined)
      return { exit: 1, message: 'Database is uninitialized and no root password is given', after: 100 };
    net.disks.sql[volume] = { users: { [root]: { password: given, all: true, databases: [] } }, databases: {} };
  } else if (init !== undefined) server.users[root] = { password: given!, all: true, databases: [] };
  // Read at the start and on FLUSH SSL.
  const path = /^ssl-cert\s*=\s*(\S+)/m.exec(textOf(run, /\.cnf$/).join('\n'))?.[1];
  const certificate = () => (path === undefined ? undefined : run.file(path));
  let shown = certificate();
  const flush = (): void => {
    shown = certificate();
  };
  // Only at the start: later settings end with the process.
  const required = textOf(run, /init\.sql$/).some(text => /^SET GLOBAL require_secure_transport = ON;$/m.test(text));
  const transport = { required };
  serve(run.pod, { is: 'sql', volume, transport, ...(shown !== undefined && { shows: () => shown, flush }) });
  return SERVER;
}

function startRabbit(run: Run, net: Net, serve: Serve): Outcome {
  const volume = diskOf(run, '/var/lib/rabbitmq');
  // default_user makes a user in an empty node only; later the volume knows better.
  if (net.disks.bus[volume] === undefined) {
    const conf = textOf(run, /rabbitmq\.conf$/).join('\n');
    const value = (key: string) => new RegExp(`^${key}\\s*=\\s*(.*)$`, 'm').exec(conf)?.[1]?.trim();
    const user = value('default_user') ?? run.env.RABBITMQ_DEFAULT_USER ?? 'guest';
    const password = value('default_pass') ?? run.env.RABBITMQ_DEFAULT_PASS ?? 'guest';
    net.disks.bus[volume] = { users: { [user]: { password, administrator: true, vhosts: ['/'] } }, vhosts: ['/'] };
  }
  const path = /^ssl_options\.certfile\s*=\s*(\S+)/m.exec(textOf(run, /rabbitmq\.conf$/).join('\n'))?.[1];
  serve(run.pod, { is: 'bus', volume, ...(path && { shows: () => run.file(path) }) });
  return SLOW_SERVER;
}

function startUwsgi(run: Run, net: Net, serve: Serve): Outcome {
  const missing = fabricOf(run).find(({ host, port }) => !net.answers(host, port));
  if (missing) return { exit: 1, message: `OVN database ${missing.host}:${missing.port}: not connected`, after: 5_000 };
  const command = `${commandOf(run)}\n${textOf(run, /uwsgi\.ini$|\.ini$/).join('\n')}`;
  const path = /^https(?:-socket)?\s*=\s*[^,\n]+,([^,\n]+),/m.exec(command)?.[1];
  // A change of the file makes uwsgi start its workers anew.
  const shows = path === undefined ? undefined : () => run.file(path);
  if (path !== undefined && run.file(path) === undefined)
    return { exit: 1, message: `unable to set SSL certificate: ${path}`, after: 1_000 };
  if (!command.includes('keystone'))
    serve(run.pod, { is: 'other', database: connectionOf(run), keystone: keystoneOf(run), shows });
  else {
    // Configuration is read once at the start; keys are read live, and follow their Secret within seconds.
    serve(run.pod, {
      is: 'identity',
      database: connectionOf(run),
      keys: () => KEY_FOLDERS.flatMap(folder => run.files(folder)).length,
      shows,
    });
  }
  return { serves: true, readyAfter: 5_000 };
}

/** Where keys are read, and where those are mounted that are copied there. */
const KEY_FOLDERS = ['/etc/keystone/fernet-keys', '/var/lib/openstack/keystone/fernet-keys'];

/** Reads its certificate for each connection, and does not start without it. */
function startConsole(run: Run, _net: Net, serve: Serve): Outcome {
  const conf = textOf(run, /\.conf$/).join('\n');
  const path = /^ssl_only = true$/m.test(conf) ? /^cert\s*=\s*(\S+)/m.exec(conf)?.[1] : undefined;
  if (path !== undefined && run.file(path) === undefined)
    return { exit: 1, message: `SSL only and ${path} not found`, after: 1_000 };
  serve(run.pod, { is: 'other', ...(path && { shows: () => run.file(path) }) });
  return SERVER;
}

/** Databases of OVN that the application connects to before it serves (`ovn_nb_connection = tcp:10.0.0.1:6641`). */
const fabricOf = (run: Run): { host: string; port: number }[] =>
  textOf(run, /\.ini$/).flatMap(text =>
    [...text.matchAll(/^\s*ovn_[ns]b_connection\s*=\s*(?:tcp|ssl):(.+):(\d+)\s*$/gm)].map(m => ({
      host: m[1]!,
      port: Number(m[2]),
    })),
  );

function syncSchema(run: Run, net: Net, service: string, rows?: () => KeystoneRows): Outcome {
  const end = (): Exit => {
    const database = databaseOf(run, net);
    if (typeof database === 'string') return { exit: 1, message: database };
    if (!database.schemas.includes(service)) database.schemas.push(service);
    if (rows) database.keystone ??= rows();
    return { exit: 0 };
  };
  return { after: SYNC, end };
}

const emptyKeystone = (): KeystoneRows => ({ users: {}, projects: [], roles: [], services: [] });

/** Idempotent, resets the admin's password and the identity endpoints (openstack-facts 5d). */
function bootstrap(run: Run, net: Net): Exit {
  const database = databaseOf(run, net);
  if (typeof database === 'string') return { exit: 1, message: database };
  if (database.keystone === undefined)
    return { exit: 1, message: "(1146, \"Table 'keystone.project' doesn't exist\")" };
  const { env } = run;
  const password = env.OS_BOOTSTRAP_PASSWORD;
  if (!password) return { exit: 1, message: '--bootstrap-password argument or OS_BOOTSTRAP_PASSWORD must be set.' };
  const [user, project, role] = [
    env.OS_BOOTSTRAP_USERNAME ?? 'admin',
    env.OS_BOOTSTRAP_PROJECT_NAME ?? 'admin',
    env.OS_BOOTSTRAP_ROLE_NAME ?? 'admin',
  ];
  const rows = database.keystone;
  for (const r of ['reader', 'member', 'manager', 'service', role]) if (!rows.roles.includes(r)) rows.roles.push(r);
  if (!rows.projects.includes(project)) rows.projects.push(project);
  const roles = { ...rows.users[user]?.roles, [project]: [role] };
  rows.users[user] = { password, enabled: true, roles, ours: false };
  const region = env.OS_BOOTSTRAP_REGION_ID ?? 'RegionOne';
  let service = rows.services.find(s => s.type === 'identity');
  if (service === undefined) {
    const name = env.OS_BOOTSTRAP_SERVICE_NAME ?? 'keystone';
    service = { name, type: 'identity', description: '', ours: false, endpoints: [] };
    rows.services.push(service);
  }
  for (const interface_ of ['public', 'internal', 'admin']) {
    const url = env[`OS_BOOTSTRAP_${interface_.toUpperCase()}_URL`];
    if (!url) continue;
    const have = service.endpoints.find(e => e.interface === interface_ && e.region === region);
    if (have) have.url = url;
    else service.endpoints.push({ interface: interface_, region, url, ours: false });
  }
  return { exit: 0 };
}

/** Texts of the mounted files whose path matches, in the order of their names. */
const textOf = (run: Run, path: RegExp) =>
  [...run.files('/')]
    .filter(f => path.test(f))
    .sort()
    .map(f => run.file(`/${f}`) ?? '');

/** The last `connection =` of the mounted files: later files win, as in oslo.config. */
function connectionOf(run: Run): DatabaseUrl | undefined {
  const all = textOf(run, /\.conf$/).flatMap(text =>
    [...text.matchAll(/^\s*connection\s*=\s*(\S+)\s*$/gm)].map(m => m[1]!),
  );
  return databaseUrlIn(run, all.at(-1) ?? '');
}

function keystoneOf(run: Run): Caller | undefined {
  const option = (key: string): string | undefined =>
    textOf(run, /\.conf$/)
      .flatMap(text => {
        const parsed = parse(text);
        const found = 'ok' in parsed ? lookup(parsed.ok, 'keystone_authtoken', key) : undefined;
        return found ? [found.value] : [];
      })
      .at(-1);
  const [url, file] = [option('auth_url'), option('cafile')];
  return url === undefined ? undefined : { url, ...(file && { trust: () => run.file(file) }) };
}

function databaseOf(run: Run, net: Net) {
  const url = connectionOf(run);
  return url === undefined ? 'no [database] connection in the mounted configuration' : open(net, url);
}
