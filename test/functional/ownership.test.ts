import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { Placement } from '../../api/openstack/placement.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { Namespace, PersistentVolumeClaim, Secret } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { cloudWith, keystoneOf, objectOf, readyCloud, secret, sqlOf } from './services.ts';
import { inNamespace, onSharedServers, ownedBy, ownerIdOf, readyIn, shareServers } from './shared.ts';

const slice = (sections: object, namespace: string) => inNamespace(namespace, cloudWith(sections));
const pools = (prefix: string) =>
  ['images', 'volumes', 'vms', 'backups'].map(purpose => ({ name: `${prefix}-${purpose}`, purpose }));

async function twoClouds(policy: 'Retain' | 'Delete' = 'Delete') {
  const cloud = await Cloud.start();
  await shareServers(cloud, ['openstack', 'other']);
  for (const namespace of ['openstack', 'other']) {
    const ceph = { enabled: true, external: { secret: 'ceph-admin' }, pools: pools(namespace) };
    cloud.apply(slice({ ...onSharedServers, ceph, deletionPolicy: policy }, namespace));
  }
  for (const namespace of ['openstack', 'other']) await readyIn(cloud, namespace, OpenStackControlPlane, 'slice');
  await cloud.settle();
  const ids = { openstack: ownerIdOf(cloud, 'openstack')!, other: ownerIdOf(cloud, 'other')! };
  return { cloud, ids };
}

describe('two clouds on one external MariaDB, RabbitMQ and Ceph', () => {
  it('have databases, users and pools of their own, and deleting one leaves the other alone', async () => {
    const { cloud, ids } = await twoClouds();
    expect(ids.openstack).not.toBe(ids.other);
    const before = ownedBy(cloud, ids.other);
    expect(before.filter(line => line.startsWith('database '))).toHaveLength(2);
    expect(before.filter(line => line.startsWith('pool '))).toHaveLength(4);
    expect(Object.keys(sqlOf(cloud).databases).sort()).toEqual(
      [`keystone_${ids.openstack.slice(0, 6)}`, `keystone_${ids.other.slice(0, 6)}`].sort(),
    );
    cloud.hands.remove(OpenStackControlPlane, 'openstack', 'slice');
    await cloud.settle();
    expect(ownedBy(cloud, ids.openstack)).toEqual([]);
    expect(ownedBy(cloud, ids.other)).toEqual(before);
    await readyIn(cloud, 'other', OpenStackControlPlane, 'slice');
  });

  it('pools of the other one are refused by name, and stay when the one that asked for them is deleted', async () => {
    const { cloud, ids } = await twoClouds();
    const before = ownedBy(cloud, ids.other);
    cloud.hands.patch(OpenStackControlPlane, 'openstack', 'slice', { spec: { ceph: { pools: pools('other') } } });
    const told = () =>
      JSON.stringify(cloud.hands.get(OpenStackControlPlane, 'openstack', 'slice')?.status).includes('NameTaken');
    expect(await cloud.sim.within(1_200_000, told)).toBe(true);
    cloud.hands.remove(OpenStackControlPlane, 'openstack', 'slice');
    await cloud.settle();
    expect(ownedBy(cloud, ids.other)).toEqual(before);
    expect(ownedBy(cloud, ids.openstack)).toEqual([]);
  });

  it('under Retain data stays with its mark, and a new cloud in the namespace finds it again without asking', async () => {
    const { cloud, ids } = await twoClouds('Retain');
    const data = () => ownedBy(cloud, ids.openstack).filter(line => /^(database|pool) (?!user)/.test(line));
    const kept = data();
    cloud.hands.remove(OpenStackControlPlane, 'openstack', 'slice');
    await cloud.settle();
    expect(data()).toEqual(kept);
    const ceph = { enabled: true, external: { secret: 'ceph-admin' }, pools: pools('openstack') };
    cloud.apply(slice({ ...onSharedServers, ceph }, 'openstack'));
    await readyIn(cloud, 'openstack', OpenStackControlPlane, 'slice');
    expect(data()).toEqual(kept);
    expect(ownerIdOf(cloud, 'openstack')).toBe(ids.openstack);
  });

  it('a cloud that ran there before there were marks keeps its names, is marked, and restarts nothing', async () => {
    const { cloud, ids } = await twoClouds();
    const server = sqlOf(cloud);
    cloud.crashOperator();
    // As an operator without marks left it: plain names, no comment, no record on the objects.
    const [plain, suffixed] = ['keystone', `keystone_${ids.openstack.slice(0, 6)}`];
    const user = `openstack-keystone-${ids.openstack.slice(0, 6)}`;
    const { comment: _, ...older } = server.databases[suffixed]!;
    server.databases[plain] = older;
    delete server.databases[suffixed];
    server.users['openstack-keystone'] = { ...server.users[user]!, databases: [plain] };
    delete server.users[user];
    cloud.hands.patch(Secret, 'openstack', 'keystone-database', {
      data: { user: Buffer.from('openstack-keystone').toString('base64') },
    });
    cloud.hands.patch(Keystone, 'openstack', 'keystone', {
      metadata: { annotations: { 'openstack.k8s.io/undo': null } },
    });
    cloud.startOperator();
    await cloud.sim.run(1_200_000);
    await cloud.settle();
    expect(server.databases[plain]?.comment).toContain(`${ids.openstack}:Keystone/keystone:openstack-keystone`);
    expect(server.databases[suffixed]).toBeUndefined();
    await readyIn(cloud, 'openstack', OpenStackControlPlane, 'slice');
  });
});

describe('a name that is somebody else’s', () => {
  it('a Glance named placement is refused, and takes nothing of Placement along when it goes', async () => {
    const cloud = await readyCloud({ placement: { enabled: true } });
    const before = JSON.stringify(sqlOf(cloud).databases.placement);
    cloud.apply(objectOf(Glance, 'placement', { deletionPolicy: 'Delete' }));
    await cloud.settle();
    expect(cloud.condition(Glance, 'placement')?.reason).toBe('NameTaken');
    cloud.hands.remove(Glance, NS, 'placement');
    await cloud.settle();
    expect(cloud.get(Glance, 'placement')).toBeUndefined();
    expect(JSON.stringify(sqlOf(cloud).databases.placement)).toBe(before);
    expect(keystoneOf(cloud).users.placement).toBeDefined();
    await cloud.ready(Placement, 'placement');
  });

  it('a database of another service is refused by name, and handed over only when the user says so', async () => {
    const cloud = await readyCloud();
    cloud.apply(objectOf(Glance, 'pictures', { databaseName: 'keystone', deletionPolicy: 'Delete' }));
    await cloud.settle();
    const told = cloud.condition(Glance, 'pictures', 'DatabaseReady');
    expect(told?.reason).toBe('NameTaken');
    expect(told?.message).toContain('Database keystone on MariaDB mariadb.openstack.svc.cluster.local:3306');
    expect(told?.message).toContain('belongs to Keystone keystone in this namespace');
    expect(told?.message).toContain(
      'kubectl annotate --overwrite glance pictures -n openstack openstack.k8s.io/adopt=keystone',
    );
    cloud.hands.remove(Glance, NS, 'pictures');
    await cloud.settle();
    expect(sqlOf(cloud).databases.keystone?.keystone?.users.admin).toBeDefined();
    sqlOf(cloud).databases.older = { schemas: [] };
    cloud.apply(objectOf(Glance, 'pictures', { databaseName: 'older' }));
    await cloud.settle();
    expect(cloud.condition(Glance, 'pictures', 'DatabaseReady')?.message).toContain('carries no owner mark');
    const annotations = { 'openstack.k8s.io/adopt': 'older' };
    cloud.hands.patch(Glance, NS, 'pictures', { metadata: { annotations } });
    await cloud.ready(Glance, 'pictures');
    expect(cloud.get(Glance, 'pictures')?.status).toMatchObject({ adopted: ['Database older'] });
    const events = cloud.store.objects().filter(({ kind, reason }) => kind === 'Event' && reason === 'Adopted');
    expect(events).toHaveLength(1);
  });

  it.each(['mysql', 'SYS', 'information_schema'])(
    'databaseName %s is refused by the API server',
    async databaseName => {
      const cloud = await Cloud.start();
      expect(() => cloud.apply(objectOf(Glance, 'glance', { databaseName }))).toThrow('belongs to the database server');
    },
  );

  it('of two Glances the older stands in the catalog; when it goes, the other takes over', async () => {
    const cloud = await readyCloud({ glance: { enabled: true } });
    cloud.apply(objectOf(Glance, 'second', {}));
    await cloud.ready(Glance, 'second');
    const urls = () =>
      keystoneOf(cloud)
        .services.find(s => s.type === 'image')
        ?.endpoints.map(e => e.url) ?? [];
    expect(urls().every(url => url.includes('//glance-api.'))).toBe(true);
    expect(cloud.condition(Glance, 'second', 'EndpointsReady')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('Glance glance is older and stands in the catalog'),
    });
    cloud.apply(cloudWith({ glance: { enabled: false } }));
    await cloud.settle();
    expect(urls().length).toBeGreaterThan(0);
    expect(urls().every(url => url.includes('//second-api.'))).toBe(true);
    cloud.hands.remove(Glance, NS, 'second');
    await cloud.settle();
    expect(urls()).toEqual([]);
  });
});

describe('only deletion deletes', () => {
  it.each([
    [MariaDB, 'mariadb', { external: { hostname: 'db.example.org' } }, 'external'],
    [RabbitMQ, 'rabbitmq', { external: { hostname: 'bus.example.org' } }, 'external'],
    [Keystone, 'keystone', { databaseInstance: 'other' }, 'databaseInstance'],
    [Keystone, 'keystone', { databaseSecret: 'other' }, 'databaseSecret'],
  ])('an edit from one server to another is refused (%#)', async (kind, name, spec, field) => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete' });
    const claims = cloud.hands.list(PersistentVolumeClaim, NS).length;
    const edit = () => cloud.hands.patch(kind, NS, name, { spec });
    expect(edit).toThrow(field);
    const section = { [name]: spec };
    expect(() => cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: section })).toThrow(field);
    await cloud.settle();
    expect(cloud.hands.list(PersistentVolumeClaim, NS)).toHaveLength(claims);
    expect(sqlOf(cloud).databases.keystone?.schemas).toEqual(['keystone']);
  });

  it('a backend that objects name waits for them, also on a direct delete, and goes when they are gone', async () => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete' });
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', {
      metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } },
    });
    cloud.hands.remove(MariaDB, NS, 'mariadb');
    await cloud.sim.run(1_200_000);
    expect(cloud.condition(MariaDB, 'mariadb')?.reason).toBe('InUse');
    expect(cloud.condition(MariaDB, 'mariadb')?.message).toContain('Keystone keystone');
    expect(sqlOf(cloud).databases.keystone?.schemas).toEqual(['keystone']);
    cloud.hands.remove(Keystone, NS, 'keystone');
    await cloud.settle();
    expect(cloud.get(Keystone, 'keystone')).toBeUndefined();
    expect(cloud.get(MariaDB, 'mariadb')).toBeUndefined();
    expect(cloud.hands.list(PersistentVolumeClaim, NS).map(claim => claim.metadata.name)).toEqual(['data-rabbitmq-0']);
  });

  it('a backend can be told not to wait, and those who named it can still be deleted', async () => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete' });
    cloud.hands.patch(MariaDB, NS, 'mariadb', {
      metadata: { annotations: { 'openstack.k8s.io/skip-undo': 'Users' } },
    });
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', {
      metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } },
    });
    cloud.hands.remove(MariaDB, NS, 'mariadb');
    await cloud.settle();
    expect(cloud.get(MariaDB, 'mariadb')).toBeUndefined();
    cloud.hands.remove(Keystone, NS, 'keystone');
    await cloud.settle();
    expect(cloud.get(Keystone, 'keystone')).toBeUndefined();
  });

  it('a cloud that never came up is deleted within a minute', async () => {
    const cloud = await Cloud.start();
    cloud.apply(cloudWith({ storageClass: 'no-such-class', placement: { enabled: true }, deletionPolicy: 'Delete' }));
    await cloud.sim.run(120_000);
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('False');
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    const gone = () => cloud.get(OpenStackControlPlane, 'slice') === undefined;
    expect(await cloud.sim.within(60_000, gone)).toBe(true);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('a second control plane that was refused is deleted within a minute, and does no harm', async () => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete' });
    const second = { ...cloudWith({ deletionPolicy: 'Delete' }), metadata: { name: 'second' } };
    cloud.apply(second);
    await cloud.settle();
    expect(cloud.condition(OpenStackControlPlane, 'second')?.reason).toBe('AnotherControlPlane');
    cloud.hands.remove(OpenStackControlPlane, NS, 'second');
    const gone = () => cloud.get(OpenStackControlPlane, 'second') === undefined;
    expect(await cloud.sim.within(60_000, gone)).toBe(true);
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(sqlOf(cloud).databases.keystone?.schemas).toEqual(['keystone']);
  });

  it('a namespace that is deleted holds no object back', async () => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete' });
    cloud.hands.remove(Namespace, '', NS);
    for (const kind of [Memcached, Keystone, RabbitMQ, MariaDB, OpenStackControlPlane])
      for (const { metadata } of cloud.hands.list(kind, NS)) cloud.hands.remove(kind, NS, metadata.name);
    const left = () => [Keystone, RabbitMQ, MariaDB, OpenStackControlPlane].flatMap(kind => cloud.hands.list(kind, NS));
    expect(await cloud.sim.within(120_000, () => left().length === 0)).toBe(true);
  });

  it('the owner id is made once, by whoever comes first, and is never made again', async () => {
    const cloud = await readyCloud({ placement: { enabled: true }, deletionPolicy: 'Delete' });
    const id = ownerIdOf(cloud, NS);
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    const marks = Object.values(sqlOf(cloud).databases).map(({ comment }) => comment?.split(':')[1]);
    expect(new Set(marks)).toEqual(new Set([id]));
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(ownerIdOf(cloud, NS)).toBe(id);
    cloud.apply(secret('openstack-owner', { id: 'not an id' }));
    cloud.apply(cloudWith({ placement: { enabled: true } }));
    await cloud.sim.run(120_000);
    expect(JSON.stringify(cloud.get(Placement, 'placement')?.status)).toContain('holds no owner id');
  });
});
