import { networkAttachments } from '../blocks/common.ts';
import { baremetal, env, nodeMap, nodeShape } from '../blocks/node.ts';
import { dataplane } from '../schema/groups.ts';
import { group, int, list, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';
import { MAX_INT } from '../schema/status.ts';

export const OpenStackDataPlaneNodeSet = kind({
  in: dataplane,
  kind: 'OpenStackDataPlaneNodeSet',
  plural: 'openstackdataplanenodesets',
  shortNames: ['osdpns'],
  nameLimit: 'none',
  description: 'Hosts that get the same services in the same order. An OpenStackDataPlaneDeployment runs them.',
  spec: () => ({
    services: list(
      objectName('Name of an OpenStackDataPlaneService.'),
      'What to run on the hosts, in this order.',
      128,
    ).optional(),
    nodeTemplate: group(nodeShape(), 'Defaults for every host.').optional(),
    nodes: nodeMap().optional(),
    ...baremetal(),
    ...networkAttachments(),
    ...env(),
  }),
  status: () => ({
    configHash: text('Hash of what the hosts should run.').optional(),
    deployedConfigHash: text('Hash of what the last successful deployment ran.').optional(),
    inventorySecretName: text('Secret with the inventory.').optional(),
    nodes: int(0, MAX_INT, 'Number of hosts.').optional(),
  }),
});
