import { CloudError } from '../../cloud/ports.ts';
import { NameTaken } from '../../cloud/settle.ts';
import { ApiError } from '../../kube/client.ts';
import { Unquotable } from '../../world/quote/unquotable.ts';
import type { Draft } from '../conditions.ts';
import { type Cause, sentence, Unmet, type Who } from './unmet.ts';

/** Of a row that is not through: the sentence for people, and the cause as data. */
interface Open {
  readonly reason: string;
  readonly message: string;
  readonly who: Who;
  readonly cause?: Cause;
  /** Of a row with keys: the one that this is about, and how all that are open ended. */
  readonly key?: string;
  readonly keys?: readonly (readonly [key: string, outcome: Tried])[];
  /** What those who need the row may go on with all the same. */
  readonly yields?: { readonly value: unknown };
}

/** How a row ended. Everything else, conditions, causes, events and requeues, is derived from these values. */
export type Outcome =
  | { readonly is: 'ok'; readonly value: unknown }
  /** `when` said no: nothing to show. */
  | { readonly is: 'off' }
  | (Open & { readonly is: 'wait' | 'stall'; readonly after?: number })
  | (Open & { readonly is: 'error'; readonly error: unknown })
  | { readonly is: 'blocked'; readonly by: string };

/** Of something that was tried. */
export type Tried = Exclude<Outcome, { readonly is: 'off' | 'blocked' }>;

/** RBAC, quotas and passwords inside backends change without a watch telling us: look again this often. */
const LOOK_AGAIN_MS = 60_000;

type Failed = Exclude<Tried, { readonly is: 'ok' }>;

const unmet = (is: 'wait' | 'stall', cause: Cause): Failed => ({
  is,
  reason: cause.reason,
  message: sentence(cause),
  who: cause.who,
  cause,
  ...(cause.after !== undefined && { after: cause.after }),
});

const failed = (error: unknown, cause: Omit<Cause, 'who' | 'next'>): Failed => {
  const tried: Cause = { ...cause, who: 'Operator', next: 'try again' };
  return { is: 'error', reason: cause.reason, message: sentence(tried), who: 'Operator', cause: tried, error };
};

export function outcomeOf(error: unknown): Failed {
  if (error instanceof Unmet) return unmet(error.outcome, error.unmet);
  if (error instanceof ApiError) return apiOutcome(error);
  const what = error instanceof Error ? innermost(error).message : String(error);
  // The value comes from a spec or a Secret: nothing is retried until one of them changes.
  if (error instanceof Unquotable)
    return unmet('stall', { reason: 'ValueRefused', what: error.message, who: 'User', next: 'change the value' });
  if (error instanceof NameTaken)
    return unmet('stall', {
      reason: 'NameTaken',
      what: error.message,
      who: 'User',
      next: error.next,
      after: LOOK_AGAIN_MS,
    });
  if (!(error instanceof CloudError)) return failed(error, { reason: 'Error', what, said: what });
  const { message, called } = error;
  if (error.fault === 'refused')
    return unmet('stall', {
      ...called,
      reason: 'AccessDenied',
      what: message,
      who: 'User',
      next: 'restore the password the Secret holds',
      after: LOOK_AGAIN_MS,
    });
  return failed(error, {
    ...called,
    reason: error.fault === 'unreachable' ? 'Unreachable' : 'BackendError',
    what: message,
  });
}

/** Its messages are the words of kube-apiserver and of whatever it asks. */
function apiOutcome(error: ApiError): Failed {
  const { message: what, status } = error;
  const said = what;
  if (status === 403 && /being terminated/.test(what))
    return unmet('wait', {
      reason: 'Terminating',
      what: 'The namespace is being deleted',
      who: 'Cluster',
      next: 'finish deleting it',
    });
  if (status === 403)
    return unmet('stall', {
      reason: 'Forbidden',
      what,
      who: 'User',
      next: 'grant it, or raise the quota or policy that forbids it',
      after: LOOK_AGAIN_MS,
      said,
    });
  if (status === 422 || status === 400)
    return unmet('stall', { reason: 'Rejected', what, who: 'User', next: 'correct the field', said });
  if (status === 409) return failed(error, { reason: 'Conflict', what: 'Somebody else wrote at the same time' });
  return failed(error, { reason: 'Error', what, said });
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

/** The condition that Ready tells of: what stands still beats what moves. */
export function worstOf(drafts: readonly Draft[], outcomes: ReadonlyMap<string, Outcome>): Draft | undefined {
  const bad = drafts.filter(d => d.status === 'False');
  const ended = (is: Outcome['is']): Draft | undefined => bad.find(d => outcomes.get(d.type)?.is === is);
  return ended('stall') ?? ended('error') ?? bad[0];
}

/** The summary: False beats Unknown beats True, and the message names the row. */
export function readyFor(drafts: readonly Draft[], outcomes: ReadonlyMap<string, Outcome>): Draft {
  const worst = worstOf(drafts, outcomes);
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
