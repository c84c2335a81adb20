import { describe, expect, it } from 'vitest';
import { Neutron } from '../../api/openstack/neutron.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { DaemonSet, Deployment, Secret, StatefulSet } from '../../src/kube/resource.ts';
import {
  adminLogin,
  cloudWith,
  host,
  keystoneOf,
  label,
  objectOf,
  passwordIn,
  readyCloud,
  removeCloud,
  secret,
  sqlOf,
  template,
  text,
  watchStarts,
} from './services.ts';

const on = (spec: object = {}, ovn: object = {}) => ({
  ovn: { enabled: true, ...ovn },
  neutron: { enabled: true, ...spec },
});
const ini = (cloud: Parameters<typeof text>[0]) => text(cloud, 'neutron-config-data', 'ml2_conf.ini');

const keysOf = (cloud: Parameters<typeof text>[0], name: string) =>
  Object.keys((cloud.get(Secret, name)?.data ?? {}) as object);

describe('Neutron', () => {
  it('makes networks with OVN and answers, not before what it stands on', async () => {
    const { starts, wrap } = watchStarts();
    const cloud = await readyCloud(on({}, { bridgeMappings: { physnet1: 'br-ex' } }), undefined, { wrap });
    for (const name of ['deployments neutron-api', 'statefulsets neutron-periodic', 'statefulsets neutron-maintenance'])
      expect(starts.get(name)).toEqual(expect.arrayContaining(['MariaDB', 'RabbitMQ', 'Keystone', 'OVNNetwork']));
    const { northbound, southbound } = (cloud.get(OVNNetwork, 'ovn')?.status ?? {}) as Record<string, string>;
    expect(ini(cloud)).toContain(`ovn_nb_connection = ${northbound}\novn_sb_connection = ${southbound}\n`);
    expect(ini(cloud)).toContain('network_vlan_ranges = physnet1');
    expect(text(cloud, 'neutron-config-data', 'uwsgi.ini')).toContain('start-time = %t\n');
    const conf = text(cloud, 'neutron-config-data', '01-neutron.conf');
    expect(conf).toContain('transport_url = rabbit://openstack-neutron:');
    expect(conf).toMatch(/\[nova\]\nauth_type = password/);
    expect(keystoneOf(cloud).services.map(s => s.type)).toContain('network');
    expect(sqlOf(cloud).databases.neutron?.schemas).toEqual(['neutron']);
    expect(cloud.get(Neutron, 'neutron')?.status).toMatchObject({ replicas: 3, readyReplicas: 3 });
  });

  it('has everything ready but its pods while the fabric is not Ready', async () => {
    const cloud = await readyCloud();
    cloud.apply(cloudWith(on({}, { storageClass: 'late' })));
    await cloud.settle();
    expect(cloud.condition(Neutron, 'neutron', 'DatabaseSyncReady')?.status).toBe('True');
    expect(cloud.condition(Neutron, 'neutron', 'WorkloadsReady')).toMatchObject({
      status: 'False',
      reason: 'StorageClassNotFound',
      message: expect.stringContaining('StorageClass late'),
    });
    expect(cloud.get(Deployment, 'neutron-api')).toBeUndefined();
    cloud.apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'late' },
      provisioner: 'openstack.k8s.io/pretend',
    });
    await cloud.ready(Neutron, 'neutron');
  });

  it("rolls the workers for the workers' text, and all of it for its own", async () => {
    const cloud = await readyCloud(on());
    const all = () => [
      template(cloud, Deployment, 'neutron-api'),
      template(cloud, StatefulSet, 'neutron-periodic'),
      template(cloud, StatefulSet, 'ovn-nb'),
    ];
    const before = all();
    const workers = { workersServiceTemplate: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } };
    cloud.apply(cloudWith(on(workers)));
    await cloud.settle();
    const between = all();
    expect(between[0]).toEqual(before[0]);
    expect(between[1]).not.toEqual(before[1]);
    expect(text(cloud, 'neutron-config-data', '02-neutron-override.workersServiceTemplate.conf')).toContain('debug');
    cloud.apply(cloudWith(on({ ...workers, mtu: 9000 })));
    await cloud.settle();
    const after = all();
    expect(after[0]).not.toEqual(between[0]);
    expect(after[1]).not.toEqual(between[1]);
    expect(after[2]).toEqual(before[2]);
    expect(cloud.condition(Neutron, 'neutron')?.status).toBe('True');
  });

  it('leaves nothing in namespace, database, bus or catalog under Delete', async () => {
    const cloud = await readyCloud({ ...on(), deletionPolicy: 'Delete' });
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('takes its user, vhost and catalog rows along when it goes alone, and keeps its data', async () => {
    const cloud = await readyCloud(on());
    cloud.apply(cloudWith({ ovn: { enabled: true } }));
    await cloud.settle();
    expect(cloud.left().filter(line => line.includes('neutron'))).toEqual([]);
    expect(sqlOf(cloud).users['openstack-neutron']).toBeUndefined();
    expect(Object.values(cloud.backends.disks.bus)[0]?.vhosts).not.toContain('openstack-neutron');
    expect(keystoneOf(cloud).users.neutron).toBeUndefined();
    expect(keystoneOf(cloud).services.map(s => s.type)).toEqual(['identity']);
    expect(sqlOf(cloud).databases.neutron?.schemas).toEqual(['neutron']);
  });

  it('stands on hand-made Secrets and an OVNNetwork', async () => {
    const cloud = await readyCloud();
    sqlOf(cloud).databases.nets = { schemas: [] };
    const root = passwordIn(cloud, 'mariadb-root');
    cloud.apply(
      secret('db', { hostname: host('mariadb'), user: 'root', password: root, database: 'nets' }),
      secret('mq', { hostname: host('rabbitmq'), user: 'admin', password: passwordIn(cloud, 'rabbitmq-admin') }),
      secret('user', adminLogin(cloud)),
      objectOf(OVNNetwork, 'fabric'),
      objectOf(Neutron, 'nets', {
        databaseSecret: 'db',
        messageBusSecret: 'mq',
        keystoneSecret: 'user',
        memcachedServers: ['cache:11211'],
        ovnInstance: 'fabric',
      }),
    );
    await cloud.ready(Neutron, 'nets');
    expect(sqlOf(cloud).databases.nets?.schemas).toEqual(['neutron']);
    expect(cloud.get(Deployment, 'nets-api')).toBeDefined();
  });

  it('says what is missing: the fabric, or a node for its agents', async () => {
    const cloud = await readyCloud();
    cloud.apply(objectOf(Neutron, 'a'), objectOf(Neutron, 'b', { mechanism: 'ovs' }));
    await cloud.settle();
    expect(cloud.condition(Neutron, 'a', 'InputReady')).toMatchObject({
      reason: 'NotFound',
      message: expect.stringContaining('spec.ovnInstance'),
    });
    expect(cloud.condition(Neutron, 'b', 'WorkloadsReady')).toMatchObject({
      reason: 'NoNodes',
      message: expect.stringContaining('kubectl label node <name> openstack.k8s.io/gateway='),
    });
  });
});

describe('Neutron with agents', () => {
  const sections = (more: object = {}, openvswitch: object = {}) => ({
    networkBackend: 'ovs',
    neutron: { enabled: true, openvswitch: { bridgeMappings: { physnet1: 'br-ex' }, ...openvswitch }, ...more },
  });
  const labelled = (cloud: Parameters<typeof text>[0]) =>
    label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  const AGENTS = ['neutron-l2', 'neutron-l3', 'neutron-dhcp', 'neutron-metadata-agent'];

  it('runs a switch and its agents on labelled nodes, over the bus and without the database', async () => {
    const cloud = await readyCloud(sections(), labelled);
    expect(cloud.get(OVNNetwork, 'ovn')).toBeUndefined();
    const conf = text(cloud, 'neutron-config-data', '01-neutron.conf');
    expect(conf).toContain('service_plugins = qos,router,');
    expect(conf).toContain('rpc_workers = 1');
    expect(ini(cloud)).toContain('mechanism_drivers = openvswitch,l2population');
    expect(ini(cloud)).not.toContain('[ovn]');
    expect(cloud.get(StatefulSet, 'neutron-maintenance')).toBeUndefined();
    expect(cloud.get(StatefulSet, 'neutron-rpc')).toBeDefined();
    for (const name of [...AGENTS, 'neutron-ovsdb', 'neutron-vswitchd'])
      expect(cloud.get(DaemonSet, name)?.status, name).toMatchObject({ numberReady: 1 });
    const l2 = text(cloud, 'neutron-config-data', '01-neutron-l2.conf');
    expect(l2).toContain('bridge_mappings = physnet1:br-ex');
    expect(l2).toContain('transport_url = rabbit://openstack-neutron:');
    for (const agent of AGENTS) {
      const name = agent.replace('neutron-', '');
      expect(text(cloud, 'neutron-config-data', `01-neutron-${name}.conf`), name).not.toContain('mysql');
      const { volumes } = (
        template(cloud, DaemonSet, agent) as { spec: { volumes: { secret?: { secretName: string } }[] } }
      ).spec;
      const secrets = volumes.flatMap(volume => volume.secret?.secretName ?? []);
      for (const name of secrets) expect(JSON.stringify(keysOf(cloud, name)), agent).not.toContain('"01-neutron.conf"');
    }
  }, 60_000);

  it("rolls an agent for its user's text, and never the switch", async () => {
    const cloud = await readyCloud(sections(), labelled);
    const all = () => [...AGENTS, 'neutron-ovsdb', 'neutron-vswitchd'].map(name => template(cloud, DaemonSet, name));
    const before = all();
    cloud.apply(
      cloudWith(sections({ agentTemplates: { dhcp: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } } })),
    );
    await cloud.settle();
    const after = all();
    expect(after.map((now, index) => JSON.stringify(now) !== JSON.stringify(before[index]))).toEqual([
      false,
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(cloud.condition(Neutron, 'neutron')?.status).toBe('True');
  }, 60_000);

  it('is refused where neutron.mechanism contradicts networkBackend', async () => {
    const cloud = await readyCloud();
    expect(() =>
      cloud.apply(cloudWith({ networkBackend: 'ovs', neutron: { enabled: true, mechanism: 'ovn' } })),
    ).toThrow(/neutron.mechanism contradicts networkBackend/);
  });
});
