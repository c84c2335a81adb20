import type { DeepReadonly } from '../../kube/object.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { fieldMissing } from '../../runtime/plan/unmet.ts';

/** What stands in a field of a spec that names a Secret. */
export const fieldOf = (object: DeepReadonly<Managed>, field: string): string | undefined =>
  (object.spec as Record<string, string | undefined>)[field];

export function secretIn(object: DeepReadonly<Managed>, field: string): string {
  const name = fieldOf(object, field);
  if (name) return name;
  throw fieldMissing(`spec.${field}`, `spec.${field} is not set`, 'name a Secret in it');
}
