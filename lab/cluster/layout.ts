import { labName } from '../paths.ts';

/**
 * Addresses and names inside the lab. All of it lives in network namespaces without an uplink, so the ranges
 * can't meet anything outside.
 */
export const NETNS = labName;
export const BRIDGE = 'br-lab';
export const CGROUP = labName;
/** Of the daemons that make a cluster; beside those of the nodes, of which kubelets delete what they do not know. */
export const SYSTEM_CGROUP = `${CGROUP}/system`;
export const SERVICE_CIDR = '10.96.0.0/16';
export const API_SERVICE_IP = '10.96.0.1';
export const DNS_IP = '10.96.0.10';
export const POD_CIDR = '10.244.0.0/16';
/** A host that is no part of the cluster, on the wire of the external bridge (lab/cloud.yaml names the port). */
export const OUTSIDE = `${labName}-outside`;
export const OUTSIDE_IP = '172.24.4.254';
export const EXTERNAL_PORT = 'ex0';
/** The network of floating addresses, and the wire between that host and the cluster. */
export const FLOATING_CIDR = '172.24.4.0/24';
export const SITE = { cluster: '172.24.5.1', outside: '172.24.5.2' } as const;
export const API_PORT = 6443;

export interface LabNode {
  readonly index: number;
  readonly name: string;
  readonly ip: string;
  readonly podCidr: string;
  /** The first node shares its network namespace with the control plane; others hang on its bridge. */
  readonly netns: string;
  readonly cgroup: string;
}

/** LAB_NODES: one by default. More nodes come with high availability; every step below takes a list of nodes. */
export function nodesOf(count: number): LabNode[] {
  if (!Number.isInteger(count) || count < 1 || count > 9)
    throw new Error(`LAB_NODES must be a number from 1 to 9, not ${count}`);
  return Array.from({ length: count }, (_, i) => node(i + 1));
}

export function node(index: number): LabNode {
  const name = `n${index}`;
  return {
    index,
    name,
    ip: `10.250.0.${index}`,
    podCidr: `10.244.${index}.0/24`,
    netns: index === 1 ? NETNS : `${NETNS}-${name}`,
    cgroup: `${CGROUP}/${name}`,
  };
}

export const apiServer = `https://${node(1).ip}:${API_PORT}`;

/** Both labels are what the operator looks for: hypervisors and nodes with an external bridge. */
export const nodeLabels = ['openstack.k8s.io/compute=', 'openstack.k8s.io/gateway='] as const;
