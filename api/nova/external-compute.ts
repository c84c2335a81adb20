import { deployColumn, hostColumn } from '../blocks/columns.ts';
import { externalService } from '../blocks/external.ts';
import { cellName, cellNameRule } from '../blocks/nova-process.ts';
import { nova } from '../schema/groups.ts';
import { text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const NovaExternalCompute = kind({
  in: nova,
  kind: 'NovaExternalCompute',
  plural: 'novaexternalcomputes',
  shortNames: ['osnovaext'],
  nameLimit: 'none',
  description:
    'nova-compute with libvirt on a host outside the cluster. Made by the operator for every OpenStackDataPlaneNode with a cell annotation; customServiceConfig is always yours.',
  columns: [
    hostColumn(),
    { name: 'Cell', type: 'string', jsonPath: '.spec.cellName', description: 'NovaCell the host belongs to' },
    deployColumn(),
  ],
  spec: () => ({
    ...externalService(),
    ...cellName('NovaCell object the host belongs to, e.g. nova-cell1.'),
    novaComputeContainerImage: text('Image of nova-compute on the host. Written once at creation.').max(512).optional(),
    novaLibvirtContainerImage: text('Image of libvirt on the host. Written once at creation.').max(512).optional(),
  }),
  rules: [cellNameRule()],
  status: () => ({
    deployedHash: text('Hash of the config that the host runs.').optional(),
  }),
});
