import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Secret } from '../../src/kube/resource.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { NS, RealCluster } from './cluster.ts';

const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject;
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

const SCOPES = [
  ['the rights for all namespaces', []],
  ['Roles for one namespace', [NS]],
] as const;

describe.each(SCOPES)('the slice on a real kube-apiserver, with %s', { timeout: 180_000 }, (_, namespaces) => {
  let cluster: RealCluster;
  beforeAll(async () => {
    cluster = await RealCluster.start(PLANS, undefined, { namespaces, kinds: [] });
    cluster.startOperator();
  }, 120_000);
  afterAll(() => cluster.stop(), 60_000);

  it('Memcached reaches Ready with the rights that we generate', async () => {
    await cluster.apply(Memcached, {
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'Memcached',
      metadata: { name: 'alone' },
    });
    await cluster.ready(Memcached, 'alone');
    expect(cluster.writes().filter(write => write.code >= 400)).toEqual([]);
  });

  it('the slice reaches Ready', async () => {
    await cluster.apply(OpenStackControlPlane, slice);
    await cluster.ready(OpenStackControlPlane, 'slice', 120);
    expect(cluster.writes().filter(write => write.code >= 400)).toEqual([]);
  });

  it('writes nothing at rest, also right after a restart (rule 14, by audit log)', async () => {
    await pause(2000);
    const before = cluster.writes().length;
    await cluster.stopOperator();
    cluster.startOperator();
    await pause(8000);
    expect(cluster.writes().slice(before)).toEqual([]);
  });

  it('leaves only what the policy retains', async () => {
    const live = await cluster.admin.get(OpenStackControlPlane, { namespace: NS, name: 'slice' });
    await cluster.admin.delete(
      OpenStackControlPlane,
      { namespace: NS, name: 'slice' },
      { uid: live?.metadata.uid ?? '' },
    );
    await cluster.until(
      async () => (await cluster.admin.get(OpenStackControlPlane, { namespace: NS, name: 'slice' })) === undefined,
      'the control plane is gone',
    );
    const names = async (resource: typeof Secret) =>
      (await cluster.admin.list(resource, { namespace: NS })).items.map(o => o.metadata.name).sort();
    await cluster.until(
      async () => (await names(Secret)).every(name => !name.startsWith('keystone-config')),
      'config Secrets are collected',
    );
    expect(await names(PersistentVolumeClaim)).toEqual(['data-mariadb-0', 'data-rabbitmq-0']);
    const kept = (await names(Secret)).filter(name => !name.startsWith('alone'));
    expect(kept).toEqual([
      'keystone-admin',
      'keystone-credential-keys',
      'keystone-fernet-keys',
      'mariadb-root',
      'openstack-hash-key',
      'openstack-owner',
      'rabbitmq-admin',
    ]);
  });
});
