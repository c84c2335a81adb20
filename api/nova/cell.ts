import { releaseColumn } from '../blocks/columns.ts';
import { actions, fixedNodeNamespace, images, nodeNamespace, podProfile, release, tls } from '../blocks/common.ts';
import { secretLinks } from '../blocks/links.ts';
import { cellServices, computeShape, NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { cellName, cellNameRule, region } from '../blocks/nova-process.ts';
import { customServiceConfig } from '../blocks/pod.ts';
import { nova } from '../schema/groups.ts';
import { text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const NovaCell = kind({
  in: nova,
  kind: 'NovaCell',
  plural: 'novacells',
  shortNames: ['oscell'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description:
    'One cell of Nova: its conductor, console proxy, optional metadata service and computes, and the config Secret for hosts outside the cluster.',
  columns: [
    { name: 'Cell', type: 'string', jsonPath: '.spec.cellName', description: 'Name of the cell' },
    releaseColumn(),
  ],
  spec: () => ({
    ...cellName('Name of the cell in Nova, e.g. cell1; absent means the name of this object.'),
    ...secretLinks.apiDatabase(),
    ...secretLinks.cellDatabase(),
    ...secretLinks.messageBus(),
    ...secretLinks.keystone(),
    ...secretLinks.memcached(),
    ...secretLinks.metadata(),
    ...secretLinks.cellMappings(),
    ...region(),
    ...customServiceConfig(),
    ...computeShape(),
    ...cellServices(),
    ...tls(),
    ...release(),
    ...podProfile(),
    ...images(),
    ...actions(),
    ...nodeNamespace(),
  }),
  rules: [cellNameRule(), fixedNodeNamespace()],
  status: () => ({
    computeConfigSecret: text('Secret with the config for hosts of this cell.').optional(),
    metadataConfigSecret: text('Secret with the config for metadata agents on hosts of this cell.').optional(),
    configHash: text('Hash of the config for hosts.').optional(),
  }),
});
