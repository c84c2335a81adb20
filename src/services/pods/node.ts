import type { Affinity, NodeSelectorRequirement, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { ProcessVolume } from './pod.ts';

/** What pods that serve one node have in common (lab.md 5). */

/** Nodes that run guests carry it, with any value. */
export const COMPUTE_LABEL = 'openstack.k8s.io/compute';
/** Nodes that connect tenant networks to the outside. */
export const GATEWAY_LABEL = 'openstack.k8s.io/gateway';

/** Host paths that pods of different objects share on a node: the same path inside and outside. */
export const OVS_RUN = '/run/openvswitch';

/** They are the node's network: its address, and names of the cluster none the less. */
export const HOST_NETWORK: Partial<PodSpec> = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' };

export const hostFolder = (
  name: string,
  path: string,
  more: Partial<Pick<ProcessVolume, 'mountPropagation'>> = {},
): ProcessVolume => ({ name, mountPath: path, hostPath: { path, type: 'DirectoryOrCreate' }, ...more });

export const hostDevice = (name: string, path: string): ProcessVolume => ({
  name,
  mountPath: path,
  hostPath: { path, type: 'CharDevice' },
});

/** Nodes that fit any of these sets of requirements. */
export const onNodes = (...sets: readonly (readonly NodeSelectorRequirement[])[]): Affinity => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: sets.map(matchExpressions => ({ matchExpressions: [...matchExpressions] })),
    },
  },
});

export const has = (key: string): NodeSelectorRequirement => ({ key, operator: 'Exists' });
export const lacks = (key: string): NodeSelectorRequirement => ({ key, operator: 'DoesNotExist' });
export const is = (key: string, value: string): NodeSelectorRequirement => ({ key, operator: 'In', values: [value] });
export const isNot = (key: string, value: string): NodeSelectorRequirement => ({
  key,
  operator: 'NotIn',
  values: [value],
});
