import { describe, expect, it } from 'vitest';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { Cinder } from '../../api/openstack/cinder.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Heat } from '../../api/openstack/heat.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Placement } from '../../api/openstack/placement.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { pathOf, Secret } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { cephSecret, cloudWith, FSID, objectOf, readyCloud, sqlOf } from './services.ts';
import { inNamespace, onSharedServers, ownerIdOf, readyIn, shareServers } from './shared.ts';

/** Ways in which data could get lost that somebody tried: each was possible once. */

const busOf = (cloud: Cloud) => Object.values(cloud.backends.disks.bus)[0]!;
const annotate = (annotations: object) => ({ metadata: { annotations } });

/** As an operator without marks left it. */
function unmark(cloud: Cloud, database: string): void {
  const { comment: _, ...older } = sqlOf(cloud).databases[database]!;
  sqlOf(cloud).databases[database] = older;
}

describe('an object that was refused and is of before there were marks', () => {
  it('proves nothing by a Secret of the object whose name it took', async () => {
    const cloud = await readyCloud({ placement: { enabled: true } });
    cloud.apply(objectOf(Glance, 'placement', { deletionPolicy: 'Delete' }));
    await cloud.settle();
    expect(cloud.condition(Glance, 'placement')?.reason).toBe('NameTaken');
    cloud.crashOperator();
    unmark(cloud, 'placement');
    cloud.hands.patch(Glance, NS, 'placement', annotate({ 'openstack.k8s.io/undo': null }));
    cloud.hands.patch(Placement, NS, 'placement', annotate({ 'openstack.k8s.io/paused': 'true' }));
    cloud.hands.remove(Glance, NS, 'placement');
    cloud.startOperator();
    await cloud.sim.run(1_200_000);
    await cloud.settle();
    expect(cloud.get(Glance, 'placement')).toBeUndefined();
    expect(sqlOf(cloud).databases.placement?.schemas).toEqual(['placement']);
    expect(sqlOf(cloud).users['openstack-placement']).toBeDefined();
  });
});

describe('what somebody else made and a login of ours was allowed to use', () => {
  it('a pool without a mark stays when the CephStorage is deleted', async () => {
    const ceph = { enabled: true, external: { secret: 'ceph-admin' } };
    const cloud = await readyCloud({ ceph, deletionPolicy: 'Delete' }, cloud => cloud.apply(cephSecret()));
    const cluster = cloud.backends.disks.ceph![FSID]!;
    cluster.pools.archive = {};
    for (const user of Object.values(cluster.users)) user.pools.push('archive');
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.get(CephStorage, 'ceph')).toBeUndefined();
    expect(Object.keys(cluster.pools)).toEqual(['archive']);
  });

  it('a virtual host without a mark stays when the service is deleted', async () => {
    const cloud = await readyCloud({ heat: { enabled: true } });
    busOf(cloud).vhosts.push('reports');
    busOf(cloud).users['openstack-heat']!.vhosts.push('reports');
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.sim.within(1_200_000, () => cloud.get(Heat, 'heat') === undefined);
    expect(busOf(cloud).vhosts).toContain('reports');
    expect(busOf(cloud).vhosts).not.toContain('openstack-heat');
  });
});

describe('the owner id', () => {
  it('that is gone is not made anew while things carry it, and its cure is told', async () => {
    const cloud = await readyCloud({ placement: { enabled: true } });
    const id = ownerIdOf(cloud, NS)!;
    cloud.hands.remove(Secret, NS, 'openstack-owner');
    await cloud.sim.run(1_800_000);
    expect(ownerIdOf(cloud, NS)).toBeUndefined();
    const told = cloud.condition(Placement, 'placement')?.message;
    expect(told).toContain('Secret openstack-owner does not exist');
    expect(told).toContain('kubectl create secret generic openstack-owner -n openstack --from-literal=id=');
    cloud.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'openstack-owner' },
      stringData: { id },
    });
    await cloud.ready(OpenStackControlPlane, 'slice');
  });
});

describe('a section that is switched off', () => {
  it('leaves its data also when the status of the cloud tells nothing of it', async () => {
    const heat = (enabled: boolean) => cloudWith({ heat: { enabled, deletionPolicy: 'Delete' } });
    const cloud = await readyCloud({ heat: { enabled: true, deletionPolicy: 'Delete' } });
    cloud.crashOperator();
    cloud.store.handle({
      method: 'PATCH',
      path: `${pathOf(OpenStackControlPlane, NS, 'slice')}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { conditions: null } },
    });
    cloud.apply(heat(false));
    cloud.startOperator();
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(cloud.get(Heat, 'heat')).toBeUndefined();
    expect(Object.keys(sqlOf(cloud).databases)).toContain('heat');
    expect(cloud.get(Secret, 'heat-encryption-key')).toBeDefined();
  });
});

describe('a Secret that was kept for one object', () => {
  it('is neither used nor deleted by one of another kind and the same name', async () => {
    const cloud = await readyCloud();
    const before = cloud.get(Secret, 'keystone-admin')?.data;
    cloud.apply(objectOf(RabbitMQ, 'keystone', { deletionPolicy: 'Delete' }));
    await cloud.sim.run(300_000);
    expect(cloud.condition(RabbitMQ, 'keystone')?.reason).toBe('NameTaken');
    expect(cloud.condition(RabbitMQ, 'keystone')?.message).toContain('Secret keystone-admin');
    cloud.hands.remove(RabbitMQ, NS, 'keystone');
    await cloud.settle();
    expect(cloud.get(RabbitMQ, 'keystone')).toBeUndefined();
    expect(cloud.get(Secret, 'keystone-admin')?.data).toEqual(before);
    await cloud.ready(Keystone, 'keystone');
  });
});

describe('a cloud that has plain names on a shared server', () => {
  it('is told the name of the database that is gone, and not the one that a new cloud would get', async () => {
    const cloud = await Cloud.start();
    await shareServers(cloud, ['openstack']);
    cloud.apply(inNamespace(NS, cloudWith(onSharedServers)));
    await readyIn(cloud, NS, OpenStackControlPlane, 'slice');
    await cloud.settle();
    cloud.crashOperator();
    const server = sqlOf(cloud);
    const [suffix] = [ownerIdOf(cloud, NS)!.slice(0, 6)];
    const { comment: _, ...older } = server.databases[`keystone_${suffix}`]!;
    server.databases.keystone = older;
    delete server.databases[`keystone_${suffix}`];
    server.users['openstack-keystone'] = { ...server.users[`openstack-keystone-${suffix}`]!, databases: ['keystone'] };
    delete server.users[`openstack-keystone-${suffix}`];
    const user = Buffer.from('openstack-keystone').toString('base64');
    cloud.hands.patch(Secret, NS, 'keystone-database', { data: { user } });
    cloud.startOperator();
    await cloud.sim.run(1_200_000);
    await readyIn(cloud, NS, OpenStackControlPlane, 'slice');
    delete server.databases.keystone;
    const told = () => cloud.condition(Keystone, 'keystone', 'DatabaseReady')?.reason === 'DatabaseLost';
    expect(await cloud.sim.within(1_200_000, told)).toBe(true);
    expect(cloud.condition(Keystone, 'keystone', 'DatabaseReady')?.message).toContain('Database keystone on MariaDB');
  });
});

describe('a copy of the owner id in another namespace', () => {
  it('makes no second owner of the same things', async () => {
    const cloud = await Cloud.start();
    await shareServers(cloud, ['openstack', 'other']);
    cloud.apply(inNamespace(NS, cloudWith({ ...onSharedServers, deletionPolicy: 'Delete' })));
    await readyIn(cloud, NS, OpenStackControlPlane, 'slice');
    const before = JSON.stringify(sqlOf(cloud));
    const { type, data, metadata } = cloud.hands.get(Secret, NS, 'openstack-owner')!;
    const { name, labels, annotations } = metadata;
    const copied = { name, namespace: 'other', labels, annotations };
    cloud.hands.apply({ apiVersion: 'v1', kind: 'Secret', metadata: copied, type, data } as AnyObject);
    cloud.apply(inNamespace('other', cloudWith({ ...onSharedServers, deletionPolicy: 'Delete' })));
    await cloud.sim.run(1_200_000);
    const ready = conditionsOf(cloud.hands.get(Keystone, 'other', 'keystone')).find(c => c.type === 'Ready');
    expect(ready).toMatchObject({ status: 'False', reason: 'SecretInvalid' });
    expect(ready?.message).toContain('marks what belongs to namespace openstack');
    cloud.hands.remove(OpenStackControlPlane, 'other', 'slice');
    await cloud.sim.run(60_000);
    expect(cloud.hands.get(OpenStackControlPlane, 'other', 'slice')).toBeUndefined();
    expect(JSON.stringify(sqlOf(cloud))).toBe(before);
    await readyIn(cloud, NS, OpenStackControlPlane, 'slice');
  });
});

describe('the Ceph cluster that data is in', () => {
  const ceph = { name: 'rbd', type: 'ceph' };
  it.each([
    [Glance, { stores: [{ ...ceph, cephStorage: 'one' }] }, { stores: [{ ...ceph, cephStorage: 'two' }] }],
    [Glance, { stores: [{ ...ceph, cephStorage: 'one' }] }, { stores: [ceph] }],
    [Cinder, { backup: { enabled: true } }, { backup: { enabled: true, cephStorage: 'two' } }],
    [Cinder, { backends: [ceph] }, { backends: [{ ...ceph, cephStorage: 'two' }] }],
  ])('is not changed by an edit (%#)', async (kind, spec, edited) => {
    const cloud = await Cloud.start();
    cloud.apply(objectOf(kind, 'some', spec));
    expect(() => cloud.hands.patch(kind, NS, 'some', { spec: edited })).toThrow('cephStorage');
  });
});
