import { readFileSync } from 'node:fs';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Cinder } from '../../api/openstack/cinder.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { simulate } from '../../src/cli/simulation/simulation.ts';
import { within } from '../../src/cli/source/source.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import { treeOf } from '../../src/insight/status/tree.ts';
import { viewOf } from '../../src/insight/view/view.ts';
import { cureOf } from '../../src/insight/why/cures.ts';
import { why } from '../../src/insight/why/why.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { CronJob, DaemonSet, Job, Namespace, PersistentVolumeClaim, Pod, Secret } from '../../src/kube/resource.ts';
import { rbac } from '../../src/operator/manifests.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { NODES_OF_LABEL, OWNER_UID_LABEL } from '../../src/runtime/plan/names.ts';
import { watchedBy } from './authorizer.ts';
import { Cloud, type CloudOptions, NS } from './cloud.ts';
import { violations } from './podsecurity.ts';
import { cloudWith, label, secret, sqlOf } from './services.ts';

const NODES = 'openstack-nodes';

const sampleOf = (name: string): AnyObject & { spec: object } =>
  parse(readFileSync(`config/samples/controlplane_${name}.yaml`, 'utf8')) as AnyObject & { spec: object };
const minimal = sampleOf('minimal');
const NAME = minimal.metadata.name;
const cloudOnNodes = (spec: object = {}, sample = minimal): AnyObject => ({
  ...sample,
  spec: { ...sample.spec, nodeNamespace: NODES, ...spec },
});

const namespace = (name: string, labels: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'privileged', [NODES_OF_LABEL]: NS, ...labels } },
});

async function withNodes(options: CloudOptions = {}): Promise<Cloud> {
  const cloud = await Cloud.start(options);
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  return cloud;
}

async function started(spec: object = {}, sample = minimal): Promise<Cloud> {
  const cloud = await withNodes();
  cloud.hands.apply(namespace(NODES));
  cloud.apply(cloudOnNodes(spec, sample));
  await cloud.ready(OpenStackControlPlane, sample.metadata.name);
  await cloud.settle();
  return cloud;
}

const podIn = (spec: unknown): PodSpec => (spec as { template: { spec: PodSpec } }).template.spec;

/** Every pod of a namespace, and every pod that a Job or CronJob there could start. */
const podsIn = (cloud: Cloud, where: string): [string, PodSpec][] => [
  ...cloud.hands.list(Pod, where).map(pod => [pod.metadata.name, pod.spec as PodSpec] as [string, PodSpec]),
  ...cloud.hands.list(Job, where).map(job => [job.metadata.name, podIn(job.spec)] as [string, PodSpec]),
  ...cloud.hands
    .list(CronJob, where)
    .map(
      cron =>
        [cron.metadata.name, podIn((cron.spec as { jobTemplate: { spec: object } }).jobTemplate.spec)] as [
          string,
          PodSpec,
        ],
    ),
];

const inNodes = (cloud: Cloud): string[] =>
  cloud.store
    .objects()
    .filter(object => object.metadata.namespace === NODES && object.kind !== 'Event')
    .map(object => `${object.kind} ${object.metadata.name}`)
    .sort();

describe('a cloud with a namespace for pods of the node', () => {
  it.each([
    ['minimal', 'baseline', {}],
    ['minimal', 'restricted', { podProfile: 'restricted' }],
    ['ovs', 'baseline', {}],
    [
      'minimal',
      'baseline',
      { cinder: { enabled: true, backends: [{ name: 'lvm', type: 'lvm', storageSize: '5Gi' }] } },
    ],
  ] as const)(
    'keeps its own (%s) within PodSecurity %s, and leaves nothing in either',
    async (sample, level, spec) => {
      const object = sampleOf(sample);
      const cloud = await started(spec, object);
      const refused = podsIn(cloud, NS).flatMap(([name, pod]) => violations(pod, level).map(why => `${name}: ${why}`));
      expect(refused).toEqual([]);
      const onNodes = podsIn(cloud, NODES);
      expect(onNodes.length).toBeGreaterThan(3);
      for (const [name, pod] of onNodes) expect(violations(pod, 'baseline'), name).not.toEqual([]);
      expect(podsIn(cloud, NS).length).toBeGreaterThan(20);
      cloud.hands.remove(OpenStackControlPlane, NS, object.metadata.name);
      await cloud.settle();
      expect(inNodes(cloud).filter(line => !line.startsWith('PersistentVolumeClaim'))).toEqual([]);
    },
    240_000,
  );
});

const chassis = (cloud: Cloud) => cloud.hands.get(DaemonSet, NODES, 'ovn-controller');
const said = (cloud: Cloud, name = 'ovn', type = 'ChassisReady') => cloud.condition(OVNNetwork, name, type);
/** The switch alone: the smallest cloud with pods of the node. */
const network = (spec: object = {}, name = 'ovn'): AnyObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OVNNetwork',
  metadata: { name },
  spec: { nodeNamespace: NODES, ...spec },
});
async function withNetwork(spec: object = {}, options: CloudOptions = {}): Promise<Cloud> {
  const cloud = await withNodes(options);
  cloud.hands.apply(namespace(NODES));
  cloud.apply(network(spec));
  await cloud.ready(OVNNetwork, 'ovn');
  await cloud.settle();
  return cloud;
}

describe('the namespace itself', () => {
  it('is asked for with the command that makes it, and used as soon as it is there', async () => {
    const cloud = await withNodes();
    cloud.apply(network());
    await cloud.settle();
    expect(said(cloud)).toMatchObject({
      status: 'False',
      reason: 'NamespaceNotFound',
      message: expect.stringContaining(
        `kubectl create namespace ${NODES} && kubectl label namespace ${NODES} pod-security.kubernetes.io/enforce=privileged openstack.k8s.io/nodes-of=${NS}`,
      ) as string,
    });
    cloud.hands.apply(namespace(NODES));
    // No watch tells of it.
    await cloud.sim.run(61_000);
    await cloud.ready(OVNNetwork, 'ovn');
  });

  it('must not refuse such pods', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES, { 'pod-security.kubernetes.io/enforce': 'baseline' }));
    cloud.apply(network());
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ status: 'False', reason: 'NamespaceRefusesPods' });
    expect(inNodes(cloud)).toEqual([]);
  });

  it('must have been given to this one by whoever may label it', async () => {
    const cloud = await withNodes();
    cloud.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
    cloud.apply(secret('bootstrap-token-abcdef', { key: 'value' }));
    const pull = { imagePullSecrets: [{ name: 'bootstrap-token-abcdef' }] };
    cloud.apply(network({ nodeNamespace: 'kube-system', ...pull }));
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ status: 'False', reason: 'NamespaceNotGiven' });
    expect(said(cloud)?.message).toContain(`label --overwrite namespace kube-system openstack.k8s.io/nodes-of=${NS}`);
    cloud.hands.apply(namespace('kube-system', { [NODES_OF_LABEL]: 'another' }));
    await cloud.sim.run(61_000);
    expect(said(cloud)?.message).toContain('but for those of another');
    expect(cloud.hands.list(Secret, 'kube-system')).toEqual([]);
  });

  it('must be served by the operator', async () => {
    const cloud = await withNodes({ operator: { namespaces: [NS] } });
    cloud.hands.apply(namespace(NODES));
    cloud.apply(network());
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ status: 'False', reason: 'NamespaceNotServed' });
    expect(said(cloud)?.message).toContain(`make overlay ARGS="--namespaces ${NS},${NODES}"`);
    expect(inNodes(cloud)).toEqual([]);
  });

  it('is enough beside the own one for an operator that serves these two', async () => {
    const namespaces = [NS, NODES];
    const refused = new Set<string>();
    const faults = watchedBy(rbac(PLANS, { name: 'some', scope: { namespaces, kinds: [] } }), refused);
    const cloud = await withNetwork({}, { operator: { namespaces }, faults });
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.settle();
    expect(inNodes(cloud)).toEqual([]);
    expect([...refused]).toEqual([]);
  });

  it('can be the own one, which is as if nothing was said', async () => {
    const cloud = await withNodes();
    cloud.apply(network({ nodeNamespace: NS }));
    await cloud.ready(OVNNetwork, 'ovn');
    expect(cloud.get(DaemonSet, 'ovn-controller')?.metadata.ownerReferences).toHaveLength(1);
    expect(cloud.get(DaemonSet, 'ovn-controller')?.metadata.labels).not.toHaveProperty(OWNER_UID_LABEL);
  });

  it('stays what it was when the object was made', async () => {
    const cloud = await withNetwork();
    expect(() => cloud.apply(network({ nodeNamespace: 'others' }))).toThrow("nodeNamespace can't be set, changed");
    expect(() => cloud.apply(network({ nodeNamespace: undefined }))).toThrow("nodeNamespace can't be set, changed");
    cloud.apply(cloudWith({}));
    expect(() => cloud.apply(cloudWith({ nodeNamespace: NODES }))).toThrow("nodeNamespace can't be set, changed");
  });
});

describe('what somebody else has there', () => {
  const OTHER = 'second';
  const second = (spec: object = {}): AnyObject => {
    const object = network(spec);
    return { ...object, metadata: { ...object.metadata, namespace: OTHER } };
  };
  const condition = (cloud: Cloud, type: string) =>
    conditionsOf(cloud.hands.get(OVNNetwork, OTHER, 'ovn')).find(each => each.type === type);

  it('stays with the cloud that was first, and the second is told', async () => {
    const cloud = await withNetwork();
    const before = chassis(cloud);
    cloud.hands.apply(namespace(OTHER));
    cloud.hands.apply(namespace(NODES, { [NODES_OF_LABEL]: OTHER }));
    cloud.hands.apply(second());
    await cloud.settle();
    expect(condition(cloud, 'ChassisReady')).toMatchObject({ reason: 'NameTaken' });
    expect(condition(cloud, 'ChassisReady')?.message).toContain(`the ovnnetwork named ovn of namespace ${NS}`);
    expect(chassis(cloud)).toEqual(before);
    cloud.hands.remove(OVNNetwork, OTHER, 'ovn');
    await cloud.settle();
    expect(cloud.hands.get(OVNNetwork, OTHER, 'ovn')).toBeUndefined();
    expect(chassis(cloud)).toEqual(before);
  });

  it('is told apart where the one is the namespace of the other cloud', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(OTHER));
    cloud.hands.apply(second({ nodeNamespace: undefined }));
    await cloud.settle();
    cloud.apply(network({ nodeNamespace: OTHER }));
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ reason: 'NameTaken' });
    expect(said(cloud)?.message).toContain('OVNNetwork ovn of that namespace');
    expect(cloud.hands.get(DaemonSet, OTHER, 'ovn-controller')?.metadata.labels).not.toHaveProperty(OWNER_UID_LABEL);
  });

  it('is not taken over by the cloud that lives there either', async () => {
    const cloud = await withNetwork();
    const before = chassis(cloud);
    const there = network({ nodeNamespace: undefined });
    cloud.hands.apply({ ...there, metadata: { ...there.metadata, namespace: NODES } });
    await cloud.settle();
    expect(chassis(cloud)).toEqual(before);
  });

  /** Kept (rule 18) for an object of that namespace, and adopted once: the annotation is still there. */
  const keptThere = (kind: string, name: string, keeper: string, more: object): AnyObject => ({
    apiVersion: 'v1',
    kind,
    metadata: {
      name,
      namespace: OTHER,
      labels: {
        'openstack.k8s.io/managed': 'true',
        'app.kubernetes.io/name': keeper,
        'app.kubernetes.io/instance': keeper,
        'openstack.k8s.io/retained-for': keeper,
      },
      annotations: { 'openstack.k8s.io/adopt': 'true' },
    },
    ...more,
  });

  it.each([
    ['never', undefined, 'NamespaceNotGiven'],
    ['by now', NS, 'NameTaken'],
  ])('is not handed over with a namespace that was given %s, though it was adopted once', async (_, given, reason) => {
    const cloud = await withNodes();
    const labels: Record<string, string> = given === undefined ? {} : { [NODES_OF_LABEL]: given };
    cloud.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: OTHER, labels } });
    const precious = { 0: Buffer.from('precious').toString('base64') };
    cloud.hands.apply(keptThere('Secret', 'keystone-keys', 'keystone', { type: 'Opaque', data: precious }));
    cloud.apply(secret('keystone-keys', { 0: 'rubbish' }));
    cloud.apply(network({ nodeNamespace: OTHER, imagePullSecrets: [{ name: 'keystone-keys' }] }));
    await cloud.sim.run(600_000);
    expect(said(cloud)).toMatchObject({ status: 'False', reason });
    expect(cloud.hands.get(Secret, OTHER, 'keystone-keys')?.data).toEqual(precious);
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.sim.run(600_000);
    expect(cloud.hands.get(Secret, OTHER, 'keystone-keys')?.data).toEqual(precious);
  });

  it('is not deleted with the cloud that named the namespace, a volume group neither', async () => {
    const cloud = await withNodes();
    cloud.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: OTHER } });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, volumeMode: 'Block' };
    cloud.hands.apply(keptThere('PersistentVolumeClaim', 'cinder-volume-lvm', 'cinder', { spec }));
    const claim = () => cloud.hands.get(PersistentVolumeClaim, OTHER, 'cinder-volume-lvm');
    const before = claim();
    const cinder = { enabled: true, backends: [{ name: 'lvm', type: 'lvm', storageSize: '5Gi' }] };
    cloud.apply(cloudOnNodes({ nodeNamespace: OTHER, deletionPolicy: 'Delete', cinder }));
    await cloud.sim.run(1_800_000);
    expect(cloud.condition(Cinder, 'cinder', 'BackendsReady')).toMatchObject({ reason: 'NamespaceNotGiven' });
    expect(claim()?.metadata.labels).toEqual(before?.metadata.labels);
    cloud.hands.remove(OpenStackControlPlane, NS, NAME);
    await cloud.sim.run(1_800_000);
    expect(claim()?.metadata.uid).toBe(before?.metadata.uid);
  }, 120_000);

  it('is not overwritten', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    const strange = { app: 'mine' };
    cloud.hands.apply({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'ovn-controller', namespace: NODES },
      spec: {
        selector: { matchLabels: strange },
        template: { metadata: { labels: strange }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    cloud.apply(network());
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ reason: 'AlreadyExists' });
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.settle();
    expect(inNodes(cloud).filter(line => line.startsWith('DaemonSet'))).toEqual(['DaemonSet ovn-controller']);
  });
});

describe('Secrets of pods there', () => {
  const data = (cloud: Cloud, where: string, name: string) => cloud.hands.get(Secret, where, name)?.data;
  const named = (cloud: Cloud) =>
    new Set(
      cloud.hands
        .list(Pod, NODES)
        .flatMap(pod => (pod.spec as PodSpec).volumes ?? [])
        .flatMap(volume => volume.secret?.secretName ?? []),
    );

  it('are copied, follow what they were copied from, and go when nothing names them', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    cloud.apply(secret('registry', { token: 'first' }));
    const pull = { imagePullSecrets: [{ name: 'registry' }] };
    cloud.apply(network(pull));
    await cloud.ready(OVNNetwork, 'ovn');
    await cloud.settle();
    expect(data(cloud, NODES, 'registry')).toEqual({ token: Buffer.from('first').toString('base64') });
    for (const name of named(cloud)) expect(data(cloud, NODES, name), name).toEqual(data(cloud, NS, name));
    cloud.apply(secret('registry', { token: 'second' }));
    await cloud.settle();
    expect(data(cloud, NODES, 'registry')).toEqual({ token: Buffer.from('second').toString('base64') });
    cloud.apply(network());
    await cloud.settle();
    expect(data(cloud, NODES, 'registry')).toBeUndefined();
  });

  it('follow also while a row waits', async () => {
    let sick = false;
    const cloud = await withNodes({
      programs: ({ pod }) =>
        sick && pod.metadata.name === 'ovn-sb-0' ? { exit: 1, message: 'no space left', after: 0 } : undefined,
    });
    cloud.hands.apply(namespace(NODES));
    cloud.apply(secret('registry', { token: 'first' }));
    cloud.apply(network({ imagePullSecrets: [{ name: 'registry' }] }));
    await cloud.ready(OVNNetwork, 'ovn');
    sick = true;
    cloud.hands.remove(Pod, NS, 'ovn-sb-0');
    await cloud.settle();
    cloud.apply(secret('registry', { token: 'second' }));
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ status: 'Unknown' });
    expect(data(cloud, NODES, 'registry')).toEqual({ token: Buffer.from('second').toString('base64') });
  });

  it('are held by each object whose pods mount them, and go with the last', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    cloud.apply(secret('registry', { token: 'first' }));
    const pull = { imagePullSecrets: [{ name: 'registry' }] };
    cloud.apply(cloudOnNodes(pull));
    await cloud.ready(OpenStackControlPlane, NAME);
    await cloud.settle();
    const holders = () =>
      Object.keys(cloud.hands.get(Secret, NODES, 'registry')?.metadata.labels ?? {})
        .filter(key => key.includes('.holder.'))
        .sort();
    expect(holders()).toEqual([
      'novacompute.holder.openstack.k8s.io/nova-cell1-libvirt',
      'ovnnetwork.holder.openstack.k8s.io/ovn',
    ]);
    const before = cloud.writes().length;
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    expect(cloud.writes().slice(before)).toEqual([]);
    const uid = cloud.hands.get(Secret, NODES, 'registry')?.metadata.uid;
    cloud.apply(secret('registry', { token: 'second' }));
    await cloud.settle();
    expect(data(cloud, NODES, 'registry')).toEqual({ token: Buffer.from('second').toString('base64') });
    // One of them lets go, and is made again.
    const skip = { 'openstack.k8s.io/skip-undo': 'Users' };
    cloud.hands.patch(OVNNetwork, NS, 'ovn', { metadata: { annotations: skip } });
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.sim.until(() => holders().length !== 2);
    expect(holders()).toEqual(['novacompute.holder.openstack.k8s.io/nova-cell1-libvirt']);
    expect(cloud.hands.get(Secret, NODES, 'registry')?.metadata.uid).toBe(uid);
    await cloud.ready(OpenStackControlPlane, NAME);
    await cloud.settle();
    expect(holders()).toHaveLength(2);
    cloud.apply(cloudOnNodes());
    await cloud.settle();
    expect(holders()).toHaveLength(1);
    // Replaced by people only.
    const log = cloud.hands.list(Pod, NODES).find(({ metadata }) => /virtlogd/.test(metadata.name));
    cloud.hands.remove(Pod, NODES, log!.metadata.name);
    await cloud.settle();
    expect(data(cloud, NODES, 'registry')).toBeUndefined();
  }, 120_000);

  it('are not taken along with one object while the pods of another mount them', async () => {
    const pull = { imagePullSecrets: [{ name: 'registry' }] };
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    cloud.apply(secret('registry', { token: 'first' }));
    cloud.apply(cloudOnNodes(pull));
    await cloud.ready(OpenStackControlPlane, NAME);
    await cloud.settle();
    const deleted = () => cloud.writes().filter(line => / DELETE .*\/secrets\/registry /.test(line));
    cloud.hands.remove(OpenStackControlPlane, NS, NAME);
    await cloud.settle();
    expect(deleted()).toHaveLength(1);
    expect(inNodes(cloud)).toEqual([]);
  }, 120_000);

  it('are made again where one is immutable, or is so no more', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    cloud.apply({ ...secret('registry', { token: 'first' }), immutable: true });
    cloud.apply(network({ imagePullSecrets: [{ name: 'registry' }] }));
    await cloud.ready(OVNNetwork, 'ovn');
    cloud.hands.remove(Secret, NS, 'registry');
    cloud.apply(secret('registry', { token: 'first' }));
    await cloud.settle();
    expect(said(cloud)).toMatchObject({ status: 'True' });
    expect(cloud.hands.get(Secret, NODES, 'registry')?.immutable).toBeUndefined();
  });

  it('are made once where one is immutable and empty', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    const metadata = { name: 'registry', namespace: NS };
    cloud.hands.apply({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true });
    cloud.apply(network({ imagePullSecrets: [{ name: 'registry' }] }));
    await cloud.sim.until(() => cloud.writes().length >= 150 || cloud.get(OVNNetwork, 'ovn')?.status !== undefined);
    await cloud.sim.until(() => cloud.writes().length >= 150 || said(cloud)?.status === 'True');
    expect(cloud.writes().filter(line => / DELETE .*\/secrets\/registry /.test(line))).toEqual([]);
  });

  it('stay as they are once the namespace was taken back, and the object says so', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    cloud.apply(secret('registry', { token: 'first' }));
    cloud.apply(network({ imagePullSecrets: [{ name: 'registry' }] }));
    await cloud.ready(OVNNetwork, 'ovn');
    await cloud.settle();
    const before = chassis(cloud);
    cloud.hands.apply(namespace(NODES, { [NODES_OF_LABEL]: 'another' }));
    cloud.apply(secret('registry', { token: 'second' }));
    cloud.apply(network({ imagePullSecrets: [{ name: 'registry' }], customServiceConfig: 'ovn-encap-tos=3' }));
    await cloud.sim.run(600_000);
    expect(said(cloud)).toMatchObject({ status: 'False', reason: 'NamespaceNotGiven' });
    expect(data(cloud, NODES, 'registry')).toEqual({ token: Buffer.from('first').toString('base64') });
    expect(chassis(cloud)?.metadata.generation).toBe(before?.metadata.generation);
  });

  it('stay as long as a pod names them, whatever becomes of the source', async () => {
    const ovs = sampleOf('ovs');
    const cloud = await started({}, ovs);
    const vswitchd = () => cloud.hands.list(Pod, NODES).find(({ metadata }) => /vswitchd/.test(metadata.name));
    const configOf = (pod: AnyObject | undefined): string => {
      const { volumes = [] } = (pod?.spec ?? {}) as Partial<PodSpec>;
      const names = volumes.map(({ secret }) => secret?.secretName ?? '');
      return names.find(name => name.includes('-config-data-')) ?? '';
    };
    const old = configOf(vswitchd());
    const neutron = { openvswitch: { bridgeMappings: { physnet1: 'br-ex', physnet2: 'br-two' } } };
    cloud.apply(cloudOnNodes({ neutron }, ovs));
    await cloud.ready(OpenStackControlPlane, ovs.metadata.name);
    await cloud.settle();
    cloud.hands.remove(Secret, NS, old);
    await cloud.settle();
    expect(configOf(vswitchd())).toBe(old);
    expect(data(cloud, NODES, old)).toBeDefined();
    // Replaced by people only.
    cloud.hands.remove(Pod, NODES, vswitchd()!.metadata.name);
    await cloud.settle();
    expect(configOf(vswitchd())).not.toBe(old);
    expect(data(cloud, NODES, old)).toBeUndefined();
  }, 60_000);

  it('are there for every pod, and copies of old config do not pile up', async () => {
    const cloud = await withNetwork();
    const first = [...named(cloud)];
    for (let turn = 0; turn < 12; turn++) {
      cloud.apply(network({ customServiceConfig: `ovn-encap-tos=${turn}` }));
      await cloud.ready(OVNNetwork, 'ovn');
      await cloud.settle();
      for (const name of named(cloud)) expect(data(cloud, NODES, name), name).toBeDefined();
    }
    expect(first.filter(name => named(cloud).has(name)).length).toBeLessThan(first.length);
    const copies = inNodes(cloud).filter(line => line.startsWith('Secret'));
    const sources = cloud.hands.list(Secret, NS).map(object => `Secret ${object.metadata.name}`);
    expect(copies.filter(line => !sources.includes(line))).toEqual([]);
  });
});

describe('Nova', () => {
  it('keeps a login as long as a pod there uses it', async () => {
    const cloud = await started();
    const set = 'nova-cell1-libvirt-compute';
    const pod = () => cloud.hands.list(Pod, NODES).find(({ metadata }) => metadata.name.startsWith(`${set}-`));
    // Somebody holds its pods back.
    cloud.hands.patch(DaemonSet, NODES, set, { spec: { updateStrategy: { type: 'OnDelete' } } });
    const before = pod()!.metadata.uid;
    const users = () => Object.keys(Object.values(cloud.backends.disks.bus)[0]!.users).sort();
    const logins = users();
    cloud.apply(cloudOnNodes({ actions: [{ name: 'rotate', id: 'one', target: 'message-bus' }] }));
    await cloud.sim.run(7_200_000);
    expect(pod()!.metadata.uid).toBe(before);
    expect(cloud.condition(Nova, 'nova', 'RotationReady')).toMatchObject({ status: 'False', reason: 'Rotating' });
    const cell = logins.filter(name => name.includes('cell1'));
    expect(users()).toEqual(expect.arrayContaining(cell));
    cloud.hands.remove(Pod, NODES, pod()!.metadata.name);
    await cloud.sim.run(7_200_000);
    expect(cloud.condition(Nova, 'nova', 'RotationReady')).toMatchObject({ status: 'True' });
    expect(users().filter(name => cell.includes(name))).toEqual([]);
  }, 120_000);

  it('keeps it also while the operator does not see that namespace', async () => {
    const operator: { namespaces: string[] } = { namespaces: [NS, NODES] };
    const cloud = await withNodes({ operator });
    cloud.hands.apply(namespace(NODES));
    cloud.apply(cloudOnNodes());
    await cloud.ready(OpenStackControlPlane, NAME);
    await cloud.settle();
    cloud.hands.patch(DaemonSet, NODES, 'nova-cell1-libvirt-compute', {
      spec: { updateStrategy: { type: 'OnDelete' } },
    });
    const users = () => Object.keys(Object.values(cloud.backends.disks.bus)[0]!.users).sort();
    const cell = users().filter(name => name.includes('cell1'));
    cloud.apply(cloudOnNodes({ actions: [{ name: 'rotate', id: 'one', target: 'message-bus' }] }));
    await cloud.sim.run(600_000);
    cloud.crashOperator();
    operator.namespaces = [NS];
    cloud.startOperator();
    await cloud.sim.run(3_600_000);
    expect(users()).toEqual(expect.arrayContaining(cell));
    expect(cloud.condition(Nova, 'nova')).toMatchObject({ status: 'False', reason: 'NamespaceNotServed' });
  }, 120_000);

  it('says of a compute there that it does not report', async () => {
    const cloud = await started();
    const row = { binary: 'nova-compute', host: 'node-1', state: 'down' };
    sqlOf(cloud).databases.nova_cell1!.services!['nova-compute node-1'] = row;
    await cloud.sim.within(1_200_000, () => cloud.condition(Nova, 'nova')?.status !== 'True');
    expect(cloud.condition(Nova, 'nova', 'Answering')).toMatchObject({ status: 'False', reason: 'ServiceSilent' });
  }, 60_000);
});

describe('Cinder', () => {
  const backend = { name: 'lvm', type: 'lvm', storageSize: '5Gi' };
  const cinder = { enabled: true, backends: [backend] };
  const claims = (cloud: Cloud, where: string) =>
    cloud.hands
      .list(PersistentVolumeClaim, where)
      .map(({ metadata }) => metadata.name)
      .filter(name => name.startsWith('cinder'));

  it.each([
    ['another namespace', undefined, NODES, NS],
    ['none', NODES, undefined, NODES],
  ])(
    'with a volume group is not begun anew in %s',
    async (_, first, second, holds) => {
      const cloud = await withNodes();
      cloud.hands.apply(namespace(NODES));
      cloud.apply(cloudOnNodes({ nodeNamespace: first, cinder }));
      await cloud.ready(OpenStackControlPlane, NAME);
      cloud.hands.remove(OpenStackControlPlane, NS, NAME);
      await cloud.settle();
      expect(claims(cloud, holds)).toEqual(['cinder-volume-lvm']);
      cloud.apply(cloudOnNodes({ nodeNamespace: second, cinder }));
      await cloud.sim.run(1_800_000);
      const other = holds === NS ? NODES : NS;
      expect(claims(cloud, other)).toEqual([]);
      const condition = cloud.condition(Cinder, 'cinder', 'BackendsReady');
      expect(condition).toMatchObject({ status: 'False', reason: 'VolumeElsewhere' });
      expect(condition?.message).toContain(`kubectl -n ${holds} delete pvc cinder-volume-lvm`);
      const { causes } = why(viewOf(within(cloud.store.objects(), NS), cloud.sim.clock.wall()));
      expect(causes.map(({ command }) => command)).toEqual([`kubectl -n ${holds} describe pvc cinder-volume-lvm`]);
      cloud.hands.remove(PersistentVolumeClaim, holds, 'cinder-volume-lvm');
      await cloud.ready(OpenStackControlPlane, NAME);
      expect(claims(cloud, other)).toEqual(['cinder-volume-lvm']);
    },
    120_000,
  );
});

describe('what belongs in another namespace by now', () => {
  it('runs in one namespace at a time', async () => {
    const cloud = await withNetwork();
    cloud.crashOperator();
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    cloud.hands.patch(OVNNetwork, NS, 'ovn', { metadata: { finalizers: null } });
    cloud.startOperator();
    cloud.apply(network({ nodeNamespace: undefined }));
    const sets = (where: string) => cloud.hands.list(DaemonSet, where).map(({ metadata }) => metadata.name);
    const pods = (where: string) =>
      cloud.hands.list(Pod, where).filter(({ metadata }) => metadata.name.startsWith('ovn-gateway'));
    let both = false;
    await cloud.sim.until(() => {
      both ||= pods(NODES).length > 0 && pods(NS).length > 0;
      return sets(NS).includes('ovn-gateway') && sets(NODES).length === 0;
    });
    await cloud.ready(OVNNetwork, 'ovn');
    expect(both).toBe(false);
    expect(pods(NS)).toHaveLength(1);
    expect(sets(NODES)).toEqual([]);
  });
});

describe('answers about a cloud', () => {
  const commands = (cloud: Cloud) =>
    why(viewOf(within(cloud.store.objects(), NS), cloud.sim.clock.wall())).causes.map(({ command }) => command);

  it('tell what to type in the namespace of the node', async () => {
    const cloud = await withNodes({
      programs: ({ container }) =>
        container.name === 'ovsdb-server' ? { exit: 1, message: 'something odd', after: 0 } : undefined,
    });
    cloud.hands.apply(namespace(NODES));
    cloud.apply(network());
    await cloud.sim.run(900_000);
    expect(commands(cloud)).toEqual([
      expect.stringMatching(/^kubectl -n openstack-nodes logs \S+ -c ovsdb-server --previous$/),
    ]);
  });

  it('hand over what lies there under its name', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    const strange = { app: 'mine' };
    cloud.hands.apply({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'ovn-controller', namespace: NODES },
      spec: {
        selector: { matchLabels: strange },
        template: { metadata: { labels: strange }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    cloud.apply(network());
    await cloud.sim.run(300_000);
    expect(commands(cloud)).toEqual([
      expect.stringMatching(
        /^kubectl -n openstack-nodes annotate daemonset ovn-controller openstack.k8s.io\/adopt=true/,
      ),
    ]);
  });

  it('tell of PodSecurity there, which no podProfile meets', () => {
    const root = { kind: 'Namespace', namespace: '', name: NODES };
    const said = 'pods "ovn-controller-x" is forbidden: violates PodSecurity "baseline:latest": host namespaces';
    const refused = {
      reason: 'PodSecurity',
      root,
      object: { ...network(), metadata: { name: 'ovn', namespace: NS } },
      message: said,
      cause: { type: 'ControllerReady', reason: 'Forbidden', actor: 'User', object: root, details: { said } } as const,
    };
    const cure = cureOf(viewOf([], 0), refused);
    expect(cure.command).toBe(
      `kubectl label --overwrite namespace ${NODES} pod-security.kubernetes.io/enforce=privileged`,
    );
    expect(cure.next).not.toContain('podProfile: restricted');
  });

  it('read the log of a compute there that is silent', async () => {
    const cloud = await started();
    const row = { binary: 'nova-compute', host: 'node-1', state: 'down' };
    sqlOf(cloud).databases.nova_cell1!.services!['nova-compute node-1'] = row;
    await cloud.sim.run(1_200_000);
    expect(commands(cloud)).toEqual([
      expect.stringMatching(/^kubectl -n openstack-nodes logs nova-cell1-libvirt-compute-\w+ --tail=50$/),
    ]);
  }, 60_000);

  it('have its pods of nodes where they belong', async () => {
    const cloud = await withNetwork();
    cloud.hands.apply(namespace('another'));
    cloud.apply(secret('unrelated', { key: 'value' }));
    const objects = cloud.store.objects();
    const seen = within(objects, NS);
    expect(seen.filter(({ metadata }) => metadata.namespace === NODES).length).toBeGreaterThan(2);
    expect(seen.flatMap(({ kind, metadata }) => (kind === 'Namespace' ? [metadata.name] : []))).toEqual([NS, NODES]);
    const [tree] = treeOf(viewOf(seen, 0));
    const set = tree?.children.find(child => child.name === 'ovn-gateway');
    expect(set).toMatchObject({ kind: 'DaemonSet', namespace: NODES, state: 'ready' });
    expect(set?.children).toMatchObject([{ kind: 'Pod', namespace: NODES }]);
  });

  it('name the container there that keeps it from being Ready', async () => {
    const cloud = await withNodes({
      programs: ({ container }) =>
        container.name === 'ovsdb-server' ? { exit: 1, message: 'no space left on device', after: 0 } : undefined,
    });
    cloud.hands.apply(namespace(NODES));
    cloud.apply(network());
    await cloud.sim.run(900_000);
    const { causes } = why(viewOf(within(cloud.store.objects(), NS), cloud.sim.clock.wall()));
    expect(causes.map(({ pod }) => pod?.namespace)).toEqual([NODES]);
    expect(causes[0]?.what).toContain('ovsdb-server');
  });

  it('plan and render one where the namespace is not there yet', async () => {
    const world = await simulate({ namespace: NS });
    world.admin.apply({ ...network(), metadata: { name: 'ovn', namespace: NS } });
    await world.settle();
    const ready = world.objects().find(({ kind }) => kind === 'OVNNetwork');
    expect(conditionsOf(ready)[0]).toMatchObject({ type: 'Ready', status: 'True' });
    const again = await simulate({
      namespace: NS,
      from: { objects: world.objects(), at: world.now() },
      believe: true,
      seed: 3,
    });
    await again.settle();
    expect(again.writes.filter(({ path }) => !path.includes('/leases/')).map(({ path }) => path)).toEqual([]);
  });
});

describe('what ends', () => {
  it('takes its pods of the node along, also with its whole namespace', async () => {
    const cloud = await withNetwork();
    expect(inNodes(cloud)).not.toEqual([]);
    cloud.hands.remove(Namespace, '', NS);
    // What the namespace controller would do.
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.settle();
    expect(inNodes(cloud)).toEqual([]);
  });

  it('and waits until they are gone', async () => {
    const cloud = await withNetwork();
    cloud.hands.patch(DaemonSet, NODES, 'ovn-controller', { metadata: { finalizers: ['example.org/hold'] } });
    cloud.hands.remove(Namespace, '', NS);
    await cloud.settle();
    expect(said(cloud, 'ovn', 'Ready')?.message).toContain(`DaemonSet ovn-controller in namespace ${NODES}`);
    cloud.hands.patch(DaemonSet, NODES, 'ovn-controller', { metadata: { finalizers: null } });
    await cloud.settle();
    expect(cloud.get(OVNNetwork, 'ovn')).toBeUndefined();
    expect(inNodes(cloud)).toEqual([]);
  });

  it('and was cut off, is found again by the next of its name', async () => {
    const cloud = await withNetwork();
    const before = chassis(cloud);
    cloud.crashOperator();
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    cloud.hands.patch(OVNNetwork, NS, 'ovn', { metadata: { finalizers: null } });
    await cloud.settle();
    expect(chassis(cloud)).toEqual(before);
    cloud.startOperator();
    cloud.apply(network());
    await cloud.ready(OVNNetwork, 'ovn');
    await cloud.settle();
    expect(chassis(cloud)?.metadata.uid).toBe(before?.metadata.uid);
    expect(chassis(cloud)?.metadata.labels?.[OWNER_UID_LABEL]).toBe(cloud.get(OVNNetwork, 'ovn')?.metadata.uid);
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.settle();
    expect(inNodes(cloud)).toEqual([]);
  });

  it('leaves the volume group of a backend behind, unless its data is to go', async () => {
    const lvm = { name: 'lvm', type: 'lvm', storageSize: '5Gi' };
    for (const deletionPolicy of ['Retain', 'Delete']) {
      const cloud = await started({ deletionPolicy, cinder: { enabled: true, backends: [lvm] } });
      cloud.hands.remove(OpenStackControlPlane, NS, NAME);
      await cloud.settle();
      expect(inNodes(cloud)).toEqual(deletionPolicy === 'Retain' ? ['PersistentVolumeClaim cinder-volume-lvm'] : []);
    }
  }, 120_000);
});

describe('an operator that is killed', () => {
  it('leaves nothing doubled and nothing behind, and is at rest afterwards', async () => {
    const cloud = await withNodes();
    cloud.hands.apply(namespace(NODES));
    cloud.apply(cloudOnNodes());
    for (let turn = 0; turn < 25; turn++) {
      await cloud.sim.until(() => cloud.writes().length >= 12 * (turn + 1));
      cloud.crashOperator();
      cloud.startOperator();
    }
    await cloud.ready(OpenStackControlPlane, NAME);
    await cloud.settle();
    const whole = await started();
    const plain = (line: string) => line.replace(/-[0-9a-z]{5}$/, '').replace(/-[0-9a-f]{10}$/, '');
    const kinds = (each: Cloud) => [...new Set(inNodes(each).map(plain))];
    expect(kinds(cloud)).toEqual(kinds(whole));
    const sets = cloud.hands.list(DaemonSet, NODES).map(set => set.metadata.name);
    expect(sets).toEqual(whole.hands.list(DaemonSet, NODES).map(set => set.metadata.name));
    const before = cloud.writes().length;
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    expect(cloud.writes().slice(before)).toEqual([]);
    cloud.hands.remove(OpenStackControlPlane, NS, NAME);
    for (let turn = 0; turn < 10; turn++) {
      const from = cloud.writes().length;
      await cloud.sim.until(() => cloud.writes().length >= from + 7);
      cloud.crashOperator();
      cloud.startOperator();
    }
    await cloud.settle();
    expect(cloud.get(OpenStackControlPlane, NAME)).toBeUndefined();
    expect(inNodes(cloud)).toEqual([]);
  }, 240_000);
});
