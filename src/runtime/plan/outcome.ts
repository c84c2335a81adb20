import { CloudError } from '../../cloud/ports.ts';
import { NameTaken } from '../../cloud/settle.ts';
import { ApiError } from '../../kube/client.ts';
import { Unquotable } from '../../world/quote/unquotable.ts';
import type { Draft } from '../conditions.ts';
import { Unmet, type Who } from './unmet.ts';

/** How a row ended. Everything else, conditions, events and requeues, is derived from these values. */
export type Outcome =
  | { readonly is: 'ok'; readonly value: unknown }
  /** `when` said no: nothing to show. */
  | { readonly is: 'off' }
  | {
      readonly is: 'wait' | 'stall';
      readonly reason: string;
      readonly message: string;
      readonly who: Who;
      readonly after?: number;
      /** What those who need the row may go on with all the same. */
      readonly yields?: { readonly value: unknown };
    }
  | {
      readonly is: 'error';
      readonly reason: string;
      readonly message: string;
      readonly error: unknown;
      readonly yields?: { readonly value: unknown };
    }
  | { readonly is: 'blocked'; readonly by: string };

/** Of something that was tried. */
export type Tried = Exclude<Outcome, { readonly is: 'off' | 'blocked' }>;

/** RBAC, quotas and passwords inside backends change without a watch telling us: look again this often. */
const LOOK_AGAIN_MS = 60_000;

export function outcomeOf(error: unknown): Exclude<Tried, { readonly is: 'ok' }> {
  if (error instanceof Unmet)
    return { is: error.outcome, reason: error.reason, message: error.message, who: error.who, after: error.after };
  if (error instanceof ApiError) return apiOutcome(error);
  // The value comes from a spec or a Secret: nothing is retried until one of them changes.
  if (error instanceof Unquotable)
    return { is: 'stall', reason: 'ValueRefused', message: `${error.message}. User: change the value`, who: 'User' };
  if (error instanceof NameTaken)
    return {
      is: 'stall',
      reason: 'NameTaken',
      message: `${error.message}. User: ${error.next}`,
      who: 'User',
      after: LOOK_AGAIN_MS,
    };
  if (error instanceof CloudError) {
    if (error.fault === 'refused')
      return {
        is: 'stall',
        reason: 'AccessDenied',
        message: `${error.message}. User: restore the password the Secret holds`,
        who: 'User',
        after: LOOK_AGAIN_MS,
      };
    return {
      is: 'error',
      reason: error.fault === 'unreachable' ? 'Unreachable' : 'BackendError',
      message: `${error.message}. Operator: try again`,
      error,
    };
  }
  const message = error instanceof Error ? innermost(error).message : String(error);
  return { is: 'error', reason: 'Error', message: `${message}. Operator: try again`, error };
}

function apiOutcome(error: ApiError): ReturnType<typeof outcomeOf> {
  if (error.status === 403 && /being terminated/.test(error.message))
    return {
      is: 'wait',
      reason: 'Terminating',
      message: 'The namespace is being deleted. Cluster: finish deleting it',
      who: 'Cluster',
    };
  if (error.status === 403)
    return {
      is: 'stall',
      reason: 'Forbidden',
      message: `${error.message}. User: grant it, or raise the quota or policy that forbids it`,
      who: 'User',
      after: LOOK_AGAIN_MS,
    };
  if (error.status === 422 || error.status === 400)
    return { is: 'stall', reason: 'Rejected', message: `${error.message}. User: correct the field`, who: 'User' };
  if (error.status === 409)
    return {
      is: 'error',
      reason: 'Conflict',
      message: 'Somebody else wrote at the same time. Operator: try again',
      error,
    };
  return { is: 'error', reason: 'Error', message: `${error.message}. Operator: try again`, error };
}

const innermost = (error: Error): Error => (error.cause instanceof Error ? innermost(error.cause) : error);

/** A row's condition; a row that is off has none. */
export function conditionFor(type: string, outcome: Outcome, note = ''): Draft | undefined {
  switch (outcome.is) {
    case 'off':
      return undefined;
    case 'ok':
      return { type, status: 'True', reason: 'Succeeded', message: note };
    case 'blocked':
      return { type, status: 'Unknown', reason: 'Blocked', message: `Waiting for ${outcome.by}` };
    default:
      return { type, status: 'False', reason: outcome.reason, message: outcome.message };
  }
}

/** The summary: False beats Unknown beats True, what stands still beats what moves, and the message names the row. */
export function readyFor(drafts: readonly Draft[], outcomes: ReadonlyMap<string, Outcome>): Draft {
  const bad = drafts.filter(d => d.status === 'False');
  const worst =
    bad.find(d => outcomes.get(d.type)?.is === 'stall') ??
    bad.find(d => outcomes.get(d.type)?.is === 'error') ??
    bad[0];
  if (worst) {
    const outcome = outcomes.get(worst.type);
    const moves = outcome?.is === 'wait' && outcome.who !== 'User';
    return {
      type: 'Ready',
      status: 'False',
      reason: moves ? 'Reconciling' : worst.reason,
      message: `${worst.type}: ${worst.message}`,
    };
  }
  const blocked = drafts.find(d => d.status === 'Unknown');
  if (blocked) return { type: 'Ready', status: 'Unknown', reason: 'Reconciling', message: blocked.message };
  return { type: 'Ready', status: 'True', reason: 'DeploymentReady', message: '' };
}
