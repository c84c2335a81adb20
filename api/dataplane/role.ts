import { deployColumn } from '../blocks/columns.ts';
import { networkAttachments } from '../blocks/common.ts';
import { baremetal, env, nodeShape } from '../blocks/node.ts';
import { dataplane } from '../schema/groups.ts';
import { flag, group, objectName } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OpenStackDataPlaneRole = kind({
  in: dataplane,
  kind: 'OpenStackDataPlaneRole',
  plural: 'openstackdataplaneroles',
  shortNames: ['osdprole'],
  nameLimit: 'none',
  description:
    'What a set of hosts has in common. Annotation nova.openstack.org/cell makes them compute hosts of that NovaCell; it stays as it is once set.',
  columns: [
    { name: 'DataPlane', type: 'string', jsonPath: '.spec.dataPlane', description: 'OpenStackDataPlane it belongs to' },
    deployColumn(),
  ],
  spec: () => ({
    dataPlane: objectName('OpenStackDataPlane that rolls changes out to these hosts; may be absent.').optional(),
    nodeTemplate: group(nodeShape(), 'Defaults for every node of this role.').optional(),
    ...baremetal(),
    ...networkAttachments(),
    ...env(),
    deploy: flag('false prepares but does not touch the hosts.').default(true),
  }),
});
