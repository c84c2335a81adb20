import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { expose, publicEndpoint } from '../blocks/common.ts';
import { secretLinks } from '../blocks/links.ts';
import { NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { cellName, cellNameRule, novaServer, region } from '../blocks/nova-process.ts';
import { nova } from '../schema/groups.ts';
import { kind } from '../schema/kind.ts';

export const NovaNoVNCProxy = kind({
  in: nova,
  kind: 'NovaNoVNCProxy',
  plural: 'novanovncproxies',
  shortNames: ['osnovanovnc'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description: 'The console proxy of one cell alone, from hand-made Secrets.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...novaServer(),
    ...region(),
    ...cellName('Name of the cell, e.g. cell1.'),
    ...secretLinks.cellDatabase(),
    ...secretLinks.messageBus(),
    ...publicEndpoint(),
    ...expose(),
  }),
  rules: [cellNameRule()],
});
