import type { AnyObject } from '../../../kube/object.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import * as apply from '../../apply/apply.ts';
import { type TypeNode, typeOfBuiltin, typeOfCrd } from '../../apply/types.ts';
import { type Call, type Server, timeOf } from './call.ts';
import type { CustomVersion, Served } from './resources.ts';

/** The seam to src/embedded/apply: who owns which field. */

const customTypes = new WeakMap<CustomVersion, TypeNode>();

export function typeOf(resource: Served): TypeNode | undefined {
  if ('builtin' in resource.is) return typeOfBuiltin(apiVersionOf(resource), resource.kind);
  const version = resource.is.custom;
  let type = customTypes.get(version);
  if (!type) {
    type = typeOfCrd(version.schema);
    customTypes.set(version, type);
  }
  return type;
}

export function resetFieldsOf(call: Call): apply.ResetFields {
  const { resource, subresource } = call;
  return 'custom' in resource.is
    ? apply.resetFieldsOfCustom(subresource, resource.subresources.includes('status'))
    : apply.resetFieldsOf(apiVersionOf(resource), resource.kind, subresource);
}

/** `after` with the managedFields that this create, update or patch leaves behind. It may share parts with `after`. */
export function tracked(
  server: Server,
  call: Call,
  before: AnyObject | undefined,
  after: AnyObject,
  manager: string,
): AnyObject {
  const type = typeOf(call.resource);
  if (!type) return after;
  return apply.trackUpdate({
    manager,
    ...(call.subresource === '' ? {} : { subresource: call.subresource }),
    type,
    time: timeOf(server),
    resetFields: resetFieldsOf(call),
    before,
    after,
  });
}

export const keepTimes = apply.keepTimes;
