import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { viewOf } from '../../src/insight/view/view.ts';
import { why } from '../../src/insight/why/why.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Deployment, pathOf, type Resource, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { readyCloud } from './services.ts';
import { slice, Trouble } from './stories.ts';

/** spec.release of what runs: what may be asked for, and what becomes of the rest. */

const releaseOf = (cloud: Cloud, resource: Resource, name: string): string | undefined =>
  (cloud.get(resource, name)?.status as { release?: string } | undefined)?.release;

/** As if the spec had been changed while no admission looked: what runs is another release than the spec's. */
function runs(cloud: Cloud, resource: Resource, name: string, release: string): void {
  const answer = cloud.store.handle(
    {
      method: 'PATCH',
      path: `${pathOf(resource, NS, name)}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { release } },
    },
    'a test',
  );
  expect(answer.status).toBe(200);
}

const templates = (cloud: Cloud): string =>
  JSON.stringify(
    [Deployment, StatefulSet].flatMap(resource =>
      cloud.hands.list(resource, NS).map(object => (object.spec as { template: unknown }).template),
    ),
  );

describe('status.release', () => {
  it('is what answered, not what was asked for', async () => {
    const story = await Trouble.start();
    const { cloud } = story;
    cloud.apply(slice());
    await cloud.sim.until(() => cloud.condition(Keystone, 'keystone', 'ConfigReady')?.status === 'True');
    expect(releaseOf(cloud, Keystone, 'keystone')).toBeUndefined();
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    for (const [resource, name] of [
      [Keystone, 'keystone'],
      [MariaDB, 'mariadb'],
      [OpenStackControlPlane, 'slice'],
    ] as const)
      expect(releaseOf(cloud, resource, name)).toBe('2025.2');
  });

  it('may still become another one before anything answers', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice({ release: '2025.2' }));
    await cloud.sim.until(() => cloud.get(Keystone, 'keystone') !== undefined);
    cloud.apply(slice({ release: '2025.1' }));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(releaseOf(cloud, Keystone, 'keystone')).toBe('2025.1');
  });
});

describe('data that was retained', () => {
  it('keeps its release: a cloud that is deleted and created again does not go backwards', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice());
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.sim.until(() => cloud.hands.list(MariaDB, NS).length + cloud.hands.list(Keystone, NS).length === 0);
    await cloud.settle();
    cloud.apply(slice({ release: '2025.1' }));
    await cloud.settle();
    expect(cloud.condition(OpenStackControlPlane, 'slice', 'ReleaseSupported')?.message).toContain(
      'OpenStackControlPlane slice finds data of release 2025.2 that was retained, and spec.release asks for 2025.1',
    );
    expect(cloud.hands.list(MariaDB, NS)).toEqual([]);
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: { release: '2025.2' } });
    await cloud.ready(OpenStackControlPlane, 'slice');
  });

  it('holds no deletion up when the owner id is lost', async () => {
    const cloud = await readyCloud();
    const { metadata, status } = cloud.get(Keystone, 'keystone')!;
    const rows = (status as { conditions: { type: string }[] }).conditions.map(({ type }) => type);
    const annotations = { 'openstack.k8s.io/skip-undo': ['Users', ...rows].join(',') };
    cloud.hands.remove(Secret, NS, 'openstack-owner');
    cloud.hands.patch(Keystone, NS, 'keystone', { metadata: { annotations } });
    cloud.hands.remove(Keystone, NS, 'keystone');
    const gone = () => cloud.get(Keystone, 'keystone')?.metadata.uid !== metadata.uid;
    expect(await cloud.sim.within(600_000, gone)).toBe(true);
  });

  it('of a database server alone as well; and what went under Delete has none', async () => {
    const mariadb = (release: string, deletionPolicy: string) => ({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'MariaDB',
      metadata: { name: 'mariadb' },
      spec: { release, deletionPolicy },
    });
    const cloud = await Cloud.start();
    const gone = async () => {
      await cloud.ready(MariaDB, 'mariadb');
      await cloud.settle();
      cloud.hands.remove(MariaDB, NS, 'mariadb');
      await cloud.sim.until(() => cloud.hands.list(MariaDB, NS).length === 0);
      await cloud.settle();
    };
    cloud.apply(mariadb('2025.2', 'Retain'));
    await gone();
    cloud.apply(mariadb('2025.1', 'Delete'));
    await cloud.settle();
    expect(cloud.condition(MariaDB, 'mariadb')?.message).toContain(
      'remove key release.mariadb.mariadb from Secret openstack-owner',
    );
    cloud.hands.patch(MariaDB, NS, 'mariadb', { spec: { release: '2025.2' } });
    await gone();
    cloud.apply(mariadb('2025.1', 'Delete'));
    await gone();
  });
});

describe('a change of release on a running cloud', () => {
  it.each(['2025.1', '2026.1'])('is refused at admission by the CRD: 2025.2 to %s', async release => {
    const cloud = await readyCloud();
    for (const [resource, name] of [
      [OpenStackControlPlane, 'slice'],
      [Keystone, 'keystone'],
      [MariaDB, 'mariadb'],
    ] as const)
      expect(() => cloud.hands.patch(resource, NS, name, { spec: { release } })).toThrow(
        "spec.release can't change while another release runs",
      );
    // Everything else may be edited, and what is set back to what runs always may.
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: { rollout: 'strict' } });
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: { release: '2025.2' } });
  });

  it('is refused in reconcile where nobody refused it before: nothing is written below, nothing rolls', async () => {
    const cloud = await readyCloud();
    const before = templates(cloud);
    const pods = cloud.writes().length;
    runs(cloud, Keystone, 'keystone', '2025.1');
    runs(cloud, OpenStackControlPlane, 'slice', '2025.1');
    await cloud.settle();
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: { keystone: { replicas: 3 } } });
    await cloud.settle();
    await cloud.sim.run(1_800_000);
    const said = (resource: Resource, name: string, type: string) => {
      const { status, reason, message } = cloud.condition(resource, name, type) ?? {};
      return `${status} ${reason}: ${message}`;
    };
    for (const [resource, name] of [
      [Keystone, 'keystone'],
      [OpenStackControlPlane, 'slice'],
    ] as const) {
      const refused = `False ReleaseChangeRefused: ${resource.kind} ${name} runs release 2025.1, and spec.release asks for 2025.2: `;
      expect(said(resource, name, 'ReleaseSupported')).toContain(refused);
      expect(said(resource, name, 'ReleaseSupported')).toMatch(/User: set spec\.release back to 2025\.1$/);
      expect(said(resource, name, 'Ready')).toMatch(/^False ReleaseChangeRefused: ReleaseSupported: /);
      expect(releaseOf(cloud, resource, name)).toBe('2025.1');
    }
    expect(cloud.condition(Keystone, 'keystone')?.reason).toBe('ReleaseChangeRefused');
    // What the rows said of what runs is still there.
    expect(cloud.condition(Keystone, 'keystone', 'Answering')?.status).toBe('True');
    expect(templates(cloud)).toBe(before);
    expect((cloud.get(Keystone, 'keystone')!.spec as { replicas: number }).replicas).not.toBe(3);
    const written = cloud.writes().slice(pods);
    expect(written.filter(line => !/\/status/.test(line))).toEqual([]);

    const causes = why(viewOf(cloud.store.objects(), cloud.sim.clock.wall())).causes;
    expect(causes.map(({ reason, root, who, command }) => [reason, root.kind, who, command])).toContainEqual([
      'ReleaseChangeRefused',
      'OpenStackControlPlane',
      'User',
      `kubectl -n openstack patch openstackcontrolplane slice --type merge -p '{"spec":{"release":"2025.1"}}'`,
    ]);

    // 2025.1 runs here only by our word. Once spec and status agree it goes on; an edit of spec wakes it, as the cure does.
    for (const [resource, name] of [
      [Keystone, 'keystone'],
      [OpenStackControlPlane, 'slice'],
    ] as const) {
      runs(cloud, resource, name, '2025.2');
      cloud.hands.patch(resource, NS, name, { spec: { podProfile: 'kolla' }, metadata: { annotations: { any: 'x' } } });
    }
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(cloud.condition(Keystone, 'keystone', 'ReleaseSupported')).toBeUndefined();
    expect((cloud.get(Keystone, 'keystone')!.spec as { replicas: number }).replicas).toBe(3);
  });

  it('can be deleted all the same', async () => {
    const cloud = await readyCloud();
    runs(cloud, OpenStackControlPlane, 'slice', '2025.1');
    await cloud.settle();
    cloud.hands.remove(OpenStackControlPlane, NS, 'slice');
    await cloud.settle();
    expect(cloud.get(OpenStackControlPlane, 'slice')).toBeUndefined();
  });

  it('a cloud of the last version, whose status has the release already, is left as it is', async () => {
    const cloud = await readyCloud();
    const rest = cloud.rest();
    const [before, objects] = [templates(cloud), cloud.store.objects() as AnyObject[]];
    expect(objects.filter(({ kind }) => kind === 'Keystone')).toHaveLength(1);
    const again = await Cloud.start({ from: rest, seed: 2 });
    await again.settle();
    await again.sim.run(1_200_000);
    expect(templates(again)).toBe(before);
    expect(again.writes()).toEqual([]);
  });
});
