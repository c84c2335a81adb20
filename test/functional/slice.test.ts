import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Deployment, Job, type Resource, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';

const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };
const slice = (spec: object = {}) => ({ ...sample, spec: { ...sample.spec, ...spec } });

async function readySlice(spec: object = {}): Promise<Cloud> {
  const cloud = await Cloud.start();
  cloud.apply(slice(spec));
  await cloud.ready(OpenStackControlPlane, 'slice');
  await cloud.settle();
  return cloud;
}

const keystoneConf = (cloud: Cloud, key = '01-keystone.conf'): string | undefined => {
  const data = cloud.get(Secret, 'keystone-config-data')?.data as Record<string, string> | undefined;
  return data?.[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString();
};
/** What a workload's pods are made from: when it changes, they roll. */
const template = (cloud: Cloud, resource: Resource, name: string) =>
  (cloud.get(resource, name)?.spec as { template: unknown } | undefined)?.template;
const templates = (cloud: Cloud) =>
  ['mariadb', 'rabbitmq', 'memcached'].map(name => template(cloud, StatefulSet, name));

describe('the slice', () => {
  it('goes from one object to a cloud that issues a token', async () => {
    const cloud = await readySlice();
    const status = cloud.get(OpenStackControlPlane, 'slice')?.status;
    expect(status).toMatchObject({ phase: 'Ready', release: '2025.2' });
    expect(status).toMatchObject({
      endpoints: { keystone: 'http://keystone-api.openstack.svc.cluster.local:5000' },
      services: ['mariadb', 'rabbitmq', 'memcached', 'keystone'].map(name => ({ name, ready: true })),
    });
    expect(cloud.condition(Keystone, 'keystone', 'Answering')?.status).toBe('True');
    expect(Object.keys(cloud.get(Secret, 'openstack-clouds')?.data ?? {})).toEqual(['clouds.yaml']);
  });

  it('writes nothing at rest, also right after a restart of the operator (rule 14)', async () => {
    const cloud = await readySlice();
    const [writes, mutations] = [cloud.writes(), cloud.backends.mutations()];
    await cloud.sim.run(3_600_000);
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    await cloud.sim.run(60_000);
    expect(cloud.writes().slice(writes.length)).toEqual([]);
    expect(cloud.backends.mutations()).toBe(mutations);
  });

  it('rolls the pods that read an edited option, and no others', async () => {
    const cloud = await readySlice();
    const [before, keystone] = [templates(cloud), template(cloud, Deployment, 'keystone-api')];
    const jobs = cloud.hands.list(Job, NS).map(job => job.metadata.name);
    cloud.apply(slice({ keystone: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } }));
    await cloud.settle();
    expect(keystoneConf(cloud, '02-keystone-override.conf')).toContain('debug = true');
    expect(template(cloud, Deployment, 'keystone-api')).not.toEqual(keystone);
    expect(templates(cloud)).toEqual(before);
    expect(cloud.hands.list(Job, NS).map(job => job.metadata.name)).toEqual(jobs);
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('True');
  });

  it("puts the cloud's text under the service's own, each under the name of its object", async () => {
    const cloud = await readySlice({
      customServiceConfig: '[DEFAULT]\ndebug = false\n',
      keystone: { customServiceConfig: '[DEFAULT]\ndebug = true\n' },
    });
    const text = keystoneConf(cloud, '02-keystone-override.conf') ?? '';
    expect(text.indexOf('OpenStackControlPlane openstack/slice')).toBeGreaterThanOrEqual(0);
    expect(text.indexOf('OpenStackControlPlane openstack/slice')).toBeLessThan(
      text.indexOf('Keystone openstack/keystone'),
    );
  });

  it('rotates token keys on schedule without restarting a pod', async () => {
    const cloud = await readySlice({ keystone: { fernetRotation: { schedule: '0 * * * *' } } });
    const pods = template(cloud, Deployment, 'keystone-api');
    const before = cloud.get(Secret, 'keystone-fernet-keys')?.data as Record<string, string>;
    await cloud.sim.run(3_600_000);
    const after = cloud.get(Secret, 'keystone-fernet-keys')?.data as Record<string, string>;
    // The staged key signs now, and a new one is staged.
    expect(after['2']).toBe(before['0']);
    expect(after['1']).toBe(before['1']);
    expect(after['0']).not.toBe(before['0']);
    expect(template(cloud, Deployment, 'keystone-api')).toEqual(pods);
  });

  it('leaves only what the policy retains, and finds it again', async () => {
    const cloud = await readySlice();
    const password = cloud.get(Secret, 'keystone-admin')?.data;
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.left()).toEqual([
      'PersistentVolumeClaim data-mariadb-0',
      'PersistentVolumeClaim data-rabbitmq-0',
      'Secret keystone-admin',
      'Secret keystone-credential-keys',
      'Secret keystone-fernet-keys',
      'Secret mariadb-root',
      'Secret rabbitmq-admin',
    ]);
    cloud.apply(slice());
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(cloud.get(Secret, 'keystone-admin')?.data).toEqual(password);
  });

  it('leaves nothing under deletionPolicy Delete', async () => {
    const cloud = await readySlice({ deletionPolicy: 'Delete' });
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('goes by a deletionPolicy that was edited a moment before', async () => {
    const cloud = await readySlice();
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: { deletionPolicy: 'Delete' } });
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('repairs what others change: a child object, a catalog entry, a deleted workload', async () => {
    const cloud = await readySlice();
    cloud.hands.remove(Deployment, NS, 'keystone-api');
    await cloud.settle();
    expect(cloud.get(Deployment, 'keystone-api')).toBeDefined();
    cloud.hands.patch(StatefulSet, NS, 'mariadb', { spec: { replicas: 0 } });
    await cloud.settle();
    expect(cloud.get(StatefulSet, 'mariadb')?.spec).toMatchObject({ replicas: 1 });
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('True');
  });

  it('keeps a field that a user set on a child and the cloud has no opinion on (rule 4)', async () => {
    const cloud = await readySlice();
    cloud.apply({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'Keystone',
      metadata: { name: 'keystone' },
      spec: { replicas: 2 },
    });
    await cloud.settle();
    expect(cloud.get(Deployment, 'keystone-api')?.spec).toMatchObject({ replicas: 2 });
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('True');
  });

  it('starts one after the other under rollout strict', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice({ rollout: 'strict' }));
    await cloud.sim.until(() => cloud.get(MariaDB, 'mariadb') !== undefined);
    expect(cloud.get(Keystone, 'keystone')).toBeUndefined();
    await cloud.ready(OpenStackControlPlane, 'slice');
  });

  it('does nothing while paused, and says so', async () => {
    const cloud = await readySlice();
    const annotations = { 'openstack.k8s.io/paused': 'true' };
    cloud.hands.patch(Keystone, NS, 'keystone', { metadata: { annotations }, spec: { replicas: 3 } });
    await cloud.settle();
    expect(cloud.condition(Keystone, 'keystone', 'Paused')?.status).toBe('True');
    expect(cloud.get(Deployment, 'keystone-api')?.spec).toMatchObject({ replicas: 1 });
    cloud.hands.patch(Keystone, NS, 'keystone', { metadata: { annotations: { 'openstack.k8s.io/paused': null } } });
    await cloud.settle();
    expect(cloud.condition(Keystone, 'keystone', 'Paused')).toBeUndefined();
    expect(cloud.get(Deployment, 'keystone-api')?.spec).toMatchObject({ replicas: 3 });
  });
});
