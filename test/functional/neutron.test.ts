import { describe, expect, it } from 'vitest';
import { Neutron } from '../../api/openstack/neutron.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { Deployment, StatefulSet } from '../../src/kube/resource.ts';
import {
  adminLogin,
  cloudWith,
  host,
  keystoneOf,
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

  it('says what is missing: the fabric, or a mechanism that is not there yet', async () => {
    const cloud = await readyCloud();
    cloud.apply(objectOf(Neutron, 'a'), objectOf(Neutron, 'b', { mechanism: 'ovs' }));
    await cloud.settle();
    expect(cloud.condition(Neutron, 'a', 'InputReady')).toMatchObject({
      reason: 'NotFound',
      message: expect.stringContaining('spec.ovnInstance'),
    });
    expect(cloud.condition(Neutron, 'b', 'InputReady')).toMatchObject({ reason: 'NotSupported' });
  });
});
