import type { Container, NodeSelectorRequirement } from 'kubernetes-types/core/v1.d.ts';
import type { OVNNetwork } from '../../../api/openstack/ovnnetwork.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { DaemonSet } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { fieldOf } from '../env.ts';
import { imageOf } from '../images.ts';
import { logging } from '../links/sections.ts';
import {
  COMPUTE_LABEL,
  GATEWAY_LABEL,
  HOST_NETWORK,
  has,
  hostDevice,
  hostFolder,
  is,
  isNot,
  lacks,
  OVS_RUN,
  onNodes,
} from '../pods/node.ts';
import { askedBy, type Process, type ProcessVolume } from '../pods/pod.ts';
import type { Workload } from '../pods/workload.ts';
import { clientSection, type OVNObject } from './address.ts';
import type { CellAgent } from './metadata.ts';
import { OVN_RUN, scriptArgv, VSWITCHD_CTL } from './scripts.ts';

type Spec = SpecOf<typeof OVNNetwork>;

/** Rights on the node, proven one by one (lab.md 5): root without any power, and for the switch those of a switch. */
export const POWERLESS: Container['securityContext'] = {
  runAsUser: 0,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};
export const SWITCH: Container['securityContext'] = {
  runAsUser: 0,
  capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW', 'SYS_NICE', 'IPC_LOCK'] },
};

/** Which nodes are gateways: by the labels that the spec names, else by ours. */
function gatewayNodes(spec: DeepReadonly<Spec>): readonly NodeSelectorRequirement[] {
  const labels = Object.entries(spec.gatewayNodeSelector ?? {}).sort();
  return labels.length > 0 ? labels.map(([key, value]) => is(key, value)) : [has(GATEWAY_LABEL)];
}

/** Compute nodes that are no gateways: each label that a gateway must have may be the one that is missing. */
function otherNodes(spec: DeepReadonly<Spec>): readonly (readonly NodeSelectorRequirement[])[] {
  const labels = Object.entries(spec.gatewayNodeSelector ?? {}).sort();
  if (labels.length === 0) return [[has(COMPUTE_LABEL), lacks(GATEWAY_LABEL)]];
  return labels.map(([key, value]) => [has(COMPUTE_LABEL), isNot(key, value)]);
}

const base: Workload<Spec> = { as: DaemonSet, argv: [], template: 'controller', onNode: true, graceSeconds: 60 };

/** Two sets of nodes, because a pod can't see the labels of its node and a gateway has one option more. */
export const chassisWorkload = (spec: DeepReadonly<Spec>, gateway: boolean): Workload<Spec> => ({
  ...base,
  pod: { ...HOST_NETWORK, affinity: gateway ? onNodes(gatewayNodes(spec)) : onNodes(...otherNodes(spec)) },
});

export function chassisProcesses(
  cx: Cx<OVNObject>,
  gateway: boolean,
  /** What ovn-controller shows to the southbound database, and trusts. */
  mounts: readonly ProcessVolume[],
): readonly Process[] {
  const { release, images, imageRegistry, controller } = cx.spec;
  const image = (name: string, own?: string): string =>
    imageOf(name, { release, images, imageRegistry, image: own }, cx.env);
  const volumes = [
    hostFolder('run-openvswitch', OVS_RUN),
    hostFolder('etc-openvswitch', '/etc/openvswitch'),
    hostFolder('run-ovn', OVN_RUN),
  ];
  const common = { user: 0, userName: 'root', direct: true, volumes, requests: { cpu: '10m', memory: '32Mi' } };
  return [
    {
      ...common,
      name: 'ovn-controller',
      image: image('ovn-controller', controller?.image),
      argv: scriptArgv('controller'),
      volumes: [...volumes, ...mounts],
      security: POWERLESS,
      // Not for liveness: flows go on without the southbound database, and a restart would lose them.
      ...askedBy('sh', '-c', 'ovn-appctl -t ovn-controller connection-status | grep -qx connected'),
    },
    {
      ...common,
      name: 'ovsdb-server',
      image: image('openvswitch-db-server'),
      argv: scriptArgv('ovsdb'),
      security: POWERLESS,
    },
    {
      ...common,
      name: 'ovs-vswitchd',
      image: image('openvswitch-vswitchd'),
      argv: scriptArgv(gateway ? 'vswitchd-gateway' : 'vswitchd'),
      security: SWITCH,
      requests: { cpu: '50m', memory: '64Mi' },
      volumes: [...volumes, hostDevice('dev-net-tun', '/dev/net/tun')],
      env: [fieldOf('NODE_NAME', 'spec.nodeName'), fieldOf('NODE_IP', 'status.hostIP')],
      ...askedBy('ovs-appctl', '-t', VSWITCHD_CTL, 'version'),
    },
  ];
}

const NEUTRON = '/var/lib/neutron';

/** Runs a proxy in a namespace of each network with guests here: privileged, or the kubelet refuses Bidirectional. */
export const agentWorkload: Workload<Spec> = {
  as: DaemonSet,
  argv: ['neutron-ovn-agent'],
  image: 'neutron-ovn-agent',
  template: 'metadataAgent',
  onNode: true,
  direct: true,
  security: { runAsUser: 0, privileged: true },
  env: () => [fieldOf('OS_DEFAULT__HOST', 'spec.nodeName')],
  volumes: () => [
    hostFolder('run-openvswitch', OVS_RUN),
    hostFolder('run-netns', '/run/netns', { mountPropagation: 'Bidirectional' }),
    hostFolder('neutron', NEUTRON),
  ],
  pod: { ...HOST_NETWORK, affinity: onNodes([has(COMPUTE_LABEL)]) },
  graceSeconds: 60,
  requests: { cpu: '20m', memory: '384Mi' },
};

/** The same on the nodes of one cell. */
export const agentOn = (nodes: CellAgent['nodes']): Workload<Spec> => ({
  ...agentWorkload,
  pod: { ...HOST_NETWORK, affinity: onNodes(...nodes) },
});

export const agentSections = (northbound: string, southbound: string, tls: boolean) => ({
  ...logging,
  agent: { extensions: ['metadata'] },
  ovs: { ovsdb_connection: `unix:${OVS_RUN}/db.sock` },
  ovn: { ovn_nb_connection: northbound, ovn_sb_connection: southbound, ...(tls && clientSection()) },
  oslo_concurrency: { lock_path: `${NEUTRON}/lock` },
});
