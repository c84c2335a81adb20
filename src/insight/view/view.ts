import { KINDS } from '../../../api/kinds.ts';
import type { StatusCause } from '../../../api/schema/kind.ts';
import type { AnyObject, Condition, DeepReadonly } from '../../kube/object.ts';
import { ownerUids } from '../../runtime/plan/dress.ts';
import { OWNER_NAMESPACE_LABEL } from '../../runtime/plan/names.ts';

/** What all of insight looks at: objects as they are on the wire, from a cluster, a folder or the embedded world. */
export type Live = DeepReadonly<AnyObject>;

export interface Happening {
  readonly at: string;
  readonly warning: boolean;
  readonly reason: string;
  readonly text: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** Of the object, where the event knows it. */
  readonly uid: string;
}

/** An index over objects; nothing in it is fetched later, so the same objects give the same answers. */
export interface View {
  readonly objects: readonly Live[];
  /** Milliseconds since 1970 by the clock that wrote the objects' times. */
  readonly now: number;
  /** Objects of our own kinds, in the order of the table of kinds. */
  readonly ours: readonly Live[];
  ofKind(kind: string): readonly Live[];
  get(kind: string, namespace: string, name: string): Live | undefined;
  ownerOf(object: Live): Live | undefined;
  /** What names this object as its controller, or by label where it lies in a node namespace: a copy of a Secret names several. */
  owned(object: Live): readonly Live[];
  /** Oldest first. */
  events(object?: Live): readonly Happening[];
}

const ORDER = new Map(KINDS.map((kind, index) => [kind.kind, index]));

export const isOurs = (object: Live): boolean => ORDER.has(object.kind);
export const namespaceOf = (object: Live): string => object.metadata.namespace ?? '';
export const labelOf = (object: Live): string => `${object.kind} ${object.metadata.name}`;
export const conditionsOf = (object: Live | undefined): readonly DeepReadonly<Condition>[] =>
  (object?.status as DeepReadonly<{ conditions?: Condition[] }> | undefined)?.conditions ?? [];

export function viewOf(objects: readonly Live[], now: number): View {
  const kinds = new Map<string, Live[]>();
  const names = new Map<string, Live>();
  const owners = new Map<string, Live[]>();
  const uids = new Map<string, Live>();
  const happenings: Happening[] = [];
  const push = (map: Map<string, Live[]>, key: string, object: Live): void => {
    const list = map.get(key);
    if (list) list.push(object);
    else map.set(key, [object]);
  };
  for (const object of objects) {
    if (object.kind === 'Event') {
      happenings.push(happeningOf(object));
      continue;
    }
    push(kinds, object.kind, object);
    names.set(`${object.kind} ${namespaceOf(object)}/${object.metadata.name}`, object);
    if (object.metadata.uid) uids.set(object.metadata.uid, object);
    for (const owner of ownerUids(object)) push(owners, owner, object);
  }
  happenings.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const byUid = new Map<string, Happening[]>();
  for (const happening of happenings) {
    const list = byUid.get(happening.uid);
    if (list) list.push(happening);
    else byUid.set(happening.uid, [happening]);
  }
  return {
    objects,
    now,
    ours: objects
      .filter(isOurs)
      .sort(
        (a, b) =>
          (ORDER.get(a.kind) ?? 0) - (ORDER.get(b.kind) ?? 0) ||
          (`${namespaceOf(a)}/${a.metadata.name}` < `${namespaceOf(b)}/${b.metadata.name}` ? -1 : 1),
      ),
    ofKind: kind => kinds.get(kind) ?? [],
    get: (kind, namespace, name) => names.get(`${kind} ${namespace}/${name}`),
    ownerOf: object => uids.get(ownerUids(object)[0] ?? ''),
    owned: object => (object.metadata.uid ? (owners.get(object.metadata.uid) ?? []) : []),
    events: object => (object ? (byUid.get(object.metadata.uid ?? '') ?? []) : happenings),
  };
}

/** Namespaces that objects of a namespace name for their pods of nodes, without it. */
export function nodeNamespaces(objects: readonly Live[], namespace: string): readonly string[] {
  const named = objects
    .filter(object => isOurs(object) && namespaceOf(object) === namespace)
    .flatMap(({ spec }) => (spec as { readonly nodeNamespace?: string } | undefined)?.nodeNamespace ?? []);
  return [...new Set(named)].filter(name => name !== namespace).sort();
}

/** What is about one namespace: its objects, what they have in node namespaces, and what has no namespace. */
export function around<T extends Live>(objects: readonly T[], namespace: string): readonly T[] {
  const nodes = new Set(nodeNamespaces(objects, namespace));
  return objects.filter(object => {
    const where = namespaceOf(object);
    if (where === '' || where === namespace) return true;
    // Several clouds may use one, under other names.
    return nodes.has(where) && (object.metadata.labels?.[OWNER_NAMESPACE_LABEL] ?? namespace) === namespace;
  });
}

interface EventFields {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly message?: string;
  readonly eventTime?: string | null;
  readonly lastTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
  readonly regarding?: Regarding;
  readonly involvedObject?: Regarding;
}
interface Regarding {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** Both shapes of an event: events.k8s.io, and the older one of the core group. */
function happeningOf(event: Live): Happening {
  const e = event as Live & EventFields;
  const about = e.regarding ?? e.involvedObject ?? {};
  const at =
    e.series?.lastObservedTime ??
    e.lastTimestamp ??
    e.deprecatedLastTimestamp ??
    e.eventTime ??
    e.metadata.creationTimestamp ??
    '';
  return {
    at: at.replace(/\.\d+Z$/, 'Z'),
    warning: e.type === 'Warning',
    reason: e.reason ?? '',
    text: e.note ?? e.message ?? '',
    kind: about.kind ?? '',
    name: about.name ?? '',
    namespace: about.namespace ?? namespaceOf(event),
    uid: about.uid ?? '',
  };
}

/** Why conditions of an object of ours are not True. None in a status that an earlier operator wrote. */
export const causesOf = (object: Live | undefined): readonly Told[] =>
  (object?.status as { readonly causes?: readonly Told[] } | undefined)?.causes ?? [];
export type Told = DeepReadonly<StatusCause>;

/** Everything below an object, through owners: Deployments, their ReplicaSets, their pods. */
export function below(view: View, object: Live): readonly Live[] {
  return view.owned(object).flatMap(child => [child, ...below(view, child)]);
}
