import * as z from 'zod';
import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { fixedNodeNamespace, housekeeping, nodeNamespace } from '../blocks/common.ts';
import { databaseRules, messageBus, messageBusRules } from '../blocks/links.ts';
import { cellTemplates, computeShape, NOVA_NAME_LIMIT, topServices } from '../blocks/nova.ts';
import { apiService } from '../blocks/service.ts';
import { openstack } from '../schema/groups.ts';
import { fixedField, listMap, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';
import { summaryLine } from '../schema/status.ts';

/** Database names derive from the name of the object, one per cell: a single name would make no sense here. */
function novaService() {
  const { databaseName: _, ...rest } = apiService();
  return rest;
}

export const Nova = kind({
  in: openstack,
  kind: 'Nova',
  plural: 'novas',
  shortNames: ['osnv'],
  nameLimit: NOVA_NAME_LIMIT,
  description:
    'The compute service, with cells: registers databases, bus users and the service user, and makes NovaAPI, NovaScheduler, NovaMetadata and one NovaCell per cell out of them.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...novaService(),
    ...messageBus(),
    metadataSecret: objectName(
      'Secret shared with the agents that forward metadata requests, key metadata-secret. Absent: generated once.',
    ).optional(),
    ...computeShape(),
    ...topServices(),
    cellTemplates: cellTemplates().optional(),
    ...housekeeping(),
    ...nodeNamespace(),
  }),
  rules: [
    ...databaseRules(),
    ...messageBusRules(),
    fixedField('cephStorage', 'ceph', 'disks of guests do not move between clusters'),
    fixedNodeNamespace(),
  ],
  status: () => ({
    cells: listMap(
      z.object({
        ...summaryLine('cell'),
        hash: text('Hash of the URLs the mapping was made with.').optional(),
      }),
      ['name'],
      'State by cell.',
      32,
    ).optional(),
  }),
});
