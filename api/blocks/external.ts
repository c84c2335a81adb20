import { flag, objectName, text } from '../schema/helpers.ts';
import { networkAttachments } from './common.ts';
import { customServiceConfig } from './pod.ts';

/** A service on a host outside the cluster. No nodeSelector and no replicas: there are no pods to place. */
export const externalService = () => ({
  dataplaneNodeName: objectName('OpenStackDataPlaneNode that describes the host.').optional(),
  ...customServiceConfig(),
  sshKeySecretName: objectName('Secret with the key to log in with, key ssh-privatekey.').optional(),
  inventoryConfigMapName: objectName('ConfigMap with the Ansible inventory, key inventory.').optional(),
  ...networkAttachments(),
  deploy: flag('false prepares the config but does not touch the host.').default(true),
  ansibleEEContainerImage: text('Image that runs Ansible. Written once at creation; yours to change after that.')
    .max(512)
    .optional(),
});
