import { OpenStackAnsibleEE } from './ansibleee/ansibleee.ts';
import { OpenStackDataPlaneDeployment } from './dataplane/deployment.ts';
import { OpenStackDataPlaneNode } from './dataplane/node.ts';
import { OpenStackDataPlaneNodeSet } from './dataplane/nodeset.ts';
import { OpenStackDataPlaneRole } from './dataplane/role.ts';
import { OpenStackDataPlaneService } from './dataplane/service.ts';
import { OVNMetadataAgent } from './neutron/ovn-metadata-agent.ts';
import { NovaAPI } from './nova/api.ts';
import { NovaCell } from './nova/cell.ts';
import { NovaCompute } from './nova/compute.ts';
import { NovaConductor } from './nova/conductor.ts';
import { NovaExternalCompute } from './nova/external-compute.ts';
import { NovaMetadata } from './nova/metadata.ts';
import { NovaNoVNCProxy } from './nova/novncproxy.ts';
import { NovaScheduler } from './nova/scheduler.ts';
import { CHILDREN, OpenStackControlPlane } from './openstack/controlplane.ts';
import { OpenStackDataPlane } from './openstack/dataplane.ts';
import type { AnyKind } from './schema/kind.ts';

/** Every kind, in the order in which a reader meets them. */
export const KINDS: readonly AnyKind[] = [
  OpenStackControlPlane,
  ...Object.values(CHILDREN),
  NovaCell,
  NovaAPI,
  NovaScheduler,
  NovaConductor,
  NovaMetadata,
  NovaNoVNCProxy,
  NovaCompute,
  NovaExternalCompute,
  OVNMetadataAgent,
  OpenStackDataPlane,
  OpenStackDataPlaneRole,
  OpenStackDataPlaneNode,
  OpenStackDataPlaneNodeSet,
  OpenStackDataPlaneService,
  OpenStackDataPlaneDeployment,
  OpenStackAnsibleEE,
];

export const kindNamed = (kind: string, group?: string): AnyKind | undefined =>
  KINDS.find(k => k.kind === kind && (group === undefined || k.group === group));
