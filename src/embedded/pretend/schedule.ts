import { Node, PersistentVolumeClaim, Pod } from '../../kube/resource.ts';
import { type Hands, withCondition } from './hands.ts';
import {
  type ClaimObject,
  matches,
  type NodeObject,
  type NodeRequirement,
  type PodObject,
  type PodSpec,
} from './objects.ts';

/** Daemon pods stay where a node is cordoned or not ready. */
export function tolerates(spec: PodSpec, node: NodeObject, daemon = false): boolean {
  if (node.spec?.unschedulable === true && !daemon) return false;
  return (node.spec?.taints ?? [])
    .filter(t => t.effect !== 'PreferNoSchedule' && !(daemon && t.key.startsWith('node.kubernetes.io/')))
    .every(taint =>
      (spec.tolerations ?? []).some(
        t =>
          (t.effect === undefined || t.effect === '' || t.effect === taint.effect) &&
          (t.operator === 'Exists'
            ? t.key === undefined || t.key === '' || t.key === taint.key
            : t.key === taint.key && (t.value ?? '') === (taint.value ?? '')),
      ),
    );
}

/** nodeSelector and required node affinity: any of the terms, all of its requirements. */
export function fits(spec: PodSpec, labels: Readonly<Record<string, string>> = {}): boolean {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const meets = ({ key, operator, values = [] }: NodeRequirement): boolean => {
    const value = labels[key];
    switch (operator) {
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      default:
        throw new Error(`node affinity operator ${operator} is not pretended`);
    }
  };
  return (
    matches(labels, spec.nodeSelector) && (terms?.some(term => (term.matchExpressions ?? []).every(meets)) ?? true)
  );
}

const isUp = (node: NodeObject) =>
  node.status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') ?? false;

/** A node, or why there is none. */
export function choose(
  pod: PodObject,
  nodes: readonly NodeObject[],
  claims: readonly { name: string; claim: ClaimObject | undefined }[],
  load: (node: string) => number,
): { node: string } | { why: string } {
  const absent = claims.find(c => c.claim === undefined);
  if (absent) return { why: `persistentvolumeclaim "${absent.name}" not found` };
  if (claims.some(c => c.claim?.status?.phase !== 'Bound'))
    return { why: 'pod has unbound immediate PersistentVolumeClaims' };
  const fit = nodes.filter(n => isUp(n) && fits(pod.spec, n.metadata.labels) && tolerates(pod.spec, n));
  if (fit.length === 0)
    return { why: `0/${nodes.length} nodes are available: none fits the pod's node selector and tolerations` };
  const best = fit.map(n => n.metadata.name).sort((a, b) => load(a) - load(b) || (a < b ? -1 : 1));
  return { node: best[0]! };
}

export async function schedule(hands: Hands, pod: PodObject): Promise<void> {
  const { view } = hands;
  const { namespace = '', name } = pod.metadata;
  const names = (pod.spec.volumes ?? []).flatMap(v => v.persistentVolumeClaim?.claimName ?? []);
  const claims = names.map(n => ({ name: n, claim: view.get<ClaimObject>(PersistentVolumeClaim, namespace, n) }));
  const pods = view.list<PodObject>(Pod);
  const load = (node: string) => pods.filter(p => p.spec.nodeName === node).length;
  const choice = choose(pod, view.list<NodeObject>(Node), claims, load);
  if ('node' in choice) {
    await hands.bind(pod, Pod, choice.node);
    return hands.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${choice.node}`);
  }
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: choice.why } as const;
  await hands.setStatus(Pod, pod, { conditions: withCondition(pod.status?.conditions, condition, hands.time()) });
  await hands.event(pod, 'Warning', 'FailedScheduling', choice.why);
}
