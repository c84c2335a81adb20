import { isIP } from 'node:net';
import type { AnyObject } from '../../../kube/object.ts';
import type { Call, Server } from '../common/call.ts';
import { equal, isObject, items, type Json, without } from '../common/json.ts';
import { denied, duplicate, type FieldError, invalidValue, notSupported, required } from '../common/status.ts';
import { definitionErrors } from '../custom/definition.ts';
import { oneOf, podSpecErrors, portErrors } from './pod-validate.ts';
import {
  atLeastZero,
  cronJobErrors,
  daemonSetErrors,
  deploymentErrors,
  immutable,
  jobErrors,
  jobStatusErrors,
  replicaSetErrors,
  statefulSetErrors,
} from './workload-validate.ts';

/** What kube-apiserver refuses of the built-in kinds, as far as our operator could meet it. */

type Check = (next: AnyObject, spec: Json, old: AnyObject | undefined, oldSpec: Json | undefined) => FieldError[];

export const validateCreate = (_server: Server, _call: Call, object: AnyObject): FieldError[] =>
  checks[object.kind]?.(object, specOf(object), undefined, undefined) ?? [];

export function validateUpdate(_server: Server, call: Call, next: AnyObject, existing: AnyObject): FieldError[] {
  if (call.subresource === 'status') return statusErrors(next, existing);
  if (call.subresource !== '') return [];
  return checks[next.kind]?.(next, specOf(next), existing, specOf(existing)) ?? [];
}

const specOf = (object: AnyObject): Json => (isObject(object.spec) ? object.spec : {});

const checks: Record<string, Check> = {
  ConfigMap: (next, _spec, old) => [...keyErrors(next), ...frozenErrors(next, old)],
  Secret: (next, _spec, old) => [
    ...keyErrors(next),
    ...frozenErrors(next, old),
    ...(old ? immutable('type', next.type, old.type) : []),
  ],
  Pod: (next, spec, old, oldSpec) => [
    ...podSpecErrors(spec, 'spec'),
    ...(old && oldSpec ? podUpdateErrors(next, spec, oldSpec) : []),
  ],
  Service: (_next, spec, _old, oldSpec) => serviceErrors(spec, oldSpec),
  PersistentVolumeClaim: (_next, spec, old, oldSpec) => claimErrors(spec, old, oldSpec),
  Deployment: (_next, spec, _old, oldSpec) => deploymentErrors(spec, oldSpec),
  StatefulSet: (_next, spec, _old, oldSpec) => statefulSetErrors(spec, oldSpec),
  DaemonSet: (_next, spec, _old, oldSpec) => daemonSetErrors(spec, oldSpec),
  ReplicaSet: (_next, spec, _old, oldSpec) => replicaSetErrors(spec, oldSpec),
  ControllerRevision: (next, _spec, old) => (old ? immutable('data', next.data, old.data) : []),
  Job: (next, spec, _old, oldSpec) => jobErrors(spec, oldSpec, next.metadata.uid ?? ''),
  CronJob: (_next, spec) => cronJobErrors(spec),
  Lease: (_next, spec) => [
    ...(typeof spec.leaseDurationSeconds === 'number' && spec.leaseDurationSeconds <= 0
      ? [invalidValue('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0')]
      : []),
    ...atLeastZero(spec, 'leaseTransitions', 'spec'),
  ],
  PodDisruptionBudget: (_next, spec) => budgetErrors(spec),
  StorageClass: (next, _spec, old) =>
    old
      ? ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'].flatMap(k => immutable(k, next[k], old[k]))
      : [],
  Role: next => ruleErrors(next),
  ClusterRole: next => ruleErrors(next),
  RoleBinding: (next, _spec, old) => bindingErrors(next, old, ['Role', 'ClusterRole']),
  ClusterRoleBinding: (next, _spec, old) => bindingErrors(next, old, ['ClusterRole']),
  CustomResourceDefinition: (next, _spec, old) => definitionErrors(next, old),
};

const KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function keyErrors(object: AnyObject): FieldError[] {
  const binary = Object.keys((object.binaryData ?? {}) as Json);
  const text = Object.keys((object.data ?? {}) as Json);
  return [
    ...text
      .filter(k => binary.includes(k))
      .map(k => invalidValue(`data[${k}]`, k, 'duplicate of key present in binaryData')),
    ...text.filter(k => !/^[-._a-zA-Z0-9]+$/.test(k)).map(k => invalidValue(`data[${k}]`, k, KEY)),
    ...binary.filter(k => !/^[-._a-zA-Z0-9]+$/.test(k)).map(k => invalidValue(`binaryData[${k}]`, k, KEY)),
  ];
}

function frozenErrors(next: AnyObject, old: AnyObject | undefined): FieldError[] {
  if (old?.immutable !== true) return [];
  const text = 'field is immutable when `immutable` is set';
  return [
    ...(next.immutable === true ? [] : [denied('immutable', text)]),
    ...['data', 'binaryData'].filter(k => !equal(next[k] ?? {}, old[k] ?? {})).map(k => denied(k, text)),
  ];
}

const POD_UPDATE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function podUpdateErrors(_next: AnyObject, spec: Json, old: Json): FieldError[] {
  const fixed = (s: Json): Json => ({
    ...without(s, 'activeDeadlineSeconds', 'tolerations', 'containers', 'initContainers'),
    containers: items(s.containers).map(c => without(c, 'image')),
    initContainers: items(s.initContainers).map(c => without(c, 'image')),
  });
  return equal(fixed(spec), fixed(old)) ? [] : [denied('spec', POD_UPDATE)];
}

function serviceErrors(spec: Json, old: Json | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const ports = items(spec.ports);
  const headless = spec.clusterIP === 'None';
  if (ports.length === 0 && !headless && spec.type !== 'ExternalName') errors.push(required('spec.ports'));
  ports.forEach((port, i) => {
    const at = `spec.ports[${i}]`;
    if (ports.length > 1 && !port.name) errors.push(required(`${at}.name`));
    if (port.name && ports.findIndex(p => p.name === port.name) < i) errors.push(duplicate(`${at}.name`, port.name));
    errors.push(...portErrors(port.port, `${at}.port`), ...portErrors(port.targetPort, `${at}.targetPort`));
    errors.push(...oneOf(port, 'protocol', ['SCTP', 'TCP', 'UDP'], at));
  });
  errors.push(...oneOf(spec, 'type', ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'], 'spec'));
  errors.push(...oneOf(spec, 'sessionAffinity', ['ClientIP', 'None'], 'spec'));
  const address = spec.clusterIP;
  if (typeof address === 'string' && address !== 'None' && isIP(address) === 0) {
    errors.push(
      invalidValue('spec.clusterIPs[0]', address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'),
    );
  }
  if (
    old &&
    typeof old.clusterIP === 'string' &&
    old.type !== 'ExternalName' &&
    spec.type !== 'ExternalName' &&
    address !== old.clusterIP
  ) {
    errors.push(invalidValue('spec.clusterIPs[0]', spec.clusterIPs, 'may not change once set'));
  }
  return errors;
}

const CLAIM =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

function claimErrors(spec: Json, old: AnyObject | undefined, oldSpec: Json | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const requests = (isObject(spec.resources) ? spec.resources.requests : undefined) as Json | undefined;
  if (!Array.isArray(spec.accessModes) || spec.accessModes.length === 0)
    errors.push(required('spec.accessModes', 'at least 1 access mode is required'));
  if (requests?.storage === undefined) errors.push(required('spec.resources[storage]'));
  if (!old || !oldSpec) return errors;
  const bound = isObject(old.status) && old.status.phase === 'Bound';
  const fixed = (s: Json) =>
    without(
      s,
      'volumeName',
      ...(bound ? ['resources'] : []),
      ...(oldSpec.storageClassName === undefined ? ['storageClassName'] : []),
    );
  return equal(fixed(spec), fixed(oldSpec)) ? errors : [...errors, denied('spec', CLAIM)];
}

function budgetErrors(spec: Json): FieldError[] {
  if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return [];
  // The value is shown with the names of Go's fields.
  const shown = {
    MinAvailable: spec.minAvailable,
    Selector: spec.selector,
    MaxUnavailable: spec.maxUnavailable,
    UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
  };
  return [invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set')];
}

function ruleErrors(role: AnyObject): FieldError[] {
  return items(role.rules).flatMap((rule, i) => {
    const at = `rules[${i}]`;
    const has = (key: string) => Array.isArray(rule[key]) && rule[key].length > 0;
    const errors = has('verbs') ? [] : [required(`${at}.verbs`)];
    if (has('nonResourceURLs')) {
      if (role.kind === 'Role')
        errors.push(
          invalidValue(
            `${at}.nonResourceURLs`,
            rule.nonResourceURLs,
            'namespaced rules cannot apply to non-resource URLs',
          ),
        );
      return errors;
    }
    if (!has('apiGroups'))
      errors.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'));
    if (!has('resources')) errors.push(required(`${at}.resources`, 'resource rules must supply at least one resource'));
    return errors;
  });
}

function bindingErrors(binding: AnyObject, old: AnyObject | undefined, kinds: readonly string[]): FieldError[] {
  const role = (binding.roleRef ?? {}) as Json;
  const errors: FieldError[] = [];
  if (role.apiGroup !== 'rbac.authorization.k8s.io')
    errors.push(notSupported('roleRef.apiGroup', role.apiGroup, ['rbac.authorization.k8s.io']));
  if (!kinds.includes(String(role.kind))) errors.push(notSupported('roleRef.kind', role.kind ?? '', kinds));
  if (!role.name) errors.push(required('roleRef.name'));
  items(binding.subjects).forEach((subject, i) => {
    const at = `subjects[${i}]`;
    if (!subject.name) errors.push(required(`${at}.name`));
    if (!['ServiceAccount', 'User', 'Group'].includes(String(subject.kind))) {
      errors.push(notSupported(`${at}.kind`, subject.kind, ['ServiceAccount', 'User', 'Group']));
    }
    if (subject.kind === 'ServiceAccount' && !subject.namespace) errors.push(required(`${at}.namespace`));
  });
  if (old && !equal(role, old.roleRef)) {
    errors.push(
      invalidValue('roleRef', { APIGroup: role.apiGroup, Kind: role.kind, Name: role.name }, 'field is immutable'),
    );
  }
  return errors;
}

function statusErrors(next: AnyObject, old: AnyObject): FieldError[] {
  if (next.kind === 'Job') return jobStatusErrors(next, old);
  const status = (isObject(next.status) ? next.status : {}) as Json;
  const ingress = isObject(status.loadBalancer) ? items(status.loadBalancer.ingress) : [];
  if (next.kind === 'Service' && ingress.length > 0 && specOf(next).type !== 'LoadBalancer') {
    return [denied('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return [];
}
