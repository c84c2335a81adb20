import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { fixedNodeNamespace, nodeNamespace } from '../blocks/common.ts';
import { secretLinks } from '../blocks/links.ts';
import { COMPUTE_DRIVERS, computeShape, NOVA_CHILD_NAME_LIMIT } from '../blocks/nova.ts';
import { cellName, cellNameRule, novaProcess, region } from '../blocks/nova-process.ts';
import { httpUrl } from '../schema/forms.ts';
import { nova } from '../schema/groups.ts';
import { immutable, oneOf } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const NovaCompute = kind({
  in: nova,
  kind: 'NovaCompute',
  plural: 'novacomputes',
  shortNames: ['osnovacompute'],
  nameLimit: NOVA_CHILD_NAME_LIMIT,
  description:
    'nova-compute in pods: libvirt on labelled nodes of the cluster, ironic for bare metal, fake for tests. For hosts outside the cluster see NovaExternalCompute.',
  columns: [
    { name: 'Driver', type: 'string', jsonPath: '.spec.computeDriver', description: 'Compute driver' },
    { name: 'Cell', type: 'string', jsonPath: '.spec.cellName', description: 'Name of the cell' },
    replicasColumn(),
    releaseColumn(),
  ],
  spec: () => ({
    ...novaProcess(),
    ...region(),
    ...cellName('Name of the cell, e.g. cell1.'),
    computeDriver: immutable(
      oneOf(
        COMPUTE_DRIVERS,
        'libvirt runs guests on the nodes it lands on, ironic manages bare metal, fake simulates guests.',
      ),
      'a host keeps the driver it registered with',
    ).default('libvirt'),
    ...computeShape(),
    ...secretLinks.messageBus(),
    consoleURL: httpUrl(
      'URL of the console proxy that users are sent to, without a path; absent: no consoles.',
    ).optional(),
    ...nodeNamespace(),
  }),
  rules: [cellNameRule(), fixedNodeNamespace()],
});
