import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLOUD_NAMESPACE } from './cloud.ts';
import { kubectl, tryKubectl } from './kubectl.ts';
import { runPaths } from './paths.ts';
import { sleep } from './shell.ts';

/*
 * The same cloud by a script instead of an operator, as the measure of what the operator's care costs in time.
 * `record` writes down the plain objects of a Ready cloud; `run` puts them into an empty namespace in the best order that
 * a person who knows all of them would choose: whatever can run at once does. It knows this cloud and no other, repairs
 * nothing, and fails where the operator would wait.
 */
const FILE = join(runPaths.log, 'handmade.json');
const KINDS = 'secrets,services,persistentvolumeclaims,statefulsets,deployments,daemonsets,jobs';
const MINUTES = 15;

interface Plain {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly type?: string;
}

const inCloud = (args: readonly string[], input?: string): Promise<string> =>
  kubectl(['-n', CLOUD_NAMESPACE, ...args], input);

/** Without what the cluster and the operator wrote into it. Addresses of Services stay: OVN's files name them. */
function plain(object: Plain & { metadata: object }): Plain {
  const { apiVersion, kind, data, type } = object;
  const { name, labels = {} } = object.metadata;
  const own = Object.fromEntries(Object.entries(labels).filter(([key]) => !/controller-uid|job-name/.test(key)));
  const spec = structuredClone(object.spec) as Record<string, unknown> | undefined;
  if (spec && kind === 'PersistentVolumeClaim') delete spec.volumeName;
  if (spec && kind === 'Job') {
    delete spec.selector;
    delete (spec.template as { metadata?: unknown }).metadata;
  }
  return {
    apiVersion,
    kind,
    metadata: { name, labels: own },
    ...(data && { data }),
    ...(spec && { spec }),
    ...(type && { type }),
  };
}

export async function record(): Promise<void> {
  const { items } = JSON.parse(await inCloud(['get', KINDS, '-o', 'json'])) as { items: Plain[] };
  writeFileSync(FILE, JSON.stringify(items.map(plain)), { mode: 0o600 });
  console.log(`${items.length} objects of namespace ${CLOUD_NAMESPACE} in ${FILE}`);
}

const onDelete = ({ spec }: Plain): boolean =>
  (spec?.updateStrategy as { type?: string } | undefined)?.type === 'OnDelete';

async function rolledOut(what: string): Promise<boolean> {
  return (await tryKubectl(['-n', CLOUD_NAMESPACE, 'rollout', 'status', what, '--timeout=60s'])).code === 0;
}

/** For a set whose pods somebody else replaces, kubectl knows no roll-out. */
async function allReady(what: string): Promise<boolean> {
  const { status = {} } = JSON.parse(await inCloud(['get', what, '-o', 'json'])) as {
    status?: { observedGeneration?: number; desiredNumberScheduled?: number; numberReady?: number };
  };
  if (status.observedGeneration !== undefined && status.numberReady === status.desiredNumberScheduled) return true;
  await sleep(1000);
  return false;
}

export async function run(): Promise<void> {
  const objects = JSON.parse(readFileSync(FILE, 'utf8')) as Plain[];
  const begun = Date.now();
  const say = (what: string) => console.log(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  const of = (...kinds: string[]) => objects.filter(object => kinds.includes(object.kind));
  const value = (secret: string, key: string): string => {
    const found = of('Secret').find(object => object.metadata.name === secret)?.data?.[key];
    if (found === undefined) throw new Error(`the recorded cloud has no Secret ${secret} with key ${key}`);
    return Buffer.from(found, 'base64').toString();
  };
  const apply = async (what: readonly Plain[]): Promise<void> => {
    if (what.length === 0) return;
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: what });
    await inCloud(['apply', '--server-side', '--force-conflicts', '-f', '-'], list);
  };
  const workloads = of('StatefulSet', 'Deployment', 'DaemonSet');
  const named = (pattern: RegExp) => workloads.filter(object => pattern.test(object.metadata.name));
  const started = new Set<Plain>();

  async function rolled(object: Plain): Promise<void> {
    const end = Date.now() + MINUTES * 60_000;
    const what = `${object.kind.toLowerCase()}/${object.metadata.name}`;
    while (Date.now() < end) {
      if (await (onDelete(object) ? allReady(what) : rolledOut(what))) return say(what);
    }
    throw new Error(`${what} is not there after ${MINUTES} minutes`);
  }
  const start = async (pattern: RegExp): Promise<void> => {
    const some = named(pattern);
    for (const object of some) started.add(object);
    await apply(some);
    await Promise.all(some.map(rolled));
  };
  const job = async (step: RegExp): Promise<void> => {
    const some = of('Job').filter(object => step.test(object.metadata.name));
    if (some.length === 0) throw new Error(`the recorded cloud has no Job ${step}`);
    await apply(some);
    for (const { metadata } of some) {
      await inCloud(['wait', '--for=condition=Complete', `job/${metadata.name}`, `--timeout=${MINUTES}m`]);
      say(`job/${metadata.name}`);
    }
  };

  await kubectl(['create', 'namespace', CLOUD_NAMESPACE]);
  await apply(of('Secret', 'Service', 'PersistentVolumeClaim'));
  say('Secrets, Services and claims');
  const database = start(/^mariadb$/).then(() => sql(value, say));
  const bus = start(/^rabbitmq$/).then(() => vhosts(value, say));
  const base = start(/^(memcached|ovn-.*)$/);
  const synced = (service: string) => database.then(() => job(new RegExp(`^${service}-db-sync-`)));
  const keystone = synced('keystone')
    .then(() => job(/^keystone-bootstrap-/))
    .then(() => start(/^keystone-/))
    .then(() => catalog(value, say));
  const after = Promise.all([keystone, bus]);
  const service = async (name: string, pods: RegExp) => {
    await Promise.all([synced(name), after]);
    await start(pods);
  };
  const nova = async () => {
    await Promise.all([synced('nova-cell0-conductor'), synced('nova-cell1-conductor')]);
    await Promise.all([job(/^nova-cell0-map-/), job(/^nova-cell1-map-/), after]);
    await start(/^nova-/);
  };
  const rest = [
    service('placement', /^placement-/),
    service('glance', /^glance-/),
    service('neutron', /^neutron-/),
    nova(),
  ];
  await Promise.all([base, ...rest]);
  const left = workloads.filter(object => !started.has(object)).map(object => object.metadata.name);
  if (left.length > 0) throw new Error(`the script does not know ${left.join(', ')}`);
  say('everything');
}

type Value = (secret: string, key: string) => string;
type Say = (what: string) => void;

const SERVICES = ['keystone', 'glance', 'placement', 'neutron'];
const NOVA = ['api', 'cell0', 'cell1'];

async function sql(value: Value, say: Say): Promise<void> {
  const own = SERVICES.map(name => ({ database: name, secret: `${name}-database` }));
  const cells = NOVA.map(name => ({
    database: value(`nova-${name}-database`, 'database'),
    secret: `nova-${name}-database`,
  }));
  const lines = [...own, ...cells].map(({ database, secret }) => {
    const user = `'${value(secret, 'user')}'@'%'`;
    return `CREATE DATABASE ${database} CHARACTER SET utf8mb3; CREATE USER ${user} IDENTIFIED BY '${value(secret, 'password')}'; GRANT ALL ON ${database}.* TO ${user};`;
  });
  const password = value('mariadb-root', 'password');
  const words = ['exec', '-i', 'mariadb-0', '--', 'env', `MYSQL_PWD=${password}`, 'mariadb', '-uroot', '-h127.0.0.1'];
  await inCloud(words, lines.join('\n'));
  say('databases and users');
}

async function vhosts(value: Value, say: Say): Promise<void> {
  const secrets = ['neutron', 'nova', 'nova-cell1'].map(name => `${name}-message-bus`);
  const users = secrets.map(secret => {
    const [user, password] = [value(secret, 'user'), value(secret, 'password')];
    return { name: user, password, tags: '' };
  });
  const definitions = {
    users,
    vhosts: users.map(({ name }) => ({ name })),
    permissions: users.map(({ name }) => ({ user: name, vhost: name, configure: '.*', write: '.*', read: '.*' })),
  };
  await inCloud(['exec', '-i', 'rabbitmq-0', '--', 'rabbitmqctl', 'import_definitions'], JSON.stringify(definitions));
  say('vhosts and users');
}

/** One process for everything: each start of the openstack client costs seconds. */
async function catalog(value: Value, say: Say): Promise<void> {
  const at = (name: string, port: number) => `http://${name}.${CLOUD_NAMESPACE}.svc.cluster.local:${port}`;
  const services = [
    ['glance', 'image', at('glance-api', 9292), value('glance-identity', 'password')],
    ['placement', 'placement', at('placement-api', 8778), value('placement-identity', 'password')],
    ['neutron', 'network', at('neutron-api', 9696), value('neutron-identity', 'password')],
    ['nova', 'compute', `${at('nova-api', 8774)}/v2.1`, value('nova-identity', 'password')],
  ];
  const program = `
import json, sys
from keystoneauth1 import session
from keystoneauth1.identity import v3
order = json.load(sys.stdin)
auth = v3.Password(auth_url=order['url'] + '/v3', username='admin', password=order['password'], project_name='admin',
                   user_domain_id='default', project_domain_id='default')
s = session.Session(auth=auth)
base = order['url'] + '/v3'
project = s.post(f'{base}/projects', json={'project': {'name': 'service', 'domain_id': 'default'}}).json()['project']['id']
roles = {r['name']: r['id'] for r in s.get(f'{base}/roles').json()['roles']}
if 'service' not in roles:
    roles['service'] = s.post(f'{base}/roles', json={'role': {'name': 'service'}}).json()['role']['id']
for name, type_, url, password in order['services']:
    user = s.post(f'{base}/users', json={'user': {'name': name, 'password': password, 'domain_id': 'default'}}).json()['user']['id']
    for role in ('admin', 'service'):
        s.put(f'{base}/projects/{project}/users/{user}/roles/{roles[role]}')
    service = s.post(f'{base}/services', json={'service': {'name': name, 'type': type_}}).json()['service']['id']
    for interface in ('public', 'internal'):
        s.post(f'{base}/endpoints', json={'endpoint': {'service_id': service, 'region_id': 'RegionOne', 'interface': interface, 'url': url}})
`;
  const order = { url: at('keystone-api', 5000), password: value('keystone-admin', 'password'), services };
  const python = ['exec', '-i', 'deploy/keystone-api', '--', '/var/lib/kolla/venv/bin/python3', '-c', program];
  await inCloud(python, JSON.stringify(order));
  say('service users and catalog');
}
