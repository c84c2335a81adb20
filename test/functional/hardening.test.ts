import { readFileSync } from 'node:fs';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  CronJob,
  Deployment,
  Job,
  NetworkPolicy,
  Node,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '../../src/kube/resource.ts';
import { NODES_OF_LABEL } from '../../src/runtime/plan/names.ts';
import { Cloud, NS } from './cloud.ts';
import { containersOf, violations } from './podsecurity.ts';
import { admits, type From, matches } from './policies.ts';
import { cloudWith, label, readyCloud, template } from './services.ts';

const of = (replicas: number) => ({
  keystone: { replicas },
  // Always two: its addresses are in everybody's config.
  memcached: { replicas: 2 },
  heat: { enabled: true, replicas },
  horizon: { enabled: true, replicas },
});
const several = ['heat-api', 'heat-cfn', 'heat-engine', 'horizon', 'keystone-api', 'memcached'];

describe('disruption budgets', () => {
  it('are there where a service has several pods, follow their number, and roll nothing', async () => {
    const cloud = await readyCloud(of(1));
    const names = () =>
      cloud.hands
        .list(PodDisruptionBudget, NS)
        .map(object => object.metadata.name)
        .sort();
    expect(names()).toEqual(['memcached']);
    const before = template(cloud, Deployment, 'heat-api');
    cloud.apply(cloudWith(of(2)));
    await cloud.settle();
    expect(names()).toEqual(several);
    expect(cloud.get(PodDisruptionBudget, 'heat-api')?.spec).toMatchObject({
      maxUnavailable: 1,
      selector: { matchLabels: { 'app.kubernetes.io/instance': 'heat', 'app.kubernetes.io/component': 'api' } },
    });
    expect(template(cloud, Deployment, 'heat-api')).toEqual(before);
    cloud.apply(cloudWith(of(1)));
    await cloud.settle();
    expect(names()).toEqual(['memcached']);
  }, 60_000);
});

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };

const NODES = 'openstack-nodes';

async function wholeCloud(spec: object): Promise<Cloud> {
  const cloud = await Cloud.start();
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged', [NODES_OF_LABEL]: NS };
  cloud.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NODES, labels } });
  const [node] = cloud.hands.list(Node, '');
  label(cloud, node!.metadata.name, { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  cloud.apply({ ...minimal, spec: { ...minimal.spec, ...spec } });
  await cloud.ready(OpenStackControlPlane, minimal.metadata.name);
  await cloud.settle();
  return cloud;
}

/** Every pod there is, and every pod that a Job or CronJob could start. */
function podsOf(cloud: Cloud): Map<string, PodSpec> {
  const pods = cloud.hands.list(Pod, NS).map(pod => [pod.metadata.name, pod.spec as PodSpec] as const);
  const jobs = cloud.hands.list(Job, NS).map(job => [job.metadata.name, podIn(job.spec)] as const);
  const crons = cloud.hands.list(CronJob, NS).map(cron => {
    const { jobTemplate } = cron.spec as { jobTemplate: { spec: object } };
    return [cron.metadata.name, podIn(jobTemplate.spec)] as const;
  });
  return new Map([...pods, ...jobs, ...crons]);
}
const podIn = (spec: unknown): PodSpec => (spec as { template: { spec: PodSpec } }).template.spec;

describe('secrets', () => {
  it('of Keystone are read from folders of its own user, and generated passwords fit into bcrypt', async () => {
    const sections = { heat: { enabled: true }, horizon: { enabled: true }, glance: { enabled: true } };
    const cloud = await readyCloud(sections);
    const keystone = [...podsOf(cloud)].filter(([name]) => name.startsWith('keystone-'));
    expect(keystone.length).toBeGreaterThan(3);
    for (const [name, { containers, initContainers = [], volumes = [] }] of keystone) {
      // The kubelet lets everybody list the folder of a Secret.
      const secrets = volumes.filter(volume => volume.secret).map(volume => volume.name);
      const repositories = containers.flatMap(({ volumeMounts = [] }) =>
        volumeMounts.filter(({ mountPath }) => /^\/etc\/keystone\/(fernet|credential)-keys$/.test(mountPath)),
      );
      expect([name, repositories.map(mount => mount.subPath)]).toEqual([name, ['fernet-keys', 'credential-keys']]);
      expect(repositories.filter(mount => secrets.includes(mount.name))).toEqual([]);
      expect(initContainers.map(({ command }) => command?.[2])).toEqual([expect.stringContaining('umask 077')]);
    }
    const passwords = cloud.hands.list(Secret, NS).flatMap(({ data }) =>
      Object.entries((data ?? {}) as Record<string, string>)
        .filter(([key]) => key.endsWith('password'))
        .map(([, value]) => Buffer.from(value, 'base64').length),
    );
    expect(passwords.length).toBeGreaterThan(5);
    expect(Math.max(...passwords)).toBeLessThanOrEqual(72);
  }, 60_000);
});

/** By the beginning of the pod's name: what can't be restricted, and why. docs/explanation/hardening.md tells it to people. */
const ON_THE_NODE: Readonly<Record<string, string>> = {
  'ovn-controller-': 'the switch of the node: its network, its folders',
  'ovn-gateway-': 'the same on a gateway',
  'ovn-metadata-agent-': 'makes network namespaces of the node',
  'nova-cell1-libvirt-': 'starts guests on the node, plugs their networks and volumes, keeps their consoles',
};
const onTheNode = (name: string): boolean => Object.keys(ON_THE_NODE).some(prefix => name.startsWith(prefix));

const cpu = (text: string): number => (text.endsWith('m') ? Number(text.slice(0, -1)) : Number(text) * 1000);
const mebibytes = (text: string): number =>
  text.endsWith('Gi') ? Number(text.slice(0, -2)) * 1024 : Number(/^(\d+)Mi$/.exec(text)?.[1] ?? Number.NaN);

describe('pods of the minimal cloud', () => {
  it.each([
    ['restricted', 'restricted'],
    ['kolla', 'baseline'],
  ] as const)(
    'under profile %s keep to PodSecurity %s, but for those of the node',
    async (podProfile, level) => {
      const cloud = await wholeCloud({ podProfile });
      const refused = [...podsOf(cloud)].flatMap(([name, pod]) => {
        const found = violations(pod, level);
        return found.length > 0 ? [`${name}: ${found.join(', ')}`] : [];
      });
      expect(refused.filter(line => !onTheNode(line))).toEqual([]);
      // The list must not keep names of what has learnt better.
      const known = Object.keys(ON_THE_NODE).filter(prefix => !prefix.startsWith('ovn-controller'));
      expect(known.filter(prefix => !refused.some(line => line.startsWith(prefix)))).toEqual([]);
      const pods = [...podsOf(cloud)];
      expect(pods.length).toBeGreaterThan(25);
      for (const [name, pod] of pods) {
        expect(pod.automountServiceAccountToken, name).toBe(false);
        expect(pod.topologySpreadConstraints?.length, name).toBe(2);
        for (const { resources, securityContext } of containersOf(pod)) {
          expect(resources?.requests, name).toBeDefined();
          // kolla_start writes config into the image, and the node's own programs write where the node has its files.
          const readOnly = podProfile === 'restricted' && !onTheNode(name);
          expect(securityContext?.readOnlyRootFilesystem, name).toBe(readOnly || undefined);
        }
      }
      // libvirt keeps definitions of its own beside our files: a folder of ours over theirs would be read-only.
      const libvirt = pods
        .filter(([name]) => /^nova-cell1-libvirt-[^-]+$/.test(name))
        .flatMap(([, pod]) => containersOf(pod));
      const mounts = libvirt.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ mountPath }) => mountPath));
      expect(mounts).not.toContain('/etc/libvirt');
      if (podProfile === 'restricted') expect(mounts).toContain('/etc/libvirt/libvirtd.conf');
    },
    240_000,
  );

  it('ask for less than 2 CPUs and 12 GiB together, and stop as slowly as their work asks', async () => {
    const cloud = await wholeCloud({});
    const pods = cloud.hands
      .list(Pod, NS)
      .filter(pod => (pod.status as { phase?: string }).phase === 'Running')
      .map(pod => pod.spec as PodSpec);
    const all = pods.flatMap(pod => pod.containers).map(container => container.resources?.requests ?? {});
    const sum = (of: (text: string) => number, name: string) =>
      all.reduce((total, requests) => total + of(requests[name] as string), 0);
    expect(sum(cpu, 'cpu')).toBeLessThanOrEqual(2000);
    expect(sum(cpu, 'cpu')).toBeGreaterThan(0);
    expect(sum(mebibytes, 'memory')).toBeLessThanOrEqual(12 * 1024);
    const grace = (resource: typeof Deployment, name: string) =>
      podIn(cloud.get(resource, name)?.spec).terminationGracePeriodSeconds;
    expect([
      grace(StatefulSet, 'mariadb'),
      grace(StatefulSet, 'rabbitmq'),
      grace(StatefulSet, 'memcached'),
      grace(StatefulSet, 'ovn-nb'),
      grace(Deployment, 'ovn-northd'),
      grace(Deployment, 'keystone-api'),
      grace(StatefulSet, 'glance-api'),
      grace(StatefulSet, 'nova-scheduler'),
      grace(StatefulSet, 'neutron-periodic'),
    ]).toEqual([300, 60, 10, 60, 30, 90, 600, 210, 30]);
    // Told to stop while it starts, none would hear it; who is behind a Service goes on serving.
    const waits = (pod: PodSpec) => pod.containers.map(({ lifecycle }) => lifecycle?.preStop?.exec?.command?.join(' '));
    expect(new Set(pods.flatMap(waits).map(command => command?.match(/sleep \d+/)?.[0]))).toEqual(
      new Set(['sleep 1', 'sleep 10']),
    );
    for (const name of ['keystone-api', 'placement-api', 'neutron-api'])
      expect(waits(podIn(cloud.get(Deployment, name)?.spec))[0], name).toContain('sleep 10');
  }, 240_000);

  it('take what the user says of resources: over ours, and a limit as the request', async () => {
    const cloud = await readyCloud({
      keystone: { resources: { requests: { cpu: '300m' }, limits: { memory: '1Gi' } } },
    });
    expect(podIn(cloud.get(Deployment, 'keystone-api')?.spec).containers[0]?.resources).toEqual({
      // The API server makes the limit of a pod its request where there is none.
      requests: { cpu: '300m' },
      limits: { memory: '1Gi' },
    });
  });
});

/** Addresses of Services that a pod's mounted files hold: `host:port`, also where one is named by its IP. */
function addressesIn(cloud: Cloud, { metadata, spec }: AnyObject): Set<string> {
  const pod = spec as PodSpec;
  const byAddress = new Map(
    cloud.hands
      .list(Service, NS)
      .map(service => [(service.spec as { clusterIP?: string }).clusterIP, service.metadata.name]),
  );
  const names = (pod.volumes ?? []).flatMap(volume => volume.secret?.secretName ?? []);
  const texts = names.flatMap(name =>
    Object.values((cloud.hands.get(Secret, metadata.namespace ?? '', name)?.data ?? {}) as Record<string, string>),
  );
  const found = texts
    .map(text => Buffer.from(text, 'base64').toString())
    .flatMap(text => [...text.matchAll(/\b([a-z0-9-]+)\.openstack\.svc\.cluster\.local:(\d+)/g)]);
  const numbered = texts
    .map(text => Buffer.from(text, 'base64').toString())
    .flatMap(text => [...text.matchAll(/\b(\d+\.\d+\.\d+\.\d+):(\d+)/g)])
    .flatMap(([, address, port]) => (byAddress.has(address) ? [`${byAddress.get(address)}:${port}`] : []));
  return new Set([...found.map(([, service, port]) => `${service}:${port}`), ...numbered]);
}

/** Pods on the network of a node whose config names what they never call, and why. */
const NEVER_CALLED: readonly (readonly [pod: RegExp, service: RegExp, why: string])[] = [
  [/^ovn-metadata-agent-/, /^ovn-nb:/, 'opened for extensions that read it; metadata does not'],
  [/^cinder-volume-local-/, /^memcached/, 'only APIs check tokens'],
];

describe('network policies', () => {
  it.each([
    ['everything', NS, {}],
    ['a namespace for nodes', NODES, { nodeNamespace: NODES }],
  ])(
    'are one switch for the cloud with %s in it, admit every way that a config names, and no stranger',
    async (_, onNodes, where) => {
      const local = { name: 'local', type: 'nfs', shares: ['nfs.example.org:/volumes'] };
      const sections = {
        // Its volumes are on the network of a node, and its backups have an address of their own.
        cinder: { enabled: true, backends: [local], backup: { enabled: true, driver: 'swift' } },
        heat: { enabled: true },
        horizon: { enabled: true },
      };
      const cloud = await wholeCloud({ ...where, ...sections, networkPolicy: { enabled: true } });
      const policies = () => cloud.hands.list(NetworkPolicy, NS).map(policy => policy.spec as NetworkPolicySpec);
      const pods = cloud.hands.list(Pod, NS);
      const all = onNodes === NS ? pods : [...pods, ...cloud.hands.list(Pod, onNodes)];
      const labelsOf = (object: AnyObject) => object.metadata.labels ?? {};
      const reach = (service: string, port: number, from: From): boolean => {
        const { selector } = (cloud.get(Service, service)?.spec ?? {}) as { selector: Record<string, string> };
        const targets = pods.filter(pod => matches({ matchLabels: selector }, labelsOf(pod)));
        expect(targets.length, service).toBeGreaterThan(0);
        return targets.every(target => admits(policies(), labelsOf(target), port, from, NS));
      };
      const [ways, shut] = [new Set<string>(), new Set<string>()];
      for (const pod of all) {
        const spec = pod.spec as PodSpec;
        const { podIP = '' } = (pod.status ?? {}) as { podIP?: string };
        const from: From = spec.hostNetwork
          ? { host: podIP }
          : { pod: labelsOf(pod), namespace: pod.metadata.namespace ?? '' };
        for (const address of addressesIn(cloud, pod)) {
          const [service = '', port] = address.split(':');
          const never = NEVER_CALLED.some(([who, whom]) => who.test(pod.metadata.name) && whom.test(address));
          expect(reach(service, Number(port), from), `${pod.metadata.name} -> ${address}`).toBe(!never);
          (never ? shut : ways).add(`${pod.metadata.name} ${address}`);
        }
      }
      expect(ways.size).toBeGreaterThan(70);
      expect(shut.size).toBe(NEVER_CALLED.length);
      for (const name of ['cinder-volume-local-0', 'cinder-backup-0']) {
        expect(all.find(pod => pod.metadata.name === name)?.metadata.namespace).toBe(onNodes);
        expect(ways).toContain(`${name} mariadb:3306`);
      }
      for (const namespace of [NS, NODES, 'elsewhere'])
        expect(reach('mariadb', 3306, { pod: { 'app.kubernetes.io/name': 'cinder' }, namespace }), namespace).toBe(
          [NS, onNodes].includes(namespace),
        );
      expect(reach('ovn-nb', 6641, { pod: { 'app.kubernetes.io/name': 'neutron' }, namespace: NODES })).toBe(false);
      // The policy follows pods that go and come.
      const volume = ['cinder-volume-local-0', onNodes] as const;
      const hostOf = () =>
        (cloud.hands.get(Pod, volume[1], volume[0])?.status as { podIP?: string } | undefined)?.podIP;
      const host = hostOf() ?? '';
      cloud.hands.patch(Pod, volume[1], volume[0], { metadata: { labels: { 'app.kubernetes.io/name': 'debug' } } });
      await cloud.settle();
      expect(reach('mariadb', 3306, { host })).toBe(false);
      cloud.hands.remove(Pod, volume[1], volume[0]);
      await cloud.settle();
      // It may have come back on another node.
      expect(reach('mariadb', 3306, { host: hostOf() ?? '' })).toBe(true);
      const stranger: From = { pod: { app: 'shell' }, namespace: NS };
      const operator: From = {
        pod: { 'app.kubernetes.io/name': 'openstack-operator' },
        namespace: 'openstack-operator-system',
      };
      for (const [service, port, works] of [
        ['mariadb', 3306, true],
        ['memcached', 11211, false],
        ['rabbitmq', 15672, true],
        ['ovn-nb', 6641, false],
      ] as const) {
        expect(reach(service, port, stranger), service).toBe(false);
        expect(reach(service, port, { host: '192.0.2.1' }), service).toBe(false);
        expect(reach(service, port, { ...operator, namespace: NS }), service).toBe(false);
        expect(reach(service, port, operator), service).toBe(works);
      }
      for (const [service, port] of [
        ['keystone-api', 5000],
        ['rabbitmq', 5672],
        ['ovn-sb', 6642],
      ] as const)
        for (const from of [stranger, { host: '192.0.2.1' }]) expect(reach(service, port, from), service).toBe(true);
      for (const conductor of pods.filter(pod => pod.metadata.name.includes('conductor-0')))
        expect(admits(policies(), labelsOf(conductor), 22, stranger, NS)).toBe(false);
      // Objects of two kinds may have one name.
      const namesake = { 'app.kubernetes.io/name': 'horizon', 'app.kubernetes.io/instance': 'nova-scheduler' };
      expect(admits(policies(), namesake, 80, stranger, NS)).toBe(true);
      cloud.apply({ ...minimal, spec: { ...minimal.spec, ...where } });
      await cloud.settle();
      expect(policies()).toEqual([]);
      expect(cloud.condition(OpenStackControlPlane, minimal.metadata.name)?.status).toBe('True');
    },
    240_000,
  );
});
