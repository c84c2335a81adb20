import * as z from 'zod';
import { actions, networkAttachments, release } from '../blocks/common.ts';
import { env, nodeShape } from '../blocks/node.ts';
import { openstack } from '../schema/groups.ts';
import { flag, group, int, intOrString, list, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';
import { MAX_INT } from '../schema/status.ts';

const COUNT_OR_PERCENT = /^[0-9]+%?$/;

export const OpenStackDataPlane = kind({
  in: openstack,
  kind: 'OpenStackDataPlane',
  plural: 'openstackdataplanes',
  shortNames: ['osdp'],
  nameLimit: 'none',
  description:
    'Hosts outside the cluster as a whole: notices changes, rolls them out in waves within a budget, first to a few, and reports per host.',
  columns: [
    { name: 'Hosts', type: 'integer', jsonPath: '.status.hosts.total', description: 'Hosts' },
    {
      name: 'Updated',
      type: 'integer',
      jsonPath: '.status.hosts.updated',
      description: 'Hosts that run what they should',
    },
    { name: 'Failed', type: 'integer', jsonPath: '.status.hosts.failed', description: 'Hosts whose last run failed' },
  ],
  spec: () => ({
    nodeSets: list(
      objectName('Name of an OpenStackDataPlaneNodeSet.'),
      'Node sets to keep up to date, beside the roles that name this object.',
      64,
    ).optional(),
    nodeTemplate: group(nodeShape(), 'Defaults for every host; roles and node sets win over them.').optional(),
    strategy: group(
      {
        canaries: int(0, 100, 'Hosts to change first, alone.').default(1),
        maxUnavailable: intOrString(
          COUNT_OR_PERCENT,
          'Hosts changed at the same time: a number or a percentage.',
        ).default(1),
        maxFailed: intOrString(
          COUNT_OR_PERCENT,
          'Failed hosts after which the roll-out stops: a number or a percentage.',
        ).default(1),
        drain: flag('true moves guests away before a host is touched in a way that could disturb them.').default(true),
      },
      'How changes reach hosts.',
    ).prefault({}),
    deploy: flag('false shows what would change and touches nothing.').default(true),
    ...networkAttachments(),
    ...env(),
    ...release(),
    ...actions(),
  }),
  status: () => ({
    hosts: group(
      {
        total: int(0, MAX_INT, 'Hosts.').optional(),
        updated: int(0, MAX_INT, 'Hosts that run what they should.').optional(),
        updating: int(0, MAX_INT, 'Hosts being changed now.').optional(),
        failed: int(0, MAX_INT, 'Hosts whose last run failed.').optional(),
      },
      'Counts; details are on the host objects.',
    ).optional(),
    failedHosts: list(z.string().describe('Name of a host.'), 'The first ten failed hosts.', 10).optional(),
    wave: int(0, MAX_INT, 'Number of the wave that runs now.').optional(),
    targetHash: text('Hash of what hosts should run.').optional(),
  }),
});
