import type { AnyObject } from '../../../kube/object.ts';
import { type Call, type Server, timeOf } from '../common/call.ts';
import { clone, isObject, items, type Json } from '../common/json.ts';
import { tracked } from '../common/owners.ts';
import { type FieldError, invalidValue, notSupported, required } from '../common/status.ts';

/** A new definition is not served yet: its status has the stored version and no names. */
export function newStatus(crd: AnyObject): void {
  const stored = items(isObject(crd.spec) ? crd.spec.versions : []).filter(v => v.storage);
  crd.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: stored.map(v => v.name) };
}

/** What upstream's naming and establishing controllers write a moment later; here it is the next version. */
export function establish(server: Server, call: Call, crd: AnyObject): void {
  const time = timeOf(server);
  const good = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastTransitionTime: time,
    reason,
    message,
  });
  const status = {
    ...(crd.status as Json),
    conditions: [
      ...approval(crd, time),
      good('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      good('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    acceptedNames: clone((crd.spec as Json).names),
  };
  const next = { ...clone(crd), status };
  server.state.put(
    call.resource.storage,
    tracked(server, { ...call, subresource: 'status' }, crd, next, 'kube-apiserver'),
  );
}

const isProtected = (group: unknown) => /(^|\.)(k8s|kubernetes)\.io$/.test(String(group));
const APPROVED = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community carry a link to their approval, or the word that they have none. */
function approval(crd: AnyObject, time: string): object[] {
  if (!isProtected((crd.spec as Json).group)) return [];
  const value = crd.metadata.annotations?.[APPROVED] ?? '';
  const approved = !value.startsWith('unapproved');
  return [
    {
      type: 'KubernetesAPIApprovalPolicyConformant',
      status: approved ? 'True' : 'False',
      lastTransitionTime: time,
      reason: approved ? 'ApprovedAnnotation' : 'UnapprovedAnnotation',
      message: approved ? `approved in ${value}` : `not approved: ${JSON.stringify(value)}`,
    },
  ];
}

/** Structural rules and the cost of CEL are left to the real API server; these are the mistakes of a name or a shape. */
export function definitionErrors(crd: AnyObject, old: AnyObject | undefined): FieldError[] {
  const spec = (isObject(crd.spec) ? crd.spec : {}) as Json;
  const names = (isObject(spec.names) ? spec.names : {}) as Record<string, string>;
  const versions = items(spec.versions);
  const errors: FieldError[] = [];
  if (crd.metadata.name !== `${names.plural}.${spec.group}`) {
    errors.push(invalidValue('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (spec.scope !== 'Cluster' && spec.scope !== 'Namespaced')
    errors.push(notSupported('spec.scope', spec.scope, ['Cluster', 'Namespaced']));
  if (isProtected(spec.group) && !crd.metadata.annotations?.[APPROVED]) {
    const text =
      'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111';
    errors.push(required('metadata.annotations[api-approved.kubernetes.io]', text));
  }
  versions.forEach((version, i) => {
    const schema = isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (!isObject(schema)) errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
  });
  if (versions.filter(v => v.storage === true).length !== 1) {
    errors.push(
      invalidValue('spec.versions', versions.map(inGo), 'must have exactly one version marked as storage version'),
    );
    if (!old) errors.push(invalidValue('status.storedVersions', null, 'must have at least one stored version'));
  }
  const was = (isObject(old?.spec) ? old.spec : undefined) as Json | undefined;
  if (!was) return errors;
  for (const key of ['group', 'scope'])
    if (spec[key] !== was[key]) errors.push(invalidValue(`spec.${key}`, spec[key], 'field is immutable'));
  const before = was.names as Record<string, string>;
  for (const key of ['plural', 'kind']) {
    if (names[key] !== before[key]) errors.push(invalidValue(`spec.names.${key}`, names[key], 'field is immutable'));
  }
  return errors;
}

/** A version with the names of Go's fields. The schema of the only version is kept elsewhere there. */
const inGo = (v: Json) => ({
  Name: v.name,
  Served: v.served,
  Storage: v.storage,
  Deprecated: v.deprecated ?? false,
  DeprecationWarning: v.deprecationWarning ?? null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
});
