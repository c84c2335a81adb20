import type { TransportOptions } from '../../src/embedded/sim/transport.ts';
import type { Request } from '../../src/kube/transport.ts';

/** RBAC as kube-apiserver decides it, for the roles that we generate: whoever is bound may, nobody else. */

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}
interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** What a request is, in the words of RBAC; undefined: no object is asked for. */
export function askedBy({ method, path, query = {} }: Request): Asked | undefined {
  const parts = path.split('/').filter(part => part !== '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  if (rest.length === 0) return undefined;
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
  const inside = rest[0] === 'namespaces' && rest.length > 2;
  // The namespace of a namespace is itself.
  const namespace = rest[0] === 'namespaces' ? (rest[1] ?? '') : '';
  const [plural = '', name = '', sub] = inside ? rest.slice(2) : rest;
  const read = name !== '' ? 'get' : query.watch ? 'watch' : 'list';
  const verb = method === 'GET' ? read : (VERBS[method] ?? method);
  return { verb, group, resource: sub ? `${plural}/${sub}` : plural, namespace, name };
}

export const isAllowed = (roles: readonly Role[], asked: Asked): boolean =>
  roles
    .filter(
      ({ kind, metadata }) => kind === 'ClusterRole' || (kind === 'Role' && metadata.namespace === asked.namespace),
    )
    .flatMap(({ rules = [] }) => rules)
    .some(
      rule =>
        rule.apiGroups.includes(asked.group) &&
        rule.resources.includes(asked.resource) &&
        rule.verbs.includes(asked.verb) &&
        (rule.resourceNames === undefined || rule.resourceNames.includes(asked.name)),
    );

/** Writes down every request of the operator that these roles do not allow. */
export const watchedBy = (roles: readonly object[], refused: Set<string>): TransportOptions => ({
  intercept: request => {
    const asked = askedBy(request);
    if (asked && !isAllowed(roles as readonly Role[], asked))
      refused.add(`${asked.verb} ${asked.resource}.${asked.group} in ${asked.namespace || 'the cluster'}`);
    return undefined;
  },
});
