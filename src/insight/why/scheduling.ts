import type { DeepReadonly } from '../../kube/object.ts';
import { type Live, namespaceOf, type View } from '../view/view.ts';
import type { Finding } from './finding.ts';

/** What the scheduler's words come down to, where a claim or the nodes tell more than it does. */

interface Place {
  readonly root: Finding['root'];
  readonly reason: string;
  /** What is said of `what`. */
  readonly what: string;
  readonly says: string;
}

type NodeSpec = DeepReadonly<{ unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] }>;
const specOf = (node: Live): NodeSpec => (node.spec ?? {}) as NodeSpec;
const nodeRoot = (name: string): Finding['root'] => ({ kind: 'Node', namespace: '', name });
/** Its protection of a claim in use ends with the pod. */
const PROTECTION = 'kubernetes.io/pvc-protection';

export function placeOf(view: View, pod: Live, said: string): Place | undefined {
  const claim = /persistentvolumeclaim "([^"]+)" is being deleted/.exec(said)?.[1];
  if (claim !== undefined) return goingClaim(view, namespaceOf(pod), claim);
  const nodes = view.ofKind('Node').filter(node => isWanted(pod, node));
  return cordoned(nodes, said) ?? tainted(nodes, said);
}

function goingClaim(view: View, namespace: string, name: string): Place {
  const finalizers = view.get('PersistentVolumeClaim', namespace, name)?.metadata.finalizers ?? [];
  const foreign = finalizers.filter(finalizer => finalizer !== PROTECTION);
  return {
    root: { kind: 'PersistentVolumeClaim', namespace, name },
    reason: foreign.length > 0 ? 'Finalizer' : 'Terminating',
    what: `PersistentVolumeClaim ${name}`,
    says: `is being deleted${foreign.length > 0 ? `, held by finalizer ${foreign.join(', ')}` : ''}`,
  };
}

const isWanted = (pod: Live, node: Live): boolean =>
  Object.entries((pod.spec as { nodeSelector?: Record<string, string> } | undefined)?.nodeSelector ?? {}).every(
    ([key, value]) => node.metadata.labels?.[key] === value,
  );

function cordoned(nodes: readonly Live[], said: string): Place | undefined {
  const names = nodes.filter(node => specOf(node).unschedulable).map(node => node.metadata.name);
  const [first] = names;
  if (first === undefined || !/were unschedulable/.test(said)) return undefined;
  const says = names.length === 1 ? 'is cordoned' : `and ${names.slice(1).join(', ')} are cordoned`;
  return { root: nodeRoot(first), reason: 'Cordoned', what: `Node ${first}`, says };
}

/** Of a node that is not well the cluster itself tells by a taint. */
function tainted(nodes: readonly Live[], said: string): Place | undefined {
  const keys = [...said.matchAll(/untolerated taint(?:\(s\))? \{([^:}\s]+):/g)].map(found => found[1] ?? '');
  for (const key of keys)
    for (const node of nodes) {
      const taint = specOf(node).taints?.find(one => one.key === key);
      if (taint === undefined) continue;
      const value = taint.value ? `=${taint.value}` : '';
      const says = `has the taint ${key}${value}:${taint.effect}, which the pod does not tolerate`;
      const reason = key.startsWith('node.kubernetes.io/') ? 'NodeNotReady' : 'Tainted';
      return { root: nodeRoot(node.metadata.name), reason, what: `Node ${node.metadata.name}`, says };
    }
  return undefined;
}
