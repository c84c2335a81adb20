import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { secretLinks } from '../blocks/links.ts';
import { NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { novaProcess, region } from '../blocks/nova-process.ts';
import { nova } from '../schema/groups.ts';
import { int } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const NovaScheduler = kind({
  in: nova,
  kind: 'NovaScheduler',
  plural: 'novaschedulers',
  shortNames: ['osnovasched'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description: 'nova-scheduler alone, from hand-made Secrets.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...novaProcess(),
    ...region(),
    ...secretLinks.apiDatabase(),
    ...secretLinks.cellDatabase(),
    ...secretLinks.messageBus(),
    ...secretLinks.cellMappings(),
    discoverHostsIntervalSeconds: int(0, 86_400, 'How often new hosts are mapped to their cell; 0 never.').default(60),
  }),
});
