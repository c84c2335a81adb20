import type { StatusCause } from '../../../api/schema/kind.ts';
import type { AnyObject, Condition, DeepReadonly } from '../../kube/object.ts';
import { type Cause, type Unmet, wait } from './unmet.ts';

type Live = DeepReadonly<AnyObject>;
type Counts = Readonly<Record<string, number | undefined>>;

/** Why a workload is not there yet, or undefined when it is. Pure: pods are passed in for the reason behind the counts. */
export function workloadUnmet(live: Live, pods: readonly Live[]): Cause | undefined {
  const missing = shortfall(live);
  if (missing === undefined) return undefined;
  const what = `${live.kind} ${live.metadata.name} ${missing}`;
  const { kind, metadata } = live;
  const about = { kind, name: metadata.name, namespace: metadata.namespace ?? '' };
  const trouble = pods.map(podTrouble).find(t => t !== undefined);
  if (trouble) return { ...trouble, about, what: `${what}: ${trouble.what}` };
  return { reason: 'Progressing', about, what, who: 'Cluster', next: 'start its pods' };
}

function shortfall(live: Live): string | undefined {
  const status = (live.status ?? {}) as Counts;
  const spec = (live.spec ?? {}) as Counts;
  if ((status.observedGeneration ?? 0) < (live.metadata.generation ?? 0)) return 'is not observed yet';
  const wanted = live.kind === 'DaemonSet' ? (status.desiredNumberScheduled ?? 0) : (spec.replicas ?? 1);
  const [updated, ready] =
    live.kind === 'DaemonSet'
      ? [status.updatedNumberScheduled ?? 0, status.numberAvailable ?? 0]
      : [
          status.updatedReplicas ?? 0,
          live.kind === 'StatefulSet' ? (status.readyReplicas ?? 0) : (status.availableReplicas ?? 0),
        ];
  // Nobody replaces the pods of such a set but people: an old template is no reason to wait.
  const byHand = (live.spec as { updateStrategy?: { type?: string } } | undefined)?.updateStrategy?.type === 'OnDelete';
  if (updated < wanted && !byHand) return `has ${updated} of ${wanted} replicas updated`;
  if (ready < wanted) return `has ${ready} of ${wanted} replicas ready`;
  // Old pods that still serve would answer with the old configuration.
  const total = live.kind === 'DaemonSet' ? wanted : (status.replicas ?? wanted);
  return total > wanted ? `still has ${total - wanted} old replicas` : undefined;
}

interface ContainerStatus {
  name: string;
  image?: string;
  state?: { waiting?: { reason?: string; message?: string }; terminated?: Terminated };
  lastState?: { terminated?: Terminated };
}
interface Terminated {
  exitCode: number;
  reason?: string;
  message?: string;
}
interface PodStatus {
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

/** The scheduler's words without their full stop, and without what it adds on pods that it might throw out for this one. */
const plain = (message: string): string => message.replace(/\.?\s*(preemption: .*)?$/s, '');

/** What a pod itself says is wrong. The pod's random name stays out: messages must be stable. */
export function podTrouble(pod: Live): Cause | undefined {
  const status = (pod.status ?? {}) as DeepReadonly<PodStatus>;
  const scheduled = status.conditions?.find(c => c.type === 'PodScheduled' && c.status === 'False');
  // Every new volume goes through this; where it stays so, the message names what is missing.
  if (scheduled?.message?.includes('unbound immediate PersistentVolumeClaims'))
    return {
      reason: 'VolumePending',
      what: plain(scheduled.message),
      who: 'Cluster',
      next: 'bind its volume, which takes a default StorageClass and a provisioner',
    };
  if (scheduled)
    return {
      reason: 'Unschedulable',
      what: plain(scheduled.message ?? 'no node fits the pod'),
      who: 'User',
      next: 'add or label a node, or change nodeSelector, resources or storage',
    };
  for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const waiting = container.state?.waiting;
    if (
      waiting?.reason === 'ErrImagePull' ||
      waiting?.reason === 'ImagePullBackOff' ||
      waiting?.reason === 'InvalidImageName'
    )
      return {
        reason: 'ImagePullFailed',
        what: `image ${container.image} can't be pulled`,
        who: 'User',
        next: 'correct the image name, name the Secret of its registry in imagePullSecrets, or make it available to the nodes',
      };
    const ended = container.state?.terminated ?? container.lastState?.terminated;
    if (ended && ended.exitCode !== 0 && (waiting?.reason === 'CrashLoopBackOff' || container.state?.terminated))
      return {
        reason: 'CrashLoop',
        what: `container ${container.name} ${endOf(ended)}`,
        who: 'User',
        next: 'read its last lines and mend the cause',
      };
    if (waiting?.reason === 'CreateContainerConfigError')
      return {
        reason: 'PodConfig',
        what: waiting.message ?? 'a Secret or ConfigMap of the pod is missing',
        who: 'Operator',
        next: 'make it',
      };
  }
  return undefined;
}

/** A container's last words. `FallbackToLogsOnError` makes them the end of its log (rule 11). */
export function endOf(ended: DeepReadonly<Terminated>): string {
  const said = tail(ended.message?.trim().split('\n').slice(-3).join(' | ') ?? '');
  return `ended with ${ended.exitCode}${ended.reason && ended.reason !== 'Error' ? ` (${ended.reason})` : ''}${said ? `: ${said}` : ''}`;
}

/** What keeps a Job's pods from ever starting, or undefined when one has run or may yet. */
export function jobStuck(pods: readonly Live[]): Cause | undefined {
  const pending = pods.every(pod => (pod.status as { phase?: string } | undefined)?.phase === 'Pending');
  return pending ? pods.map(podTrouble).find(trouble => trouble !== undefined) : undefined;
}

/** At most 300 characters, in whole words: masking happens later, and half a password would not be known for one. */
const tail = (text: string): string => (text.length <= 300 ? text : text.slice(-300).replace(/^\S*\s?/, ''));

/** The last words of a failed Job's pods. */
export function jobFailure(pods: readonly Live[]): string | undefined {
  for (const pod of pods)
    for (const container of ((pod.status ?? {}) as DeepReadonly<PodStatus>).containerStatuses ?? [])
      if (container.state?.terminated && container.state.terminated.exitCode !== 0)
        return endOf(container.state.terminated);
  return undefined;
}

/** The exit code of a failed Job's pods. */
export function jobExit(pods: readonly Live[]): number | undefined {
  const codes = pods.flatMap(pod =>
    (((pod.status ?? {}) as DeepReadonly<PodStatus>).containerStatuses ?? []).map(c => c.state?.terminated?.exitCode),
  );
  return codes.find(code => code !== undefined && code !== 0);
}

export const conditionOf = (
  live: Live | { readonly status?: unknown },
  type: string,
): DeepReadonly<Condition> | undefined =>
  ((live as Live).status as DeepReadonly<{ conditions?: Condition[] }> | undefined)?.conditions?.find(
    c => c.type === type,
  );

/** What tells of any object whether it is Ready. */
interface Standing {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly generation?: number };
  readonly status?: unknown;
}

/** Rule 8: Ready counts only when it speaks of the current generation. */
export function isReady(live: Standing): boolean {
  const ready = conditionOf(live, 'Ready');
  const observed = (live.status as { observedGeneration?: number } | undefined)?.observedGeneration;
  return ready?.status === 'True' && observed === live.metadata.generation;
}

type Told = DeepReadonly<{ causes?: StatusCause[] }>;

/** Why a condition of ours is not True, as data; undefined where it is, and where an earlier operator wrote the status. */
export const statusCause = (live: { readonly status?: unknown }, type: string): DeepReadonly<StatusCause> | undefined =>
  (live.status as Told | undefined)?.causes?.find(cause => cause.type === type);

/** Throws unless an object of ours is Ready: with the cause of it, so that the top names what has to be mended, and once. */
export function assertReady(live: Standing): void {
  if (!isReady(live)) throw notReady(live);
}

/** Why an object waits for another one of ours that is not Ready, or not with a `condition` of it. */
export function notReady(live: Standing, type = 'Ready'): Unmet {
  const isFalse = (of: string): boolean => conditionOf(live, of)?.status === 'False';
  // What is not even begun has no cause of its own.
  const shown = isFalse(type) ? type : 'Ready';
  const condition = conditionOf(live, shown);
  const cause = isFalse(shown) ? statusCause(live, shown) : undefined;
  // Who must act for it must act for what stands on it, or the top would say that all goes well.
  const stands = isFalse(type) && condition?.reason !== 'Reconciling' && cause?.actor === 'User';
  const { kind, metadata } = live;
  const name = `${kind} ${metadata.name}`;
  const text = condition && condition.status !== 'True' ? textOf(live, condition, cause) : '';
  return wait({
    reason: (stands && condition?.reason) || 'NotReady',
    // The words of a cause further down name their object already.
    what: text === '' ? `Waiting for ${name}` : cause?.waitsFor ? text : `${name}: ${text}`,
    who: cause && (cause.actor !== 'User' || stands) ? cause.actor : 'Operator',
    waitsFor: { kind, name: metadata.name, namespace: metadata.namespace ?? '' },
    ...(cause && { about: { ...cause.object, namespace: cause.object.namespace ?? '' }, root: cause.reason }),
  });
}

/** What people read of a cause. Ready's own text begins with the condition that it tells of. */
function textOf(
  live: Standing,
  condition: DeepReadonly<Condition>,
  cause: DeepReadonly<StatusCause> | undefined,
): string {
  const of = cause?.condition !== undefined && statusCause(live, cause.condition) ? cause.condition : undefined;
  return (of === undefined ? undefined : conditionOf(live, of)?.message) ?? condition.message;
}
