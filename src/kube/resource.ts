/** What the API server calls a resource: enough to build a path, an RBAC rule and an owner reference. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Its CustomResourceDefinition is somebody else's and may come after us, go, or never be there. */
  readonly optional?: boolean;
}

export const apiVersionOf = (r: { group: string; version: string }): string =>
  r.group === '' ? r.version : `${r.group}/${r.version}`;

/** `pods`, `deployments.apps`: unique over the cluster, and what users read in RBAC and kubectl. */
export const resourceName = (r: { group: string; plural: string }): string =>
  r.group === '' ? r.plural : `${r.plural}.${r.group}`;

export function pathOf(r: Resource, namespace: string, name?: string, subresource?: string): string {
  const root = r.group === '' ? `/api/${r.version}` : `/apis/${r.group}/${r.version}`;
  const scope = r.namespaced && namespace !== '' ? `/namespaces/${namespace}` : '';
  return [root + scope, r.plural, name, subresource].filter(part => part !== undefined && part !== '').join('/');
}

/** Items of a list come without apiVersion and kind when their type is built in; the rest of the code relies on both. */
export const withType = <T extends { apiVersion?: string; kind?: string }>(r: Resource, object: T): T =>
  object.kind === r.kind && object.apiVersion === apiVersionOf(r)
    ? object
    : { ...object, apiVersion: apiVersionOf(r), kind: r.kind };

const builtin = (group: string, version: string, kind: string, plural: string, namespaced = true): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced,
});

export const Namespace = builtin('', 'v1', 'Namespace', 'namespaces', false);
export const Node = builtin('', 'v1', 'Node', 'nodes', false);
export const Pod = builtin('', 'v1', 'Pod', 'pods');
export const Secret = builtin('', 'v1', 'Secret', 'secrets');
export const ConfigMap = builtin('', 'v1', 'ConfigMap', 'configmaps');
export const Service = builtin('', 'v1', 'Service', 'services');
export const ServiceAccount = builtin('', 'v1', 'ServiceAccount', 'serviceaccounts');
export const PersistentVolumeClaim = builtin('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const Deployment = builtin('apps', 'v1', 'Deployment', 'deployments');
export const ReplicaSet = builtin('apps', 'v1', 'ReplicaSet', 'replicasets');
export const StatefulSet = builtin('apps', 'v1', 'StatefulSet', 'statefulsets');
export const DaemonSet = builtin('apps', 'v1', 'DaemonSet', 'daemonsets');
export const Job = builtin('batch', 'v1', 'Job', 'jobs');
export const CronJob = builtin('batch', 'v1', 'CronJob', 'cronjobs');
export const PodDisruptionBudget = builtin('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
export const Ingress = builtin('networking.k8s.io', 'v1', 'Ingress', 'ingresses');
export const IngressClass = builtin('networking.k8s.io', 'v1', 'IngressClass', 'ingressclasses', false);
export const NetworkPolicy = builtin('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies');
export const StorageClass = builtin('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', false);
export const Lease = builtin('coordination.k8s.io', 'v1', 'Lease', 'leases');
export const Event = builtin('events.k8s.io', 'v1', 'Event', 'events');
export const CustomResourceDefinition = builtin(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
);
export const ValidatingWebhookConfiguration = builtin(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  false,
);

const foreign = (group: string, kind: string, plural: string, namespaced = true): Resource => ({
  ...builtin(group, 'v1', kind, plural, namespaced),
  optional: true,
});

export const Certificate = foreign('cert-manager.io', 'Certificate', 'certificates');
export const Issuer = foreign('cert-manager.io', 'Issuer', 'issuers');
export const ClusterIssuer = foreign('cert-manager.io', 'ClusterIssuer', 'clusterissuers', false);
export const Gateway = foreign('gateway.networking.k8s.io', 'Gateway', 'gateways');
export const HTTPRoute = foreign('gateway.networking.k8s.io', 'HTTPRoute', 'httproutes');
export const BackendTLSPolicy = foreign('gateway.networking.k8s.io', 'BackendTLSPolicy', 'backendtlspolicies');
export const CephCluster = foreign('ceph.rook.io', 'CephCluster', 'cephclusters');
export const CephBlockPool = foreign('ceph.rook.io', 'CephBlockPool', 'cephblockpools');
export const CephClient = foreign('ceph.rook.io', 'CephClient', 'cephclients');
