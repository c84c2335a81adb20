import type { Resource } from '../../../kube/resource.ts';
import { structOf } from './types.ts';

/** One served resource in one version: a row of discovery plus what the verbs need to know. */
export interface Served extends Resource {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly listKind: string;
  readonly subresources: readonly ('status' | 'scale' | 'finalize' | 'binding')[];
  /** Objects of all versions of a resource share this key. */
  readonly storage: string;
  readonly is: { readonly builtin: string } | { readonly custom: CustomVersion };
}

export interface CustomVersion {
  readonly name: string;
  readonly schema: Record<string, unknown>;
  readonly preserveUnknown: boolean;
  readonly scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  readonly columns: readonly {
    name: string;
    type: string;
    jsonPath: string;
    description?: string;
    format?: string;
    priority?: number;
  }[];
  readonly selectable: readonly string[];
}

/** group/version Kind plural [!]=cluster-scoped [s]tatus [c]scale [f]inalize [b]inding, then short names; `all` is a category. */
const table = `
v1 Namespace namespaces !sf ns
v1 Node nodes !s no
v1 Pod pods sb po all
v1 Secret secrets -
v1 ConfigMap configmaps - cm
v1 Service services s svc all
v1 ServiceAccount serviceaccounts - sa
v1 PersistentVolumeClaim persistentvolumeclaims s pvc
v1 PersistentVolume persistentvolumes !s pv
v1 Event events - ev
v1 Endpoints endpoints - ep
v1 ReplicationController replicationcontrollers sc rc all
v1 LimitRange limitranges - limits
v1 ResourceQuota resourcequotas s quota
apps/v1 Deployment deployments sc deploy all
apps/v1 ReplicaSet replicasets sc rs all
apps/v1 StatefulSet statefulsets sc sts all
apps/v1 DaemonSet daemonsets s ds all
apps/v1 ControllerRevision controllerrevisions -
batch/v1 Job jobs s all
batch/v1 CronJob cronjobs s cj all
policy/v1 PodDisruptionBudget poddisruptionbudgets s pdb
storage.k8s.io/v1 StorageClass storageclasses ! sc
coordination.k8s.io/v1 Lease leases -
events.k8s.io/v1 Event events - ev
discovery.k8s.io/v1 EndpointSlice endpointslices -
networking.k8s.io/v1 Ingress ingresses s ing
networking.k8s.io/v1 IngressClass ingressclasses !
networking.k8s.io/v1 NetworkPolicy networkpolicies - netpol
scheduling.k8s.io/v1 PriorityClass priorityclasses ! pc
rbac.authorization.k8s.io/v1 Role roles -
rbac.authorization.k8s.io/v1 RoleBinding rolebindings -
rbac.authorization.k8s.io/v1 ClusterRole clusterroles !
rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings !
apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions !s crd crds api-extensions
autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers s hpa all
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy validatingadmissionpolicies !s api-extensions
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings ! api-extensions
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration validatingwebhookconfigurations ! api-extensions
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutatingwebhookconfigurations ! api-extensions
`;

export const builtins: readonly Served[] = table
  .trim()
  .split('\n')
  .map(line => {
    const [apiVersion, kind, plural, marks, ...names] = line.split(' ') as [string, string, string, string];
    const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
    const categories: string[] = (names as string[]).filter(n => n === 'all' || n === 'api-extensions');
    return {
      group,
      version,
      kind,
      plural,
      singular: kind.toLowerCase(),
      listKind: `${kind}List`,
      namespaced: !marks.includes('!'),
      shortNames: (names as string[]).filter(n => !categories.includes(n)),
      categories,
      subresources: [
        ...(marks.includes('s') ? (['status'] as const) : []),
        ...(marks.includes('c') ? (['scale'] as const) : []),
        ...(marks.includes('f') ? (['finalize'] as const) : []),
        ...(marks.includes('b') ? (['binding'] as const) : []),
      ],
      // Both Event resources are views of one storage.
      storage: kind === 'Event' ? 'events' : group === '' ? plural : `${plural}.${group}`,
      is: { builtin: structOf(apiVersion, kind)! },
    };
  });

/** What kube-apiserver returns as the deleted object instead of a Status when it goes at once. */
export const returnsDeleted: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'serviceaccounts',
  'persistentvolumeclaims',
  'persistentvolumes',
  'resourcequotas',
  'namespaces',
  'storageclasses.storage.k8s.io',
]);

/** Kinds whose `metadata.generation` is counted. */
const counted = new Set(
  `Pod Deployment ReplicaSet StatefulSet DaemonSet Job CronJob PodDisruptionBudget Ingress IngressClass NetworkPolicy ReplicationController EndpointSlice
   CustomResourceDefinition PriorityClass HorizontalPodAutoscaler ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
   MutatingWebhookConfiguration`.split(/\s+/),
);
export const countsGenerations = (r: Served): boolean => 'custom' in r.is || counted.has(r.kind);
