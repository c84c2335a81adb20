import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Namespace } from '../../src/kube/resource.ts';
import { plansOf } from '../../src/operator/manifests.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { NS, RealCluster } from './cluster.ts';

const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject;
const memcached = (name: string) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Memcached',
  metadata: { name },
});

/** The authorizer of the real server judges the roles of operators for a part of a cluster. */
describe('roles for a part of a cluster, on a real kube-apiserver', { timeout: 240_000 }, () => {
  let cluster: RealCluster | undefined;
  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  }, 60_000);

  it('Roles of one namespace: the slice becomes Ready there, and another namespace is not seen', async () => {
    cluster = await RealCluster.start(PLANS, undefined, { namespaces: [NS], kinds: [] });
    await cluster.admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
    cluster.startOperator();
    await cluster.apply(OpenStackControlPlane, slice);
    const elsewhere = { ...memcached('elsewhere'), metadata: { name: 'elsewhere', namespace: 'other' } };
    await cluster.admin.apply(Memcached, elsewhere as AnyObject, { manager: 'kubectl', force: true });
    await cluster.ready(OpenStackControlPlane, 'slice', 120);
    expect(cluster.refused()).toEqual([]);
    const unseen = await cluster.admin.get<AnyObject>(Memcached, { namespace: 'other', name: 'elsewhere' });
    expect(unseen?.status).toBeUndefined();
  });

  it('--kinds keystone: follows an edit below a cloud that another operator serves', async () => {
    cluster = await RealCluster.start(PLANS, undefined, { namespaces: [], kinds: ['keystone'] });
    // The others' operator has rights of its own: that of the slice's other kinds is the admin here.
    const rest = PLANS.filter(({ kind }) => kind.kind !== 'Keystone');
    const stopRest = cluster.startOther('admin', { plans: rest });
    cluster.startOperator({ plans: plansOf(PLANS, ['keystone']) });
    await cluster.apply(OpenStackControlPlane, slice);
    await cluster.ready(MariaDB, 'mariadb', 120);
    await cluster.ready(Keystone, 'keystone', 120);
    await cluster.ready(OpenStackControlPlane, 'slice', 120);
    expect(cluster.refused()).toEqual([]);
    await stopRest();
  });
});
