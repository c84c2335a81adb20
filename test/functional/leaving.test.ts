import { describe, expect, it } from 'vitest';
import { NovaCell } from '../../api/nova/cell.ts';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { Secret } from '../../src/kube/resource.ts';
import type { Cloud } from './cloud.ts';
import { NS } from './cloud.ts';
import { cephSecret, cloudWith, keystoneOf, label, readyCloud, sqlOf } from './services.ts';

const fake = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
const cells = (...names: string[]) => ({
  cellTemplates: { cell0: {}, ...Object.fromEntries(names.map(name => [name, fake])) },
});
const all = {
  ceph: { enabled: true, external: { secret: 'ceph-admin' } },
  placement: { enabled: true },
  glance: { enabled: true },
  ovn: { enabled: true },
  neutron: { enabled: true },
  nova: { enabled: true, ...cells('cell1') },
  cinder: { enabled: true, backends: [{ name: 'ceph', type: 'ceph' }] },
  heat: { enabled: true },
  horizon: { enabled: true },
};
const CHILD: Readonly<Record<string, AnyKind>> = {
  mariadb: MariaDB,
  rabbitmq: RabbitMQ,
  ovn: OVNNetwork,
  keystone: Keystone,
  ceph: CephStorage,
};
const prepare = (cloud: Cloud): void => {
  cloud.apply(cephSecret());
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
};
const busOf = (cloud: Cloud) => Object.values(cloud.backends.disks.bus)[0]!;

/** Whatever of a service is outside of Kubernetes, its data apart. */
const traces = (cloud: Cloud, service: string): string[] =>
  [
    ...Object.keys(sqlOf(cloud).users),
    ...Object.keys(busOf(cloud).users),
    ...busOf(cloud).vhosts,
    ...Object.keys(keystoneOf(cloud).users),
  ].filter(name => name.includes(service));
const TYPES: Readonly<Record<string, readonly string[]>> = {
  glance: ['image'],
  placement: ['placement'],
  neutron: ['network'],
  nova: ['compute'],
  cinder: ['block-storage', 'volumev3'],
  heat: ['orchestration', 'cloudformation'],
  horizon: [],
};

describe('a service that is disabled after the fact', () => {
  it('goes with objects, logins and catalog rows; its data stays, and is found again', async () => {
    const cloud = await readyCloud(all, prepare);
    const sections: Record<string, object> = { ...all };
    // From the top down: what stands on others first.
    for (const service of ['horizon', 'heat', 'cinder', 'nova', 'neutron', 'glance', 'placement']) {
      sections[service] = { enabled: false };
      cloud.apply(cloudWith(sections));
      await cloud.ready(OpenStackControlPlane, 'slice');
      await cloud.settle();
      const kept = ['PersistentVolumeClaim glance-images', 'Secret heat-encryption-key', 'Secret heat-trustee'];
      const left = cloud.left().filter(line => new RegExp(` ${service}(-|$)`).test(line));
      expect(
        left.filter(line => !kept.includes(line)),
        service,
      ).toEqual([]);
      expect(
        traces(cloud, service).filter(name => name !== 'heat_trustee'),
        service,
      ).toEqual([]);
      for (const type of TYPES[service] ?? [])
        expect(
          keystoneOf(cloud).services.map(s => s.type),
          service,
        ).not.toContain(type);
    }
    const databases = [
      'cinder',
      'glance',
      'heat',
      'keystone',
      'neutron',
      'nova_api',
      'nova_cell0',
      'nova_cell1',
      'placement',
    ];
    expect(Object.keys(sqlOf(cloud).databases).sort()).toEqual(databases);
    cloud.apply(cloudWith(all));
    await cloud.ready(OpenStackControlPlane, 'slice');
  }, 300_000);

  it('leaves its data also under Delete, because the cloud is not being deleted, and finds it again', async () => {
    const heat = (enabled: boolean) => cloudWith({ heat: { enabled, deletionPolicy: 'Delete' } });
    const cloud = await readyCloud({ heat: { enabled: true, deletionPolicy: 'Delete' } });
    cloud.apply(heat(false));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(Object.keys(sqlOf(cloud).databases).sort()).toEqual(['heat', 'keystone']);
    expect(traces(cloud, 'heat')).toEqual(['heat_trustee']);
    const kept = ['Secret heat-encryption-key', 'Secret heat-trustee'];
    expect(cloud.left().filter(line => line.includes('heat'))).toEqual(kept);
    const key = cloud.get(Secret, 'heat-encryption-key')?.data;
    cloud.apply(heat(true));
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(cloud.get(Secret, 'heat-encryption-key')?.data).toEqual(key);
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.left().filter(line => line.includes('heat'))).toEqual([]);
  }, 60_000);
});

describe('a backend that is disabled while others use it', () => {
  const sections: Readonly<Record<string, object>> = all;
  const off = (...names: string[]) =>
    cloudWith({ ...all, ...Object.fromEntries(names.map(name => [name, { ...sections[name], enabled: false }])) });
  const told = (cloud: Cloud, type: string) => cloud.condition(OpenStackControlPlane, 'slice', type);

  it('stays, names its users, and serves on; enabled again, all is as before', async () => {
    const cloud = await readyCloud(all, prepare);
    const uids = () => ['rabbitmq', 'mariadb', 'ovn'].map(name => cloud.get(CHILD[name]!, name)?.metadata.uid);
    const before = uids();
    for (const [section, kind, user] of [
      ['rabbitmq', 'RabbitMQ', 'Neutron neutron'],
      ['mariadb', 'MariaDB', 'Keystone keystone'],
      ['ovn', 'OVNNetwork', 'Neutron neutron'],
      ['keystone', 'Keystone', 'Glance glance'],
      ['ceph', 'CephStorage', 'Cinder cinder'],
    ] as const) {
      cloud.apply(off(section));
      await cloud.settle();
      expect(told(cloud, `${kind}Ready`), section).toMatchObject({ status: 'False', reason: 'InUse' });
      expect(told(cloud, `${kind}Ready`)?.message).toContain(`spec.${section} switches ${kind} ${section} off`);
      expect(told(cloud, `${kind}Ready`)?.message).toContain(user);
      expect(cloud.get(CHILD[section]!, section)?.metadata.deletionTimestamp).toBeUndefined();
      expect(cloud.condition(Nova, 'nova')?.status).toBe('True');
      cloud.apply(cloudWith(all));
      await cloud.ready(OpenStackControlPlane, 'slice');
    }
    expect(uids()).toEqual(before);
  }, 240_000);

  it('waits for a volume service that names it in a list, when it is deleted itself', async () => {
    const cloud = await readyCloud({ ...all, glance: { enabled: true } }, prepare);
    cloud.hands.remove(CephStorage, NS, 'ceph');
    await cloud.settle();
    expect(cloud.condition(CephStorage, 'ceph')).toMatchObject({ reason: 'InUse' });
    expect(cloud.condition(CephStorage, 'ceph')?.message).toContain('Cinder cinder');
  }, 60_000);

  it('goes with its users when they are disabled by the same edit', async () => {
    const cloud = await readyCloud(all, prepare);
    cloud.apply(off('rabbitmq', 'nova', 'neutron', 'cinder', 'heat', 'ovn'));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    for (const name of ['rabbitmq', 'ovn']) expect(cloud.get(CHILD[name]!, name)).toBeUndefined();
  }, 120_000);
});

describe('a cell that is taken out', () => {
  const on = (...names: string[]) => ({ ...all, nova: { enabled: true, ...cells(...names) } });
  const mapped = (cloud: Cloud) => sqlOf(cloud).databases.nova_api!.cells!;
  const told = (cloud: Cloud) => cloud.condition(Nova, 'nova', 'CellsReady')?.message;

  it('stays while servers or foreign hosts are in it, and loses its mapping last', async () => {
    const cloud = await readyCloud(on('cell1', 'cell2'), prepare);
    mapped(cloud).cell2!.hosts = ['nova-cell2-fake', 'compute-7'];
    mapped(cloud).cell2!.servers = ['5f2c6a0e'];
    const refused = async (id: string, ...words: string[]) => {
      cloud.hands.patch(Nova, NS, 'nova', { metadata: { annotations: { 'openstack.k8s.io/retry': id } } });
      await cloud.sim.within(3_600_000, () => words.every(word => told(cloud)?.includes(word)));
      for (const word of words) expect(told(cloud)).toContain(word);
      expect(cloud.get(NovaCell, 'nova-cell2')?.metadata.deletionTimestamp).toBeUndefined();
      expect(Object.keys(mapped(cloud))).toContain('cell2');
    };
    cloud.apply(cloudWith(on('cell1')));
    await refused('1', 'cell cell2 still has hosts: compute-7');
    mapped(cloud).cell2!.hosts = ['nova-cell2-fake'];
    await refused('2', 'cell cell2 still has servers: 5f2c6a0e');
    mapped(cloud).cell2!.servers = [];
    cloud.hands.patch(Nova, NS, 'nova', { metadata: { annotations: { 'openstack.k8s.io/retry': '3' } } });
    let last = '';
    await cloud.sim.within(3_600_000, () => {
      if (cloud.get(NovaCell, 'nova-cell2') && mapped(cloud).cell2) last = 'both';
      else if (cloud.get(NovaCell, 'nova-cell2')) last = 'object';
      else if (mapped(cloud).cell2) last = 'mapping';
      return mapped(cloud).cell2 === undefined;
    });
    expect(last).toBe('mapping');
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(cloud.left().filter(line => line.includes('cell2'))).toEqual([]);
    expect(traces(cloud, 'cell2')).toEqual([]);
  }, 240_000);

  it('and was left in a database that was kept is named, with its cure', async () => {
    const cloud = await readyCloud(on('cell1', 'cell2'), prepare);
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    cloud.apply(cloudWith(on('cell1')));
    await cloud.sim.within(3_600_000, () => cloud.condition(Nova, 'nova', 'CellsKnown')?.status === 'False');
    expect(cloud.condition(Nova, 'nova', 'CellsKnown')).toMatchObject({
      reason: 'CellUnknown',
      message: expect.stringMatching(/maps cell cell2.*User: name cell2 in spec.cellTemplates/),
    });
    expect(cloud.condition(Nova, 'nova')?.status).toBe('False');
    cloud.apply(cloudWith(on('cell1', 'cell2')));
    await cloud.ready(OpenStackControlPlane, 'slice');
    cloud.apply(cloudWith(on('cell1')));
    await cloud.sim.within(3_600_000, () => mapped(cloud).cell2 === undefined);
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(Object.keys(mapped(cloud)).sort()).toEqual(['cell0', 'cell1']);
  }, 240_000);
});
