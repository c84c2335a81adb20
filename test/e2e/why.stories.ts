import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { viewOf } from '../../src/insight/view/view.ts';
import { type Cause, why } from '../../src/insight/why/why.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { type Eyes, gone, ready, type Stage, until, valueIn } from './stage.ts';

/** A living slice is broken in one way after the other; each time `why` must name the cause, who acts and the command. */

const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };

interface Expected {
  readonly reason: string;
  /** `Secret mine` */
  readonly root: string;
  readonly who: Cause['who'];
  readonly command: RegExp;
}

interface Breakage {
  readonly what: string;
  readonly breaks: () => Promise<void>;
  readonly expected: Expected;
  readonly mends: () => Promise<void>;
}

/** Long enough for a Job to give up after its back-offs. */
const PATIENCE = 900;

export function whyStories(open: () => Promise<Stage & Eyes>, release: string): void {
  let stage: Stage & Eyes;
  const slice = (spec: object = {}) => ({ ...sample, spec: { ...sample.spec, release, ...spec } });
  const edit = (spec: object) => () => stage.apply(slice(spec));
  const ours = (kind: string, name: string, spec: object) => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const causes = async (): Promise<readonly Cause[]> => {
    const { objects, at } = await stage.look();
    return why(viewOf(objects, at)).causes;
  };
  const short = (cause: Cause): string => `${cause.reason}: ${cause.root.kind} ${cause.root.name}`;
  let kept = '';
  let explained = 0;

  const breakages: readonly Breakage[] = [
    {
      what: 'a Secret that is not there',
      breaks: edit({ keystone: { customServiceConfigSecrets: ['mine'] } }),
      expected: {
        reason: 'SecretNotFound',
        root: 'Secret mine',
        who: 'User',
        command: /create secret generic mine/,
      },
      mends: edit({}),
    },
    {
      what: 'a storage class that is not there',
      breaks: () => stage.apply(ours('MariaDB', 'second', { release, storageClass: 'fast' })),
      expected: {
        reason: 'StorageClassNotFound',
        root: 'StorageClass fast',
        who: 'User',
        command: /kubectl get storageclass/,
      },
      mends: async () => {
        await gone(stage, MariaDB, 'second');
        await stage.remove(PersistentVolumeClaim, 'data-second-0');
      },
    },
    {
      what: 'no node that fits',
      breaks: edit({ memcached: { nodeSelector: { disk: 'ssd' } } }),
      expected: {
        reason: 'Unschedulable',
        root: 'Pod memcached-0',
        who: 'User',
        command: /kubectl label node \S+ disk=ssd/,
      },
      mends: edit({}),
    },
    {
      what: 'an image that is nowhere',
      // Nothing is asked of another machine: no registry listens there.
      breaks: edit({ memcached: { image: '127.0.0.1:9/no-such:1' } }),
      expected: {
        reason: 'ImagePullFailed',
        root: 'Image 127.0.0.1:9/no-such:1',
        who: 'User',
        command: /edit openstackcontrolplane slice .*# spec\.memcached\.image/,
      },
      mends: edit({}),
    },
    {
      what: 'a db-sync that fails',
      breaks: async () => {
        const password = await valueIn(stage, 'mariadb-root', 'password', Secret);
        const hostname = `mariadb.${stage.namespace}.svc.cluster.local`;
        const login = { hostname, user: 'root', password, database: 'not_there' };
        await stage.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'elsewhere' }, stringData: login });
        await stage.apply(ours('Keystone', 'other', { release, databaseSecret: 'elsewhere' }));
      },
      expected: {
        reason: 'JobFailed',
        root: 'Job other-db-sync',
        who: 'User',
        command: /logs job\/other-db-sync-\w+/,
      },
      mends: async () => {
        await gone(stage, Keystone, 'other');
        await stage.remove(Secret, 'elsewhere');
        for (const secret of ['other-admin', 'other-fernet-keys', 'other-credential-keys'])
          await stage.remove(Secret, secret);
      },
    },
    {
      what: 'a password that the server does not know',
      breaks: async () => {
        kept = await valueIn(stage, 'rabbitmq-admin', 'password', Secret);
        const data = { password: Buffer.from('changed-by-hand').toString('base64') };
        await stage.patch(Secret, 'rabbitmq-admin', { data });
      },
      expected: {
        reason: 'AccessDenied',
        root: 'RabbitMQ rabbitmq',
        who: 'User',
        command: /secret/i,
      },
      mends: () => stage.patch(Secret, 'rabbitmq-admin', { data: { password: Buffer.from(kept).toString('base64') } }),
    },
    {
      what: 'a finalizer that nobody takes away',
      breaks: async () => {
        await stage.apply(ours('Memcached', 'spare', { release }));
        await ready(stage, Memcached, 'spare');
        const { finalizers = [] } = (await stage.get(Memcached, 'spare'))?.metadata ?? {};
        await stage.patch(Memcached, 'spare', { metadata: { finalizers: [...finalizers, 'example.org/hold'] } });
        await stage.remove(Memcached, 'spare');
      },
      expected: {
        reason: 'Finalizer',
        root: 'Memcached spare',
        who: 'User',
        command: /get memcached spare -o jsonpath=.*finalizers/,
      },
      mends: async () => {
        await stage.patch(Memcached, 'spare', { metadata: { finalizers: [] } });
        await gone(stage, Memcached, 'spare');
      },
    },
    {
      what: 'text that is no INI',
      breaks: edit({ keystone: { customServiceConfig: '[DEFAULT]\ndebug = true\n[broken\n' } }),
      expected: {
        reason: 'InvalidConfig',
        root: 'Keystone keystone',
        who: 'User',
        command: /edit openstackcontrolplane slice .*# spec\.keystone\.customServiceConfig/,
      },
      mends: edit({}),
    },
  ];

  describe(`why, on a slice that is broken, ${release}`, { timeout: 3_600_000 }, () => {
    beforeAll(async () => {
      stage = await open();
      await stage.apply(slice());
      await ready(stage, OpenStackControlPlane, 'slice');
    }, 1_800_000);
    afterAll(async () => {
      if (await stage.get(OpenStackControlPlane, 'slice')) await stage.remove(OpenStackControlPlane, 'slice');
    }, 120_000);

    it.each(breakages.map(breakage => [breakage.what, breakage] as const))('%s', async (what, breakage) => {
      const { reason, root, who, command } = breakage.expected;
      await breakage.breaks();
      let last: readonly Cause[] = [];
      const named = (): Cause | undefined =>
        last.find(cause => cause.reason === reason && `${cause.root.kind} ${cause.root.name}`.startsWith(root));
      await until(
        stage,
        () => `why says ${reason} of ${root}; it says ${last.map(short).join(', ') || 'nothing'}`,
        PATIENCE,
        async () => {
          last = await causes();
          return named() !== undefined;
        },
      );
      const cause = named()!;
      expect({ who: cause.who, command: cause.command }).toEqual({ who, command: expect.stringMatching(command) });
      expect(cause.chain.length).toBeGreaterThan(0);
      expect(last.map(short), 'one cause, and nothing else').toEqual([short(cause)]);
      console.log(`${what}: ${short(cause)}: ${cause.command}`);
      figure('breakages explained', ++explained);
      await breakage.mends();
      await until(
        stage,
        () => `why has nothing more to say: ${last.map(short)}`,
        PATIENCE,
        async () => {
          last = await causes();
          return last.length === 0;
        },
      );
      await ready(stage, OpenStackControlPlane, 'slice');
    });
  });
}
