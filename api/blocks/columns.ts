import type { Column } from '../schema/kind.ts';

const column =
  (name: string, type: Column['type'], jsonPath: string, description: string, priority?: number) => (): Column => ({
    name,
    type,
    jsonPath,
    description,
    ...(priority === undefined ? {} : { priority }),
  });

export const replicasColumn = column('Replicas', 'integer', '.spec.replicas', 'Pods wanted');
export const releaseColumn = column('Release', 'string', '.status.release', 'OpenStack release that runs', 1);
export const hostColumn = column('Host', 'string', '.spec.dataplaneNodeName', 'Host outside the cluster');
export const deployColumn = column('Deploy', 'boolean', '.spec.deploy', 'Whether the operator may run Ansible', 1);
