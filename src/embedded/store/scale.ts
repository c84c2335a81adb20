import type { AnyObject } from '../../kube/object.ts';
import type { Response } from '../../kube/transport.ts';
import { answer, type Call, lookUp, managerOf, type Server } from './common/call.ts';
import { clone, isObject, type Json } from './common/json.ts';
import { tracked } from './common/owners.ts';
import { methodNotAllowed, notFound, unsupportedMediaType } from './common/status.ts';
import { mergePatch } from './patch.ts';
import { replace } from './write.ts';

/** The subresource that `kubectl scale` and autoscalers use: GET, PUT and merge patches. */
export function scale(server: Server, call: Call): Response {
  const object = lookUp(server, call);
  if (!object) throw notFound(call.resource, call.name);
  if (call.request.method === 'GET') return answer(call, 200, scaleOf(call, object));
  const { body, contentType = 'application/json', method } = call.request;
  if (method !== 'PUT' && method !== 'PATCH') throw methodNotAllowed();
  if (method === 'PATCH' && !/merge-patch/.test(contentType)) throw unsupportedMediaType();
  const wanted = (method === 'PUT' ? body : mergePatch(scaleOf(call, object), body)) as {
    spec?: { replicas?: number };
  };
  const next = clone(object);
  write(next, pathsOf(call).spec, wanted.spec?.replicas ?? 0);
  replace(server, call, object, withoutTime(tracked(server, call, object, next, managerOf(call))));
  return answer(call, 200, scaleOf(call, lookUp(server, call)!));
}

/** Upstream forgets the time of an owner that came through /scale. */
function withoutTime(object: AnyObject): AnyObject {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return object;
  const timeless = clone(managedFields);
  for (const entry of timeless) if (entry.subresource === 'scale') delete entry.time;
  return { ...object, metadata: { ...object.metadata, managedFields: timeless } };
}

function pathsOf(call: Call): { spec: string; status: string; selector: string } {
  const custom = 'custom' in call.resource.is ? call.resource.is.custom.scale : undefined;
  if (!custom) return { spec: '.spec.replicas', status: '.status.replicas', selector: '.spec.selector' };
  return { spec: custom.specReplicasPath, status: custom.statusReplicasPath, selector: custom.labelSelectorPath ?? '' };
}

function scaleOf(call: Call, object: AnyObject): AnyObject {
  const paths = pathsOf(call);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.selector === '' ? undefined : selectorText(read(object, paths.selector));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as AnyObject['metadata'],
    spec: { ...numberAt(object, paths.spec) },
    status: { replicas: Number(read(object, paths.status) ?? 0), ...(selector ? { selector } : {}) },
  };
}

/** Zero is left out, as Go does. */
function numberAt(object: AnyObject, path: string): { replicas?: number } {
  const value = read(object, path);
  return typeof value === 'number' && value !== 0 ? { replicas: value } : {};
}

function selectorText(selector: unknown): string | undefined {
  if (typeof selector === 'string') return selector;
  if (!isObject(selector)) return undefined;
  const labels = Object.entries((selector.matchLabels ?? {}) as Record<string, string>).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return labels.map(([k, v]) => `${k}=${v}`).join(',');
}

const parts = (path: string) => path.split('.').filter(p => p !== '');

function read(object: unknown, path: string): unknown {
  return parts(path).reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), object);
}

function write(object: AnyObject, path: string, value: unknown): void {
  const keys = parts(path);
  let at = object as Json;
  for (const key of keys.slice(0, -1)) {
    if (!isObject(at[key])) at[key] = {};
    at = at[key] as Json;
  }
  at[keys.at(-1)!] = value;
}
