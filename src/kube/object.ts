/** Kubernetes objects as they are on the wire: plain JSON, so that fields we do not know survive. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: Record<string, unknown>;
  subresource?: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  generateName?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object whose spec, status, data ... are looked into without a type of their own. */
export type AnyObject = KubeObject & Record<string, unknown>;

export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** metav1.Status: what the API server answers instead of an object. */
export interface Status {
  apiVersion: 'v1';
  kind: 'Status';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  code: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** The identity of an object inside one resource. A cluster-scoped object has namespace ''. */
export interface Ref {
  namespace: string;
  name: string;
}

export const refOf = (object: { metadata: { name: string; namespace?: string } }): Ref => ({
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name,
});

/** `ns/name`, or `name` for a cluster-scoped object. */
export const keyOf = (ref: Ref): string => (ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`);

export function refOfKey(key: string): Ref {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
