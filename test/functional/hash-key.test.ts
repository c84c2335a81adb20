import { describe, expect, it, vi } from 'vitest';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Event, Job, Pod, Secret } from '../../src/kube/resource.ts';
import { shortHash } from '../../src/runtime/plan/canonical.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import { cephSecret, cloudWith, passwordIn, readyCloud } from './services.ts';

/** While it is set, hashes are made as the operator made them before it had a key. */
const past = vi.hoisted(() => ({ on: false }));
vi.mock('../../src/runtime/plan/keyed.ts', async original => {
  const now = await original<typeof import('../../src/runtime/plan/keyed.ts')>();
  const { hashOf } = await import('../../src/runtime/plan/canonical.ts');
  return {
    ...now,
    keyedHash: (key: Parameters<typeof now.keyedHash>[0], ...inputs: unknown[]) =>
      past.on ? hashOf(...inputs) : now.keyedHash(key, ...inputs),
    secretJob: (key: Parameters<typeof now.secretJob>[0], ...inputs: unknown[]) =>
      past.on ? now.plainJob(...inputs) : now.secretJob(key, ...inputs),
  };
});

const KEY = 'openstack-hash-key';
const sections = { ceph: { enabled: true, external: { secret: 'ceph-admin' } } };

/** A ready cloud of that operator, as a power cut would leave it. */
async function formerCloud(): Promise<Rest> {
  past.on = true;
  try {
    const cloud = await readyCloud(sections, c => c.apply(cephSecret()));
    const rest = cloud.rest();
    // There was no such Secret; and somebody cleaned a Job away, of which only status tells.
    const objects = rest.store.objects.filter(
      ({ kind, metadata: { name } }) =>
        name !== KEY && !([Job.kind, Pod.kind].includes(kind) && name.startsWith('ceph-pools-')),
    );
    return { ...rest, store: { ...rest.store, objects } };
  } finally {
    past.on = false;
  }
}

const namesOf = (cloud: Cloud, resource: typeof Job | typeof Pod): string[] =>
  cloud.hands
    .list(resource, NS)
    .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
    .sort();
const hashesOf = (cloud: Cloud, kind: typeof Keystone | typeof CephStorage, name: string) =>
  (cloud.get(kind, name)?.status as { hashes?: Record<string, string> } | undefined)?.hashes ?? {};
const stepOf = (cloud: Cloud, step: string): AnyObject[] =>
  cloud.hands.list(Job, NS).filter(({ metadata }) => metadata.labels?.['openstack.k8s.io/step'] === step);

describe('hashes over secrets', () => {
  it('an upgrade of the operator restarts no pod and runs no Job again', async () => {
    const from = await formerCloud();
    const cloud = await Cloud.start({ from, seed: 2 });
    const [pods, jobs] = [namesOf(cloud, Pod), namesOf(cloud, Job)];
    const before = hashesOf(cloud, Keystone, 'keystone');
    expect(before.bootstrap).toMatch(/^[0-9a-f]{8}$/);
    await cloud.settle();
    await cloud.sim.run(3_600_000);
    expect(namesOf(cloud, Pod)).toEqual(pods);
    expect(namesOf(cloud, Job)).toEqual(jobs);
    // What was done is known by the key from then on; what held no secret is as it was.
    expect(hashesOf(cloud, Keystone, 'keystone')).toMatchObject({
      bootstrap: expect.stringMatching(/^[0-9a-f]{6}\.[0-9a-f]{8}$/),
      'db-sync': before['db-sync'],
    });
    expect(hashesOf(cloud, CephStorage, 'ceph').pools).toContain('.');
    expect(cloud.hands.list(Event, NS).some(event => event.reason === 'HashKeyReplaced')).toBe(false);
    // A change of a secret makes the Job due, and names it by the key.
    const password = Buffer.from('another password').toString('base64');
    cloud.hands.patch(Secret, NS, 'keystone-admin', { data: { password } });
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.sim.run(600_000);
    expect(stepOf(cloud, 'bootstrap').map(({ metadata }) => metadata.name)).toEqual([
      `keystone-bootstrap-${hashesOf(cloud, Keystone, 'keystone').bootstrap?.split('.')[1]}`,
    ]);
  });

  it('nobody without the key can check a guess', async () => {
    const guessed = async (cloud: Cloud): Promise<boolean> => {
      const { adminUser, adminProject, region } = cloud.get(Keystone, 'keystone')!.spec as Record<string, string>;
      const url = 'http://keystone-api.openstack.svc.cluster.local:5000';
      const [job] = stepOf(cloud, 'bootstrap');
      const { image } = (job!.spec as { template: { spec: { containers: { image: string }[] } } }).template.spec
        .containers[0]!;
      const argv = ['keystone-manage', 'bootstrap'];
      const dictionary = ['password', 'letmein', passwordIn(cloud, 'keystone-admin')];
      const hashes = dictionary.map(word =>
        shortHash(image, argv, [adminUser, adminProject, region, url, url, word], undefined),
      );
      const key = cloud.get(Secret, KEY);
      const shown = cloud.store.objects().filter(object => object.kind !== 'Secret' || object === key);
      const names = cloud.store.objects().map(object => object.metadata.name);
      return hashes.some(hash => `${JSON.stringify(shown)} ${names.join(' ')}`.includes(hash));
    };
    past.on = true;
    // The dictionary works where there is no key: else this would show nothing.
    expect(await guessed(await readyCloud())).toBe(true);
    past.on = false;
    expect(await guessed(await readyCloud())).toBe(false);
  });

  it('a lost key rolls no pod; Jobs whose inputs are secret run once more, and an event tells of it', async () => {
    const cloud = await readyCloud();
    const pods = namesOf(cloud, Pod).filter(name => !/bootstrap|db-sync/.test(name));
    const [before, synced] = [hashesOf(cloud, Keystone, 'keystone').bootstrap, stepOf(cloud, 'db-sync')];
    const key = cloud.get(Secret, KEY);
    expect(key?.metadata.ownerReferences).toBeUndefined();
    cloud.hands.remove(Secret, NS, KEY);
    await cloud.sim.run(3_600_000);
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(cloud.get(Secret, KEY)?.data).not.toEqual(key?.data);
    expect(namesOf(cloud, Pod).filter(name => !/bootstrap|db-sync/.test(name))).toEqual(pods);
    expect(stepOf(cloud, 'db-sync').map(job => job.metadata.uid)).toEqual(synced.map(job => job.metadata.uid));
    expect(hashesOf(cloud, Keystone, 'keystone').bootstrap).not.toBe(before);
    const events = cloud.hands.list(Event, NS).filter(event => event.reason === 'HashKeyReplaced');
    expect(events.map(event => event.note)).toEqual([expect.stringContaining('keystone-bootstrap-')]);
  });

  it('keeps the key when the cloud goes, and uses it again', async () => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete' });
    const key = cloud.get(Secret, KEY)?.data;
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.get(Secret, KEY)?.data).toEqual(key);
    cloud.apply(cloudWith());
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(cloud.get(Secret, KEY)?.data).toEqual(key);
  });
});
