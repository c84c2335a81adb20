import { readFileSync } from 'node:fs';
import { KINDS } from '../api/kinds.ts';
import { crdOf } from '../api/schema/crd.ts';
import { type Client, createClient } from '../src/kube/client.ts';
import type { AnyObject } from '../src/kube/object.ts';
import { CustomResourceDefinition, Namespace, Pod, Secret } from '../src/kube/resource.ts';
import { rbac } from '../src/operator/manifests.ts';
import { PLANS } from '../src/operator/plans.ts';
import { realClock } from '../src/real/clock.ts';
import { loadCredentials } from '../src/real/credentials.ts';
import { connect } from '../src/real/transport.ts';
import { type ApiServer, startApiServer } from '../test/conformance/apiserver.ts';
import { OperatorProcess, pause, until } from './child.ts';
import { type Figure, figure, MIB } from './figures.ts';
import { Five, five } from './toy.ts';

const NS = 'openstack';

export interface Load {
  readonly objects: number;
  readonly pods: number;
  readonly secrets: number;
}

/** Many objects of ours, many pods of ours, and many Secrets that are none of our business. */
export async function loaded(load: Load): Promise<Figure[]> {
  const server = await startApiServer();
  const connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }));
  const admin = createClient(connection, realClock);
  let operator: OperatorProcess | undefined;
  try {
    await install(admin);
    await many(load.secrets, i => admin.create(Secret, foreignSecret(i)));
    await many(load.pods, i => admin.create(Pod, managedPod(i, load.objects)));

    operator = new OperatorProcess({ BENCH_KUBECONFIG: server.kubeconfig('operator'), BENCH_PLANS: 'five' });
    const started = performance.now();
    await operator.synced();
    const synced = (performance.now() - started) / 1000;
    const atStart = operator.last!;
    operator.resetStalls();

    const created = performance.now();
    await many(load.objects, i =>
      admin.create(Five, {
        apiVersion: 'bench.openstack.org/v1alpha1',
        kind: 'Five',
        metadata: { name: `five-${i}`, namespace: NS },
      } as AnyObject),
    );
    await operator.during(
      until(() => readyCount(admin).then(count => count === load.objects), 'all objects are Ready', 900),
    );
    const ready = (performance.now() - created) / 1000;
    const reconciling = operator.last!;
    await operator.during(pause(30_000));
    const requests = requestsOf(server);
    const count = (verbs: readonly string[]) => requests.filter(verb => verbs.includes(verb)).length;
    return [
      figure(
        `loaded RSS: ${load.objects} objects x 5 children, ${load.pods} pods, ${load.secrets} foreign Secrets`,
        operator.rss() / MIB,
        'MiB',
        200,
      ),
      figure('loaded heap in use', (operator.last?.heapUsed ?? 0) / MIB, 'MiB'),
      figure('peak RSS since start', operator.peak() / MIB, 'MiB'),
      figure('longest stall while caches fill (own CPU)', atStart.work, 'ms', 100),
      figure('longest stall while caches fill (wall, shared machine)', atStart.gap, 'ms'),
      figure('longest stall while reconciling (own CPU)', reconciling.work, 'ms', 100),
      figure('longest stall while reconciling (wall, shared machine)', reconciling.gap, 'ms'),
      figure('caches filled', synced, 's'),
      figure('all objects Ready', ready, 's'),
      figure('writes per object', count(['create', 'update', 'patch', 'delete']) / load.objects, '', 7),
      figure('reads per object', count(['get']) / load.objects, '', 6),
      figure('CPU of the operator, whole run', operator.cpuSeconds(), 's'),
    ];
  } finally {
    await operator?.stop();
    await connection.close();
    await server.stop();
  }
}

async function install(admin: Client): Promise<void> {
  for (const kind of [...KINDS, Five])
    await admin.create(CustomResourceDefinition, crdOf(kind) as unknown as AnyObject);
  for (const name of [NS, 'openstack-operator-system'])
    await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const object of rbac([...PLANS, five]) as AnyObject[]) {
    const group = 'rbac.authorization.k8s.io';
    const subjects = object.subjects !== undefined && [{ kind: 'User', name: 'operator', apiGroup: group }];
    const plural = `${object.kind.toLowerCase()}s`;
    const resource = {
      group,
      version: 'v1',
      kind: object.kind,
      plural,
      namespaced: !object.kind.startsWith('Cluster'),
    };
    await admin.create(resource, { ...object, ...(subjects && { subjects }) } as AnyObject);
  }
  const established = (crd: AnyObject) =>
    ((crd.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
      c => c.type === 'Established' && c.status === 'True',
    );
  await until(
    async () => (await admin.list<AnyObject>(CustomResourceDefinition)).items.every(established),
    'CRDs are established',
    60,
  );
}

/** Eight at a time: as much as a server on two shared cores takes. */
async function many(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await one(index);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** The size of a Helm release's or a service account's: about 1.5 KiB, with the annotations that tools leave. */
const foreignSecret = (index: number): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: `foreign-${index}`,
    namespace: NS,
    labels: { 'app.kubernetes.io/name': 'somebody', 'app.kubernetes.io/managed-by': 'Helm', version: `${index % 7}` },
    annotations: { 'meta.helm.sh/release-name': `release-${index}`, 'meta.helm.sh/release-namespace': NS },
  },
  type: 'Opaque',
  data: { value: Buffer.alloc(1024, index % 251).toString('base64') },
});

/** Like a service's pod: labels, one container with probes, env, mounts and volumes, and a status as a kubelet writes it. */
const managedPod = (index: number, objects: number): AnyObject => {
  const owner = `five-${index % objects}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${owner}-${index}`,
      namespace: NS,
      labels: {
        'openstack.k8s.io/managed': 'true',
        'app.kubernetes.io/name': 'five',
        'app.kubernetes.io/instance': owner,
        'app.kubernetes.io/component': 'api',
        'pod-template-hash': '5d8c7f6b4',
      },
      annotations: { 'openstack.k8s.io/config-hash': '0123456789' },
    },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'main',
          image: 'example.org/openstack/keystone:2025.2-debian-bookworm',
          command: ['dumb-init', '--single-child', '--', 'kolla_start'],
          env: [{ name: 'KOLLA_CONFIG_STRATEGY', value: 'COPY_ALWAYS' }],
          ports: [{ name: 'api', containerPort: 5000 }],
          readinessProbe: { httpGet: { path: '/healthcheck', port: 5000 } },
          livenessProbe: { httpGet: { path: '/healthcheck', port: 5000 } },
          volumeMounts: [{ name: 'config', mountPath: '/var/lib/kolla/config_files', readOnly: true }],
        },
      ],
      volumes: [{ name: 'config', secret: { secretName: `${owner}-config-data-0123456789` } }],
    },
  } as AnyObject;
};

async function readyCount(admin: Client): Promise<number> {
  const { items } = await admin.list<AnyObject>(Five, { namespace: NS });
  return items.filter(item => {
    const { conditions = [] } = (item.status ?? {}) as { conditions?: { type: string; status: string }[] };
    return conditions.some(c => c.type === 'Ready' && c.status === 'True');
  }).length;
}

/** Verbs of the operator's requests, Leases and Events left out (rule 14). */
function requestsOf(server: ApiServer): string[] {
  return readFileSync(server.auditLog, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as { user: { username: string }; verb: string; requestURI: string })
    .filter(({ user, requestURI }) => user.username === 'operator' && !/\/(events|leases)/.test(requestURI))
    .map(({ verb }) => verb);
}
