import type { AnyObject } from '../../kube/object.ts';
import type { Response } from '../../kube/transport.ts';
import { applyRequest } from './applying.ts';
import { type Call, inVersion, managerOf, type Server } from './call.ts';
import { decodeObject } from './codec.ts';
import { clone, isObject, type Json } from './json.ts';
import { jsonPatch } from './jsonpatch.ts';
import { tracked } from './owners.ts';
import { badRequest, notFound, unsupportedMediaType } from './status.ts';
import { strategicMerge } from './strategic.ts';
import { replace } from './write.ts';

export function patch(server: Server, call: Call): Response {
  const { request, resource } = call;
  const custom = 'custom' in resource.is;
  const type = (request.contentType ?? 'application/json').split(';')[0]!.trim();
  if (type === 'application/apply-patch+yaml') return applyRequest(server, call);
  const existing = server.state.get(resource.storage, call.namespace, call.name);
  const accepted = [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(custom ? [] : ['application/strategic-merge-patch+json']),
    'application/apply-patch+yaml',
  ];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  if (!existing) throw notFound(resource, call.name);
  const before = clone(inVersion(resource, existing)) as AnyObject;
  const patched = patchedBy(type, call, before, request.body);
  const next = decodeObject(call, patched);
  if (next.metadata?.name !== call.name) {
    throw badRequest(
      `the name of the object (${next.metadata?.name ?? ''}) does not match the name on the URL (${call.name})`,
    );
  }
  return replace(server, call, existing, tracked(server, call, existing, next, managerOf(call)));
}

function patchedBy(type: string, call: Call, before: AnyObject, body: unknown): Json {
  if (type === 'application/json-patch+json') return jsonPatch(call, before, body);
  if (!isObject(body)) throw badRequest('the patch is not an object');
  if (type === 'application/merge-patch+json') return mergePatch(before, body) as Json;
  return strategicMerge((call.resource.is as { builtin: string }).builtin, before, body);
}

/** RFC 7386: null deletes, objects merge, everything else replaces. */
export function mergePatch(target: unknown, change: unknown): unknown {
  if (!isObject(change)) return change;
  const out: Json = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete out[key];
    else out[key] = mergePatch(out[key], value);
  }
  return out;
}
