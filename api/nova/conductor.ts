import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { secretLinks } from '../blocks/links.ts';
import { NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { cellName, cellNameRule, novaProcess, region } from '../blocks/nova-process.ts';
import { nova } from '../schema/groups.ts';
import { kind } from '../schema/kind.ts';

export const NovaConductor = kind({
  in: nova,
  kind: 'NovaConductor',
  plural: 'novaconductors',
  shortNames: ['osnovacond'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description: 'nova-conductor of one cell alone, from hand-made Secrets. Runs the schema sync of the cell database.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...novaProcess(),
    ...region(),
    ...cellName('Name of the cell, e.g. cell1.'),
    ...secretLinks.apiDatabase(),
    ...secretLinks.cellDatabase(),
    ...secretLinks.messageBus(),
    ...secretLinks.cellMappings(),
  }),
  rules: [cellNameRule()],
});
