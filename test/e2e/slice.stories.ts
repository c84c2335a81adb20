import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Pod, type Resource, Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { conditionOf, gone, ready, type Stage, until, valueIn, writesAtRest } from './stage.ts';

const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };

export interface SliceOptions {
  readonly release: string;
  /** Seconds without a write at rest. */
  readonly rest: number;
  /** Deploy and delete so often while the operator is killed. */
  readonly cycles: number;
  /** Refuses every pod from now on that PodSecurity `restricted` does not admit; false: pods are admitted again. */
  readonly enforce?: (restricted: boolean) => Promise<void>;
}

/** What the policy Retain keeps: data, and what opens or reads it. */
const RETAINED = {
  PersistentVolumeClaim: ['data-mariadb-0', 'data-rabbitmq-0'],
  Secret: [
    'keystone-admin',
    'keystone-credential-keys',
    'keystone-fernet-keys',
    'mariadb-root',
    'openstack-hash-key',
    'openstack-owner',
    'rabbitmq-admin',
  ],
};

/** The slice from nothing to nothing. The stories build on each other. */
export function sliceStories(open: () => Promise<Stage>, { release, rest, cycles, enforce }: SliceOptions): void {
  let stage: Stage;
  const slice = (spec: object = {}) => ({ ...sample, spec: { ...sample.spec, release, ...spec } });
  const names = async (resource: Resource) => (await stage.list(resource)).map(o => o.metadata.name).sort();
  const password = () => valueIn(stage, 'keystone-admin', 'password', Secret);
  const isReady = () => ready(stage, OpenStackControlPlane, 'slice');
  /** The control plane stays Ready until its child has seen the edit. */
  async function edited(spec: object, mark: string): Promise<void> {
    await stage.apply(slice(spec));
    await until(stage, 'the edit arrived', 60, async () =>
      JSON.stringify((await stage.get(Keystone, 'keystone'))?.spec ?? {}).includes(mark),
    );
    await ready(stage, Keystone, 'keystone');
    await isReady();
  }
  /** Pods by what they belong to, so that a roll shows. */
  const running = async () =>
    (await stage.list(Pod))
      .filter(pod => (pod.status as { phase?: string }).phase === 'Running')
      .filter(pod => pod.metadata.deletionTimestamp === undefined)
      .map(pod => `${pod.metadata.labels?.['app.kubernetes.io/name']} ${pod.metadata.uid}`)
      .sort();
  const leftovers = async () => ({
    PersistentVolumeClaim: await names(PersistentVolumeClaim),
    Secret: (await names(Secret)).filter(name => !name.startsWith('default-token')),
    pods: (await stage.list(Pod)).length,
  });
  async function onlyRetainedIsLeft(): Promise<void> {
    const wanted = { ...RETAINED, pods: 0 };
    let found: object = {};
    await until(
      stage,
      () => `what the policy retains is left, no more: ${JSON.stringify(found)}`,
      300,
      async () => {
        found = await leftovers();
        return JSON.stringify(found) === JSON.stringify(wanted);
      },
    );
  }

  describe(`the slice, ${release}`, { timeout: 3_600_000 }, () => {
    beforeAll(async () => {
      stage = await open();
      await enforce?.(false);
    }, 120_000);
    afterAll(async () => {
      if (await stage.get(OpenStackControlPlane, 'slice')) await stage.remove(OpenStackControlPlane, 'slice');
    }, 120_000);

    it('goes from one object to a cloud that gives a token to the right password only', async () => {
      await stage.apply(slice());
      await isReady();
      expect(await stage.login(await password())).toBe(true);
      expect(await stage.login('not this one')).toBe(false);
    });

    it('reaches the file of a service by an edit, and rolls only its pods', async () => {
      const before = await running();
      await edited({ keystone: { customServiceConfig: '[token]\nexpiration = 7200\n' } }, '7200');
      expect(await valueIn(stage, 'keystone-config-data', '02-keystone-override.conf', Secret)).toContain(
        'expiration = 7200',
      );
      let after: string[] = [];
      await until(
        stage,
        () => `old pods are gone: ${after}`,
        180,
        async () => {
          after = await running();
          return after.length === before.length;
        },
      );
      const rolled = before.filter(pod => !after.includes(pod)).map(pod => pod.split(' ')[0]);
      expect(rolled).toEqual(['keystone']);
    });

    it('rotates token keys while a client logs in', async () => {
      const keys = await stage.get(Secret, 'keystone-fernet-keys');
      const old = { 'openstack.k8s.io/rotated-at': '2020-01-01T00:00:00Z' };
      await stage.patch(Secret, 'keystone-fernet-keys', { metadata: { annotations: old } });
      await until(stage, 'the keys changed', 60, async () => {
        expect(await stage.login(await password())).toBe(true);
        return JSON.stringify((await stage.get(Secret, 'keystone-fernet-keys'))?.data) !== JSON.stringify(keys?.data);
      });
      // The kubelet brings them to the pods meanwhile.
      for (let turn = 0; turn < 20; turn++) {
        expect(await stage.login(await password())).toBe(true);
        await stage.pass(1);
      }
    });

    it('makes a password that a person wrote into the Secret the one that works', async () => {
      const old = await password();
      const fresh = randomUUID();
      await stage.patch(Secret, 'keystone-admin', { data: { password: Buffer.from(fresh).toString('base64') } });
      await until(stage, 'a token by the new password', 300, () => stage.login(fresh).catch(() => false));
      expect(await stage.login(old)).toBe(false);
      await isReady();
    });

    it('runs under the restricted profile', async () => {
      await enforce?.(true);
      await edited({ podProfile: 'restricted' }, 'restricted');
      expect(await stage.login(await password())).toBe(true);
    });

    it(`writes nothing in ${rest} s at rest, also right after a restart (rule 14)`, async () => {
      expect(await writesAtRest(stage, rest)).toEqual([]);
      figure('seconds at rest without a write', rest);
      expect(conditionOf(await stage.get(OpenStackControlPlane, 'slice'))?.status).toBe('True');
    });

    it('leaves only what the policy retains, and takes it up again', async () => {
      await enforce?.(false);
      const kept = await password();
      await gone(stage, OpenStackControlPlane, 'slice');
      await onlyRetainedIsLeft();
      await stage.apply(slice());
      await isReady();
      expect(await password()).toBe(kept);
      expect(await stage.login(kept)).toBe(true);
      await gone(stage, OpenStackControlPlane, 'slice');
      await onlyRetainedIsLeft();
    });

    it.each(Array.from({ length: cycles }, (_, i) => i + 1))(
      'deploys and deletes while the operator is killed every 1 to 15 s, cycle %i',
      async cycle => {
        const kept = await password();
        let kills = 0;
        /** Waits with a kill now and then; the pauses differ from cycle to cycle and are the same in every run. */
        const dangerously = async (what: string, done: () => Promise<boolean>): Promise<void> => {
          let next = 0;
          for (let waited = 0; !(await done()); waited++) {
            if (waited > 1800) throw new Error(`not within 1800 s: ${what}`);
            await stage.pass(1);
            if (waited < next) continue;
            await stage.killOperator();
            next = waited + 1 + ((++kills * 7 + cycle * 5) % 15);
          }
        };
        await stage.apply(slice());
        await dangerously('the slice is Ready', async () => {
          const object = await stage.get(OpenStackControlPlane, 'slice');
          return conditionOf(object)?.status === 'True';
        });
        expect(await password()).toBe(kept);
        await stage.remove(OpenStackControlPlane, 'slice');
        await dangerously(
          'the slice is gone',
          async () => (await stage.get(OpenStackControlPlane, 'slice')) === undefined,
        );
        await onlyRetainedIsLeft();
        console.log(`cycle ${cycle}: ${kills} kills, 0 bad end states`);
        figure(`cycle ${cycle}, kills of the operator`, kills);
        expect(kills).toBeGreaterThan(2);
      },
    );
  });
}
