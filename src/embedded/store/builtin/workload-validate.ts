import type { AnyObject } from '../../../kube/object.ts';
import { equal, isObject, items, type Json } from '../common/json.ts';
import { byReason, denied, type FieldError, invalidValue, notSupported, required } from '../common/status.ts';
import { podSpecErrors } from './pod-validate.ts';

/** Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs. */

const IMMUTABLE = 'field is immutable';
const MISMATCH = '`selector` does not match template `labels`';

export const immutable = (path: string, next: unknown, old: unknown): FieldError[] =>
  equal(next ?? null, old ?? null) ? [] : [invalidValue(path, next ?? null, IMMUTABLE)];

export const atLeastZero = (object: Json, key: string, path: string): FieldError[] =>
  typeof object[key] === 'number' && (object[key] as number) < 0
    ? [invalidValue(`${path}.${key}`, object[key], 'must be greater than or equal to 0')]
    : [];

function templateErrors(spec: Json, path: string): FieldError[] {
  const template = (isObject(spec.template) ? spec.template : {}) as { metadata?: Json; spec?: Json };
  const labels = (template.metadata?.labels ?? null) as Record<string, string> | null;
  const errors: FieldError[] = [];
  if (!matches(spec.selector, labels ?? {}))
    errors.push(invalidValue(`${path}.template.metadata.labels`, labels, MISMATCH));
  // Claims of a StatefulSet are volumes of its pods.
  const claims = items(spec.volumeClaimTemplates).map(claim => ({ name: (claim.metadata as Json).name }));
  const podSpec = { ...template.spec, volumes: [...items(template.spec?.volumes), ...claims] };
  return [...errors, ...podSpecErrors(podSpec, `${path}.template.spec`)];
}

/** No selector selects nothing. */
function matches(selector: unknown, labels: Record<string, string>): boolean {
  if (!isObject(selector)) return false;
  const wanted = Object.entries((selector.matchLabels ?? {}) as Record<string, string>);
  const all = wanted.every(([k, v]) => labels[k] === v);
  return (
    all &&
    items(selector.matchExpressions).every(e => {
      const value = labels[e.key as string];
      const values = (e.values ?? []) as string[];
      if (e.operator === 'In') return value !== undefined && values.includes(value);
      if (e.operator === 'NotIn') return value === undefined || !values.includes(value);
      return e.operator === 'Exists' ? value !== undefined : value === undefined;
    })
  );
}

function selectorErrors(spec: Json, path: string, kind: string): FieldError[] {
  if (!isObject(spec.selector)) return [required(`${path}.selector`)];
  if (Object.keys(spec.selector).length > 0) return [];
  return [invalidValue(`${path}.selector`, {}, `empty selector is invalid for ${kind}`)];
}

function alwaysRestart(spec: Json, path: string): FieldError[] {
  const policy = ((spec.template as Json | undefined)?.spec as Json | undefined)?.restartPolicy;
  if (policy === undefined || policy === 'Always' || !['OnFailure', 'Never'].includes(String(policy))) return [];
  return [notSupported(`${path}.template.spec.restartPolicy`, policy, ['Always'])];
}

export function deploymentErrors(spec: Json, old: Json | undefined): FieldError[] {
  const strategy = (spec.strategy ?? {}) as Json;
  const rolling = strategy.rollingUpdate as Json | undefined;
  const errors = [
    ...selectorErrors(spec, 'spec', 'deployment'),
    ...templateErrors(spec, 'spec'),
    ...alwaysRestart(spec, 'spec'),
  ];
  for (const key of ['replicas', 'minReadySeconds', 'revisionHistoryLimit'])
    errors.push(...atLeastZero(spec, key, 'spec'));
  if (strategy.type === 'Recreate' && rolling) {
    errors.push(denied('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'"));
  } else if (strategy.type !== 'Recreate' && strategy.type !== 'RollingUpdate') {
    // The value is shown with the names of Go's fields.
    errors.push(
      notSupported('spec.strategy', { Type: strategy.type, RollingUpdate: rolling ?? null }, [
        'Recreate',
        'RollingUpdate',
      ]),
    );
  } else if (rolling && isZero(rolling.maxUnavailable) && isZero(rolling.maxSurge)) {
    errors.push(
      invalidValue(
        'spec.strategy.rollingUpdate.maxUnavailable',
        rolling.maxUnavailable,
        'may not be 0 when `maxSurge` is 0',
      ),
    );
  }
  return old ? [...errors, ...immutable('spec.selector', spec.selector, old.selector)] : errors;
}

const isZero = (value: unknown) => value === 0 || value === '0%';

/** The only fields of a StatefulSet that may change. */
const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export function statefulSetErrors(spec: Json, old: Json | undefined): FieldError[] {
  const errors = [
    ...selectorErrors(spec, 'spec', 'statefulset'),
    ...templateErrors(spec, 'spec'),
    ...alwaysRestart(spec, 'spec'),
  ];
  errors.push(...atLeastZero(spec, 'replicas', 'spec'));
  if (spec.podManagementPolicy !== 'OrderedReady' && spec.podManagementPolicy !== 'Parallel') {
    errors.push(
      invalidValue('spec.podManagementPolicy', spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"),
    );
  }
  if (!old) return errors;
  for (const key of ['selector', 'serviceName', 'podManagementPolicy'])
    errors.push(...immutable(`spec.${key}`, spec[key], old[key]));
  const rest = (s: Json) =>
    Object.fromEntries(
      Object.entries(s).filter(([k]) => ![...MUTABLE, 'selector', 'serviceName', 'podManagementPolicy'].includes(k)),
    );
  if (!equal(rest(spec), rest(old))) {
    errors.push(
      denied(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    );
  }
  return errors;
}

export function daemonSetErrors(spec: Json, old: Json | undefined): FieldError[] {
  const errors = [
    ...selectorErrors(spec, 'spec', 'daemonset'),
    ...templateErrors(spec, 'spec'),
    ...alwaysRestart(spec, 'spec'),
  ];
  return old ? [...errors, ...immutable('spec.selector', spec.selector, old.selector)] : errors;
}

export function replicaSetErrors(spec: Json, old: Json | undefined): FieldError[] {
  const errors = [
    ...selectorErrors(spec, 'spec', 'replicaset'),
    ...templateErrors(spec, 'spec'),
    ...alwaysRestart(spec, 'spec'),
  ];
  errors.push(...atLeastZero(spec, 'replicas', 'spec'));
  return old ? [...errors, ...immutable('spec.selector', spec.selector, old.selector)] : errors;
}

const JOB_NUMBERS = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];

export function jobErrors(spec: Json, old: Json | undefined, uid: string): FieldError[] {
  const errors = [...templateErrors(spec, 'spec'), ...jobRestart(spec, 'spec')];
  for (const key of JOB_NUMBERS) errors.push(...atLeastZero(spec, key, 'spec'));
  if (
    !spec.manualSelector &&
    !old &&
    !equal(spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } })
  ) {
    errors.push(invalidValue('spec.selector', spec.selector, '`selector` not auto-generated'));
  }
  if (!old) return errors;
  for (const key of ['selector', 'completionMode']) errors.push(...immutable(`spec.${key}`, spec[key], old[key]));
  // Elastic indexed jobs may change completions together with parallelism; ours are not indexed.
  errors.push(...immutable('spec.completions', spec.completions, old.completions));
  if (old.suspend !== true) errors.push(...immutable('spec.template', spec.template, old.template));
  return errors;
}

function jobRestart(spec: Json, path: string): FieldError[] {
  const policy = ((spec.template as Json | undefined)?.spec as Json | undefined)?.restartPolicy;
  if (policy === 'OnFailure' || policy === 'Never') return [];
  return [required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')];
}

export function cronJobErrors(spec: Json): FieldError[] {
  const inner = ((spec.jobTemplate as Json | undefined)?.spec ?? {}) as Json;
  const path = 'spec.jobTemplate.spec';
  const errors = podSpecErrors(((inner.template as Json | undefined)?.spec ?? {}) as Json, `${path}.template.spec`);
  errors.push(...jobRestart(inner, path));
  const schedule = String(spec.schedule ?? '');
  const fields = schedule.trim().split(/\s+/);
  if (schedule === '') errors.push(required('spec.schedule'));
  else if (
    fields.length !== 5 &&
    !/^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)$/.test(schedule)
  ) {
    errors.push(
      invalidValue(
        'spec.schedule',
        schedule,
        `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`,
      ),
    );
  }
  if (!['Allow', 'Forbid', 'Replace'].includes(String(spec.concurrencyPolicy))) {
    errors.push(notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace']));
  }
  return errors;
}

/** What has ended stays ended. */
export function jobStatusErrors(next: AnyObject, old: AnyObject): FieldError[] {
  const on = (job: AnyObject) =>
    new Set(
      items((job.status as Json | undefined)?.conditions)
        .filter(c => c.status === 'True')
        .map(c => c.type),
    );
  const [now, before] = [on(next), on(old)];
  const errors: FieldError[] = [];
  for (const type of ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget']) {
    if (!before.has(type) || now.has(type)) continue;
    const terminal = type === 'Complete' || type === 'Failed' ? 'terminal ' : '';
    errors.push(
      byReason(
        'FieldValueInvalid',
        'status.conditions',
        undefined,
        `cannot disable the ${terminal}${type}=True condition`,
      ),
    );
  }
  const completed = (next.status as Json | undefined)?.completionTime;
  if (completed !== undefined && !now.has('Complete')) {
    errors.push(
      invalidValue(
        'status.completionTime',
        completed,
        'cannot set completionTime when there is no Complete=True condition',
      ),
    );
  }
  return errors;
}
