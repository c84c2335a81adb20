import { DaemonSet, Node, Pod } from '../../kube/resource.ts';
import { type Hands, shortHash } from './hands.ts';
import { isActive, isReady, type NodeObject, type PodObject, type Workload } from './objects.ts';
import { makePod, podFrom } from './replicaset.ts';
import { fits, tolerates } from './schedule.ts';

interface DaemonSetObject extends Workload {
  spec: Workload['spec'] & { updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } } };
}

const HASH = 'controller-revision-hash';

/** One pod on every node that the template's selector and affinity match and whose taints it tolerates. */
export async function daemonSet(hands: Hands, set: DaemonSetObject): Promise<undefined> {
  const { template, updateStrategy } = set.spec;
  const hash = shortHash(template);
  const wanted = hands.view
    .list<NodeObject>(Node)
    .filter(n => fits(template.spec, n.metadata.labels) && tolerates(template.spec, n, true))
    .map(n => n.metadata.name)
    .sort();
  const pods = hands.view.controlled<PodObject>(Pod, set);
  if (set.metadata.deletionTimestamp === undefined) {
    for (const node of wanted) {
      // A pod on its way out still holds its node: ports and host paths are not free yet.
      if (pods.some(p => p.spec.nodeName === node)) continue;
      const pod = podFrom(set, template, `${set.metadata.name}-${hands.suffix()}`, { [HASH]: hash });
      pod.spec.nodeName = node;
      await makePod(hands, set, pod);
    }
    const first = (p: PodObject) => pods.find(q => isActive(q) && q.spec.nodeName === p.spec.nodeName) === p;
    const leaving = pods.filter(
      p =>
        p.metadata.deletionTimestamp === undefined &&
        // A lost answer may have made two on one node: the older one stays.
        (!isActive(p) || !wanted.includes(p.spec.nodeName ?? '') || !first(p)),
    );
    for (const pod of leaving) await hands.remove(Pod, pod);
    const unavailable = wanted.filter(n => !pods.some(p => p.spec.nodeName === n && isActive(p) && isReady(p))).length;
    const outdated = pods.filter(p => isActive(p) && p.metadata.labels?.[HASH] !== hash && !leaving.includes(p));
    if (updateStrategy?.type !== 'OnDelete') {
      const broken = outdated.filter(p => !isReady(p));
      const room = Math.max(0, maxUnavailable(set, wanted.length) - unavailable);
      for (const pod of [...broken, ...outdated.filter(isReady).slice(0, room)]) await hands.remove(Pod, pod);
    }
  }
  const left = hands.view.controlled<PodObject>(Pod, set).filter(isActive);
  const ready = left.filter(isReady).length;
  const latest = hands.view.get<DaemonSetObject>(DaemonSet, set.metadata.namespace!, set.metadata.name) ?? set;
  await hands.setStatus(DaemonSet, latest, {
    currentNumberScheduled: left.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: 0,
    numberReady: ready,
    numberAvailable: ready || undefined,
    numberUnavailable: wanted.length - ready || undefined,
    updatedNumberScheduled: left.filter(p => p.metadata.labels?.[HASH] === hash).length || undefined,
    observedGeneration: set.metadata.generation,
  });
}

function maxUnavailable(set: DaemonSetObject, nodes: number): number {
  const value = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  return typeof value === 'number' ? value : Math.ceil((Number.parseFloat(value) / 100) * nodes);
}
