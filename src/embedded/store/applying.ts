import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Response } from '../../kube/transport.ts';
import { applyPatch, type Failure } from '../apply/apply.ts';
import { decodeObject } from './codec.ts';
import { type Call, inVersion, type Server, timeOf } from './common/call.ts';
import { clone, isObject } from './common/json.ts';
import { resetFieldsOf, typeOf } from './common/owners.ts';
import { badRequest, failure, invalid, methodNotAllowed, notFound, Refusal, required } from './common/status.ts';
import { createObject, replace } from './write.ts';

/** PATCH with application/apply-patch+yaml. */
export function applyRequest(server: Server, call: Call): Response {
  const { resource, query, request } = call;
  if (!query.fieldManager) {
    throw invalid({ ...resource, group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      required('fieldManager', 'is required for apply patch'),
    ]);
  }
  const patch = request.body;
  if (!isObject(patch)) throw badRequest('error decoding YAML: the body is not an object');
  const type = typeOf(resource);
  if (!type) throw methodNotAllowed();
  const live = server.state.get(resource.storage, call.namespace, call.name);
  if (!live && call.subresource !== '') throw notFound(resource, call.name);
  const body = clone(patch) as AnyObject;
  body.metadata = isObject(body.metadata) ? (body.metadata as AnyObject['metadata']) : { name: call.name };
  checkHead(call, body);
  const result = applyPatch({
    manager: query.fieldManager,
    ...(call.subresource === '' ? {} : { subresource: call.subresource }),
    type,
    time: timeOf(server),
    resetFields: resetFieldsOf(call),
    live: live ? inVersion(resource, live) : undefined,
    patch: body,
    force: query.force === 'true' || query.force === '1',
  });
  if ('failure' in result) throw refusalOf(result.failure);
  // Written a moment ago by ourselves: nothing to read in them.
  const { managedFields, ...metadata } = result.object.metadata;
  const object = decodeObject(call, { ...result.object, metadata });
  if (managedFields) object.metadata.managedFields = managedFields;
  if (!live) return createObject(server, call, object, true);
  return replace(server, call, live, object);
}

function checkHead(call: Call, body: AnyObject): void {
  const want = apiVersionOf(call.resource);
  if (body.apiVersion !== want && body.apiVersion !== undefined) {
    const [group, version] = body.apiVersion.includes('/') ? body.apiVersion.split('/') : ['', body.apiVersion];
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${body.kind}`);
  }
  if (body.metadata.name === undefined) body.metadata.name = call.name;
  else if (body.metadata.name !== call.name) {
    throw badRequest(
      `the name of the object (${body.metadata.name}) does not match the name on the URL (${call.name})`,
    );
  }
}

const refusalOf = (f: Failure) =>
  new Refusal(failure(f.code, f.reason, f.message, f.causes.length > 0 ? { causes: f.causes } : undefined));
