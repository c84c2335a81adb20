import type { AnyObject } from '../../../kube/object.ts';
import { child, isObject, items, type Json, orElse } from '../common/json.ts';
import { defaultPod, defaultPodSpec } from './pod-defaults.ts';

/** What kube-apiserver fills in while it reads an object, for the kinds that the operator and the simulated controllers write. */
export function setDefaults(kind: string, object: AnyObject): void {
  const table = defaults[kind];
  if (table) table(object, isObject(object.spec) ? object.spec : {});
}

const template = (parent: Json) => defaultPodSpec(child(child(parent, 'template'), 'spec'));
const fill = (object: Json, values: Json) => {
  for (const [key, value] of Object.entries(values)) orElse(object, key, value);
};

const defaults: Record<string, (object: Json, spec: Json) => void> = {
  Pod: pod => {
    defaultPod(pod);
    const status = child(pod, 'status');
    if (status.podIP && !Array.isArray(status.podIPs)) status.podIPs = [{ ip: status.podIP }];
    orElse(child(pod, 'status'), 'phase', 'Pending');
  },
  ReplicationController: (_, spec) => {
    fill(spec, { replicas: 1 });
    template(spec);
  },
  ReplicaSet: (_, spec) => {
    fill(spec, { replicas: 1 });
    template(spec);
  },
  Deployment: (_, spec) => {
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    const strategy = child(spec, 'strategy');
    orElse(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate')
      fill(child(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
    template(spec);
  },
  StatefulSet: (_, spec) => {
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: 'OrderedReady' });
    const strategy = child(spec, 'updateStrategy');
    orElse(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') fill(child(strategy, 'rollingUpdate'), { partition: 0, maxUnavailable: 1 });
    fill(child(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
    for (const claim of items(spec.volumeClaimTemplates)) {
      fill(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
      defaultClaim(claim);
    }
    template(spec);
  },
  Node: node => {
    const status = child(node, 'status');
    if (isObject(status.capacity)) orElse(status, 'allocatable', { ...status.capacity });
  },
  DaemonSet: (set, spec) => {
    orElse(child(child(set, 'metadata'), 'annotations'), 'deprecated.daemonset.template.generation', '1');
    fill(spec, { revisionHistoryLimit: 10 });
    const strategy = child(spec, 'updateStrategy');
    orElse(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') fill(child(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
    template(spec);
  },
  Job: (job, spec) => {
    defaultJobSpec(spec);
    const metadata = child(job, 'metadata');
    const labels = (spec.template as Json | undefined)?.metadata as Json | undefined;
    if (!isObject(metadata.labels) && isObject(labels?.labels)) metadata.labels = { ...labels.labels };
  },
  CronJob: (_, spec) => {
    fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    template(child(child(spec, 'jobTemplate'), 'spec'));
  },
  Service: (_, spec) => {
    fill(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
    if (spec.type !== 'ExternalName') orElse(spec, 'internalTrafficPolicy', 'Cluster');
    if (spec.sessionAffinity === 'ClientIP')
      fill(child(child(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: 10800 });
    for (const port of items(spec.ports)) {
      orElse(port, 'protocol', 'TCP');
      if (port.targetPort === 0 || port.targetPort === '') delete port.targetPort;
      orElse(port, 'targetPort', port.port);
    }
    if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') orElse(spec, 'externalTrafficPolicy', 'Cluster');
    if (spec.type === 'LoadBalancer') orElse(spec, 'allocateLoadBalancerNodePorts', true);
  },
  Secret: secret => {
    orElse(secret, 'type', 'Opaque');
    mergeStringData(secret);
  },
  PersistentVolumeClaim: claim => defaultClaim(claim),
  PersistentVolume: (volume, spec) => {
    fill(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
    fill(child(volume, 'status'), { phase: 'Pending' });
  },
  Namespace: namespace => {
    const metadata = child(namespace, 'metadata');
    if (metadata.name) child(metadata, 'labels')['kubernetes.io/metadata.name'] = metadata.name;
    orElse(child(namespace, 'status'), 'phase', 'Active');
  },
  Endpoints: endpoints => {
    for (const subset of items(endpoints.subsets))
      for (const port of items(subset.ports)) orElse(port, 'protocol', 'TCP');
  },
  EndpointSlice: slice => {
    for (const port of items(slice.ports)) fill(port, { name: '', protocol: 'TCP' });
  },
  StorageClass: storage => fill(storage, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  PriorityClass: priority => fill(priority, { preemptionPolicy: 'PreemptLowerPriority' }),
  NetworkPolicy: (_, spec) => {
    for (const rule of [...items(spec.ingress), ...items(spec.egress)])
      for (const port of items(rule.ports)) orElse(port, 'protocol', 'TCP');
    orElse(spec, 'policyTypes', ['Ingress', ...(items(spec.egress).length > 0 ? ['Egress'] : [])]);
  },
  RoleBinding: binding => defaultBinding(binding),
  ClusterRoleBinding: binding => defaultBinding(binding),
  CustomResourceDefinition: (_, spec) => {
    const names = child(spec, 'names');
    if (names.kind) fill(names, { singular: String(names.kind).toLowerCase(), listKind: `${names.kind}List` });
    orElse(child(spec, 'conversion'), 'strategy', 'None');
  },
  ValidatingAdmissionPolicy: (_, spec) => {
    orElse(spec, 'failurePolicy', 'Fail');
    if (isObject(spec.matchConstraints)) defaultMatch(spec.matchConstraints);
  },
  ValidatingAdmissionPolicyBinding: (_, spec) => {
    if (isObject(spec.matchResources)) defaultMatch(spec.matchResources);
  },
  ValidatingWebhookConfiguration: configuration => defaultWebhooks(configuration, false),
  MutatingWebhookConfiguration: configuration => defaultWebhooks(configuration, true),
  HorizontalPodAutoscaler: (_, spec) => orElse(spec, 'minReplicas', 1),
};

function defaultJobSpec(spec: Json): void {
  if (spec.completions === undefined && spec.parallelism === undefined) fill(spec, { completions: 1, parallelism: 1 });
  fill(spec, {
    parallelism: 1,
    completionMode: 'NonIndexed',
    manualSelector: false,
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
  });
  fill(spec, { backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2147483647 });
  template(spec);
}

function defaultClaim(claim: Json): void {
  orElse(child(claim, 'spec'), 'volumeMode', 'Filesystem');
  orElse(child(claim, 'status'), 'phase', 'Pending');
}

function defaultBinding(binding: Json): void {
  const rbac = 'rbac.authorization.k8s.io';
  for (const subject of items(binding.subjects))
    if (subject.kind !== 'ServiceAccount') orElse(subject, 'apiGroup', rbac);
  const role = child(binding, 'roleRef');
  if (role.apiGroup === '') delete role.apiGroup;
  orElse(role, 'apiGroup', rbac);
}

function defaultMatch(match: Json): void {
  fill(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  for (const rule of [...items(match.resourceRules), ...items(match.excludeResourceRules)]) orElse(rule, 'scope', '*');
}

function defaultWebhooks(configuration: Json, mutating: boolean): void {
  for (const hook of items(configuration.webhooks)) {
    fill(hook, {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
    });
    if (mutating) orElse(hook, 'reinvocationPolicy', 'Never');
    for (const rule of items(hook.rules)) orElse(rule, 'scope', '*');
    const service = isObject(hook.clientConfig) ? hook.clientConfig.service : undefined;
    if (isObject(service)) orElse(service, 'port', 443);
  }
}

/** stringData exists only on the way in. */
function mergeStringData(secret: Json): void {
  if (!isObject(secret.stringData)) return;
  const data = child(secret, 'data');
  for (const [key, text] of Object.entries(secret.stringData)) data[key] = Buffer.from(String(text)).toString('base64');
  delete secret.stringData;
}
