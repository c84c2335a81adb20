import { describe, expect, it } from 'vitest';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { DaemonSet, Deployment, Pod, Service, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { label, objectOf, template, text } from './services.ts';

const ovn = (spec: object = {}) => objectOf(OVNNetwork, 'ovn', spec);
const COMPUTE = { 'openstack.k8s.io/compute': '' };
const GATEWAY = { 'openstack.k8s.io/gateway': '' };

async function readyFabric(spec: object = {}): Promise<Cloud> {
  const cloud = await Cloud.start();
  cloud.apply(ovn(spec));
  await cloud.ready(OVNNetwork, 'ovn');
  await cloud.settle();
  return cloud;
}

const nodesOf = (cloud: Cloud, component: string) =>
  cloud.hands
    .list(Pod, NS)
    .filter(pod => pod.metadata.labels?.['app.kubernetes.io/component'] === component)
    .map(pod => (pod.spec as { nodeName: string }).nodeName)
    .sort();
const nodeNames = (cloud: Cloud) =>
  cloud.store
    .objects()
    .filter(o => o.kind === 'Node')
    .map(o => o.metadata.name)
    .sort();
const script = (cloud: Cloud, name: string) => text(cloud, 'ovn-config-data', name);

describe('OVNNetwork', () => {
  it('runs two databases and northd, and tells the addresses that clients need', async () => {
    const cloud = await readyFabric();
    const ip = (name: string) =>
      String((cloud.get(Service, name)?.spec as { clusterIP?: string } | undefined)?.clusterIP);
    expect(ip('ovn-nb')).toMatch(/^10\./);
    expect(cloud.get(OVNNetwork, 'ovn')?.status).toMatchObject({
      northbound: `tcp:${ip('ovn-nb')}:6641`,
      southbound: `tcp:${ip('ovn-sb')}:6642`,
      chassis: 0,
    });
    expect(script(cloud, 'northd.sh')).toContain(`--ovnsb-db=tcp:${ip('ovn-sb')}:6642`);
    expect(cloud.get(StatefulSet, 'ovn-nb')?.spec).toMatchObject({ replicas: 1 });
    expect(cloud.get(Deployment, 'ovn-northd')).toBeDefined();
    // Nobody said where metadata is to be had.
    expect(cloud.get(DaemonSet, 'ovn-metadata-agent')).toBeUndefined();
  });

  it('makes every labelled node a chassis, and gateways those that are labelled so', async () => {
    const cloud = await readyFabric({ bridgeMappings: { physnet1: 'br-ex' }, bridgePorts: { 'br-ex': 'eth1' } });
    const [first, second] = nodeNames(cloud) as [string, string];
    label(cloud, first, COMPUTE);
    label(cloud, second, { ...COMPUTE, ...GATEWAY });
    await cloud.ready(OVNNetwork, 'ovn');
    await cloud.settle();
    expect(nodesOf(cloud, 'controller')).toEqual([first]);
    expect(nodesOf(cloud, 'gateway')).toEqual([second]);
    expect(cloud.get(OVNNetwork, 'ovn')?.status).toMatchObject({ chassis: 2 });
    expect(script(cloud, 'vswitchd-gateway.sh')).toContain('ovn-cms-options=enable-chassis-as-gw');
    const plain = script(cloud, 'vswitchd.sh');
    expect(plain).toContain("'external-ids:ovn-bridge-mappings=physnet1:br-ex'");
    expect(plain).toContain("--may-exist add-port 'br-ex' 'eth1'");
    expect(plain).toContain('remove open . external-ids ovn-cms-options');
  });

  it('gives each container the rights that it needs and no more', async () => {
    const cloud = await readyFabric();
    const pod = (template(cloud, DaemonSet, 'ovn-controller') as { spec: Record<string, unknown> }).spec;
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet', enableServiceLinks: false });
    const rights = Object.fromEntries(
      (pod.containers as { name: string; securityContext: unknown }[]).map(c => [c.name, c.securityContext]),
    );
    const none = { runAsUser: 0, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    expect(rights).toEqual({
      'ovn-controller': none,
      'ovsdb-server': none,
      'ovs-vswitchd': {
        runAsUser: 0,
        capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW', 'SYS_NICE', 'IPC_LOCK'] },
      },
    });
  });

  it('rolls the databases when only they are edited, and the chassis when only they are', async () => {
    const cloud = await readyFabric();
    const all = () => ({
      nb: template(cloud, StatefulSet, 'ovn-nb'),
      sb: template(cloud, StatefulSet, 'ovn-sb'),
      northd: template(cloud, Deployment, 'ovn-northd'),
      controller: template(cloud, DaemonSet, 'ovn-controller'),
      gateway: template(cloud, DaemonSet, 'ovn-gateway'),
    });
    const before = all();
    cloud.apply(ovn({ datapath: 'netdev', customServiceConfig: 'ovn-encap-tos=inherit\n' }));
    await cloud.settle();
    const after = all();
    expect(script(cloud, 'vswitchd.sh')).toContain("'external-ids:ovn-encap-tos=inherit'");
    for (const part of ['nb', 'sb', 'northd'] as const) expect(after[part]).toEqual(before[part]);
    for (const part of ['controller', 'gateway'] as const) expect(after[part]).not.toEqual(before[part]);
  });

  it('starts the metadata agent when somebody says where to forward to, and rolls nothing else for it', async () => {
    const cloud = await readyFabric();
    for (const name of nodeNames(cloud)) label(cloud, name, COMPUTE);
    await cloud.settle();
    const controller = template(cloud, DaemonSet, 'ovn-controller');
    cloud.apply(ovn({ metadataAgent: { customServiceConfig: '[DEFAULT]\nnova_metadata_host = nova\n' } }));
    await cloud.ready(OVNNetwork, 'ovn');
    expect(nodesOf(cloud, 'metadata-agent')).toEqual(nodeNames(cloud));
    const agent = JSON.stringify(template(cloud, DaemonSet, 'ovn-metadata-agent'));
    expect(agent).toContain('"mountPropagation":"Bidirectional"');
    expect(agent).toContain('02-neutron-override.metadataAgent.conf');
    expect(text(cloud, 'ovn-config-data', '01-neutron.conf')).toContain('extensions = metadata');
    expect(template(cloud, DaemonSet, 'ovn-controller')).toEqual(controller);
    cloud.apply(ovn({ metadataAgent: { enabled: false } }));
    await cloud.settle();
    expect(cloud.get(DaemonSet, 'ovn-metadata-agent')).toBeUndefined();
  });

  it('says what it can not do, and which line is wrong', async () => {
    const cloud = await readyFabric();
    cloud.apply(ovn({ replicas: 3 }));
    await cloud.settle();
    expect(cloud.condition(OVNNetwork, 'ovn', 'InputReady')).toMatchObject({ reason: 'NotSupported' });
    cloud.apply(ovn({ customServiceConfig: 'ovn-encap-tos=inherit\nnonsense\n' }));
    await cloud.settle();
    expect(cloud.condition(OVNNetwork, 'ovn', 'InputReady')).toMatchObject({
      reason: 'InvalidConfig',
      message: expect.stringContaining('line 2'),
    });
  });

  it('keeps its databases under Retain, and takes them along under Delete', async () => {
    const cloud = await readyFabric();
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.settle();
    expect(cloud.left()).toEqual(['PersistentVolumeClaim data-ovn-nb-0', 'PersistentVolumeClaim data-ovn-sb-0']);
    cloud.apply(ovn({ deletionPolicy: 'Delete' }));
    await cloud.ready(OVNNetwork, 'ovn');
    cloud.hands.remove(OVNNetwork, NS, 'ovn');
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('writes nothing at rest (rule 14)', async () => {
    const cloud = await readyFabric();
    const writes = cloud.writes().length;
    await cloud.sim.run(3_600_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
  });
});
