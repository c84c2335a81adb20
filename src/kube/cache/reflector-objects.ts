/** What a reflector lets into a store. */
import type { AnyObject, Status } from '../object.ts';
import type { Effect, Failure } from './reflector-state.ts';

export function stage(items: readonly AnyObject[], kinds: readonly string[]): Effect[] {
  const rejects: Effect[] = [];
  const objects = items.filter(item => {
    // Items of built-in types come without a kind.
    const flaw = flawOf(item.kind === undefined ? { ...item, kind: kinds[0]! } : item, kinds, true);
    if (flaw !== undefined) rejects.push({ do: 'reject', why: flaw });
    return flaw === undefined;
  });
  return [...rejects, { do: 'stage', objects }];
}

/** Why something is no object of this collection: a Table, another kind, no version, no name. */
export function flawOf(object: AnyObject | undefined, kinds: readonly string[], named: boolean): string | undefined {
  if (object === undefined || !kinds.includes(object.kind)) return `got kind ${object?.kind}, expected ${kinds[0]}`;
  if (!object.metadata?.resourceVersion) return `${object.kind} ${object.metadata?.name} has no resourceVersion`;
  return named && !object.metadata.name ? `${object.kind} has no name` : undefined;
}

/** From a metav1.Status, in a stream or as the body of a refusal. */
export function failureOf(status: Status | undefined, retryAfter?: number): Failure {
  const tooLarge = status?.details?.causes?.some(cause => cause.reason === 'ResourceVersionTooLarge') ?? false;
  const seconds = status?.details?.retryAfterSeconds;
  return {
    status: status?.code ?? 0,
    message: status?.message ?? status?.reason ?? 'the server gave no reason',
    retryAfter: retryAfter ?? (seconds === undefined ? undefined : seconds * 1000),
    tooLarge,
  };
}
