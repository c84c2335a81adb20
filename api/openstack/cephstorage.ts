import * as z from 'zod';
import { actions, deletionPolicy, images, release } from '../blocks/common.ts';
import { cephName } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { atMostOneOf, fixedPresence, group, int, listMap, objectName, oneOf, open, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

/** Ceph 19.2, the oldest that current versions of Rook run. */
export const CEPH_IMAGE = 'quay.io/ceph/ceph:v19.2.3';

export const CephStorage = kind({
  in: openstack,
  kind: 'CephStorage',
  plural: 'cephstorages',
  shortNames: ['osceph'],
  description:
    'Ceph for images, volumes, guest disks and backups: a cluster outside, or one that Rook runs. Makes the pools and hands each service its own key.',
  columns: [
    {
      name: 'FSID',
      type: 'string',
      jsonPath: '.status.fsid',
      description: 'Identity of the Ceph cluster',
      priority: 1,
    },
  ],
  spec: () => ({
    external: group(
      {
        secret: objectName(
          'Secret with ceph.conf and the keyring of an administrator, key ceph.client.<adminUser>.keyring.',
        ).optional(),
        adminUser: cephName('Ceph user that may create pools and users.').default('admin'),
        keyringsSecret: objectName(
          'Secret with a keyring per service (ceph.client.<user>.keyring), when the administrator key must not enter the cluster.',
        ).optional(),
      },
      'A Ceph cluster that exists already.',
    ).optional(),
    rook: group(
      {
        clusterName: objectName(
          'CephCluster of Rook in this namespace: that of somebody else is used as it is; else created.',
        ).default('openstack'),
        cephImage: text(
          'Image of Ceph for a cluster that the operator creates. imageRegistry applies to the default only: 19.2, the oldest that Rook runs.',
        )
          .min(1)
          .max(512)
          .default(CEPH_IMAGE),
        monitors: int(1, 9, 'Number of monitors.').default(3),
        storage: open(
          'spec.storage of the CephCluster: nodes, devices, device sets. Needed where the operator creates it.',
        ).optional(),
        network: open('spec.network of the CephCluster; hosts outside the cluster need provider: host.').optional(),
      },
      'A Ceph cluster that Rook runs in Kubernetes. Rook itself must be installed.',
    ).optional(),
    pools: listMap(
      z.strictObject({
        name: cephName('Name of the pool.'),
        purpose: oneOf(['images', 'volumes', 'vms', 'backups'], 'What it is for; decides who gets a key to it.'),
        replicas: int(1, 10, 'Copies of each object.').optional(),
        deviceClass: cephName('Only on devices of this class, e.g. ssd.').optional(),
      }),
      ['name'],
      'Pools. Absent: images, volumes, vms and backups, in an external cluster followed by six digits of the owner id (images-1a2b3c).',
      16,
    ).optional(),
    ...release(),
    ...deletionPolicy(),
    ...images(),
    ...actions(),
  }),
  rules: [
    atMostOneOf('external', 'rook'),
    fixedPresence('external', 'pools do not move between clusters'),
    fixedPresence('rook', 'pools do not move between clusters'),
  ],
  status: () => ({
    fsid: text('Identity of the Ceph cluster; also the UUID of the libvirt secret.').optional(),
    health: text('Health as Ceph reports it.').optional(),
  }),
});
