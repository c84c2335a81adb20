import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { Job } from '../../src/kube/resource.ts';
import { type Cloud, NS } from './cloud.ts';
import { imagesOf, MIRROR, PRIVATE, podSpecs } from './pods.ts';
import { deployed, GROUPS } from './samples.ts';
import { cloudWith, readyCloud } from './services.ts';

const DIGEST = `@sha256:${'0123456789abcdef'.repeat(4)}`;
const tagsOf = (cloud: Cloud): string[] => [...new Set(podSpecs(cloud).flatMap(([, spec]) => imagesOf(spec)))];
const nameOf = (image: string): string => /\/([\w-]+)[:@][^/]*$/.exec(image)![1]!;

describe('images by digest', { timeout: 240_000 }, () => {
  const everything = GROUPS.find(({ name }) => name === 'OpenStackControlPlane ceph')!;

  it('run in every pod and Job, named by the object or by the environment of the operator', async () => {
    const names = tagsOf(await deployed(everything)).map(nameOf);
    expect(names.length).toBeGreaterThan(20);
    const images = Object.fromEntries(names.map(name => [name, `registry.example.com:5000/mine/${name}${DIGEST}`]));
    const env = Object.fromEntries(
      names.map(name => [`RELATED_IMAGE_${name.toUpperCase().replaceAll('-', '_')}`, images[name]]),
    );
    const trusted = { TRUSTED_REGISTRIES: 'registry.example.com:5000' };
    for (const cloud of [
      await deployed(everything, { images }, { operator: { env: trusted } }),
      await deployed(everything, {}, { operator: { env } }),
    ])
      expect(tagsOf(cloud).sort()).toEqual(Object.values(images).sort());
  });

  it('run in the pods of an object, and of a part of it', async () => {
    const [memcached, keystone] = [`a.example.com/m${DIGEST}`, `a.example.com/k:1.2${DIGEST}`];
    const cloud = await readyCloud({ memcached: { image: memcached }, keystone: { image: keystone } });
    expect(tagsOf(cloud)).toEqual(expect.arrayContaining([memcached, keystone]));
  });
});

/** That it serves every pod and Job of every sample is in samples.test.ts. */
describe('a private registry', { timeout: 240_000 }, () => {
  it('is named once for all clouds by the environment of the operator, and leaves explicit names as they are', async () => {
    const env = {
      IMAGE_REGISTRY: 'mirror.example.com',
      RELATED_IMAGE_RABBITMQ: 'quay.io/mine/rabbitmq:1',
      RELATED_IMAGE_MEMCACHED: '',
    };
    const cloud = await readyCloud({}, undefined, { operator: { env } });
    const image = (name: string) => imagesOf(podSpecs(cloud).find(([each]) => each === name)![1])[0];
    expect(image('StatefulSet mariadb')).toMatch(/^mirror\.example\.com\/openstack\.kolla\/mariadb-server:/);
    expect(image('StatefulSet rabbitmq')).toBe('quay.io/mine/rabbitmq:1');
    expect(image('StatefulSet memcached')).toMatch(/^mirror\.example\.com\/openstack\.kolla\/memcached:/);
    cloud.apply(
      cloudWith({
        imageRegistry: MIRROR,
        images: { memcached: 'quay.io/mine/memcached:1' },
        mariadb: { image: 'quay.io/mine/db:1' },
      }),
    );
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(image('StatefulSet mariadb')).toBe('quay.io/mine/db:1');
    expect(image('StatefulSet memcached')).toBe('quay.io/mine/memcached:1');
    expect(image('Deployment keystone-api')).toContain(`${MIRROR}/openstack.kolla/keystone:`);
  });

  it('that gets its Secret late: a Job that waits for its image is made again with it', async () => {
    const keystone = { image: 'private.example.com/no-such:1' };
    const cloud = await readyCloud();
    cloud.apply(cloudWith({ keystone }));
    const reason = () => cloud.condition(Keystone, 'keystone', 'DatabaseSyncReady')?.reason;
    expect(await cloud.sim.within(600_000, () => reason() === 'ImagePullFailed')).toBe(true);
    cloud.apply(cloudWith({ keystone, imagePullSecrets: PRIVATE.imagePullSecrets }));
    const waiting = () => podSpecs(cloud).filter(([, spec]) => imagesOf(spec).includes(keystone.image));
    const withSecrets = () =>
      waiting().length > 0 && waiting().every(([, spec]) => spec.imagePullSecrets?.[0]?.name === 'pull');
    expect(await cloud.sim.within(600_000, withSecrets)).toBe(true);
    const jobs = cloud.hands.list(Job, NS).map(({ metadata }) => metadata.uid);
    await cloud.sim.run(600_000);
    expect(cloud.hands.list(Job, NS).map(({ metadata }) => metadata.uid)).toEqual(jobs);
  });
});

describe('an extra mount', () => {
  it("without a path is refused by the name of the user's field", async () => {
    const cloud = await readyCloud();
    cloud.apply(cloudWith({ memcached: { extraMounts: [{ name: 'mine', emptyDir: {} }] } }));
    const message = () => cloud.condition(Memcached, 'memcached', 'WorkloadsReady')?.message;
    expect(await cloud.sim.within(600_000, () => /extraMounts\[0\] has no mountPath/.test(message() ?? ''))).toBe(true);
  });
});
