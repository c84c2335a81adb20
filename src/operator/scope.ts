import { hashOf } from '../runtime/plan/canonical.ts';

export const NAME = 'openstack-operator';

/** What an operator serves; empty: all. */
export interface Scope {
  readonly namespaces: readonly string[];
  /** In lower case. */
  readonly kinds: readonly string[];
}

/** Names of Leases are those of DNS. */
const LONGEST = 253;
/** Says the scope of a Lease also where its name had to be cut. */
export const SCOPE_ANNOTATION = 'openstack.k8s.io/operator-scope';

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** `openstack-operator`, `openstack-operator-keystone-mariadb`, `openstack-operator-keystone.cloud-a.cloud-b`. */
export function leaseName({ namespaces, kinds }: Scope): string {
  const name = [[NAME, ...sorted(kinds)].join('-'), ...sorted(namespaces)].join('.');
  return name.length <= LONGEST ? name : `${NAME}-${hashOf([sorted(kinds), sorted(namespaces)]).slice(0, 16)}`;
}

export const scopeAnnotations = ({ namespaces, kinds }: Scope): Record<string, string> => ({
  [SCOPE_ANNOTATION]: JSON.stringify({ namespaces: sorted(namespaces), kinds: sorted(kinds) }),
});

/** The scope of a Lease; undefined: it is none of an operator like this one. Earlier versions wrote no annotation. */
function scopeOf({ name, annotations }: Held): Scope | undefined {
  try {
    const said = JSON.parse(annotations?.[SCOPE_ANNOTATION] ?? 'null') as Partial<Scope> | null;
    if (said) return { namespaces: said.namespaces ?? [], kinds: said.kinds ?? [] };
  } catch {
    // Somebody edited it: the name says it too.
  }
  const [first = '', ...namespaces] = name.split('.');
  if (first === NAME) return { namespaces, kinds: [] };
  return first.startsWith(`${NAME}-`) ? { namespaces, kinds: first.slice(NAME.length + 1).split('-') } : undefined;
}

interface Held {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What both serve; undefined: nothing. An empty list is everything. */
function common(a: readonly string[], b: readonly string[]): readonly string[] | undefined {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const both = a.filter(name => b.includes(name));
  return both.length > 0 ? both : undefined;
}

const listed = (names: readonly string[], all: string): string => (names.length === 0 ? all : sorted(names).join(', '));

/** Why two operators may not run beside each other: some object would be reconciled by both. */
export function clashOf(own: Scope, lease: Held): string | undefined {
  const other = scopeOf(lease);
  if (other === undefined) return undefined;
  const [namespaces, kinds] = [common(own.namespaces, other.namespaces), common(own.kinds, other.kinds)];
  if (namespaces === undefined || kinds === undefined) return undefined;
  return `another operator reconciles the same objects: ${listed(kinds, 'all kinds')} in ${listed(namespaces, 'all namespaces')}; give one of the two other --namespaces or --kinds, or stop it`;
}
