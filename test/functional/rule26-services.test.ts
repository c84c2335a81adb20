import { beforeAll, describe, expect, it } from 'vitest';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { Cinder } from '../../api/openstack/cinder.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Heat } from '../../api/openstack/heat.ts';
import { Horizon } from '../../api/openstack/horizon.ts';
import { Neutron } from '../../api/openstack/neutron.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { Placement } from '../../api/openstack/placement.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { plannedLeaves, specLeaves } from '../../api/schema/planned.ts';
import type { Store } from '../../src/embedded/store/store.ts';
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
import { pretendRook } from './rook.ts';
import {
  cephSecret,
  cloudWith,
  FSID,
  host,
  ingressClass,
  label,
  objectOf,
  passwordIn,
  secret,
  sqlOf,
} from './services.ts';

const KINDS: readonly AnyKind[] = [Glance, Placement, OVNNetwork, Neutron, Heat, Horizon, CephStorage, Cinder];

const template = { replicas: 1, ...everyPodField };
const own = { customServiceConfig: '[DEFAULT]\ndebug = true\n', customServiceConfigSecrets: ['more'] };
const ids = { customServiceConfig: 'ovn-encap-tos=inherit\n', customServiceConfigSecrets: ['ids'] };
const open = {
  ingress: { hostname: 'x.example.org', className: 'haproxy', annotations: { a: 'b' } },
  tls: { enabled: true, issuerRef: { name: 'ca', kind: 'Issuer' }, publicSecretName: 'cert', caBundleSecretName: 'c' },
};
const orders = { actions: [{ name: 'rotate', id: '1', target: 'all' }] };
const stateless = {
  ...template,
  ...orders,
  ...everyImageField,
  podProfile: 'restricted',
  credentialRotation: { schedule: '0 3 1 * *' },
  networkPolicy: { enabled: true },
};
const { publicSecretName: _public, ...tls } = open.tls;
const signer = authority('root');
const full = { ...stateless, deletionPolicy: 'Delete' };
const rows = { housekeeping: { schedule: '0 1 * * *', retentionDays: 5, suspend: true } };
const overwritten = { defaultConfigOverwrite: { 'policy.yaml': '{}' } };

/** Each kind once with nothing but its name and once with everything, made and deleted. */
async function stories(look: Lens['look']): Promise<void> {
  const rook = pretendRook();
  const wrap = (store: Store) => certManager(signer).wrap(rook.wrap(store));
  const cloud = await Cloud.start({ operator: { lens: look, env: { ALLOW_HOST_ACCESS: 'true' } }, wrap });
  rook.install(cloud);
  installForeign(cloud, ...CERT_MANAGER, ...GATEWAY);
  cloud.apply(gateway('gw'));
  cloud.hands.apply(issuer('Issuer', 'ca'));
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  cloud.apply(cloudWith(), secret('more', { 'more.conf': '[DEFAULT]\n' }), secret('ids', { ids: 'a=b\n' }));
  await cloud.ready(OpenStackControlPlane, 'slice');
  cloud.apply(objectOf(OVNNetwork, 'ovn'));
  for (const kind of [Glance, Placement, Neutron, Heat, Horizon])
    cloud.apply(objectOf(kind, `plain-${kind.singular}`, { resources: template.resources }));
  cloud.hands.apply(ingressClass('haproxy'));
  cloud.apply(
    certificateSecret('every', signer),
    certificateSecret('cert', signer, { names: ['x.example.org', 'x-cfn.example.org'] }),
    secret('c', { 'ca.crt': signer.ca }),
  );
  sqlOf(cloud).databases.box = { schemas: [] };
  const root = passwordIn(cloud, 'mariadb-root');
  const admin = { user: 'admin', password: passwordIn(cloud, 'keystone-admin'), project: 'admin', region: 'RegionOne' };
  const api = {
    ...full,
    ...open,
    ...own,
    ...overwritten,
    publicURL: 'http://x.example.org',
    databaseSecret: 'db',
    keystoneSecret: 'user',
    memcachedServers: ['cache:11211'],
  };
  cloud.apply(
    secret('db', { hostname: host('mariadb'), user: 'root', password: root, database: 'box' }),
    secret('mq', { hostname: host('rabbitmq'), user: 'admin', password: passwordIn(cloud, 'rabbitmq-admin') }),
    secret('user', { url: `http://${host('keystone-api')}:5000`, ...admin }),
    objectOf(Placement, 'p', api),
    objectOf(Glance, 'g', { ...api, ...rows, storageClass: 'standard', importMethods: ['web-download'] }),
    objectOf(OVNNetwork, 'o', {
      ...full,
      tls,
      ...ids,
      storageClass: 'standard',
      bridgeMappings: { physnet1: 'br-ex' },
      bridgePorts: { 'br-ex': 'eth1' },
      gatewayNodeSelector: { gateway: 'yes' },
      expose: { type: 'LoadBalancer', hostname: 'x.example.org', port: 1, annotations: { a: 'b' } },
      northd: template,
      controller: { ...template, ...ids },
      metadataAgent: { ...template, ...own },
    }),
    objectOf(Neutron, 'n', {
      ...api,
      messageBusSecret: 'mq',
      ovnInstance: 'o',
      mtu: 9000,
      dnsDomain: 'example.',
      workersServiceTemplate: { ...template, ...own },
    }),
    objectOf(Neutron, 'agents', {
      mechanism: 'ovs',
      openvswitch: { datapath: 'netdev', bridgeMappings: { physnet1: 'br-ex' }, bridgePorts: { 'br-ex': 'eth1' } },
      agentTemplates: Object.fromEntries(
        ['l2', 'l3', 'dhcp', 'metadata'].map(agent => [agent, { ...template, ...own }]),
      ),
    }),
    cephSecret(),
    secret('rings', { 'ceph.conf': `[global]\nfsid = ${FSID}\n` }),
    objectOf(CephStorage, 'ceph', {
      ...everyImageField,
      external: { secret: 'ceph-admin', adminUser: 'admin' },
      pools: (['images', 'volumes', 'backups'] as const).map(purpose => ({
        name: purpose,
        purpose,
        replicas: 2,
        deviceClass: 'ssd',
      })),
      images: full.images,
      ...orders,
      deletionPolicy: 'Delete',
    }),
    objectOf(CephStorage, 'rook', { rook: { storage: { useAllNodes: true }, network: { provider: 'host' } } }),
    objectOf(CephStorage, 'given', { external: { keyringsSecret: 'rings' } }),
    secret('swift', { auth_url: 'http://s', user: 'u', key: 'k' }),
    objectOf(Glance, 'many', {
      stores: [
        { name: 'c', type: 'ceph', cephStorage: 'ceph', pool: 'images' },
        { name: 'd', type: 'ceph' },
        { name: 's', type: 'swift', secretName: 'swift' },
      ],
      defaultStore: 's',
    }),
    objectOf(Cinder, 'c', {
      ...api,
      ...rows,
      messageBusSecret: 'mq',
      defaultVolumeType: 'a',
      backends: [
        { name: 'a', type: 'ceph', cephStorage: 'ceph', pool: 'volumes', ...everyPodField, ...own },
        { name: 'b', type: 'lvm', volumeGroup: 'vg', storageSize: '1Gi', storageClass: 'standard' },
        { name: 'd', type: 'lvm', hostPath: '/srv', storageSize: '1Gi' },
        { name: 'e', type: 'nfs', shares: ['nas:/v'] },
      ],
      schedulerServiceTemplate: { ...template, ...own },
      backup: { enabled: true, driver: 'ceph', cephStorage: 'ceph', ...template, ...own },
    }),
    objectOf(Cinder, 'plain-cinder', { backends: [{ name: 'a', type: 'ceph' }] }),
    secret('keeper', { user: 'keeper', password: 'Keeper0Password' }),
    secret('keys', { auth_encryption_key: 'k'.repeat(32), 'secret-key': 's'.repeat(32) }),
    objectOf(Heat, 'h', {
      ...api,
      ...rows,
      messageBusSecret: 'mq',
      stackDomainAdminSecret: 'keeper',
      encryptionKeySecret: 'keys',
      cfnPublicURL: 'http://cfn.example.org',
      apiServiceTemplate: { ...template, ...own },
      cfnServiceTemplate: { ...template, ...own },
      engineServiceTemplate: { ...template, ...own },
    }),
    objectOf(Horizon, 'z', {
      ...stateless,
      ...open,
      customServiceConfig: 'DEBUG = False\n',
      customServiceConfigSecrets: ['more'],
      keystoneSecret: 'user',
      memcachedServers: [],
      secret: 'keys',
      publicURL: 'http://z.example.org',
    }),
  );
  for (const [kind, name] of [
    [Placement, 'p'],
    [Glance, 'g'],
    [OVNNetwork, 'o'],
    [Neutron, 'n'],
    [Neutron, 'plain-neutron'],
    [Neutron, 'agents'],
    [Glance, 'plain-glance'],
    [Placement, 'plain-placement'],
    [Cinder, 'c'],
    [Cinder, 'plain-cinder'],
    [Glance, 'many'],
    [CephStorage, 'given'],
    [CephStorage, 'rook'],
    [Heat, 'h'],
    [Heat, 'plain-heat'],
    [Horizon, 'z'],
    [Horizon, 'plain-horizon'],
  ] as const)
    await cloud.ready(kind, name);
  for (const [kind, name] of [
    [Placement, 'p'],
    [Glance, 'g'],
    [OVNNetwork, 'o'],
    [Neutron, 'n'],
    [Cinder, 'c'],
    [Heat, 'h'],
    [Horizon, 'z'],
  ] as const) {
    cloud.hands.patch(kind, NS, name, { spec: { tls: { secretName: 'every' } } });
    await cloud.ready(kind, name);
    if (kind === OVNNetwork) continue;
    const gatewayRef = { name: 'gw', sectionName: 's' };
    cloud.hands.patch(kind, NS, name, { spec: { ingress: { gatewayRef } } });
    await cloud.ready(kind, name);
  }
  // Others of this story use these two as well, and stay.
  for (const [kind, name] of [
    [CephStorage, 'ceph'],
    [OVNNetwork, 'o'],
  ] as const)
    cloud.hands.patch(kind, NS, name, { metadata: { annotations: { 'openstack.k8s.io/skip-undo': 'Users' } } });
  for (const [kind, name] of [
    [Neutron, 'n'],
    [OVNNetwork, 'o'],
    [Glance, 'g'],
    [Placement, 'p'],
    [Neutron, 'plain-neutron'],
    [Placement, 'plain-placement'],
    [Heat, 'h'],
    [Horizon, 'z'],
    [Cinder, 'c'],
    [CephStorage, 'ceph'],
  ] as const)
    cloud.hands.remove(kind, NS, name);
  await cloud.settle();
}

describe('rule 26 for the services of the first cloud', () => {
  const lens = new Lens();
  beforeAll(() => stories(lens.look), 240_000);

  it.each(KINDS.map(kind => [kind.kind, kind] as const))('%s: read, or planned, and not both', (_name, kind) => {
    const read = lens.read(kind);
    const planned = plannedLeaves(kind);
    const leaves = specLeaves(kind);
    expect({
      unread: leaves.filter(leaf => !read.has(leaf) && !planned.has(leaf)),
      both: leaves.filter(leaf => read.has(leaf) && planned.has(leaf)),
    }).toEqual({ unread: [], both: [] });
  });
});
