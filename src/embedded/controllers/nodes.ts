import type { KubeObject } from '../../kube/object.ts';
import { Node, StorageClass } from '../../kube/resource.ts';
import { NoAnswer } from '../../kube/transport.ts';
import { type Hands, Refused, withCondition } from './hands.ts';
import type { NodeObject } from './objects.ts';

export interface NodePlan {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The nodes, and a default StorageClass where the cluster has none at all. False when the server did not let us. */
export async function ensureNodes(hands: Hands, nodes: readonly NodePlan[]): Promise<boolean> {
  try {
    await makeNodes(hands, nodes);
    return true;
  } catch (error) {
    if (error instanceof Refused || error instanceof NoAnswer) return false;
    throw error;
  }
}

async function makeNodes(hands: Hands, nodes: readonly NodePlan[]): Promise<void> {
  for (const { name, labels } of nodes) {
    if (hands.view.get(Node, '', name)) continue;
    const own = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
    await hands.create<NodeObject>(Node, { metadata: { name, labels: { ...own, ...labels } }, spec: {} });
  }
  if (hands.view.list(StorageClass).length > 0) return;
  await hands.create<KubeObject & { provisioner: string }>(StorageClass, {
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'openstack.k8s.io/pretend',
  });
}

const STARTING = 'node.kubernetes.io/not-ready';

/** Looks after the nodes that are ours: up, or silent. */
export async function nodeLook(
  hands: Hands,
  nodes: readonly NodePlan[],
  node: NodeObject,
  silent: boolean,
): Promise<undefined> {
  const index = nodes.findIndex(n => n.name === node.metadata.name);
  if (index < 0) return;
  // Admission puts it on every new node, and the controller that takes it off is one of those we stand for.
  const taints = node.spec?.taints?.filter(t => t.key !== STARTING);
  if (taints?.length !== node.spec?.taints?.length) {
    await hands.update(Node, { ...node, spec: { ...node.spec, taints: taints ?? [] } });
    return;
  }
  const condition = silent
    ? { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
    : { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
  const ready = { type: 'Ready', ...condition } as Parameters<typeof withCondition>[1];
  await hands.setStatus(Node, node, {
    conditions: withCondition(node.status?.conditions, ready, hands.time()),
    addresses: [
      { type: 'InternalIP', address: `192.0.2.${10 + index}` },
      { type: 'Hostname', address: node.metadata.name },
    ],
  });
}
