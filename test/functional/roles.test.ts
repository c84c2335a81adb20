import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { DaemonSet, Deployment, StatefulSet } from '../../src/kube/resource.ts';
import { type Installed, plansOf, rbac } from '../../src/operator/manifests.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { askedBy, isAllowed, watchedBy } from './authorizer.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import { label } from './services.ts';

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const installed = (namespaces: string[] = [], kinds: string[] = []): Installed => ({
  name: 'some',
  scope: { namespaces, kinds },
});

describe('who may do what', () => {
  const roles = rbac(PLANS, installed([NS])) as Parameters<typeof isAllowed>[0];
  it.each<[string, string, Record<string, string>, boolean]>([
    ['GET', `/apis/openstack.k8s.io/v1alpha1/namespaces/${NS}/keystones`, { watch: 'true' }, true],
    ['GET', '/apis/openstack.k8s.io/v1alpha1/keystones', {}, false],
    ['GET', '/apis/openstack.k8s.io/v1alpha1/namespaces/other/keystones', {}, false],
    ['GET', `/api/v1/namespaces/${NS}`, {}, true],
    ['GET', '/api/v1/namespaces/other', {}, false],
    ['GET', '/apis/storage.k8s.io/v1/storageclasses', {}, true],
    ['DELETE', '/api/v1/nodes/a', {}, false],
    ['PATCH', `/apis/openstack.k8s.io/v1alpha1/namespaces/${NS}/keystones/a/status`, {}, true],
    ['DELETE', `/apis/openstack.k8s.io/v1alpha1/namespaces/${NS}/openstackcontrolplanes/a`, {}, false],
    ['GET', '/api/v1/secrets', {}, false],
  ])('%s %s %j: %s', (method, path, query, allowed) => {
    expect(isAllowed(roles, askedBy({ method: method as 'GET', path, query })!)).toBe(allowed);
  });
});

describe('an operator with no more than its roles', { timeout: 300_000 }, () => {
  let rest: Rest;
  const refusedFirst = new Set<string>();
  beforeAll(async () => {
    const cloud = await Cloud.start({
      faults: watchedBy(rbac(PLANS, installed([NS])), refusedFirst),
      operator: { namespaces: [NS] },
    });
    label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
    cloud.apply(minimal);
    await cloud.ready(OpenStackControlPlane, minimal.metadata.name);
    await cloud.settle();
    rest = cloud.rest();
  }, 300_000);

  it('of one namespace serves it, and sees nothing of another', async () => {
    expect([...refusedFirst]).toEqual([]);
    const refused = new Set<string>();
    const scope = installed([NS, 'second']);
    const cloud = await Cloud.start({
      from: rest,
      seed: 2,
      faults: watchedBy(rbac(PLANS, scope), refused),
      operator: { namespaces: scope.scope.namespaces },
    });
    for (const name of ['second', 'third'])
      cloud.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const memcached = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Memcached', spec: {} };
    for (const namespace of ['second', 'third'])
      cloud.hands.apply({ ...memcached, metadata: { name: 'm', namespace } });
    const ready = (namespace: string) =>
      (cloud.hands.get(Memcached, namespace, 'm')?.status as { readyReplicas?: number } | undefined)?.readyReplicas;
    expect(await cloud.sim.within(600_000, () => ready('second') === 1)).toBe(true);
    await cloud.settle();
    expect(cloud.hands.get(Memcached, 'third', 'm')?.status).toBeUndefined();
    expect([...refused]).toEqual([]);
  });

  it('--kinds keystone follows an edit of a Keystone below a cloud that it does not serve', async () => {
    const refused = new Set<string>();
    const scope = installed([], ['keystone']);
    const cloud = await Cloud.start({
      from: rest,
      seed: 2,
      plans: plansOf(PLANS, ['keystone']),
      faults: watchedBy(rbac(PLANS, scope), refused),
    });
    const live = cloud.get(Keystone, 'keystone')!;
    cloud.hands.patch(Keystone, NS, 'keystone', { spec: { replicas: 2 } });
    await cloud.ready(Keystone, 'keystone');
    await cloud.settle();
    expect(live.metadata.ownerReferences).toHaveLength(1);
    expect(cloud.get(Deployment, 'keystone-api')?.status).toMatchObject({ readyReplicas: 2 });
    expect([...refused]).toEqual([]);
  });

  const kinds = PLANS.map(({ kind }) => kind.kind.toLowerCase());
  it.each(kinds)('--kinds %s makes anew what somebody deleted, and leaves everything else', async kind => {
    const refused = new Set<string>();
    const plans = plansOf(PLANS, [kind]);
    const { kind: resource } = plans[0]!;
    const cloud = await Cloud.start({
      from: rest,
      seed: 2,
      plans,
      faults: watchedBy(rbac(PLANS, installed([], [kind])), refused),
    });
    const uids = cloud.hands.list(resource, NS).map(({ metadata }) => metadata.uid);
    const workloads = () =>
      [Deployment, StatefulSet, DaemonSet].flatMap(each =>
        cloud.hands
          .list(each, NS)
          .filter(({ metadata }) => uids.includes(metadata.ownerReferences?.[0]?.uid))
          .map(({ metadata }) => [each, metadata.name] as const),
      );
    const before = workloads();
    // As on the first day: it looks at its neighbours before it starts.
    for (const [each, name] of before) cloud.hands.remove(each, NS, name);
    await cloud.sim.run(900_000);
    expect(cloud.failure).toBeUndefined();
    expect(workloads()).toEqual(before);
    for (const { metadata } of cloud.hands.list(resource, NS))
      expect([metadata.name, cloud.condition(resource, metadata.name)?.message]).toEqual([metadata.name, '']);
    expect([...refused]).toEqual([]);
  });
});
