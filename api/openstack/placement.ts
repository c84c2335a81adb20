import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { apiService, apiServiceRules } from '../blocks/service.ts';
import { openstack } from '../schema/groups.ts';
import { kind } from '../schema/kind.ts';

export const Placement = kind({
  in: openstack,
  kind: 'Placement',
  plural: 'placements',
  shortNames: ['ospl'],
  description: 'The inventory of resources (CPU, memory, disk, devices) that Nova schedules from.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({ ...apiService() }),
  rules: apiServiceRules(),
});
