import { SECTIONS, type SectionName } from '../controlplane/sections.ts';
import { isReady } from '../runtime/plan/ready.ts';
import { conditionsOf, type Live, namespaceOf, type View } from './view.ts';
import { movesOf, podsOf } from './workloads.ts';

export type State = 'ready' | 'moving' | 'stuck' | 'paused' | 'deleting' | 'unseen';

export interface ServiceStatus {
  readonly kind: string;
  readonly name: string;
  readonly state: State;
  readonly pods: { readonly wanted: number; readonly ready: number };
  readonly release?: string;
  readonly reason: string;
  readonly message: string;
  /** What moves now, and how far it is. */
  readonly doing: readonly string[];
  /** Since when it is in this state. */
  readonly since?: string;
}

export interface CloudStatus {
  readonly namespace: string;
  /** The control plane; absent for services that stand alone. */
  readonly name?: string;
  readonly state: State;
  readonly phase?: string;
  readonly release?: string;
  readonly ready: number;
  readonly wanted: number;
  readonly services: readonly ServiceStatus[];
  /** How long what is open may still take, and from how many services that was learned. */
  readonly eta?: { readonly seconds: number; readonly learnedFrom: number };
}

/** In one word: what a condition Ready says, and what it can't say when nobody writes it. */
export function stateOf(object: Live): State {
  if (object.metadata.deletionTimestamp) return 'deleting';
  const conditions = conditionsOf(object);
  if (conditions.some(c => c.type === 'Paused' && c.status === 'True')) return 'paused';
  if (isReady(object)) return 'ready';
  const ready = conditions.find(c => c.type === 'Ready');
  if (ready === undefined) return 'unseen';
  // Of an older generation: the operator has yet to look.
  if (ready.status === 'True' || ready.status === 'Unknown') return 'moving';
  return ready.reason === 'Reconciling' || ready.reason === 'Deleting' ? 'moving' : 'stuck';
}

/** One entry per control plane, and one per namespace for what stands alone there. */
export function statusOf(view: View): readonly CloudStatus[] {
  const tops = view.ours.filter(object => object.kind === 'OpenStackControlPlane');
  const clouds = tops.map(top => cloudOf(view, top));
  const alone = view.ours.filter(object => object.kind !== 'OpenStackControlPlane' && !view.ownerOf(object));
  for (const namespace of [...new Set(alone.map(namespaceOf))].sort()) {
    const services = alone.filter(object => namespaceOf(object) === namespace).map(object => serviceOf(view, object));
    clouds.push({
      namespace,
      state: worst(services.map(service => service.state)),
      ...counts(services),
      services,
    });
  }
  return clouds;
}

function cloudOf(view: View, top: Live): CloudStatus {
  const children = view.ours.filter(object => view.ownerOf(object) === top);
  const services = children.map(child => serviceOf(view, child));
  const { phase, release } = (top.status ?? {}) as { phase?: string; release?: string };
  const state = stateOf(top);
  const eta = state === 'moving' ? etaOf(children, view.now) : undefined;
  return {
    namespace: namespaceOf(top),
    name: top.metadata.name,
    state,
    ...(phase && { phase }),
    ...(release && { release }),
    ...counts(services),
    services,
    ...(eta && { eta }),
  };
}

const counts = (services: readonly ServiceStatus[]) => ({
  ready: services.filter(service => service.state === 'ready').length,
  wanted: services.length,
});

const BAD: readonly State[] = ['stuck', 'unseen', 'paused', 'deleting', 'moving', 'ready'];
const worst = (states: readonly State[]): State => BAD.find(state => states.includes(state)) ?? 'ready';

function serviceOf(view: View, object: Live): ServiceStatus {
  const ready = conditionsOf(object).find(c => c.type === 'Ready');
  const release = (object.status as { release?: string } | undefined)?.release;
  const state = stateOf(object);
  return {
    kind: object.kind,
    name: object.metadata.name,
    state,
    pods: podsOf(view, object),
    ...(release && { release }),
    reason: state === 'paused' ? 'Annotated' : (ready?.reason ?? ''),
    message: state === 'ready' ? '' : (ready?.message ?? 'no operator has looked at it yet'),
    doing: [object, ...view.ours.filter(other => view.ownerOf(other) === object)].flatMap(o => movesOf(view, o)),
    ...(ready?.lastTransitionTime && { since: ready.lastTransitionTime }),
  };
}

const time = (text: string | undefined): number => Date.parse(text ?? '');

/**
 * What is left is learned from what is done: how long each Ready service took after the last thing it waits for. The
 * longest chain of open services, each as long as the median, less what the first of them has behind it.
 */
function etaOf(children: readonly Live[], now: number): CloudStatus['eta'] {
  const readyAt = new Map<string, number>();
  for (const child of children) {
    const ready = conditionsOf(child).find(c => c.type === 'Ready' && c.status === 'True');
    if (ready) readyAt.set(child.metadata.name, time(ready.lastTransitionTime));
  }
  const startOf = (child: Live): number => {
    const after = SECTIONS[child.metadata.name as SectionName]?.after ?? [];
    return Math.max(time(child.metadata.creationTimestamp), ...after.flatMap(name => readyAt.get(name) ?? []));
  };
  const own = children
    .flatMap(child => {
      const at = readyAt.get(child.metadata.name);
      return at === undefined ? [] : [at - startOf(child)];
    })
    .filter(ms => ms > 0)
    .sort((a, b) => a - b);
  if (own.length < 2) return undefined;
  const median = own[Math.floor(own.length / 2)]!;
  const open = children.filter(child => !readyAt.has(child.metadata.name));
  const left = (child: Live, seen: readonly string[] = []): number => {
    const { name } = child.metadata;
    if (seen.includes(name)) return 0;
    const before = open.filter(other =>
      SECTIONS[name as SectionName]?.after.includes(other.metadata.name as SectionName),
    );
    if (before.length > 0) return median + Math.max(...before.map(other => left(other, [...seen, name])));
    return Math.max(0, median - (now - startOf(child)));
  };
  const ms = Math.max(...open.map(child => left(child)));
  return Number.isFinite(ms) ? { seconds: Math.round(ms / 1000), learnedFrom: own.length } : undefined;
}
