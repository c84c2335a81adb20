import * as z from 'zod';
import { releaseColumn } from '../blocks/columns.ts';
import { cloudIngress, cloudTls, fixedNodeNamespace, lifecycle, nodeNamespace } from '../blocks/common.ts';
import { customServiceConfig } from '../blocks/pod.ts';
import { region } from '../blocks/service.ts';
import { openstack } from '../schema/groups.ts';
import { immutableField, listMap, objectName, oneOf, rule, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';
import { section } from '../schema/optional.ts';
import { causesInShort, summaryLine } from '../schema/status.ts';
import { CephStorage } from './cephstorage.ts';
import { Cinder } from './cinder.ts';
import { Glance } from './glance.ts';
import { Heat } from './heat.ts';
import { Horizon } from './horizon.ts';
import { Keystone } from './keystone.ts';
import { MariaDB } from './mariadb.ts';
import { Memcached } from './memcached.ts';
import { Neutron } from './neutron.ts';
import { Nova } from './nova.ts';
import { OVNNetwork } from './ovnnetwork.ts';
import { Placement } from './placement.ts';
import { RabbitMQ } from './rabbitmq.ts';

export const PHASES = [
  'Infrastructure',
  'Identity',
  'CoreServices',
  'ComputeAndStorage',
  'OptionalServices',
  'Ready',
] as const;
export type Phase = (typeof PHASES)[number];

/** Section name to child kind; a child is named after its section. */
export const CHILDREN = {
  mariadb: MariaDB,
  rabbitmq: RabbitMQ,
  memcached: Memcached,
  keystone: Keystone,
  glance: Glance,
  placement: Placement,
  ovn: OVNNetwork,
  neutron: Neutron,
  nova: Nova,
  ceph: CephStorage,
  cinder: Cinder,
  heat: Heat,
  horizon: Horizon,
} as const;

export const OpenStackControlPlane = kind({
  in: openstack,
  kind: 'OpenStackControlPlane',
  plural: 'openstackcontrolplanes',
  shortNames: ['oscp'],
  description:
    'A cloud. One per namespace. Each section becomes an object of its own kind, named after the section; a field you leave out of a section is left to that object and its defaults.',
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How far the cloud is' },
    { ...releaseColumn(), priority: 0 },
  ],
  spec: () => ({
    ...region(),
    storageBackend: oneOf(
      ['ceph', 'lvm', 'pvc'],
      'Where images, volumes and guest disks go unless a section says otherwise: ceph (switches the ceph section on, which then needs external or rook), lvm (one node, for tests), pvc (images only).',
    ).default('pvc'),
    networkBackend: oneOf(['ovn', 'ovs'], 'How networks are made unless neutron.mechanism says so.').default('ovn'),
    storageClass: objectName(
      'StorageClass of all volumes unless a section names one. Fixed after creation; absent means the default of the cluster.',
    ).optional(),
    rollout: oneOf(
      ['graph', 'strict'],
      'graph starts each service as soon as what it needs is Ready; strict one after the other.',
    ).default('graph'),
    ...cloudTls(),
    ...cloudIngress(),
    ...customServiceConfig(),
    ...lifecycle(),
    ...nodeNamespace(),
    mariadb: section(MariaDB, true, 'The database server.'),
    rabbitmq: section(RabbitMQ, true, 'The message bus.'),
    memcached: section(Memcached, true, 'The cache.'),
    keystone: section(Keystone, true, 'The identity service.'),
    glance: section(Glance, true, 'The image service.'),
    placement: section(Placement, true, 'The resource inventory.'),
    ovn: section(OVNNetwork, true, 'The network fabric; not used with networkBackend ovs.'),
    neutron: section(Neutron, true, 'The network service.'),
    nova: section(Nova, true, 'The compute service.'),
    ceph: section(
      CephStorage,
      false,
      'Ceph; also on with storageBackend ceph, unless there is a CephStorage beside the cloud.',
    ),
    cinder: section(Cinder, false, 'The block storage service.'),
    heat: section(Heat, false, 'The orchestration service.'),
    horizon: section(Horizon, false, 'The dashboard.'),
  }),
  rules: [
    immutableField('storageClass', 'volumes do not move between classes'),
    fixedNodeNamespace(),
    // The API server also evaluates rules on the default `spec: {}` as it stands, before defaults inside it: hence has().
    rule(
      '!has(self.neutron) || !has(self.neutron.mechanism) || self.neutron.mechanism == self.networkBackend',
      'neutron.mechanism contradicts networkBackend: set both alike, or leave neutron.mechanism out',
      { fieldPath: '.neutron.mechanism' },
    ),
  ],
  status: () => ({
    ...causesInShort(),
    phase: oneOf(PHASES, 'The lowest phase that is not complete; Ready when all are.').optional(),
    services: listMap(
      z.object({ ...summaryLine('child, which is the name of its section'), kind: text('Kind of the child.') }),
      ['name'],
      'One line per service.',
      32,
    ).optional(),
  }),
});
