import { networkAttachments } from '../blocks/common.ts';
import { env, hostAddress, nodeShape } from '../blocks/node.ts';
import { dataplane } from '../schema/groups.ts';
import { flag, group, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OpenStackDataPlaneNode = kind({
  in: dataplane,
  kind: 'OpenStackDataPlaneNode',
  plural: 'openstackdataplanenodes',
  shortNames: ['osdpnode'],
  nameLimit: 'none',
  description:
    'One host outside the cluster. Annotation nova.openstack.org/cell overrides that of its role; it stays as it is once set.',
  columns: [
    { name: 'Address', type: 'string', jsonPath: '.spec.ansibleHost', description: 'Where Ansible connects to' },
    { name: 'Role', type: 'string', jsonPath: '.spec.role', description: 'Role of the host' },
  ],
  spec: () => ({
    ...hostAddress(),
    role: objectName('OpenStackDataPlaneRole of this host.').optional(),
    node: group(nodeShape(), 'Where this host differs from its role.').optional(),
    ...networkAttachments(),
    ...env(),
    deploy: flag('false prepares but does not touch the host. Absent: as the role says.').optional(),
  }),
  status: () => ({
    cell: text('NovaCell that the host belongs to, from its own annotation or that of its role.').optional(),
    inventoryConfigMapName: text('ConfigMap with the inventory of this host.').optional(),
  }),
});
