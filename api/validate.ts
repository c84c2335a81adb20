import type { AnyObject } from '../src/kube/object.ts';
import { apiVersionOf } from '../src/kube/resource.ts';
import { KINDS } from './kinds.ts';

const TOP_LEVEL = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

/**
 * What the schema has against an object, each with its path; empty when nothing. The API server is stricter (it also
 * evaluates CEL), so this is the early check of the command line and of tests.
 */
export function validate(object: AnyObject): string[] {
  const kind = KINDS.find(k => k.kind === object.kind && apiVersionOf(k) === object.apiVersion);
  if (kind === undefined) return [`${object.apiVersion} ${object.kind} is not a kind of this operator`];
  const unknown = Object.keys(object).filter(key => !TOP_LEVEL.has(key));
  const result = kind.specSchema.safeParse(object.spec ?? {});
  return [
    ...unknown.map(key => `${key}: unknown field`),
    ...(result.error?.issues ?? []).map(issue => `${['spec', ...issue.path].join('.')}: ${issue.message}`),
  ];
}
