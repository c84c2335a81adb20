import type { DeepReadonly } from '../../kube/object.ts';
import { podTrouble } from '../../runtime/plan/ready.ts';
import { isRunning, isWorkload, progressOf } from '../status/workloads.ts';
import { below, conditionsOf, type Live, namespaceOf, type View } from '../view/view.ts';
import { type Finding, type Link, oneLine, refOf, since } from './finding.ts';
import { meaningOf } from './meanings.ts';
import { refusalOf } from './refusals.ts';
import { placeOf } from './scheduling.ts';
import { missingFinding, mountFinding, volumeFinding } from './volumes.ts';

interface Terminated {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}
interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: Terminated;
  };
  readonly lastState?: { readonly terminated?: Terminated };
}
interface PodStatus {
  readonly phase?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

/** Longer than every start-up that we know of; a pod that runs and is not ready for this long has a reason. */
const SLOW_START_MS = 180_000;

/** What keeps one workload or Job from its pods; undefined when it is well or merely on its way. */
export function workloadFinding(view: View, workload: Live): Finding | undefined {
  const short = isWorkload(workload) ? progressOf(workload).doing : isRunning(workload) ? 'runs' : jobEnd(workload);
  const at: Link = { what: `${workload.kind} ${workload.metadata.name}`, says: short ?? 'is complete' };
  if (short === undefined) return undefined;
  const pods = below(view, workload).filter(object => object.kind === 'Pod');
  // A node that is away explains its pods better than they do.
  for (const find of [nodeFinding, podFinding])
    for (const pod of pods) {
      const found = find(view, pod);
      if (found) return { ...found, links: [at, ...found.links] };
    }
  if (short === FAILED)
    return {
      root: refOf(workload),
      reason: 'JobFailed',
      what: `Job ${workload.metadata.name} gave up, and its pods are gone`,
      links: [at, ...warnings(view, [workload])],
    };
  return notCreated(view, workload, at);
}

const FAILED = 'gave up';
const jobEnd = (job: Live): string | undefined =>
  conditionsOf(job).some(c => c.type === 'Failed' && c.status === 'True') ? FAILED : undefined;

/** No pod came into being: a quota, a policy or a missing service account speaks only through events. */
function notCreated(view: View, workload: Live, at: Link): Finding | undefined {
  const makers = [workload, ...view.owned(workload).filter(child => child.kind === 'ReplicaSet')];
  const event = makers.flatMap(maker => view.events(maker)).findLast(e => e.warning && e.reason === 'FailedCreate');
  if (event === undefined || below(view, workload).some(object => object.kind === 'Pod')) return undefined;
  const refusal = refusalOf(namespaceOf(workload), event.text);
  return {
    root: refusal?.root ?? refOf(workload),
    reason: refusal?.reason ?? 'FailedCreate',
    what: `pods of ${workload.kind} ${workload.metadata.name} are refused: ${oneLine(event.text)}`,
    links: [at, { what: `event ${event.reason}`, says: oneLine(event.text) }],
  };
}

function nodeFinding(view: View, pod: Live): Finding | undefined {
  const name = (pod.spec as { nodeName?: string } | undefined)?.nodeName;
  const node = name === undefined ? undefined : view.get('Node', '', name);
  const ready = conditionsOf(node).find(c => c.type === 'Ready');
  if (node === undefined || ready === undefined || ready.status === 'True') return undefined;
  const says = oneLine(`is not ready: ${ready.reason} ${ready.message ?? ''}`);
  return {
    root: refOf(node),
    reason: 'NodeNotReady',
    what: `Node ${name} ${says}`,
    links: [
      { what: `Pod ${pod.metadata.name}`, says: `runs on Node ${name}` },
      { what: `Node ${name}`, says },
    ],
  };
}

/** What keeps a pod from being ready: the scheduler, a volume, an image, its own end, or a probe. */
export function podFinding(view: View, pod: Live): Finding | undefined {
  const status = (pod.status ?? {}) as DeepReadonly<PodStatus>;
  const here: Link = { what: `Pod ${pod.metadata.name}`, says: status.phase ?? 'Pending' };
  const base = { root: refOf(pod), pod };
  const trouble = podTrouble(pod);
  if (trouble?.reason === 'VolumePending') return volumeFinding(view, pod, here);
  if (trouble?.reason === 'Unschedulable') {
    const place = placeOf(view, pod, trouble.what);
    const scheduler: Link = { what: 'scheduler', says: oneLine(trouble.what) };
    const { name } = pod.metadata;
    if (place) {
      const { what, says, ...found } = place;
      return {
        ...base,
        ...found,
        what: `no node takes Pod ${name}: ${what} ${says}`,
        links: [here, scheduler, { what, says }],
      };
    }
    return {
      ...base,
      reason: trouble.reason,
      what: `no node fits Pod ${name}: ${scheduler.says}`,
      links: [here, scheduler],
    };
  }
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  if (trouble) {
    const container = containers.find(isTroubled);
    return { ...base, ...containerFinding(view, pod, container, trouble, here) };
  }
  const mount = view.events(pod).findLast(e => e.warning && /^Failed(Mount|AttachVolume)$/.test(e.reason));
  const begun = containers.some(c => c.state?.running || c.state?.terminated);
  if (mount && !begun && status.phase !== 'Succeeded' && since(view, mount.at) >= 0)
    return mountFinding(view, pod, here, mount.text);
  const slow = containers.find(
    c => c.ready === false && c.state?.running && since(view, c.state.running.startedAt) > SLOW_START_MS,
  );
  if (slow === undefined || status.phase !== 'Running') return undefined;
  const says = `runs and is not ready: ${probeWords(view, pod) ?? 'its probe fails'}`;
  return {
    ...base,
    reason: 'ProbeFails',
    what: `container ${slow.name} of Pod ${pod.metadata.name} ${says}`,
    links: [here, { what: `container ${slow.name}`, says }, ...warnings(view, [pod])],
    container: slow.name,
  };
}

/** What the kubelet said of the last probe that failed. */
function probeWords(view: View, pod: Live): string | undefined {
  const event = view.events(pod).findLast(e => e.warning && e.reason === 'Unhealthy');
  return event && oneLine(event.text);
}

const isTroubled = (c: ContainerStatus): boolean =>
  c.state?.waiting?.reason !== undefined
    ? !['ContainerCreating', 'PodInitializing'].includes(c.state.waiting.reason)
    : (c.state?.terminated?.exitCode ?? 0) !== 0;

function containerFinding(
  view: View,
  pod: Live,
  container: ContainerStatus | undefined,
  trouble: { readonly reason: string; readonly what: string },
  here: Link,
): Omit<Finding, 'root' | 'pod'> & { root?: Finding['root'] } {
  const waiting = container?.state?.waiting;
  const ended = container?.state?.terminated ?? container?.lastState?.terminated;
  const says = waiting?.reason ? `waits: ${waiting.reason}` : ended ? `ended with ${ended.exitCode}` : 'is in trouble';
  const said = (ended?.message ?? '').trim().split('\n').slice(-3).map(oneLine).filter(Boolean);
  const words = said.map((text): Link => ({ what: 'last words', says: text }));
  const links = [
    here,
    { what: `container ${container?.name ?? '?'}`, says: oneLine(says) },
    ...warnings(view, [pod]),
    ...words,
  ];
  const common = { links, ...(container && { container: container.name }) };
  if (trouble.reason === 'ImagePullFailed')
    return {
      ...common,
      // The same image is missing for all who use it.
      root: { kind: 'Image', namespace: '', name: container?.image ?? '' },
      reason: trouble.reason,
      what: `image ${container?.image} can't be pulled`,
    };
  if (trouble.reason === 'PodConfig') return { ...common, ...missingFinding(pod, oneLine(trouble.what)) };
  const meaning = meaningOf([ended?.reason ?? '', ...said].join('\n'));
  // Ended by the kubelet, and not by itself: such a container has no last words of its own.
  const probe = said.length === 0 && meaning === undefined ? probeWords(view, pod) : undefined;
  if (probe !== undefined)
    return {
      ...common,
      reason: 'ProbeFails',
      what: `container ${container?.name} of Pod ${pod.metadata.name} is ended again and again: ${probe}`,
    };
  // Servers end with a line that says no more than that they end.
  const telling = said.findLast(line => meaning && meaningOf(line) === meaning) ?? said.at(-1);
  const own = pod.metadata.ownerReferences?.find(ref => ref.controller);
  const job = own?.kind === 'Job';
  return {
    ...common,
    ...(job && { root: { kind: 'Job', namespace: namespaceOf(pod), name: own.name } }),
    reason: meaning?.reason ?? (job ? 'JobFailed' : 'CrashLoop'),
    what: `container ${container?.name} of Pod ${pod.metadata.name} ended with ${ended?.exitCode}${telling ? `: ${telling}` : ''}`,
    ...(meaning && { meaning }),
  };
}

function warnings(view: View, objects: readonly Live[]): readonly Link[] {
  const last = objects.flatMap(object => view.events(object)).findLast(event => event.warning);
  return last ? [{ what: `event ${last.reason}`, says: oneLine(last.text) }] : [];
}
