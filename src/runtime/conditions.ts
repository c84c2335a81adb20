import type { Condition, DeepReadonly } from '../kube/object.ts';
import { timeOf } from '../kube/time.ts';

/** A condition before it has a place in time. */
export type Draft = Omit<Condition, 'lastTransitionTime'>;

type Conditions = readonly DeepReadonly<Condition>[];

/** Messages are for people; a stack trace in one would make status unreadable and large. */
const MESSAGE_LIMIT = 512;

/**
 * The conditions to store: `drafts` in their order, Ready first. lastTransitionTime moves only when status flips:
 * moving it with the message would make every change look like an outage. Pure; `now` is the API server's time.
 */
export function mergeConditions(before: Conditions, drafts: readonly Draft[], now: Date): Condition[] {
  const ordered = [...drafts.filter(d => d.type === 'Ready'), ...drafts.filter(d => d.type !== 'Ready')];
  return ordered.map(draft => {
    const { type, status, reason, message, observedGeneration } = draft;
    const old = findCondition(before, type);
    return {
      type,
      status,
      reason,
      message: cut(message),
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : timeOf(now.getTime()),
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
    };
  });
}

/** `before` with one condition changed or, at the end, added. Pure. */
export function setCondition(before: Conditions, draft: Draft, now: Date): Condition[] {
  const drafts: Draft[] = before.map(old => (old.type === draft.type ? draft : old));
  return mergeConditions(before, findCondition(before, draft.type) ? drafts : [...drafts, draft], now);
}

const findCondition = (conditions: Conditions | undefined, type: string): DeepReadonly<Condition> | undefined =>
  conditions?.find(condition => condition.type === type);

/** What is worth an event: conditions whose status or reason is not what it was. */
export const transitions = (before: Conditions, after: readonly Condition[]): readonly Condition[] =>
  after.filter(condition => {
    const old = findCondition(before, condition.type);
    return old?.status !== condition.status || old.reason !== condition.reason;
  });

/** Cut in the middle: a message begins with the object, and ends with who has to do what. */
export function cut(message: string): string {
  if (message.length <= MESSAGE_LIMIT) return message;
  const end = message.slice(-MESSAGE_LIMIT / 2);
  return `${message.slice(0, MESSAGE_LIMIT - end.length - 5)} ... ${end}`;
}
