import type { AnyObject, OwnerReference } from '../../../kube/object.ts';
import { equal } from './json.ts';
import type { Served } from './resources.ts';
import { denied, type FieldError, invalidValue, required } from './status.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

export const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
export const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export function subdomainErrors(name: string): string[] {
  return [
    ...(name.length > 253 ? ['must be no more than 253 characters'] : []),
    ...(SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_TEXT]),
  ];
}

export function labelErrors(name: string): string[] {
  return [
    ...(name.length > 63 ? ['must be no more than 63 characters'] : []),
    ...(LABEL.test(name) ? [] : [LABEL_TEXT]),
  ];
}

function nameErrors(r: Served, name: string): string[] {
  if (r.kind === 'Namespace') return labelErrors(name);
  if (r.kind === 'Service') return labelErrors(name);
  if (r.group === 'rbac.authorization.k8s.io')
    return /[/%]/.test(name) || name === '.' || name === '..'
      ? [`may not contain '${/%/.test(name) ? '%' : '/'}'`]
      : [];
  return subdomainErrors(name);
}
const STANDARD = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** What a field of type QualifiedName may hold: an optional DNS prefix, a slash, a name of at most 63 characters. */
export function qualifiedErrors(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2)
    return [
      `${QUALIFIED_TEXT.replace('name part', 'a valid label key')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const errors: string[] = [];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === '') errors.push('prefix part must be non-empty');
    else for (const e of subdomainErrors(parts[0]!)) errors.push(`prefix part ${e}`);
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push('name part must be no more than 63 characters');
  if (!QUALIFIED.test(name)) errors.push(QUALIFIED_TEXT);
  return errors;
}

export function labelsErrors(labels: unknown, path: string): FieldError[] {
  return Object.entries((labels ?? {}) as Record<string, string>).flatMap(([key, value]) => [
    ...qualifiedErrors(key).map(e => invalidValue(path, key, e)),
    ...(value.length > 63 ? [invalidValue(path, value, 'must be no more than 63 bytes')] : []),
    ...(LABEL_VALUE.test(value) ? [] : [invalidValue(path, value, LABEL_VALUE_TEXT)]),
  ]);
}

/** On creation. */
export function checkMeta(r: Served, object: AnyObject): FieldError[] {
  const meta = object.metadata;
  const errors: FieldError[] = [];
  if (!meta.name) errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...nameErrors(r, meta.name).map(e => invalidValue('metadata.name', meta.name, e)));
  return [...errors, ...checkCommon(object)];
}

function checkCommon(object: AnyObject): FieldError[] {
  const meta = object.metadata;
  const errors: FieldError[] = labelsErrors(meta.labels, 'metadata.labels');
  for (const key of Object.keys(meta.annotations ?? {})) {
    errors.push(...qualifiedErrors(key.toLowerCase()).map(e => invalidValue('metadata.annotations', key, e)));
  }
  for (const [i, owner] of (meta.ownerReferences ?? []).entries()) {
    const at = `metadata.ownerReferences[${i}]`;
    if (!owner.apiVersion) errors.push(invalidValue(`${at}.apiVersion`, '', 'version must not be empty'));
    for (const key of ['kind', 'name'] as const)
      if (!owner[key]) errors.push(invalidValue(`${at}.${key}`, '', 'must not be empty'));
    if (!owner.uid) errors.push(required(`${at}.uid`, 'must not be empty'));
  }
  const controllers = (meta.ownerReferences ?? []).filter(o => o.controller);
  if (controllers.length > 1) {
    errors.push(
      invalidValue(
        'metadata.ownerReferences',
        (meta.ownerReferences ?? []).map(inOrder),
        `Only one reference can have Controller set to true. Found "true" in references for ${controllers[0]!.kind}/${controllers[0]!.name} and ${controllers[1]!.kind}/${controllers[1]!.name}`,
      ),
    );
  }
  for (const [i, finalizer] of (meta.finalizers ?? []).entries()) {
    const path = `metadata.finalizers[${i}]`;
    errors.push(...qualifiedErrors(finalizer).map(e => invalidValue(path, finalizer, e)));
    if (!finalizer.includes('/') && !STANDARD.has(finalizer)) {
      errors.push(invalidValue(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'));
    }
  }
  return errors;
}

export function checkMetaUpdate(_r: Served, next: AnyObject, existing: AnyObject): FieldError[] {
  const errors = checkCommon(next);
  const [meta, old] = [next.metadata, existing.metadata];
  if (old.deletionTimestamp !== undefined) {
    const added = (meta.finalizers ?? []).filter(f => !(old.finalizers ?? []).includes(f)).sort();
    if (added.length > 0) {
      const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(f => JSON.stringify(f)).join(', ')}}`;
      errors.push(denied('metadata.finalizers', text));
    }
  }
  for (const key of ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (!equal(meta[key], old[key])) errors.push(invalidValue(`metadata.${key}`, meta[key], 'field is immutable'));
  }
  return errors;
}

/** The fields of an owner reference in the order of Go's struct. */
const inOrder = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference) => ({
  apiVersion,
  kind,
  name,
  uid,
  ...(controller === undefined ? {} : { controller }),
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});
