import type { AnyObject } from '../../kube/object.ts';
import type { Response } from '../../kube/transport.ts';
import { applyRequest } from './applying.ts';
import { decodeObject } from './codec.ts';
import { type Call, lookUp, managerOf, type Server } from './common/call.ts';
import { clone, goMap, isObject, type Json } from './common/json.ts';
import { tracked } from './common/owners.ts';
import { badRequest, invalid, invalidValue, notFound, Refusal, unsupportedMediaType } from './common/status.ts';
import { jsonPatch } from './jsonpatch.ts';
import { strategicMerge } from './strategic.ts';
import { replace } from './write.ts';

export function patch(server: Server, call: Call): Response {
  const { request, resource } = call;
  const custom = 'custom' in resource.is;
  const type = (request.contentType ?? 'application/json').split(';')[0]!.trim();
  if (type === 'application/apply-patch+yaml') return applyRequest(server, call);
  const existing = lookUp(server, call);
  if (type === 'application/strategic-merge-patch+json' && custom) throw unsupportedMediaType(CUSTOM);
  if (!BUILTIN.includes(type)) throw unsupportedMediaType();
  if (!existing) throw notFound(resource, call.name);
  const before = clone(existing);
  const patched = patchedBy(type, call, before, request.body);
  const next = decodePatched(call, type, patched, request.body);
  if (next.metadata?.name !== call.name) {
    throw badRequest(
      `the name of the object (${next.metadata?.name ?? ''}) does not match the name on the URL (${call.name})`,
    );
  }
  return replace(server, call, existing, tracked(server, call, existing, next, managerOf(call)));
}

const CUSTOM = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const BUILTIN = [...CUSTOM, 'application/strategic-merge-patch+json'];

/** A patch that leaves no object of the kind behind is refused as a bad field `patch`. */
function decodePatched(call: Call, type: string, patched: Json, body: unknown): AnyObject {
  try {
    return decodeObject(call, patched);
  } catch (error) {
    if (!(error instanceof Refusal) || error.response.status !== 400) throw error;
    const why = error.message.replace(/^.*? cannot be handled as a [^:]*: /, '');
    const strategic = type === 'application/strategic-merge-patch+json';
    const value = strategic ? goMap(body) : JSON.stringify(patched);
    const text = strategic ? why.replace(/^json: .* of type (\S+)$/, 'unrecognized type: $1') : why;
    throw invalid({ group: '', version: '', kind: '', plural: '', namespaced: false }, '', [
      invalidValue('patch', value, text),
    ]);
  }
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
