import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { status } from '../../src/cli/commands/status.ts';
import { tree } from '../../src/cli/commands/tree.ts';
import { why } from '../../src/cli/commands/why.ts';
import { isKnown } from '../../src/cli/input/resources.ts';
import { planned } from '../../src/cli/simulation/planning.ts';
import { isOurs, viewOf } from '../../src/insight/view/view.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Secret } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { slice } from './stories.ts';

/** Clouds that are half there: every moment of a deploy and of a deletion, and what a careless hand leaves of one. */

const paper = { width: 118, paint: (_style: string, text: string) => text };

async function answers(objects: readonly AnyObject[], now: number): Promise<string[]> {
  const snapshot = async () => ({
    view: viewOf(objects, now),
    namespace: NS,
    where: 'here',
    notes: [],
    logs: async () => undefined,
    hide: (text: string) => text,
  });
  const cx = { args: [], flags: { output: 'table' as const }, snapshot, say: () => undefined };
  return Promise.all([status, tree, why].map(async command => (await command(cx)).text(paper)));
}

const isSound = (text: string): boolean => text.trim() !== '' && !/undefined|NaN|\[object/.test(text);

async function moments(cloud: Cloud, seconds: number): Promise<string[]> {
  const bad: string[] = [];
  for (let second = 0; second < seconds; second += 2) {
    await cloud.sim.run(2000);
    for (const text of await answers(cloud.store.objects(), cloud.sim.clock.wall())) if (!isSound(text)) bad.push(text);
  }
  return bad;
}

describe('a cloud that is half there', { timeout: 120_000 }, () => {
  it('is told about at every moment of its coming and going', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice());
    expect(await moments(cloud, 40)).toEqual([]);
    await cloud.ready(OpenStackControlPlane, 'slice');
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    expect(await moments(cloud, 40)).toEqual([]);
    expect(cloud.get(OpenStackControlPlane, 'slice')).toBeUndefined();
    const [last] = await answers(cloud.store.objects(), cloud.sim.clock.wall());
    expect(last).toMatch(/^No cloud in namespace openstack/);
  });

  it('whatever kind of object is missing from what was read', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice({ keystone: { image: 'example.org/no-such:1' } }));
    await cloud.sim.run(300_000);
    const all = cloud.store.objects();
    for (const kind of new Set(all.map(object => object.kind)))
      for (const text of await answers(
        all.filter(object => object.kind !== kind),
        cloud.sim.clock.wall(),
      ))
        expect(isSound(text), `without ${kind}: ${text}`).toBe(true);
  });

  it('can be planned for in the middle of its deletion, and says what holds it', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice());
    await cloud.ready(OpenStackControlPlane, 'slice');
    // The database waits for its user, which somebody else holds.
    const own = cloud.get(Keystone, 'keystone')?.metadata.finalizers ?? [];
    cloud.hands.patch(Keystone, NS, 'keystone', { metadata: { finalizers: [...own, 'example.org/hold'] } });
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.sim.run(60_000);
    const objects = cloud.store.objects();
    const left = objects.filter(object => isOurs(object)).map(object => object.kind);
    expect(left).toContain('MariaDB');
    expect(left).not.toContain('RabbitMQ');
    const live = { objects: objects.filter(isKnown), at: cloud.sim.clock.wall() };
    const plan = await planned(live, [], { namespace: NS });
    expect(plan.unsettled).toBeUndefined();
    expect(plan.why.causes.map(cause => `${cause.reason} ${cause.root.kind}`)).toEqual(['Finalizer Keystone']);
  });

  it('lost its Secrets to a careless hand', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice());
    await cloud.ready(OpenStackControlPlane, 'slice');
    for (const secret of cloud.hands.list(Secret, NS)) cloud.hands.remove(Secret, NS, secret.metadata.name);
    expect(await moments(cloud, 15)).toEqual([]);
  });
});
