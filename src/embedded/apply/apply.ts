import type { AnyObject } from '../../kube/object.ts';
import type { TypeNode } from './types.ts';

/** Paths the strategy of a resource overwrites anyway, so that nobody owns them: `['status']`, `['metadata', 'labels']`. */
export type ResetFields = readonly (readonly string[])[];

export interface Failure {
  code: 400 | 409 | 500;
  /** '' is how the API server says "unknown": the field manager's own errors carry no reason. */
  reason: 'BadRequest' | 'Conflict' | '';
  message: string;
  causes: { reason: 'FieldManagerConflict'; message: string; field: string }[];
}

interface Write {
  manager: string;
  subresource?: string;
  type: TypeNode;
  /** RFC 3339, whole seconds. */
  time: string;
  resetFields?: ResetFields;
}

/**
 * Server-side apply. `live` undefined means create. The result is merged but not defaulted, and its managedFields are new.
 * The caller defaults, validates and then passes it through `keepTimes`, in this order, as the API server does.
 */
export function applyPatch(
  _input: Write & { live: AnyObject | undefined; patch: AnyObject; force: boolean },
): { object: AnyObject } | { failure: Failure } {
  throw new Error('not yet');
}

/** `after` with the managedFields a create (`before` undefined), update or patch leaves behind. `after` must be defaulted already. */
export function trackUpdate(_input: Write & { before: AnyObject | undefined; after: AnyObject }): AnyObject {
  throw new Error('not yet');
}

/** When a write changed nothing but times in managedFields, gives them their old values, so that nothing is stored. */
export function keepTimes(_before: AnyObject, _after: AnyObject): AnyObject {
  throw new Error('not yet');
}

/** What the strategies of Kubernetes 1.37 reset, per kind and subresource ('' is the main resource). */
export function resetFieldsOf(_apiVersion: string, _kind: string, _subresource: string): ResetFields {
  throw new Error('not yet');
}

/** The same for custom resources. `hasStatus`: the version declares the status subresource. */
export const resetFieldsOfCustom = (subresource: string, hasStatus: boolean): ResetFields =>
  subresource === 'status' ? [['metadata'], ['spec']] : hasStatus ? [['status']] : [];
