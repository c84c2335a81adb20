import * as z from 'zod';
import { ansibleRun } from '../blocks/node.ts';
import { dataplane } from '../schema/groups.ts';
import { list, listMap, objectName, oneOf, rule, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OpenStackDataPlaneDeployment = kind({
  in: dataplane,
  kind: 'OpenStackDataPlaneDeployment',
  plural: 'openstackdataplanedeployments',
  shortNames: ['osdpd'],
  nameLimit: 'none',
  description: 'One run of the services of some node sets, kept as a record. To run again, create another.',
  columns: [{ name: 'NodeSets', type: 'string', jsonPath: '.spec.nodeSets', description: 'What it runs on' }],
  spec: () => ({
    nodeSets: list(objectName('Name of an OpenStackDataPlaneNodeSet.'), 'Node sets to run on.', 64).optional(),
    servicesOverride: list(
      objectName('Name of an OpenStackDataPlaneService.'),
      'Run these services instead of those of the node sets.',
      128,
    ).optional(),
    ...ansibleRun(),
  }),
  rules: [rule('self == oldSelf', "a deployment is a record and can't change: create another one")],
  status: () => ({
    runs: listMap(
      z.object({
        nodeSet: text('Node set.'),
        service: text('Service.'),
        state: oneOf(['Pending', 'Running', 'Done', 'Failed'], 'How far it is.'),
        message: text('Why it failed, with the first hosts by name.').max(512).optional(),
      }),
      ['nodeSet', 'service'],
      'Runs in order.',
      512,
    ).optional(),
  }),
});
