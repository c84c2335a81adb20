import type { AnyObject } from '../../../kube/object.ts';
import type { Call, Server } from '../call.ts';
import type { FieldError } from '../status.ts';

export function validateCreate(_server: Server, _call: Call, _object: AnyObject): FieldError[] {
  return [];
}

export function validateUpdate(_server: Server, _call: Call, _next: AnyObject, _existing: AnyObject): FieldError[] {
  return [];
}
