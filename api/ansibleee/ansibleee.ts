import { networkAttachments } from '../blocks/common.ts';
import { ansibleRun, env } from '../blocks/node.ts';
import { ansibleee } from '../schema/groups.ts';
import { list, objectName, open, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OpenStackAnsibleEE = kind({
  in: ansibleee,
  kind: 'OpenStackAnsibleEE',
  plural: 'openstackansibleees',
  shortNames: ['osaee'],
  nameLimit: 'none',
  description: 'One run of one playbook or role over one inventory. Becomes a Job.',
  columns: [{ name: 'Playbook', type: 'string', jsonPath: '.spec.playbook', description: 'What it runs' }],
  spec: () => ({
    playbook: text('Playbook to run, e.g. osp.edpm.nova.').max(512).optional(),
    playbookContents: text('Playbook as text, instead of playbook.').optional(),
    role: text('Role to run when there is no playbook, e.g. edpm_nova.').max(512).optional(),
    inventory: text('Inventory as text.').optional(),
    inventoryConfigMapName: objectName('ConfigMap with the inventory, key inventory, instead of inventory.').optional(),
    inventorySecretName: objectName('Secret with the inventory, key inventory, instead of inventory.').optional(),
    sshKeySecretName: objectName('Secret with the key to log in with, key ssh-privatekey.').optional(),
    extraVolumes: list(
      open('volumes (core/v1 Volume) and mounts (core/v1 VolumeMount) that belong together.'),
      'Files for the run: configs, keys, certificates.',
      64,
    ).optional(),
    image: text('Image that runs Ansible.').max(512).optional(),
    cmdLine: text('Extra arguments of ansible-playbook.').max(4096).optional(),
    ...env(),
    ...networkAttachments(),
    ...ansibleRun(),
  }),
  status: () => ({
    jobName: text('Job of the run.').optional(),
    jobState: text('State of the Job.').optional(),
  }),
});
