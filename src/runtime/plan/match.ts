import type { AnyObject, DeepReadonly, ManagedFieldsEntry } from '../../kube/object.ts';
import { sameJson } from './canonical.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Types that the API server knows by itself lose empty maps and lists on the way, so that nothing is there to put back.
 * In a custom resource they stay, and may mean something: `cellTemplates: {cell2: {}}` is a cell.
 */
const BUILT_IN =
  /^(|apps|batch|policy|autoscaling|(rbac\.authorization|networking|storage|scheduling|coordination|events|apiextensions|admissionregistration)\.k8s\.io)$/;
const dropsEmpty = (apiVersion: string): boolean =>
  BUILT_IN.test(apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '');

/**
 * Whether applying `body` would change nothing: the fields our last apply owns are exactly those of the body, and
 * each has the body's value. It needs no memory, so it holds right after a restart; it errs only towards applying.
 */
export function applied(body: DeepReadonly<AnyObject>, live: DeepReadonly<AnyObject>, manager: string): boolean {
  const entry = lastApply(live, manager);
  if (!entry) return false;
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = body;
  const { name: _name, namespace: _namespace, uid: _uid, ...ownMetadata } = metadata;
  const intent = Object.keys(ownMetadata).length > 0 ? { ...rest, metadata: ownMetadata } : rest;
  return sameFields(intent, live, entry.fieldsV1, dropsEmpty(body.apiVersion));
}

/** The same of the pod template alone: whether pods would stay. */
export function appliedTemplate(
  body: DeepReadonly<AnyObject>,
  live: DeepReadonly<AnyObject>,
  manager: string,
): boolean {
  const spec = lastApply(live, manager)?.fieldsV1['f:spec'] as Fields | undefined;
  const fields = spec?.['f:template'] as Fields | undefined;
  const templateOf = (object: DeepReadonly<AnyObject>) => (object.spec as { template?: unknown } | undefined)?.template;
  return fields !== undefined && sameFields(templateOf(body), templateOf(live), fields, dropsEmpty(body.apiVersion));
}

const lastApply = (live: DeepReadonly<AnyObject>, manager: string): DeepReadonly<ManagedFieldsEntry> | undefined =>
  live.metadata.managedFields?.find(e => e.manager === manager && e.operation === 'Apply' && !e.subresource);

/** `lax`: an empty map or list of the body may be absent. */
function sameFields(body: unknown, live: unknown, fields: Fields, lax: boolean): boolean {
  const keys = Object.keys(fields).filter(key => key !== '.');
  if (keys.length === 0) return sameJson(body, live) || (lax && isEmpty(body) && live === undefined);
  if (keys[0]?.startsWith('f:')) return sameMap(body, live, fields, keys, lax);
  if (!Array.isArray(body) || !Array.isArray(live) || body.length !== keys.length) return false;
  return keys[0]?.startsWith('k:') ? sameListMap(body, live, fields, keys, lax) : sameSet(body, live, keys);
}

function sameMap(body: unknown, live: unknown, fields: Fields, keys: string[], lax: boolean): boolean {
  if (!isRecord(body) || !isRecord(live)) return false;
  const present = Object.keys(body).filter(
    key =>
      body[key] !== undefined && !(lax && isEmpty(body[key]) && live[key] === undefined && !keys.includes(`f:${key}`)),
  );
  return (
    present.length === keys.length &&
    keys.every(key => {
      const name = key.slice(2);
      // Metadata is a built-in type in every object.
      const inner = lax || name === 'metadata';
      return body[name] !== undefined && sameFields(body[name], live[name], fields[key] as Fields, inner);
    })
  );
}

/** Items are found by key; the relative order must be the body's, because order matters for init containers. */
function sameListMap(body: unknown[], live: unknown[], fields: Fields, keys: string[], lax: boolean): boolean {
  const places: { inBody: number; inLive: number }[] = [];
  for (const key of keys) {
    const wanted = JSON.parse(key.slice(2)) as Record<string, unknown>;
    // A key with a default (protocol: TCP) may be absent from the body, never from the live object.
    const inBody = body.findIndex(item => isRecord(item) && matchesKey(item, wanted, true));
    const inLive = live.findIndex(item => isRecord(item) && matchesKey(item, wanted, false));
    if (inBody < 0 || inLive < 0 || !sameFields(body[inBody], live[inLive], fields[key] as Fields, lax)) return false;
    places.push({ inBody, inLive });
  }
  places.sort((a, b) => a.inBody - b.inBody);
  return places.every((place, index) => index === 0 || place.inLive > places[index - 1]!.inLive);
}

function sameSet(body: unknown[], live: unknown[], keys: string[]): boolean {
  const wanted = new Set(keys.map(key => JSON.stringify(JSON.parse(key.slice(2)))));
  return body.every(item => wanted.has(JSON.stringify(item)) && live.some(other => sameJson(item, other)));
}

const matchesKey = (item: Record<string, unknown>, key: Record<string, unknown>, defaulted: boolean): boolean =>
  Object.entries(key).every(([field, value]) => (item[field] === undefined ? defaulted : sameJson(item[field], value)));

const isEmpty = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value).length === 0;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
