import { stateOf } from '../status/status.ts';
import { type Live, labelOf, namespaceOf, type View } from '../view/view.ts';
import { accountOf } from './account.ts';
import type { Case, Cure } from './case.ts';
import { cureOf } from './cures.ts';
import type { Finding, Link } from './finding.ts';
import type { Account, Found } from './held.ts';

export interface Cause extends Cure {
  readonly reason: string;
  readonly what: string;
  /** What must be mended. */
  readonly root: Finding['root'];
  /** From the object of ours down to the last words. */
  readonly chain: readonly Link[];
  /** Objects of ours that are not ready because of it. */
  readonly consequences: readonly string[];
  /** Where more can be read; the caller may fetch it. */
  readonly pod?: { readonly namespace: string; readonly name: string; readonly container?: string };
}

export interface Why {
  readonly causes: readonly Cause[];
  /** What is not ready and on its way. */
  readonly moving: readonly string[];
}

/**
 * Why objects are not ready: every cause that stands by itself, and under it what is not ready because of it.
 * `about` limits the answer to the causes of one object.
 */
export function why(view: View, about?: Live): Why {
  const accounts = new Map(view.ours.map(object => [object, accountOf(view, object)]));
  const reaches = new Map(view.ours.map(object => [object, reach(object, accounts)]));
  const merged = new Map<string, { found: Found; objects: Live[]; afterwards: string[] }>();
  for (const [object, account] of accounts)
    for (const found of account.found) {
      const entry = merged.get(keyOf(found)) ?? { found, objects: [], afterwards: [] };
      entry.objects.push(object);
      merged.set(keyOf(found), entry);
    }
  const causes: Cause[] = [];
  for (const { found, objects } of merged.values()) {
    const hit = view.ours.filter(object => objects.some(at => object !== at && reaches.get(object)?.has(at)));
    if (about && !objects.includes(about) && !hit.includes(about)) continue;
    const later = [...accounts.values()].flatMap(({ edges }) =>
      edges.filter(edge => objects.includes(edge.to)).flatMap(edge => edge.afterwards),
    );
    const others = new Set([...objects.slice(1), ...hit]);
    causes.push(causeOf(view, found, [...others].map(labelOf), later));
  }
  const relevant = about ? [about, ...(reaches.get(about) ?? [])] : view.ours;
  const moving = relevant.flatMap(object => accounts.get(object)?.moving ?? []);
  return { causes, moving: [...new Set(moving)] };
}

const keyOf = ({ case: c, what }: Found): string => {
  const own = c.root.kind === c.object.kind && c.root.name === c.object.metadata.name;
  return `${c.reason} ${c.root.kind} ${c.root.namespace}/${c.root.name} ${own ? what : ''}`;
};

/** Everything that an object waits for, over any number of others. */
function reach(from: Live, accounts: ReadonlyMap<Live, Account>, seen = new Set<Live>()): ReadonlySet<Live> {
  for (const { to } of accounts.get(from)?.edges ?? [])
    if (!seen.has(to)) {
      seen.add(to);
      reach(to, accounts, seen);
    }
  return seen;
}

function causeOf(view: View, found: Found, consequences: readonly string[], later: readonly string[]): Cause {
  const { case: c } = found;
  const cure = cureOf(view, c);
  const { pod, container } = c.finding ?? {};
  return {
    reason: c.reason,
    what: c.finding?.meaning ? `${found.what} (${c.finding.meaning.means})` : found.what,
    root: c.root,
    ...cure,
    afterwards: [...new Set([...cure.afterwards, ...later])],
    chain: chainOf(view, c, found.links),
    consequences,
    ...(pod && { pod: { namespace: namespaceOf(pod), name: pod.metadata.name, ...(container && { container }) } }),
  };
}

function chainOf(view: View, c: Case, links: readonly Link[]): readonly Link[] {
  const owners: Link[] = [];
  for (let up = view.ownerOf(c.object); up; up = view.ownerOf(up))
    owners.unshift({ what: labelOf(up), says: stateOf(up) });
  const row = c.type ? [{ what: `condition ${c.type}`, says: c.message }] : [];
  return [...owners, { what: labelOf(c.object), says: stateOf(c.object) }, ...row, ...links];
}
