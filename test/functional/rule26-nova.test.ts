import { beforeAll, describe, expect, it } from 'vitest';
import { NovaAPI } from '../../api/nova/api.ts';
import { NovaCompute } from '../../api/nova/compute.ts';
import { NovaConductor } from '../../api/nova/conductor.ts';
import { NovaMetadata } from '../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../api/nova/scheduler.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { plannedLeaves, specLeaves } from '../../api/schema/planned.ts';
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
import { NS } from './cloud.ts';
import { everyImageField, everyPodField, Lens } from './lens.ts';
import { adminLogin, host, ingressClass, label, objectOf, passwordIn, readyCloud, secret, sqlOf } from './services.ts';

/** Everything of the pod block, none of it left to its default. */
const pods = {
  replicas: 1,
  podProfile: 'restricted',
  ...everyPodField,
  ...everyImageField,
  defaultConfigOverwrite: { 'policy.yaml': '{}' },
  customServiceConfig: '[DEFAULT]\ndebug = true\n',
  customServiceConfigSecrets: ['more'],
  memcachedServers: ['cache:11211'],
  tls: { caBundleSecretName: 'c' },
  actions: [{ name: 'restart', id: '1', target: 'all' }],
  region: 'RegionOne',
};
const signer = authority('root');
const tls = { enabled: true, issuerRef: { name: 'ca' }, caBundleSecretName: 'c' };
const open = { ...tls, publicSecretName: 'b' };
const expose = { type: 'External', hostname: 'x.example.org', port: 1, annotations: { a: 'b' } };
const ingress = {
  hostname: 'k.example.org',
  path: '/',
  className: 'x',
  annotations: { a: 'b' },
};

/** Nova and NovaCell pass their templates on as they are, so their parts answer for the fields. */
async function stories(look: Lens['look']): Promise<void> {
  const cloud = await readyCloud({}, c => label(c, 'node-1', { 'openstack.k8s.io/compute': '' }), {
    operator: { lens: look, env: { ALLOW_HOST_ACCESS: 'true' } },
    ...certManager(signer),
  });
  installForeign(cloud, ...CERT_MANAGER, ...GATEWAY);
  cloud.apply(gateway('gw'));
  cloud.hands.apply(issuer('Issuer', 'ca'));
  cloud.hands.apply(ingressClass('x'));
  for (const database of ['hand_api', 'hand_cell']) sqlOf(cloud).databases[database] = { schemas: [] };
  const root = { hostname: host('mariadb'), user: 'root', password: passwordIn(cloud, 'mariadb-root') };
  const bus = { ...pods, messageBusSecret: 'bus', keystoneSecret: 'user' };
  const cell = { ...bus, cellDatabaseSecret: 'cell' };
  const all = { ...cell, apiDatabaseSecret: 'api', cellMappingsSecret: 'mappings' };
  cloud.apply(
    certificateSecret('a', signer),
    certificateSecret('b', signer, { names: ['k.example.org'] }),
    secret('c', { 'ca.crt': signer.ca }),
    secret('more', { 'more.conf': '[DEFAULT]\n' }),
    secret('api', { ...root, database: 'hand_api' }),
    secret('cell', { ...root, database: 'hand_cell' }),
    secret('bus', { hostname: host('rabbitmq'), user: 'admin', password: passwordIn(cloud, 'rabbitmq-admin') }),
    secret('user', adminLogin(cloud)),
    secret('metadata', { 'metadata-secret': 'between-us-only' }),
    secret('mappings', { cell0: 'one' }),
    objectOf(NovaConductor, 'hand-conductor', { ...all, cellName: 'cell0' }),
  );
  await cloud.ready(NovaConductor, 'hand-conductor');
  cloud.apply(
    objectOf(NovaAPI, 'hand-api', { ...all, tls: open, publicURL: 'http://nova.example.org', ingress }),
    objectOf(NovaScheduler, 'hand-scheduler', { ...all, discoverHostsIntervalSeconds: 15 }),
    objectOf(NovaMetadata, 'hand-metadata', { ...all, tls, cellName: 'cell1', metadataSecret: 'metadata', expose }),
    objectOf(NovaNoVNCProxy, 'hand-novncproxy', {
      ...cell,
      tls: open,
      cellName: 'cell1',
      expose,
      ingress,
      publicURL: 'http://x',
    }),
    objectOf(NovaCompute, 'hand-fake', { ...bus, computeDriver: 'fake', cellName: 'cell1' }),
    objectOf(NovaCompute, 'hand-kvm', { ...bus, cellName: 'cell1', virtType: 'qemu', consoleURL: 'http://x:6080' }),
  );
  for (const [kind, name] of [
    [NovaAPI, 'hand-api'],
    [NovaScheduler, 'hand-scheduler'],
    [NovaMetadata, 'hand-metadata'],
    [NovaNoVNCProxy, 'hand-novncproxy'],
    [NovaCompute, 'hand-fake'],
  ] as const)
    await cloud.ready(kind, name);
  for (const [kind, name] of [
    [NovaAPI, 'hand-api'],
    [NovaMetadata, 'hand-metadata'],
    [NovaNoVNCProxy, 'hand-novncproxy'],
  ] as const) {
    cloud.hands.patch(kind, NS, name, { spec: { tls: { secretName: 'a' } } });
    await cloud.ready(kind, name);
  }
  const gatewayRef = { name: 'gw', sectionName: 's' };
  for (const [kind, name] of [
    [NovaAPI, 'hand-api'],
    [NovaNoVNCProxy, 'hand-novncproxy'],
  ] as const) {
    cloud.hands.patch(kind, NS, name, { spec: { ingress: { gatewayRef } } });
    await cloud.ready(kind, name);
  }
  await cloud.settle();
}

describe("every field of Nova's parts is read, or planned with its issue (rule 26)", () => {
  const lens = new Lens();
  beforeAll(() => stories(lens.look), 240_000);

  const kinds = [NovaAPI, NovaScheduler, NovaConductor, NovaMetadata, NovaNoVNCProxy, NovaCompute] as const;
  for (const kind of kinds as readonly AnyKind[])
    it(`${kind.kind}: nothing unread ships unannounced, and nothing read is still called planned`, () => {
      const [read, planned, leaves] = [lens.read(kind), plannedLeaves(kind), specLeaves(kind)];
      expect(leaves.filter(leaf => !read.has(leaf) && !planned.has(leaf))).toEqual([]);
      expect(leaves.filter(leaf => read.has(leaf) && planned.has(leaf))).toEqual([]);
    });
});
