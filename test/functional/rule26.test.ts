import { beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { CHILDREN, OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { PLANNED, plannedLeaves, specLeaves } from '../../api/schema/planned.ts';
import { childSpec, SECTION_NAMES } from '../../src/controlplane/sections.ts';
import type { DeepReadonly } from '../../src/kube/object.ts';
import { Secret } from '../../src/kube/resource.ts';
import { PLANS } from '../../src/operator/plans.ts';
import type { Plan } from '../../src/runtime/plan/row.ts';
import {
  authority,
  CERT_MANAGER,
  certificateSecret,
  certManager,
  GATEWAY,
  gateway,
  installForeign,
  issuer,
} from './certificates.ts';
import { Cloud, NS } from './cloud.ts';
import { everyImageField, everyPodField, Lens } from './lens.ts';
import { ingressClass, secret } from './services.ts';
import { ours, slice } from './stories.ts';
import { Toy, toy } from './toy/index.ts';

/** Everything of the pod block, none of it left to its default. */
const pods = {
  ...everyPodField,
  ...everyImageField,
  customServiceConfigSecrets: ['more'],
};
const root = authority('root');
const tls = { enabled: true, issuerRef: { name: 'ca' }, caBundleSecretName: 'c' };
const wholeCloud = {
  tls,
  credentialRotation: { schedule: '0 3 1 * *' },
  networkPolicy: { enabled: true },
  actions: [{ name: 'rotate', id: '1', target: 'all' }],
};
const expose = { type: 'External', hostname: 'bus.example.org', port: 1, annotations: { a: 'b' } };

/** Every optional branch of every kind of the slice: full and empty, own and external, made and deleted. */
async function stories(look: Lens['look']): Promise<void> {
  const cloud = await Cloud.start({
    plans: [...PLANS, toy as Plan<never>],
    kinds: [Toy],
    operator: { lens: look, env: { ALLOW_HOST_ACCESS: 'true' } },
    ...certManager(root),
  });
  installForeign(cloud, ...CERT_MANAGER, ...GATEWAY);
  cloud.apply(gateway('gw'));
  cloud.hands.apply(issuer('Issuer', 'ca'));
  for (const name of ['haproxy', 'x']) cloud.hands.apply(ingressClass(name));
  const restricted = { podProfile: 'restricted', deletionPolicy: 'Delete' };
  cloud.apply(
    secret('more', { 'more.conf': '[DEFAULT]\n' }),
    secret('login', { user: 'root', password: 'a-password-of-mine', hostname: 'db.openstack.svc.cluster.local' }),
    certificateSecret('a', root),
    certificateSecret('b', root, { names: ['k.example.org'] }),
    secret('c', { 'ca.crt': root.ca }),
    slice({
      ...wholeCloud,
      ...everyImageField,
      publicDomain: 'example.org',
      ingress: { annotations: { a: 'b' }, gatewayRef: { name: 'gw', sectionName: 's' } },
      customServiceConfig: '[DEFAULT]\ndebug = true\n',
    }),
    ours('MariaDB', 'db', {
      ...pods,
      ...wholeCloud,
      ...restricted,
      secret: 'login',
      customServiceConfig: '[mysqld]\n',
    }),
    ours('RabbitMQ', 'mq', { ...pods, ...wholeCloud, ...restricted, expose, customServiceConfig: 'a = b\n' }),
    ours('Memcached', 'mc', {
      ...pods,
      ...wholeCloud,
      tls: { enabled: false },
      podProfile: 'restricted',
      customServiceConfig: '-I 2m\n',
    }),
  );
  for (const [kind, name] of [
    [MariaDB, 'db'],
    [RabbitMQ, 'mq'],
    [Memcached, 'mc'],
    [OpenStackControlPlane, 'slice'],
  ] as const)
    await cloud.ready(kind, name);
  for (const [kind, name] of [
    [MariaDB, 'db'],
    [RabbitMQ, 'mq'],
  ] as const) {
    cloud.hands.patch(kind, NS, name, { spec: { tls: { secretName: 'a' } } });
    await cloud.ready(kind, name);
  }

  // A database and a bus that somebody else runs: here, those of the slice, by their addresses.
  const host = (name: string) => `${name}.openstack.svc.cluster.local`;
  const passwordIn = (name: string) => {
    const { password = '' } = (cloud.get(Secret, name)?.data ?? {}) as { password?: string };
    return Buffer.from(password, 'base64').toString();
  };
  for (const server of Object.values(cloud.backends.disks.sql)) server.databases.ks = { schemas: [] };
  cloud.apply(
    secret('root', { user: 'root', password: passwordIn('mariadb-root') }),
    secret('bus', { user: 'admin', password: passwordIn('rabbitmq-admin'), 'ca.crt': root.ca }),
    ours('MariaDB', 'outside', { external: { hostname: host('mariadb'), adminSecret: 'root' } }),
    ours('RabbitMQ', 'outside-bus', {
      external: {
        hostname: host('rabbitmq'),
        port: 5671,
        managementURL: `https://${host('rabbitmq')}:15671`,
        adminSecret: 'bus',
      },
    }),
    {
      apiVersion: 'toy.openstack.org/v1alpha1',
      kind: 'Toy',
      metadata: { name: 'toy' },
      spec: { databaseInstance: 'outside', messageBusInstance: 'outside-bus' },
    },
    ours('Keystone', 'ks', {
      ...pods,
      defaultConfigOverwrite: { 'policy.yaml': '{}' },
      ...wholeCloud,
      ...restricted,
      tls: { ...tls, publicSecretName: 'b' },
      expose,
      ingress: {
        hostname: 'k.example.org',
        path: '/',
        className: 'x',
        annotations: { a: 'b' },
      },
      publicURL: 'http://k.example.org',
      housekeeping: { schedule: '0 0 * * *' },
      customServiceConfig: '[DEFAULT]\ndebug = true\n',
      memcachedServers: ['cache:11211'],
      adminPasswordSecret: 'login',
      databaseSecret: 'login',
    }),
  );
  await cloud.ready(Toy, 'toy');
  await cloud.ready(Keystone, 'ks');
  const gatewayRef = { name: 'gw', sectionName: 's' };
  for (const spec of [{ tls: { secretName: 'a' } }, { ingress: { gatewayRef } }]) {
    cloud.hands.patch(Keystone, NS, 'ks', { spec });
    await cloud.ready(Keystone, 'ks');
  }
  await cloud.settle();
  cloud.hands.remove(Toy, NS, 'toy');
  await cloud.settle();
  for (const [kind, name] of [
    [Keystone, 'ks'],
    [MariaDB, 'db'],
    [RabbitMQ, 'mq'],
    [Memcached, 'mc'],
    [OpenStackControlPlane, 'slice'],
  ] as const)
    cloud.hands.remove(kind, NS, name);
  // Not settle(): the outside servers were the slice's, and are asked for again and again.
  await cloud.sim.run(300_000);
  expect(cloud.get(OpenStackControlPlane, 'slice')).toBeUndefined();
}

describe('every field of a spec is read by some plan, or planned with its issue (rule 26)', () => {
  const lens = new Lens();
  beforeAll(() => stories(lens.look), 120_000);

  const sections = Object.keys(CHILDREN);
  /** A section is passed on as it is, and the kind that gets it answers for its fields; `enabled` is the cloud's own. */
  const passedOn = (kind: AnyKind, leaf: string): boolean =>
    kind === (OpenStackControlPlane as AnyKind) &&
    sections.some(s => leaf.startsWith(`${s}.`)) &&
    !/^\w+\.enabled$/.test(leaf);

  for (const kind of [MariaDB, RabbitMQ, Memcached, Keystone, OpenStackControlPlane] as readonly AnyKind[]) {
    const leaves = specLeaves(kind).filter(leaf => !passedOn(kind, leaf));

    it(`${kind.kind}: nothing that nobody reads ships unannounced`, () => {
      const read = lens.read(kind);
      expect(leaves.filter(leaf => !read.has(leaf) && !plannedLeaves(kind).has(leaf))).toEqual([]);
    });

    it(`${kind.kind}: nothing that is read is still called planned`, () => {
      const read = lens.read(kind);
      expect(leaves.filter(leaf => read.has(leaf) && plannedLeaves(kind).has(leaf))).toEqual([]);
    });
  }

  it('sections of the control plane are passed on whole', () => {
    for (const section of SECTION_NAMES) {
      const written = { enabled: true, anything: { at: ['all'] } };
      const spec = { [section]: written } as unknown as DeepReadonly<Parameters<typeof childSpec>[0]>;
      expect(childSpec(spec, section, undefined)).toEqual({ anything: { at: ['all'] } });
    }
  });

  it('every planned line names a field that exists and an issue or a reason', () => {
    for (const [name, plans] of Object.entries(PLANNED)) {
      const kind = KINDS.find(k => k.kind === name);
      expect(kind, name).toBeDefined();
      for (const { fields, waitsFor } of plans) {
        expect(waitsFor).toMatch(/issue \d+|no issue yet/);
        if (fields !== 'all')
          for (const field of fields)
            expect(
              specLeaves(kind!).some(
                leaf => leaf === field || leaf.startsWith(`${field}.`) || leaf.startsWith(`${field}[`),
              ),
              `${name} ${field}`,
            ).toBe(true);
      }
    }
  });
});
