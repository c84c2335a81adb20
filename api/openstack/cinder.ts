import * as z from 'zod';
import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { fixedNodeNamespace, housekeeping, nodeNamespace } from '../blocks/common.ts';
import { messageBus, messageBusRules } from '../blocks/links.ts';
import { pods, template } from '../blocks/pod.ts';
import { apiService, apiServiceRules } from '../blocks/service.ts';
import { cephName, nfsShare, nodePath, title, volumeGroup } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { fixedField, flag, group, list, listMap, objectName, oneOf, size, text, withRules } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

const backend = () =>
  withRules(
    z.strictObject({
      name: text('Name of the backend; also of its volume type.')
        .min(1)
        .max(40)
        .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
      type: oneOf(['ceph', 'lvm', 'nfs'], 'Kind of storage.'),
      cephStorage: objectName('ceph: CephStorage object; absent means ceph.').optional(),
      pool: cephName('ceph: pool; absent means the pool for volumes.').optional(),
      volumeGroup: volumeGroup('lvm: volume group; absent means cinder-volumes.').optional(),
      storageSize: size('lvm: size of a volume to build the group on, or with hostPath of the file.').optional(),
      storageClass: objectName('lvm: StorageClass of that volume (block mode).').optional(),
      hostPath: nodePath('lvm: directory on the node with the backing file.').optional(),
      shares: list(nfsShare('host:/export'), 'nfs: exports to keep volumes on.', 16).optional(),
      ...pods(),
    }),
    [fixedField('cephStorage', 'ceph', 'volumes do not move; add a backend and retype them')],
  );

export const Cinder = kind({
  in: openstack,
  kind: 'Cinder',
  plural: 'cinders',
  shortNames: ['osci'],
  description: 'The block storage service: volumes, snapshots, backups. One volume process per backend.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...apiService(),
    ...messageBus(),
    backends: listMap(backend(), ['name'], 'Where volumes live. Each gets a volume type of its name.', 16).optional(),
    defaultVolumeType: title('Volume type when the user names none; absent: the first backend.', 255).optional(),
    schedulerServiceTemplate: group(template(), 'cinder-scheduler, where it differs from the API.').optional(),
    backup: withRules(
      group(
        {
          enabled: flag('true runs cinder-backup.').default(false),
          driver: oneOf(['ceph', 'nfs', 'swift', 's3'], 'Where backups go.').default('ceph'),
          cephStorage: objectName('ceph: CephStorage object; absent means ceph.').optional(),
          ...template(),
        },
        'Volume backups.',
      ),
      [fixedField('cephStorage', 'ceph', 'backups do not move')],
    ).optional(),
    ...housekeeping(),
    ...nodeNamespace(),
  }),
  rules: [...apiServiceRules(), ...messageBusRules(), fixedNodeNamespace()],
  status: () => ({
    backends: listMap(
      z.object({
        name: text('Name of the backend.'),
        ready: z.boolean().describe('Whether its volume process is up.'),
        reason: text('Why, in one word.').optional(),
        message: text('What the driver says.').max(512).optional(),
      }),
      ['name'],
      'State by backend.',
      16,
    ).optional(),
  }),
});
