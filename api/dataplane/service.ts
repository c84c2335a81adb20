import { dataplane } from '../schema/groups.ts';
import { flag, list, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OpenStackDataPlaneService = kind({
  in: dataplane,
  kind: 'OpenStackDataPlaneService',
  plural: 'openstackdataplaneservices',
  shortNames: ['osdpsvc'],
  nameLimit: 'none',
  description:
    'One Ansible playbook or role and the Secrets and ConfigMaps it needs. Those that come with the operator cannot be edited: copy one under a new name.',
  columns: [{ name: 'Playbook', type: 'string', jsonPath: '.spec.playbook', description: 'What it runs' }],
  spec: () => ({
    playbook: text('Playbook to run, e.g. osp.edpm.nova.').max(512).optional(),
    playbookContents: text('Playbook as text, instead of playbook.').optional(),
    role: text('Role to run when there is no playbook, e.g. edpm_nova.').max(512).optional(),
    secrets: list(objectName('Name of a Secret.'), 'Secrets mounted for the run.', 64).optional(),
    configMaps: list(objectName('Name of a ConfigMap.'), 'ConfigMaps mounted for the run.', 64).optional(),
    edpmServiceType: text(
      'Folder name of this service on hosts; absent means the name of this object. Set it on copies.',
    )
      .max(63)
      .optional(),
    deployOnAllNodeSets: flag('true runs it once over all hosts of the deployment.').default(false),
    ansibleEEContainerImage: text('Image that runs Ansible.').max(512).optional(),
  }),
});
