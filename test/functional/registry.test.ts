import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Job } from '../../src/kube/resource.ts';
import { NS } from './cloud.ts';
import { imagesOf, MIRROR, PRIVATE, podSpecs } from './pods.ts';
import { cloudWith, readyCloud } from './services.ts';

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
