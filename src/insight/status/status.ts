import { isReady } from '../../runtime/plan/ready.ts';
import { orderOf } from '../view/order.ts';
import { conditionsOf, type Live, namespaceOf, type View } from '../view/view.ts';
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

export interface Group {
  readonly namespace: string;
  /** The control plane; absent for services that stand alone. */
  readonly top?: Live;
  readonly services: readonly Live[];
}

/** One per control plane, and one per namespace for what stands alone there. */
export function groupsOf(view: View): readonly Group[] {
  const tops = view.ours.filter(object => object.kind === 'OpenStackControlPlane');
  const alone = view.ours.filter(object => object.kind !== 'OpenStackControlPlane' && !view.ownerOf(object));
  return [
    ...tops.map(top => ({
      namespace: namespaceOf(top),
      top,
      services: view.ours.filter(object => view.ownerOf(object) === top),
    })),
    ...[...new Set(alone.map(namespaceOf))]
      .sort()
      .map(namespace => ({ namespace, services: alone.filter(object => namespaceOf(object) === namespace) })),
  ];
}

export const statusOf = (view: View): readonly CloudStatus[] =>
  groupsOf(view).map(({ namespace, top, services: objects }) => {
    if (top) return cloudOf(view, top, objects);
    const services = objects.map(object => serviceOf(view, object));
    return { namespace, state: worst(services.map(service => service.state)), ...counts(services), services };
  });

function cloudOf(view: View, top: Live, children: readonly Live[]): CloudStatus {
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

/**
 * What is left is learned from what is done: how long each Ready service took after the last thing it waits for. The
 * longest chain of open services, each as long as the median, less what the first of them has behind it.
 */
function etaOf(children: readonly Live[], now: number): CloudStatus['eta'] {
  const { before, readyAt, startOf } = orderOf(children);
  const own = children
    .flatMap(child => {
      const at = readyAt(child);
      return at === undefined ? [] : [at - startOf(child)];
    })
    .filter(ms => ms > 0)
    .sort((a, b) => a - b);
  if (own.length < 2) return undefined;
  const median = own[Math.floor(own.length / 2)]!;
  const left = (child: Live): number => {
    const open = before(child).filter(other => readyAt(other) === undefined);
    if (open.length > 0) return median + Math.max(...open.map(left));
    return Math.max(0, median - (now - startOf(child)));
  };
  const ms = Math.max(...children.filter(child => readyAt(child) === undefined).map(left));
  return Number.isFinite(ms) ? { seconds: Math.round(ms / 1000), learnedFrom: own.length } : undefined;
}
