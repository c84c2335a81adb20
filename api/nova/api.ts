import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { publicEndpoint } from '../blocks/common.ts';
import { secretLinks } from '../blocks/links.ts';
import { NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { novaServer, region } from '../blocks/nova-process.ts';
import { nova } from '../schema/groups.ts';
import { kind } from '../schema/kind.ts';

export const NovaAPI = kind({
  in: nova,
  kind: 'NovaAPI',
  plural: 'novaapis',
  shortNames: ['osnovaapi'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description: 'nova-api alone, from hand-made Secrets.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...novaServer(),
    ...region(),
    ...secretLinks.apiDatabase(),
    ...secretLinks.cellDatabase(),
    ...secretLinks.messageBus(),
    ...secretLinks.cellMappings(),
    ...publicEndpoint(),
  }),
});
