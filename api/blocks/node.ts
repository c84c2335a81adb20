import * as z from 'zod';
import { group, int, list, map, objectName, open, text, textOrMap } from '../schema/helpers.ts';

export const hostAddress = () => ({
  ansibleHost: text('Address or name that Ansible connects to; absent means hostName.').max(253).optional(),
  hostName: text('Host name; absent means the name of the node.').max(253).optional(),
});

/** How to log in to a host and the variables that Ansible gets for it. */
export const nodeShape = () => ({
  ansiblePort: int(1, 65535, 'SSH port.').optional(),
  ansibleUser: text('User to log in as.').max(63).optional(),
  ansibleSSHPrivateKeySecret: objectName('Secret with the key to log in with, key ssh-privatekey.').optional(),
  ansibleVars: textOrMap('Ansible variables: a map, or YAML text.').optional(),
  ansibleVarsFrom: list(
    z.strictObject({
      prefix: text('Put before every key.').max(63).optional(),
      secretRef: group({ name: objectName('Name of the Secret.') }, 'Secret to take keys from.').optional(),
      configMapRef: group({ name: objectName('Name of the ConfigMap.') }, 'ConfigMap to take keys from.').optional(),
    }),
    'Ansible variables from Secrets and ConfigMaps; values stay text.',
    16,
  ).optional(),
  managementNetwork: text('Network that the host is managed over.').max(63).optional(),
  networks: list(
    open('Network of the host: name, subnetName, fixedIP, defaultRoute.'),
    'Networks of the host.',
    32,
  ).optional(),
  extraMounts: list(
    open('A core/v1 Volume (name and source) plus mountPath.'),
    'Extra files for the pod that runs Ansible.',
    32,
  ).optional(),
});

export const baremetal = () => ({
  preProvisioned: z
    .boolean()
    .describe('true when hosts already run an operating system. Absent: true unless baremetalSetTemplate is set.')
    .optional(),
  baremetalSetTemplate: open(
    'How to install hosts through Metal3: osImage, bmhLabelSelector, ctlplaneInterface, cloudUserName ...',
  ).optional(),
});

export const env = () => ({
  env: list(
    z.strictObject({
      name: text('Name of the variable.').min(1).max(255),
      value: text('Value of the variable.').optional(),
    }),
    'Environment of the pod that runs Ansible.',
    64,
  ).optional(),
});

export const ansibleRun = () => ({
  ansibleTags: text('Only tasks with these tags, comma separated.').max(1024).optional(),
  ansibleSkipTags: text('Not tasks with these tags, comma separated.').max(1024).optional(),
  ansibleLimit: text('Only these hosts or groups.').max(4096).optional(),
  ansibleExtraVars: open('Variables that win over all others.').optional(),
  backoffLimit: int(0, 100, 'How often a failed run is tried again.').default(6),
});

export const nodeMap = () =>
  map(
    z.strictObject({ ...hostAddress(), ...nodeShape() }).describe('One host; what is not set comes from nodeTemplate.'),
    'Hosts by name.',
    1000,
  );
