import { randomBytes } from 'node:crypto';
import { nodesOf } from './cluster/layout.ts';
import { type ImageName, imageReference, type Release } from './images/names.ts';
import { kubectl, tryKubectl } from './kubectl.ts';
import { phase } from './progress.ts';
import { until } from './shell.ts';

/**
 * Proves the images without the operator: MariaDB, Memcached and Keystone from plain objects, Keystone once by
 * `kolla_start` as root and once as its own user under PodSecurity `restricted`. When this works and the slice does
 * not, the operator is at fault.
 */
type Thing = Record<string, unknown>;

const FILES = '/var/lib/kolla/config_files';
const UID = { mysql: 42434, memcached: 42457, keystone: 42425 } as const;

const mycnf = `[mysqld]
bind-address = 0.0.0.0
datadir = /var/lib/mysql/data
socket = /run/mysqld/mysqld.sock
skip-name-resolve
max_connections = 200
character-set-server = utf8mb3
`;

const keystoneConf = (password: string): string => `[DEFAULT]
use_stderr = true
[database]
connection = mysql+pymysql://keystone:${password}@mariadb/keystone?charset=utf8
[token]
provider = fernet
[cache]
enabled = true
backend = oslo_cache.memcache_pool
memcache_servers = memcached:11211
`;

const uwsgi = (port: number, user?: string): string => `[uwsgi]
http-socket = 0.0.0.0:${port}
module = keystone.wsgi.api:application
master = true
processes = 2
enable-threads = true
lazy-apps = true
die-on-term = true
need-app = true
buffer-size = 65535
virtualenv = /var/lib/kolla/venv
plugins-dir = /usr/lib/uwsgi/plugins
plugins = python3
${user === undefined ? '' : `uid = ${user}\ngid = ${user}\n`}`;

/** Fernet keys are 32 random bytes in URL-safe base64. */
const fernetKey = (): string => randomBytes(32).toString('base64').replaceAll('+', '-').replaceAll('/', '_');

const restricted = (uid: number): Thing => ({
  pod: {
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: uid,
    fsGroup: uid,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  container: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
});

function objects(release: Release, namespace: string): Thing[] {
  const image = (name: ImageName): Thing => ({ image: imageReference(name, release), imagePullPolicy: 'IfNotPresent' });
  const meta = (name: string): Thing => ({ name, namespace });
  const secret = (name: string, stringData: Record<string, string>): Thing => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: meta(name),
    stringData,
  });
  const service = (name: string, port: number): Thing => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(name),
    spec: { selector: { app: name }, ports: [{ port }] },
  });
  const workload = (kind: 'Deployment' | 'StatefulSet', name: string, spec: Thing, more: Thing = {}): Thing => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: meta(name),
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { enableServiceLinks: false, terminationGracePeriodSeconds: 5, ...spec },
      },
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      ...more,
    },
  });
  const job = (name: string, spec: Thing): Thing => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: meta(name),
    spec: { backoffLimit: 10, template: { spec: { restartPolicy: 'OnFailure', enableServiceLinks: false, ...spec } } },
  });
  const rootPassword = randomBytes(12).toString('hex');
  const password = randomBytes(12).toString('hex');
  const config = (name: string, mountPath = FILES): Thing => ({ name, mountPath, readOnly: true });
  const volume = (name: string, secretName = name): Thing => ({ name, secret: { secretName, defaultMode: 0o440 } });
  const keys = [
    { name: 'fernet', mountPath: '/etc/keystone/fernet-keys', readOnly: true },
    { name: 'fernet', mountPath: '/etc/keystone/credential-keys', readOnly: true },
  ];
  const own = restricted(UID.keystone) as { pod: Thing; container: Thing };
  const cache = restricted(UID.memcached) as { pod: Thing; container: Thing };
  const probe = (port: number): Thing => ({
    httpGet: { path: '/v3', port },
    periodSeconds: 2,
    timeoutSeconds: 10,
    failureThreshold: 60,
  });
  const direct = { name: 'keystone', mountPath: '/etc/keystone/keystone.conf.d', readOnly: true };
  const copied = (name: string, dest: string, owner: string): Thing => ({
    source: `${FILES}/${name}`,
    dest,
    owner,
    perm: '0600',
  });
  const sql = [
    'CREATE DATABASE IF NOT EXISTS keystone CHARACTER SET utf8 COLLATE utf8_general_ci',
    `CREATE USER IF NOT EXISTS keystone@'%' IDENTIFIED BY '${password}'`,
    "GRANT ALL ON keystone.* TO keystone@'%'",
  ];
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
    },
    secret('mariadb', {
      'my.cnf': mycnf,
      'config.json': JSON.stringify({
        command: '/usr/sbin/mariadbd',
        config_files: [copied('my.cnf', '/etc/mysql/my.cnf', 'mysql')],
      }),
      root: rootPassword,
    }),
    workload(
      'StatefulSet',
      'mariadb',
      {
        securityContext: { runAsUser: UID.mysql, runAsGroup: UID.mysql, fsGroup: UID.mysql },
        initContainers: [
          {
            // The volume's root belongs to root; a folder in it belongs to the server.
            name: 'bootstrap',
            ...image('mariadb-server'),
            command: ['bash', '-c', '[ -d /var/lib/mysql/data/mysql ] || exec dumb-init --single-child -- kolla_start'],
            env: [
              { name: 'KOLLA_CONFIG_STRATEGY', value: 'COPY_ALWAYS' },
              { name: 'KOLLA_BOOTSTRAP', value: '' },
              { name: 'DB_ROOT_PASSWORD', valueFrom: { secretKeyRef: { name: 'mariadb', key: 'root' } } },
            ],
            volumeMounts: [config('config'), { name: 'data', mountPath: '/var/lib/mysql' }],
          },
        ],
        containers: [
          {
            name: 'mariadb',
            ...image('mariadb-server'),
            env: [
              { name: 'KOLLA_CONFIG_STRATEGY', value: 'COPY_ALWAYS' },
              { name: 'MYSQL_PWD', valueFrom: { secretKeyRef: { name: 'mariadb', key: 'root' } } },
            ],
            volumeMounts: [config('config'), { name: 'data', mountPath: '/var/lib/mysql' }],
            readinessProbe: {
              exec: { command: ['mariadb-admin', '-uroot', 'ping'] },
              periodSeconds: 2,
              timeoutSeconds: 10,
            },
          },
        ],
        volumes: [volume('config', 'mariadb')],
      },
      {
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    ),
    service('mariadb', 3306),
    workload('Deployment', 'memcached', {
      securityContext: cache.pod,
      containers: [
        {
          name: 'memcached',
          ...image('memcached'),
          command: ['/usr/bin/memcached', '-v', '-l', '0.0.0.0', '-U', '0'],
          securityContext: cache.container,
          readinessProbe: { tcpSocket: { port: 11211 } },
        },
      ],
    }),
    service('memcached', 11211),
    secret('keystone', { '01-keystone.conf': keystoneConf(password) }),
    secret('uwsgi', { 'uwsgi.ini': uwsgi(5000) }),
    secret('fernet', { '0': fernetKey(), '1': fernetKey() }),
    secret('keystone-kolla', {
      'keystone.conf': keystoneConf(password),
      'uwsgi.ini': uwsgi(5000, 'keystone'),
      'config.json': JSON.stringify({
        command: 'uwsgi --ini /etc/keystone/uwsgi.ini',
        config_files: [
          copied('keystone.conf', '/etc/keystone/keystone.conf', 'keystone'),
          copied('uwsgi.ini', '/etc/keystone/uwsgi.ini', 'keystone'),
        ],
      }),
    }),
    job('database', {
      containers: [
        {
          name: 'database',
          ...image('mariadb-server'),
          command: ['bash', '-c', `mariadb -h mariadb -uroot -e "${sql.join('; ')}"`],
          env: [{ name: 'MYSQL_PWD', valueFrom: { secretKeyRef: { name: 'mariadb', key: 'root' } } }],
        },
      ],
    }),
    job('keystone-bootstrap', {
      securityContext: own.pod,
      containers: [
        {
          name: 'bootstrap',
          ...image('keystone'),
          command: ['bash', '-c', 'set -e; keystone-manage db_sync; keystone-manage bootstrap'],
          env: [
            { name: 'OS_BOOTSTRAP_PASSWORD', valueFrom: { secretKeyRef: { name: 'mariadb', key: 'root' } } },
            { name: 'OS_BOOTSTRAP_REGION_ID', value: 'RegionOne' },
            ...['PUBLIC', 'INTERNAL'].map(each => ({
              name: `OS_BOOTSTRAP_${each}_URL`,
              value: `http://keystone-kolla.${namespace}.svc.cluster.local:5000/v3`,
            })),
          ],
          securityContext: own.container,
          volumeMounts: [direct, ...keys],
        },
      ],
      volumes: [volume('keystone'), volume('fernet')],
    }),
    workload('Deployment', 'keystone-restricted', {
      securityContext: own.pod,
      containers: [
        {
          name: 'keystone',
          ...image('keystone'),
          command: ['dumb-init', '--single-child', '--', 'uwsgi', '--ini', '/etc/uwsgi/uwsgi.ini'],
          securityContext: own.container,
          volumeMounts: [direct, config('uwsgi', '/etc/uwsgi'), ...keys],
          readinessProbe: probe(5000),
        },
      ],
      volumes: [volume('keystone'), volume('uwsgi'), volume('fernet')],
    }),
    service('keystone-restricted', 5000),
    workload('Deployment', 'keystone-kolla', {
      securityContext: { fsGroup: UID.keystone },
      containers: [
        {
          name: 'keystone',
          ...image('keystone'),
          env: [{ name: 'KOLLA_CONFIG_STRATEGY', value: 'COPY_ALWAYS' }],
          volumeMounts: [config('config'), ...keys],
          readinessProbe: probe(5000),
        },
      ],
      volumes: [volume('config', 'keystone-kolla'), volume('fernet')],
    }),
    service('keystone-kolla', 5000),
  ];
}

export async function smoke(release: Release, keep: boolean): Promise<void> {
  const [node] = nodesOf(1);
  const namespace = `smoke-${release.replace('.', '-')}`;
  await kubectl(['delete', 'namespace', namespace, '--ignore-not-found', '--wait', '--timeout=120s']);
  const ready = (kind: string, name: string): Promise<string> =>
    kubectl(['-n', namespace, 'rollout', 'status', `${kind}/${name}`, '--timeout=300s']);
  await phase(
    `smoke:mariadb-${release}`,
    `${release}: MariaDB by kolla_start on a volume of ${node!.name}`,
    async () => {
      await kubectl(
        ['apply', '-f', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects(release, namespace) }),
      );
      await ready('statefulset', 'mariadb');
    },
  );
  await phase(`smoke:keystone-${release}`, `${release}: Keystone in both profiles`, async () => {
    await kubectl([
      '-n',
      namespace,
      'wait',
      '--for=condition=complete',
      'job/database',
      'job/keystone-bootstrap',
      '--timeout=300s',
    ]);
    for (const name of ['memcached', 'keystone-restricted', 'keystone-kolla']) await ready('deployment', name);
  });
  for (const profile of ['restricted', 'kolla']) {
    await phase(`smoke:token-${release}`, `${release}: a token from Keystone (${profile})`, () =>
      until(`a token from keystone-${profile}`, 60, async () => {
        const url = `http://keystone-${profile}.${namespace}.svc.cluster.local:5000/v3`;
        const script = `import os, openstack; c = openstack.connect(auth_url='${url}', username='admin', password=os.environ['OS_BOOTSTRAP_PASSWORD'], project_name='admin', user_domain_name='Default', project_domain_name='Default', region_name='RegionOne'); assert len(c.auth_token) > 50; print([s.type for s in c.identity.services()])`;
        const command = [
          '-n',
          namespace,
          'exec',
          'deploy/keystone-restricted',
          '--',
          'env',
          `OS_BOOTSTRAP_PASSWORD=${await rootPassword(namespace)}`,
          'python3',
          '-c',
          script,
        ];
        const ran = await tryKubectl(command);
        return ran.code === 0 && ran.stdout.includes('identity');
      }),
    );
  }
  if (!keep) await kubectl(['delete', 'namespace', namespace, '--wait', '--timeout=120s']);
}

async function rootPassword(namespace: string): Promise<string> {
  const encoded = await kubectl(['-n', namespace, 'get', 'secret', 'mariadb', '-o', 'jsonpath={.data.root}']);
  return Buffer.from(encoded, 'base64').toString('utf8');
}
