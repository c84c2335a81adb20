import type { AnyObject } from '../../../kube/object.ts';
import type { CustomVersion } from '../resources.ts';
import type { FieldError } from '../status.ts';

export function customCreateErrors(_version: CustomVersion, _object: AnyObject): FieldError[] {
  return [];
}

export function customUpdateErrors(
  _version: CustomVersion,
  _next: AnyObject,
  _existing: AnyObject,
  _subresource: string,
): FieldError[] {
  return [];
}
