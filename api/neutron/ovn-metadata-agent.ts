import { deployColumn, hostColumn } from '../blocks/columns.ts';
import { externalService } from '../blocks/external.ts';
import { neutron } from '../schema/groups.ts';
import { objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OVNMetadataAgent = kind({
  in: neutron,
  kind: 'OVNMetadataAgent',
  plural: 'ovnmetadataagents',
  shortNames: ['osovnmeta'],
  nameLimit: 'none',
  description:
    'The metadata agent on a host outside the cluster. Made by the operator for every OpenStackDataPlaneNode with a cell annotation; customServiceConfig is always yours.',
  columns: [hostColumn(), deployColumn()],
  spec: () => ({
    ...externalService(),
    ovnMetadataAgentContainerImage: text('Image of the agent on the host. Written once at creation.')
      .max(512)
      .optional(),
    metadataConfigSecret: objectName(
      'Secret with 05-nova-metadata.conf (URL and shared secret of nova-metadata). Absent: that of the cell of the host.',
    ).optional(),
  }),
  status: () => ({
    deployedHash: text('Hash of the config that the host runs.').optional(),
  }),
});
