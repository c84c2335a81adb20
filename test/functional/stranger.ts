import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { unreachable } from '../../src/cloud/faults.ts';
import { commandOf, type Run } from '../../src/embedded/controllers/program.ts';
import type { Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { NetworkPolicy, Node, PersistentVolumeClaim, Pod } from '../../src/kube/resource.ts';
import type { Request } from '../../src/kube/transport.ts';
import { Cloud, type CloudOptions, NS } from './cloud.ts';
import { keystoneOf, secret } from './services.ts';
import { ours, slice, withSlice } from './stories.ts';

/**
 * What goes wrong in clouds that people run, and what somebody who asks `why` must be told. Written by one who had not read
 * src/insight, and before the first answer was seen.
 */
export interface Breakage {
  readonly what: string;
  /** Brings a cloud there; gives what the answer must name and only the run knows. */
  readonly happen: () => Promise<{ readonly cloud: Cloud; readonly names?: readonly string[] }>;
  readonly told: Told;
}

export interface Told {
  /** All of them in the first cause or in the way to it: the object at fault, and what is the matter with it. */
  readonly says: readonly RegExp[];
  readonly who: readonly ('User' | 'Cluster')[];
  /** In what to type: the first command or one of those after it. */
  readonly type: RegExp;
  /** Not ready only because of it. */
  readonly hence: RegExp;
}

const fresh = async (options: CloudOptions, ...objects: object[]): Promise<Cloud> => {
  const cloud = await Cloud.start(options);
  cloud.apply(...objects);
  return cloud;
};
const ready = async (options: CloudOptions = {}): Promise<Cloud> => (await withSlice(options)).cloud;

type Refusal = { readonly code: number; readonly reason: string; readonly message: string };
/** An admission plugin of the API server: refuses some requests with its own words. */
const refusing =
  (judge: (request: Request, store: Store) => Refusal | undefined) =>
  (store: Store): Store => ({
    ...store,
    handle(request, user) {
      const refusal = judge(request, store);
      if (refusal === undefined) return store.handle(request, user);
      const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...refusal };
      return { status: refusal.code, headers: {}, body };
    },
  });

const QUOTA = 'team-openstack';
const quota = refusing(({ method, path, body }, store) => {
  if (method !== 'POST' || path !== `/api/v1/namespaces/${NS}/pods`) return undefined;
  const used = store.objects().filter(o => o.kind === 'Pod' && o.metadata.namespace === NS).length;
  if (used < 3) return undefined;
  const name = (body as AnyObject).metadata.name;
  const message = `pods "${name}" is forbidden: exceeded quota: ${QUOTA}, requested: pods=1, used: pods=3, limited: pods=3`;
  return { code: 403, reason: 'Forbidden', message };
});

const webhook = refusing(({ method, path }) =>
  method !== 'GET' && /^\/apis\/apps\/v1\/.*(statefulsets|deployments)\//.test(path) && !path.endsWith('/status')
    ? {
        code: 500,
        reason: 'InternalError',
        message:
          'Internal error occurred: failed calling webhook "mutate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/mutate/fail?timeout=10s": no endpoints available for service "kyverno-svc"',
      }
    : undefined,
);

const is = (run: Run, pod: string, command: RegExp): boolean =>
  run.pod.metadata.name.startsWith(pod) &&
  run.pod.spec.containers.includes(run.container) &&
  command.test(commandOf(run));
const limitOf = (run: Run): string | undefined =>
  (run.container as { resources?: { limits?: Record<string, string> } }).resources?.limits?.memory;

const HOLD = 'snapshot.example.org/hold';

export const BREAKAGES: readonly Breakage[] = [
  {
    what: 'a ResourceQuota of the platform team leaves no room for one more pod',
    happen: async () => ({ cloud: await fresh({ wrap: quota }, slice()) }),
    told: {
      says: [/exceeded quota/, new RegExp(QUOTA), /Job keystone-db-sync/],
      who: ['User'],
      type: /quota/,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: 'nobody uncordoned the nodes after their kernels were upgraded, and Keystone lost its pod',
    happen: async () => {
      const cloud = await ready();
      const taints = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }];
      for (const node of cloud.hands.list(Node))
        cloud.hands.patch(Node, '', node.metadata.name, { spec: { unschedulable: true, taints } });
      removePod(cloud, 'keystone');
      return { cloud };
    },
    told: {
      says: [/unschedulable|cordon/i, /Pod keystone-/],
      who: ['User', 'Cluster'],
      type: /kubectl uncordon node-\d/,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: "the node under MariaDB's only member is gone, and its pod can neither end nor move",
    happen: async () => {
      const cloud = await ready();
      const node = (podOf(cloud, 'mariadb').spec as { nodeName: string }).nodeName;
      cloud.failNode(node);
      return { cloud, names: [node] };
    },
    told: {
      says: [/not ?ready|stopped posting|unreachable|silent|does not report|down/i, /mariadb-0/],
      who: ['User', 'Cluster'],
      type: /\bnodes?\b/,
      hence: /Keystone keystone/,
    },
  },
  {
    what: "somebody deleted MariaDB's claim while a snapshot tool holds it, and the pod was restarted",
    happen: async () => {
      const cloud = await ready();
      const { finalizers = [] } = cloud.get(PersistentVolumeClaim, 'data-mariadb-0')!.metadata;
      cloud.hands.patch(PersistentVolumeClaim, NS, 'data-mariadb-0', {
        metadata: { finalizers: [...finalizers, HOLD] },
      });
      cloud.hands.remove(PersistentVolumeClaim, NS, 'data-mariadb-0');
      removePod(cloud, 'mariadb');
      return { cloud };
    },
    told: {
      says: [/data-mariadb-0/, /delet|terminat/i, new RegExp(HOLD)],
      who: ['User', 'Cluster'],
      type: /(pvc|persistentvolumeclaim)s?[ /]data-mariadb-0/i,
      hence: /Keystone keystone/,
    },
  },
  {
    what: "a policy engine's webhook has no pods, and the API server takes no workloads",
    happen: async () => ({ cloud: await fresh({ wrap: webhook }, slice()) }),
    told: {
      says: [/mutate\.kyverno\.svc-fail/, /no endpoints available/],
      who: ['User', 'Cluster'],
      type: /webhookconfiguration|kyverno/i,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: "MariaDB's volume is full",
    happen: async () => ({
      cloud: await ready({
        programs: run =>
          is(run, 'mariadb', /mariadbd|mysqld/)
            ? {
                exit: 1,
                after: 4_000,
                message:
                  "2026-01-05  8:12:21 0 [ERROR] InnoDB: Error number 28 means 'No space left on device'\n2026-01-05  8:12:21 0 [ERROR] Aborting",
              }
            : undefined,
      }),
    }),
    told: {
      says: [/No space left on device|full/, /data-mariadb-0/],
      who: ['User', 'Cluster'],
      type: /pvc|persistentvolumeclaim|storage/i,
      hence: /Keystone keystone/,
    },
  },
  {
    what: 'Keystone gets less memory than it needs',
    happen: async () => {
      const cloud = await ready({
        programs: run =>
          is(run, 'keystone', /uwsgi/) && limitOf(run) === '128Mi'
            ? { exit: 137, after: 20_000, reason: 'OOMKilled' }
            : undefined,
      });
      cloud.apply(slice({ keystone: { resources: { limits: { memory: '128Mi' } } } }));
      return { cloud };
    },
    told: {
      says: [/OOM|out of memory/i, /128Mi/, /keystone/],
      who: ['User'],
      type: /edit openstackcontrolplane slice.*resources/,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: 'the security team denies all traffic in the namespace',
    happen: async () => {
      let denied = (): boolean => false;
      const cloud = await ready({
        backendFaults: ({ port, at }) => {
          const what = ({ sql: 'MariaDB', bus: 'RabbitMQ', identity: 'Keystone', page: 'The service' } as const)[port];
          if (denied()) throw unreachable(what, at.replace(/^\w+:\/\//, ''), 'timeout');
        },
      });
      denied = () => cloud.get(NetworkPolicy, 'default-deny') !== undefined;
      cloud.apply({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'default-deny' },
        spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
      });
      return { cloud };
    },
    told: {
      says: [/does not answer|unreachable|timeout/i, /NetworkPolicy/i, /default-deny/],
      who: ['User', 'Cluster'],
      type: /networkpolic/i,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: 'an administrator changed the password of admin in Keystone itself',
    happen: async () => {
      const cloud = await ready();
      keystoneOf(cloud).users.admin!.password = 'chosen by hand';
      return { cloud };
    },
    told: {
      says: [/password/i, /\badmin\b/, /keystone-admin/],
      who: ['User'],
      type: /secret keystone-admin|openstack\.k8s\.io\/retry/i,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: "an option of the user makes Keystone's health check fail, so its pod never gets ready",
    happen: async () => {
      const cloud = await ready({
        programs: run =>
          is(run, 'keystone', /uwsgi/) && run.files('/').some(file => run.file(`/${file}`)?.includes('disable_by_file'))
            ? {
                serves: true,
                readyAfter: Number.POSITIVE_INFINITY,
                unhealthy: 'HTTP probe failed with statuscode: 503',
              }
            : undefined,
      });
      const customServiceConfig =
        '[healthcheck]\nbackends = disable_by_file\ndisable_by_file_path = /var/lib/keystone/maintenance\n';
      cloud.apply(slice({ keystone: { customServiceConfig } }));
      return { cloud };
    },
    told: {
      says: [/probe/i, /503/, /Pod keystone-/],
      who: ['User'],
      type: /logs|describe pod|customServiceConfig/,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: 'the cloud was deleted, and a backup tool that is no longer there holds RabbitMQ',
    happen: async () => {
      const cloud = await ready();
      const { finalizers = [] } = cloud.get(RabbitMQ, 'rabbitmq')!.metadata;
      cloud.hands.patch(RabbitMQ, NS, 'rabbitmq', { metadata: { finalizers: [...finalizers, HOLD] } });
      cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
      return { cloud };
    },
    told: {
      says: [/RabbitMQ rabbitmq/, /finalizer/i, new RegExp(HOLD)],
      who: ['User', 'Cluster'],
      type: /rabbitmq/,
      hence: /OpenStackControlPlane slice/,
    },
  },
  {
    what: "a typing error in the host name of somebody's own database Secret",
    happen: async () => ({
      cloud: await fresh(
        {},
        secret('keystone-db', {
          hostname: 'mariadb.databse.svc.cluster.local',
          user: 'keystone',
          password: 'from the database team',
          database: 'keystone',
        }),
        ours('Memcached', 'memcached'),
        ours('Keystone', 'keystone', { databaseSecret: 'keystone-db' }),
      ),
    }),
    told: {
      says: [/mariadb\.databse\.svc\.cluster\.local/, /Secret keystone-db/, /connect|answer|reach/i],
      who: ['User'],
      type: /secret[ /]keystone-db/i,
      hence: /^$/,
    },
  },
];

const podOf = (cloud: Cloud, service: string): AnyObject =>
  cloud.hands
    .list(Pod, NS)
    .find(pod => pod.metadata.name.startsWith(service) && !/sync|bootstrap/.test(pod.metadata.name))!;

const removePod = (cloud: Cloud, service: string): void =>
  cloud.hands.remove(Pod, NS, podOf(cloud, service).metadata.name);
