import { Job, Pod } from '../../kube/resource.ts';
import { type Hands, withCondition } from './hands.ts';
import { isActive, isReady, type PodObject, type Workload, type WorkloadCondition } from './objects.ts';
import { makePod, podFrom } from './replicaset.ts';

export interface JobObject extends Workload {
  spec: Workload['spec'] & {
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
  };
  status?: { startTime?: string; completionTime?: string; conditions?: WorkloadCondition[]; [field: string]: unknown };
}

/** A failed pod is followed by the next one after this, doubled each time, at most six minutes (kubernetes job controller). */
const [BACKOFF, MAX_BACKOFF] = [10_000, 360_000];

export type Verdict =
  | { readonly is: 'complete' }
  | { readonly is: 'failed'; readonly reason: string; readonly message: string }
  /** How many pods to start; below zero, how many are too many (an answer was lost, and one was made twice). */
  | { readonly is: 'running'; readonly start: number; readonly lookIn?: number };

export interface Tally {
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
  /** Restarts in place, where the pods' policy is OnFailure. */
  readonly restarts: number;
  readonly sinceStart: number;
  readonly sinceFailure: number;
}

export function judge(spec: JobObject['spec'], tally: Tally): Verdict {
  const wanted = spec.completions ?? 1;
  if (tally.succeeded >= wanted) return { is: 'complete' };
  const limit = spec.backoffLimit ?? 6;
  const tooOften = tally.failed > limit || (tally.restarts > 0 && tally.restarts >= limit);
  if (tooOften) {
    return { is: 'failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  const deadline =
    spec.activeDeadlineSeconds === undefined ? undefined : spec.activeDeadlineSeconds * 1000 - tally.sinceStart;
  if (deadline !== undefined && deadline <= 0) {
    return { is: 'failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  const start = Math.min(spec.parallelism ?? 1, wanted - tally.succeeded) - tally.active;
  const pause = tally.failed === 0 ? 0 : Math.min(BACKOFF * 2 ** (tally.failed - 1), MAX_BACKOFF) - tally.sinceFailure;
  const held = start > 0 && pause > 0;
  const times = [held ? pause : undefined, deadline].filter(t => t !== undefined);
  return {
    is: 'running',
    start: held ? 0 : start,
    ...(times.length > 0 && { lookIn: Math.min(...times) }),
  };
}

export async function job(hands: Hands, job: JobObject): Promise<number | undefined> {
  if (job.metadata.deletionTimestamp !== undefined || job.spec.suspend === true) return undefined;
  const ended = job.status?.conditions?.find(
    c => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True',
  );
  if (ended) return expire(hands, job, ended);
  const pods = hands.view.controlled<PodObject>(Pod, job);
  const active = pods.filter(isActive);
  const since = (time: string | undefined) => (time === undefined ? 0 : hands.clock.wall() - Date.parse(time));
  const failures = pods.filter(p => p.status?.phase === 'Failed');
  const tally: Tally = {
    succeeded: pods.filter(p => p.status?.phase === 'Succeeded').length,
    failed: failures.length,
    active: active.length,
    restarts: active.flatMap(p => p.status?.containerStatuses ?? []).reduce((n, c) => n + c.restartCount, 0),
    sinceStart: since(job.status?.startTime),
    sinceFailure: Math.min(...failures.map(p => since(finishedAt(p)))),
  };
  const verdict = judge(job.spec, tally);
  if (verdict.is === 'running') {
    for (let i = 0; i < verdict.start; i++) await makePod(hands, job, podOf(hands, job));
    for (const pod of verdict.start < 0 ? active.slice(verdict.start) : []) await hands.remove(Pod, pod);
  } else for (const pod of active) await hands.remove(Pod, pod);
  await report(hands, job, verdict, tally);
  return verdict.is === 'running' ? verdict.lookIn : undefined;
}

function podOf(hands: Hands, job: JobObject): Omit<PodObject, 'apiVersion' | 'kind'> {
  const { name, uid = '' } = job.metadata;
  return podFrom(job, job.spec.template, `${name}-${hands.suffix()}`, {
    'batch.kubernetes.io/job-name': name,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'controller-uid': uid,
  });
}

const finishedAt = (pod: PodObject): string | undefined => {
  const states = (pod.status?.containerStatuses ?? []).map(c => c.state);
  return states
    .flatMap(s => ('terminated' in s ? s.terminated.finishedAt : []))
    .sort()
    .at(-1);
};

async function report(hands: Hands, job: JobObject, verdict: Verdict, tally: Tally): Promise<void> {
  const now = hands.time();
  const left = verdict.is === 'running' ? hands.view.controlled<PodObject>(Pod, job).filter(isActive) : [];
  let conditions = job.status?.conditions;
  const add = (type: string, reason: string, message: string) => {
    conditions = withCondition(conditions, { type, status: 'True', reason, message, lastProbeTime: now }, now);
  };
  if (verdict.is === 'complete') {
    for (const type of ['SuccessCriteriaMet', 'Complete']) {
      add(type, 'CompletionsReached', 'Reached expected number of succeeded pods');
    }
  } else if (verdict.is === 'failed') {
    for (const type of ['FailureTarget', 'Failed']) add(type, verdict.reason, verdict.message);
  }
  const latest = hands.view.get<JobObject>(Job, job.metadata.namespace!, job.metadata.name) ?? job;
  await hands.setStatus(Job, latest, {
    startTime: job.status?.startTime ?? now,
    active: left.length || undefined,
    ready: left.filter(isReady).length,
    terminating: 0,
    succeeded: tally.succeeded || undefined,
    failed: tally.failed || undefined,
    uncountedTerminatedPods: {},
    ...(verdict.is === 'complete' && { completionTime: now }),
    ...(conditions && { conditions }),
  });
}

async function expire(hands: Hands, job: JobObject, ended: WorkloadCondition): Promise<number | undefined> {
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined) return undefined;
  const left = Date.parse(ended.lastTransitionTime ?? '') + ttl * 1000 - hands.clock.wall();
  if (left > 0) return left;
  await hands.remove(Job, job, { propagation: 'Foreground' });
  return undefined;
}
