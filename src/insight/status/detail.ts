import type { Condition } from '../../kube/object.ts';
import { maskShapes } from '../../world/mask/shapes.ts';
import { below, conditionsOf, type Happening, type Live, namespaceOf, type View } from '../view/view.ts';
import { type State, stateOf } from './status.ts';
import { type TreeNode, treeBelow } from './tree.ts';

/** What one object says of itself: its conditions, what is below it, what happened. */
export interface Detail {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly state: State;
  readonly created?: string;
  readonly conditions: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime'>[];
  readonly tree: TreeNode;
  readonly events: readonly Happening[];
}

/** Older ones are seldom asked for; `events` in the terminal shows all. */
const MOST_EVENTS = 100;

export function detailOf(view: View, object: Live): Detail {
  const { kind, metadata } = object;
  return {
    kind,
    name: metadata.name,
    namespace: namespaceOf(object),
    state: stateOf(object),
    ...(metadata.creationTimestamp && { created: metadata.creationTimestamp }),
    conditions: conditionsOf(object).map(({ type, status, reason, message, lastTransitionTime }) => ({
      type,
      status,
      reason,
      message: maskShapes(message),
      lastTransitionTime,
    })),
    tree: treeBelow(view, object),
    events: eventsBelow(view, object).slice(-MOST_EVENTS).map(redacted),
  };
}

/** Those of the object and of everything below it: a Deployment's pods speak for Keystone. Oldest first. */
export function eventsBelow(view: View, object: Live): readonly Happening[] {
  const uids = new Set([object, ...below(view, object)].map(one => one.metadata.uid));
  return view.events().filter(event => uids.has(event.uid));
}

export const redacted = (event: Happening): Happening => ({ ...event, text: maskShapes(event.text) });
