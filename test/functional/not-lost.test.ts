import { describe, expect, it } from 'vitest';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Heat } from '../../api/openstack/heat.ts';
import { Placement } from '../../api/openstack/placement.ts';
import { type Cloud, NS } from './cloud.ts';
import { cephSecret, FSID, objectOf, readyCloud, sqlOf } from './services.ts';

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
