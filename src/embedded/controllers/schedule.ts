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

type Taint = NonNullable<NonNullable<NodeObject['spec']>['taints']>[number];

/** Daemon pods stay where a node is cordoned or not ready. */
export const tolerates = (spec: PodSpec, node: NodeObject, daemon = false): boolean =>
  (daemon || node.spec?.unschedulable !== true) && untolerated(spec, node, daemon) === undefined;

const untolerated = (spec: PodSpec, node: NodeObject, daemon = false): Taint | undefined =>
  (node.spec?.taints ?? [])
    .filter(t => t.effect !== 'PreferNoSchedule' && !(daemon && t.key.startsWith('node.kubernetes.io/')))
    .find(
      taint =>
        !(spec.tolerations ?? []).some(
          t =>
            (t.effect === undefined || t.effect === '' || t.effect === taint.effect) &&
            (t.operator === 'Exists'
              ? t.key === undefined || t.key === '' || t.key === taint.key
              : t.key === taint.key && (t.value ?? '') === (taint.value ?? '')),
        ),
    );

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
        throw new Error(`node affinity operator ${operator} is not simulated`);
    }
  };
  return (
    matches(labels, spec.nodeSelector) && (terms?.some(term => (term.matchExpressions ?? []).every(meets)) ?? true)
  );
}

const isUp = (node: NodeObject) =>
  node.status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') ?? false;

/** What keeps a pod from a node, in kube-scheduler's words and the order of its filters. */
function obstacle(spec: PodSpec, node: NodeObject): string | undefined {
  if (node.spec?.unschedulable === true) return 'node(s) were unschedulable';
  const taint = isUp(node) ? untolerated(spec, node) : { key: 'node.kubernetes.io/unreachable' };
  if (taint) return `node(s) had untolerated taint {${taint.key}: ${('value' in taint && taint.value) || ''}}`;
  return fits(spec, node.metadata.labels) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

/** `1 node(s) had ..., 2 node(s) were unschedulable`. */
function counted(obstacles: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of obstacles) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .map(([text, count]) => `${count} ${text}`)
    .sort()
    .join(', ');
}

/** A node, or why there is none. */
export function choose(
  pod: PodObject,
  nodes: readonly NodeObject[],
  claims: readonly { name: string; claim: ClaimObject | undefined }[],
  load: (node: string) => number,
): { node: string } | { why: string } {
  const absent = claims.find(c => c.claim === undefined);
  if (absent) return { why: `persistentvolumeclaim "${absent.name}" not found` };
  const going = claims.find(c => c.claim?.metadata.deletionTimestamp !== undefined);
  if (going) return { why: `persistentvolumeclaim "${going.name}" is being deleted` };
  if (claims.some(c => c.claim?.status?.phase !== 'Bound'))
    return { why: 'pod has unbound immediate PersistentVolumeClaims' };
  const looks = nodes.map(node => ({ node, why: obstacle(pod.spec, node) }));
  const fit = looks.filter(look => look.why === undefined).map(look => look.node);
  if (fit.length === 0) {
    const why = counted(looks.flatMap(look => look.why ?? []));
    return { why: `0/${nodes.length} nodes are available: ${why || 'there is none'}.` };
  }
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
