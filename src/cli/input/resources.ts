import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject } from '../../kube/object.ts';
import * as builtin from '../../kube/resource.ts';
import { apiVersionOf, type Resource, resourceName } from '../../kube/resource.ts';
import { PLANS } from '../../operator/plans.ts';
import { UsageError } from './yaml.ts';

/** What some plan writes or reads: a plan on a copy needs all of it, or existing objects would be planned as new. */
export const PLANNED: readonly Resource[] = [
  ...new Map(
    PLANS.flatMap(({ manages, reads }) => [...manages, ...reads]).map(resource => [resourceName(resource), resource]),
  ).values(),
];

const ALL: readonly Resource[] = [
  ...Object.values(builtin).filter((value): value is Resource => typeof value === 'object'),
  ...KINDS,
  ...PLANNED,
];

const find = (object: Pick<AnyObject, 'apiVersion' | 'kind'>): Resource | undefined =>
  ALL.find(resource => resource.kind === object.kind && apiVersionOf(resource) === object.apiVersion);

/** Whether the embedded API server can hold it. */
export const isKnown = (object: Pick<AnyObject, 'apiVersion' | 'kind'>): boolean => find(object) !== undefined;

export function resourceNamed(object: Pick<AnyObject, 'apiVersion' | 'kind'>): Resource {
  const found = find(object);
  if (!found) throw new UsageError(`no kind ${object.kind} in ${object.apiVersion}`);
  return found;
}
