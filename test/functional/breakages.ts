import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { CloudError } from '../../src/cloud/ports.ts';
import { kindOf, SECTION_NAMES } from '../../src/controlplane/sections.ts';
import type { Exit, Outcome, Run } from '../../src/embedded/controllers/program.ts';
import { commandOf } from '../../src/embedded/controllers/program.ts';
import { Pod, StatefulSet, StorageClass } from '../../src/kube/resource.ts';
import type { Request } from '../../src/kube/transport.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { type Cloud, NS } from './cloud.ts';
import { secret } from './services.ts';
import { ours } from './stories.ts';

/** What an answer must say: the reason, what must be mended, who acts, and the command. */
export interface Expected {
  readonly reason: string;
  /** `Secret mine` */
  readonly root: string;
  readonly who: 'User' | 'Operator' | 'Cluster';
  readonly command: RegExp;
}

/** One way to break a cloud. Where it begins: an empty namespace, one with the slice, or one where the slice is Ready. */
export interface Breakage {
  readonly id: string;
  readonly begins: 'empty' | 'applied' | 'ready';
  /** Laid over the spec of the slice. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly act?: (cloud: Cloud) => void | Promise<void>;
  /** How programs end, while it is broken. */
  readonly program?: (run: Run) => Outcome | undefined;
  readonly request?: (request: Request) => { status: number; body: unknown } | undefined;
  readonly call?: (call: { port: string; method: string }) => void;
  /** How long it is left alone, in seconds of its time. */
  readonly after?: number;
  readonly expected: Expected;
}

const off = { enabled: false };
const annotate = (annotations: Record<string, string | null>) => ({ metadata: { annotations } });
const ends =
  (pattern: RegExp, exit: Exit) =>
  (run: Run): Outcome | undefined =>
    pattern.test(commandOf(run)) ? { ...exit, after: 1_000 } : undefined;
const restart = (pod: string) => (cloud: Cloud) => cloud.hands.remove(Pod, NS, pod);
const restartOf = (app: string) => (cloud: Cloud) => {
  for (const pod of cloud.hands.list(Pod, NS))
    if (pod.metadata.name.startsWith(app)) cloud.hands.remove(Pod, NS, pod.metadata.name);
};
const status = (code: number, reason: string, message: string) => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message },
});
const isApply = (request: Request, plural: string) =>
  request.method === 'PATCH' && request.path.includes(`/${plural}/`);
const unwritten = SECTION_NAMES.find(name =>
  PLANS.find(plan => plan.kind.kind === kindOf(name).kind)?.rows.some(row => row.type === 'ControllerReady'),
);

export const SINGLE: readonly Breakage[] = [
  {
    id: 'secret-missing',
    begins: 'empty',
    act: cloud => cloud.apply(ours('MariaDB', 'db', { secret: 'mine' })),
    expected: {
      reason: 'SecretNotFound',
      root: 'Secret mine',
      who: 'User',
      command: /create secret generic mine --from-literal=password=/,
    },
  },
  {
    id: 'secret-without-key',
    begins: 'empty',
    act: cloud =>
      cloud.apply(secret('mine', { passwort: 'long enough to see' }), ours('MariaDB', 'db', { secret: 'mine' })),
    expected: {
      reason: 'SecretIncomplete',
      root: 'Secret mine',
      who: 'User',
      command: /patch secret mine .*"stringData":\{"password"/,
    },
  },
  {
    id: 'storage-class-missing',
    begins: 'applied',
    spec: { storageClass: 'fast' },
    expected: {
      reason: 'StorageClassNotFound',
      root: 'StorageClass fast',
      who: 'User',
      command: /kubectl get storageclass/,
    },
  },
  {
    id: 'no-default-storage-class',
    begins: 'applied',
    act: cloud => {
      for (const known of cloud.hands.list(StorageClass)) cloud.hands.remove(StorageClass, '', known.metadata.name);
    },
    expected: {
      reason: 'StorageClassNotFound',
      root: 'StorageClass default',
      who: 'User',
      command: /kubectl get storageclass/,
    },
  },
  {
    id: 'no-node-fits',
    begins: 'ready',
    spec: { memcached: { nodeSelector: { disk: 'ssd' } } },
    expected: {
      reason: 'Unschedulable',
      root: 'Pod memcached-0',
      who: 'User',
      command: /kubectl label node node-0 disk=ssd/,
    },
  },
  {
    id: 'image-of-a-workload',
    begins: 'ready',
    spec: { memcached: { image: 'example.org/no-such:1' } },
    expected: {
      reason: 'ImagePullFailed',
      root: 'Image example.org/no-such:1',
      who: 'User',
      command: /edit openstackcontrolplane slice .*# spec\.memcached\.image/,
    },
  },
  {
    id: 'image-of-a-job',
    begins: 'ready',
    spec: { keystone: { image: 'example.org/no-such:2' } },
    expected: {
      reason: 'ImagePullFailed',
      root: 'Image example.org/no-such:2',
      who: 'User',
      command: /# spec\.keystone\.image/,
    },
  },
  {
    id: 'failing-db-sync',
    begins: 'applied',
    program: ends(/keystone-manage\s+db_sync/, {
      exit: 1,
      message: "alembic: Can't locate revision identified by 'e25ffa003242'",
    }),
    expected: {
      reason: 'JobFailed',
      root: 'Job keystone-db-sync',
      who: 'User',
      command: /logs job\/keystone-db-sync-\w+/,
    },
  },
  {
    id: 'admin-password-changed',
    begins: 'ready',
    act: cloud => {
      Object.values(cloud.backends.disks.sql)[0]!.databases.keystone!.keystone!.users.admin!.password =
        'changed-by-hand';
    },
    expected: {
      reason: 'AccessDenied',
      root: 'Keystone keystone',
      who: 'User',
      command: /annotate keystone keystone --overwrite openstack\.k8s\.io\/retry=/,
    },
  },
  {
    id: 'root-password-changed',
    begins: 'ready',
    act: cloud => {
      Object.values(cloud.backends.disks.sql)[0]!.users.root!.password = 'changed-by-hand';
    },
    expected: { reason: 'AccessDenied', root: 'MariaDB mariadb', who: 'User', command: /delete pod mariadb-0/ },
  },
  {
    id: 'volume-full',
    begins: 'ready',
    program: ends(/mariadbd|mysqld/, {
      exit: 1,
      message: '[ERROR] mariadbd: Disk is full writing ./ib_logfile0 (Errcode: 28 "No space left on device")',
    }),
    act: restart('mariadb-0'),
    expected: {
      reason: 'VolumeFull',
      root: 'Pod mariadb-0',
      who: 'User',
      command: /patch pvc \S*mariadb-0 -p .*storage/,
    },
  },
  {
    id: 'stuck-finalizer',
    begins: 'ready',
    act: cloud => {
      cloud.hands.patch(Memcached, NS, 'memcached', { metadata: { finalizers: ['example.org/hold'] } });
      cloud.hands.remove(Memcached, NS, 'memcached');
    },
    expected: {
      reason: 'Finalizer',
      root: 'Memcached memcached',
      who: 'User',
      command: /get memcached memcached -o jsonpath=.*finalizers/,
    },
  },
  {
    id: 'bad-ini',
    begins: 'ready',
    spec: { keystone: { customServiceConfig: '[DEFAULT]\ndebug = true\n[broken\n' } },
    expected: {
      reason: 'InvalidConfig',
      root: 'Keystone keystone',
      who: 'User',
      command: /edit openstackcontrolplane slice .*# spec\.keystone\.customServiceConfig/,
    },
  },
  {
    id: 'bad-ini-of-the-cloud',
    begins: 'ready',
    spec: { customServiceConfig: 'debug = true\n' },
    expected: {
      reason: 'InvalidConfig',
      root: 'OpenStackControlPlane slice',
      who: 'User',
      command: /edit openstackcontrolplane slice .*# spec\.customServiceConfig/,
    },
  },
  {
    id: 'operator-without-rbac',
    begins: 'applied',
    request: request =>
      isApply(request, 'statefulsets')
        ? status(
            403,
            'Forbidden',
            'statefulsets.apps "x" is forbidden: User "system:serviceaccount:openstack-operator-system:openstack-operator" cannot patch resource "statefulsets" in API group "apps" in the namespace "openstack"',
          )
        : undefined,
    expected: {
      reason: 'Forbidden',
      root: 'Permission patch statefulsets',
      who: 'User',
      command: /apply --server-side -k config\/rbac/,
    },
  },
  {
    id: 'no-more-services',
    begins: 'applied',
    request: request =>
      isApply(request, 'services') && request.path.endsWith('/rabbitmq')
        ? status(
            403,
            'Forbidden',
            'services "rabbitmq" is forbidden: exceeded quota: compute-quota, requested: services=1, used: services=5, limited: services=5',
          )
        : undefined,
    expected: {
      reason: 'Forbidden',
      root: 'ResourceQuota compute-quota',
      who: 'User',
      command: /describe resourcequota compute-quota/,
    },
  },
  {
    id: 'paused-and-gone',
    begins: 'ready',
    act: async cloud => {
      cloud.hands.patch(MariaDB, NS, 'mariadb', annotate({ 'openstack.k8s.io/paused': 'true' }));
      await cloud.sim.run(5_000);
      cloud.hands.remove(StatefulSet, NS, 'mariadb');
    },
    expected: {
      reason: 'Annotated',
      root: 'MariaDB mariadb',
      who: 'User',
      command: /annotate mariadb mariadb openstack\.k8s\.io\/paused-/,
    },
  },
  {
    id: 'database-crashes',
    begins: 'ready',
    program: ends(/mariadbd|mysqld/, { exit: 1, message: '[ERROR] InnoDB: Database page corruption on disk' }),
    act: restart('mariadb-0'),
    expected: { reason: 'CrashLoop', root: 'Pod mariadb-0', who: 'User', command: /logs mariadb-0 -c \S+ --previous/ },
  },
  {
    id: 'instance-missing',
    begins: 'empty',
    act: cloud =>
      cloud.apply(ours('Memcached', 'memcached'), ours('Keystone', 'keystone', { databaseInstance: 'nowhere' })),
    expected: {
      reason: 'NotFound',
      root: 'MariaDB nowhere',
      who: 'User',
      command: /edit keystone keystone .*# spec\.databaseInstance/,
    },
  },
  {
    id: 'second-control-plane',
    begins: 'ready',
    act: cloud => cloud.apply(ours('OpenStackControlPlane', 'twin', {})),
    expected: {
      reason: 'AnotherControlPlane',
      root: 'OpenStackControlPlane twin',
      who: 'User',
      command: /delete openstackcontrolplane twin/,
    },
  },
  {
    id: 'child-of-somebody',
    begins: 'empty',
    act: cloud =>
      cloud.apply(
        ours('Memcached', 'memcached', {}),
        ours('OpenStackControlPlane', 'slice', { glance: off, placement: off, ovn: off, neutron: off, nova: off }),
      ),
    expected: {
      reason: 'AlreadyExists',
      root: 'Memcached memcached',
      who: 'User',
      command: /annotate memcached memcached openstack\.k8s\.io\/adopt=true/,
    },
  },
  {
    id: 'bad-schedule',
    begins: 'ready',
    spec: { keystone: { fernetRotation: { schedule: '0 99 * * *' } } },
    expected: {
      reason: 'InvalidSchedule',
      root: 'Keystone keystone',
      who: 'User',
      command: /# spec\.keystone\.fernetRotation\.schedule/,
    },
  },
  {
    id: 'node-dead',
    begins: 'ready',
    after: 200,
    act: cloud => {
      const pod = cloud.get(Pod, 'mariadb-0') as { spec?: { nodeName?: string } } | undefined;
      cloud.failNode(pod?.spec?.nodeName ?? '');
    },
    expected: { reason: 'NodeNotReady', root: 'Node node-', who: 'Cluster', command: /describe node node-\d/ },
  },
  {
    id: 'mount-missing',
    begins: 'ready',
    spec: {
      memcached: {
        extraMounts: [{ name: 'mine', mountPath: '/mine', secret: { secretName: 'not-there' } }],
      },
    },
    expected: {
      reason: 'MountFailed',
      root: 'Secret not-there',
      who: 'User',
      command: /create secret generic not-there/,
    },
  },
  {
    id: 'out-of-memory',
    begins: 'ready',
    program: ends(/rabbitmq-server/, { exit: 137, message: 'eheap_alloc: Cannot allocate memory (of type "heap")' }),
    act: restart('rabbitmq-0'),
    expected: { reason: 'OutOfMemory', root: 'Pod rabbitmq-0', who: 'User', command: /# spec\.rabbitmq\.resources/ },
  },
  {
    id: 'certificate-expired',
    begins: 'ready',
    program: ends(/uwsgi/, {
      exit: 1,
      message: 'ssl.SSLError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired',
    }),
    act: restartOf('keystone-api'),
    expected: {
      reason: 'CertificateExpired',
      root: 'Pod keystone-api',
      who: 'User',
      command: /describe pod keystone-api/,
    },
  },
  {
    id: 'probe-fails',
    begins: 'ready',
    program: run => (/uwsgi/.test(commandOf(run)) ? { serves: true, readyAfter: 1e9 } : undefined),
    act: restartOf('keystone-api'),
    expected: { reason: 'ProbeFails', root: 'Pod keystone-api', who: 'User', command: /logs keystone-api-\S+ -c/ },
  },
  {
    id: 'operator-away',
    begins: 'ready',
    act: cloud => {
      cloud.crashOperator();
      cloud.hands.patch(Keystone, NS, 'keystone', { spec: { replicas: 2 } });
    },
    expected: {
      reason: 'NotObserved',
      root: 'Deployment openstack-operator',
      who: 'User',
      command: /logs deployment\/openstack-operator/,
    },
  },
  {
    id: 'deletion-held-by-a-row',
    begins: 'ready',
    call: ({ method }) => {
      if (method === 'dropUser')
        throw new CloudError('rejected', 'MariaDB at the server rejects the request: read only');
    },
    act: cloud => cloud.hands.remove(Keystone, NS, 'keystone'),
    after: 1500,
    expected: {
      reason: 'DeletionBlocked',
      root: 'Keystone keystone',
      who: 'User',
      command: /annotate keystone keystone --overwrite openstack\.k8s\.io\/skip-undo=\w+/,
    },
  },
  {
    id: 'external-server-silent',
    begins: 'empty',
    act: cloud =>
      cloud.apply(
        secret('admin', { user: 'root', password: 'long enough to see' }),
        ours('MariaDB', 'db', { external: { hostname: 'db.example.org', adminSecret: 'admin' } }),
      ),
    expected: { reason: 'Unreachable', root: 'MariaDB db', who: 'User', command: /describe mariadb db/ },
  },
  ...(unwritten
    ? [
        {
          id: 'kind-without-controller',
          begins: 'ready',
          spec: { [unwritten]: { enabled: true } },
          expected: {
            reason: 'NotImplemented',
            root: `${kindOf(unwritten).kind} ${unwritten}`,
            who: 'User',
            command: new RegExp(`edit openstackcontrolplane slice .*# spec\\.${unwritten}`),
          },
        } as const,
      ]
    : []),
];

/** Two that have nothing to do with each other, at once. */
export const PAIRS: readonly (readonly [string, string])[] = [
  ['image-of-a-workload', 'bad-ini'],
  ['volume-full', 'no-node-fits'],
  ['bad-schedule', 'stuck-finalizer'],
  ['no-more-services', 'failing-db-sync'],
  ['out-of-memory', 'image-of-a-workload'],
  ['certificate-expired', 'out-of-memory'],
  ['admin-password-changed', 'no-node-fits'],
  ['second-control-plane', 'database-crashes'],
  ['mount-missing', 'bad-ini-of-the-cloud'],
  ['secret-missing', 'instance-missing'],
];
