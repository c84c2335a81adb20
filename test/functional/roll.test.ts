import { describe, expect, it } from 'vitest';
import { Memcached } from '../../api/openstack/memcached.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { Programs } from '../../src/embedded/controllers/program.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Pod, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { template } from './services.ts';

const cache = (image: string) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Memcached',
  metadata: { name: 'cache' },
  spec: { replicas: 2, image },
});
const imageOf = (object: unknown): string | undefined =>
  (object as { spec?: { containers?: { image?: string }[] } } | undefined)?.spec?.containers?.[0]?.image;
const wanted = (cloud: Cloud): string | undefined => imageOf(template(cloud, StatefulSet, 'cache'));
const pod = (cloud: Cloud, ordinal: number): AnyObject | undefined => cloud.get(Pod, `cache-${ordinal}`);
const serves = (cloud: Cloud, ordinal: number): boolean =>
  !pod(cloud, ordinal)?.metadata.deletionTimestamp &&
  conditionsOf(pod(cloud, ordinal)).some(c => c.type === 'Ready' && c.status === 'True');
const said = (cloud: Cloud): string => cloud.condition(Memcached, 'cache', 'WorkloadsReady')?.message ?? '';

async function started(setsCount: boolean, programs?: Programs): Promise<Cloud> {
  const cloud = await Cloud.start({ setsCount, programs });
  cloud.apply(cache('reg/cache:1'));
  await cloud.ready(Memcached, 'cache');
  await cloud.settle();
  return cloud;
}

/** Whether one served all the time, until it is so. */
async function served(cloud: Cloud, done: () => boolean): Promise<boolean> {
  let all = true;
  for (let i = 0; i < 20_000 && !done(); i++) {
    await cloud.sim.run(20);
    all &&= serves(cloud, 0) || serves(cloud, 1);
  }
  expect(done()).toBe(true);
  return all;
}

const rolled = (cloud: Cloud, image: string) => (): boolean =>
  [0, 1].every(ordinal => serves(cloud, ordinal) && imageOf(pod(cloud, ordinal)) === image);

describe.each([
  ['before Kubernetes 1.37', false],
  ['from Kubernetes 1.37 on', true],
])('a template that follows another one, %s', (_, setsCount) => {
  it('takes no second pod, wherever the first roll stands', async () => {
    const moments: readonly [string, (cloud: Cloud) => boolean][] = [
      ['the first pod stops', cloud => pod(cloud, 1)?.metadata.deletionTimestamp !== undefined],
      ['the first pod starts', cloud => imageOf(pod(cloud, 1)) === 'reg/cache:2' && !serves(cloud, 1)],
      ['between the two', cloud => imageOf(pod(cloud, 1)) === 'reg/cache:2' && serves(cloud, 1)],
      ['the second pod stops', cloud => pod(cloud, 0)?.metadata.deletionTimestamp !== undefined],
      ['the second pod starts', cloud => imageOf(pod(cloud, 0)) === 'reg/cache:2' && !serves(cloud, 0)],
    ];
    for (const [what, moment] of moments) {
      const cloud = await started(setsCount);
      cloud.apply(cache('reg/cache:2'));
      expect(await served(cloud, () => moment(cloud)), what).toBe(true);
      cloud.apply(cache('reg/cache:3'));
      expect(await served(cloud, rolled(cloud, 'reg/cache:3')), what).toBe(true);
      await cloud.settle();
      expect(cloud.condition(Memcached, 'cache')?.status, what).toBe('True');
    }
  }, 120_000);

  it('waits aloud; scaling alone does not wait', async () => {
    const cloud = await started(setsCount);
    cloud.apply(cache('reg/cache:2'));
    await served(cloud, () => pod(cloud, 0)?.metadata.deletionTimestamp !== undefined);
    cloud.apply(cache('reg/cache:3'));
    await cloud.sim.run(200);
    expect(wanted(cloud)).toBe('reg/cache:2');
    expect(said(cloud)).toContain('StatefulSet cache replaces its pods one by one');
    const writes = cloud.writes().length;
    cloud.apply({ ...cache('reg/cache:2'), spec: { replicas: 3, image: 'reg/cache:2' } });
    await cloud.sim.run(200);
    expect(cloud.get(StatefulSet, 'cache')?.spec).toMatchObject({ replicas: 3 });
    expect(cloud.writes().length).toBeGreaterThan(writes);
  }, 120_000);

  it('replaces at once one that works nowhere', async () => {
    const cloud = await started(setsCount, ({ container }) =>
      container.image === 'reg/cache:bad' ? { after: 100, exit: 1, message: 'no' } : undefined,
    );
    cloud.apply(cache('reg/cache:bad'));
    await served(cloud, () => imageOf(pod(cloud, 1)) === 'reg/cache:bad');
    await cloud.sim.run(60_000);
    cloud.apply(cache('reg/cache:3'));
    await cloud.sim.run(500);
    expect(wanted(cloud)).toBe('reg/cache:3');
    expect(await served(cloud, rolled(cloud, 'reg/cache:3'))).toBe(true);
  }, 120_000);

  it('replaces after a while one that hangs half-way', async () => {
    const cloud = await started(setsCount, ({ pod, container }) =>
      container.image === 'reg/cache:bad' && pod.metadata.name === 'cache-0'
        ? { serves: true, readyAfter: 86_400_000 }
        : undefined,
    );
    cloud.apply(cache('reg/cache:bad'));
    await served(cloud, () => imageOf(pod(cloud, 0)) === 'reg/cache:bad');
    cloud.apply(cache('reg/cache:3'));
    await cloud.sim.run(240_000);
    expect(wanted(cloud)).toBe('reg/cache:bad');
    await cloud.sim.run(120_000);
    expect(wanted(cloud)).toBe('reg/cache:3');
    await served(cloud, rolled(cloud, 'reg/cache:3'));
    expect(cloud.hands.list(Pod, NS)).toHaveLength(2);
  }, 120_000);
});
