import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { expose, innerTls } from '../blocks/common.ts';
import { secretLinks } from '../blocks/links.ts';
import { NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { cellName, cellNameRule, novaProcess, region } from '../blocks/nova-process.ts';
import { nova } from '../schema/groups.ts';
import { kind } from '../schema/kind.ts';

export const NovaMetadata = kind({
  in: nova,
  kind: 'NovaMetadata',
  plural: 'novametadatas',
  shortNames: ['osnovameta'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description: 'nova-metadata alone, for all cells or for one, from hand-made Secrets.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...novaProcess(),
    ...innerTls(),
    ...region(),
    ...cellName('Name of the cell it serves; absent means all cells.'),
    ...secretLinks.apiDatabase(),
    ...secretLinks.cellDatabase(),
    ...secretLinks.messageBus(),
    ...secretLinks.cellMappings(),
    ...secretLinks.metadata(),
    ...expose(),
  }),
  rules: [cellNameRule()],
});
