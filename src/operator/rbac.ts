import { type Resource, resourceName, Secret } from '../kube/resource.ts';
import type { Plan } from '../runtime/plan/row.ts';

export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const READ = ['get', 'list', 'watch'];
/** Server-side apply is a patch, and a create when there is nothing yet. */
const WRITE = [...READ, 'create', 'patch', 'delete'];

/** Exactly what these plans need, from what they declare (DESIGN.md: nothing is granted that no row asks for). */
export function rules(plans: readonly Plan<never>[]): { namespaced: PolicyRule[]; cluster: PolicyRule[] } {
  const verbs = new Map<string, { resource: Resource; subresource: string; verbs: Set<string> }>();
  const grant = (resource: Resource, wanted: readonly string[], subresource = ''): void => {
    const key = `${resourceName(resource)}/${subresource}`;
    const entry = verbs.get(key) ?? { resource, subresource, verbs: new Set<string>() };
    for (const verb of wanted) entry.verbs.add(verb);
    verbs.set(key, entry);
  };
  for (const plan of plans) {
    grant(plan.kind, [...READ, 'patch']);
    grant(plan.kind, ['patch'], 'status');
    // Lets us set blockOwnerDeletion where admission asks for it.
    grant(plan.kind, ['update'], 'finalizers');
    for (const resource of plan.manages) grant(resource, WRITE);
    for (const resource of plan.reads) grant(resource, READ);
    grant(Secret, READ);
  }
  const all = [...verbs.values()];
  return {
    namespaced: [
      ...grouped(all.filter(entry => entry.resource.namespaced)),
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      // Whether the namespace itself is being deleted. A Role may grant this for its own namespace.
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
    ],
    cluster: grouped(all.filter(entry => !entry.resource.namespaced)),
  };
}

/** One rule per group and set of verbs, sorted, so that the file changes only when rights do. */
function grouped(
  entries: readonly { resource: Resource; subresource: string; verbs: ReadonlySet<string> }[],
): PolicyRule[] {
  const out = new Map<string, PolicyRule>();
  for (const { resource, subresource, verbs } of entries) {
    const key = `${resource.group} ${[...verbs].sort().join(',')}`;
    const rule = out.get(key) ?? { apiGroups: [resource.group], resources: [], verbs: [...verbs].sort() };
    rule.resources.push(subresource ? `${resource.plural}/${subresource}` : resource.plural);
    out.set(key, rule);
  }
  for (const rule of out.values()) rule.resources.sort();
  return [...out].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}

export const LEASE_RULES: PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'list', 'update'] },
];
