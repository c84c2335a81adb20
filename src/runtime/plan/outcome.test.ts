import { describe, expect, it } from 'vitest';
import { CloudError } from '../../cloud/ports.ts';
import { ApiError } from '../../kube/errors.ts';
import { conditionFor, type Outcome, outcomeOf, readyFor } from './outcome.ts';
import { stall, wait } from './unmet.ts';

const api = (status: number, reason: string, message: string) =>
  new ApiError('apply configmaps ns/x', { status, headers: {}, body: { kind: 'Status', reason, message } });
const cause = { reason: 'R', what: 'it is so', next: 'do that' } as const;

describe('outcomeOf', () => {
  for (const [name, error, outcome] of [
    ['a wait', wait({ ...cause, who: 'Cluster' }), { is: 'wait', reason: 'R', message: 'it is so. Cluster: do that' }],
    ['a stall', stall({ ...cause, who: 'User' }), { is: 'stall', reason: 'R', who: 'User' }],
    ['a conflict', api(409, 'Conflict', 'x'), { is: 'error', reason: 'Conflict' }],
    ['a refused field', api(422, 'Invalid', 'spec.x: bad'), { is: 'stall', reason: 'Rejected' }],
    ['a right that is missing', api(403, 'Forbidden', 'no'), { is: 'stall', reason: 'Forbidden', after: 60_000 }],
    [
      'a namespace that goes away',
      api(403, 'Forbidden', 'unable to create new content in namespace x because it is being terminated'),
      { is: 'wait', reason: 'Terminating' },
    ],
    ['a server error', api(500, 'InternalError', 'x'), { is: 'error', reason: 'Error' }],
    ['a backend that is away', new CloudError('unreachable', 'x'), { is: 'error', reason: 'Unreachable' }],
    [
      'a password that is wrong',
      new CloudError('refused', 'x'),
      { is: 'stall', reason: 'AccessDenied', after: 60_000 },
    ],
    ['a backend that says no', new CloudError('rejected', 'x'), { is: 'error', reason: 'BackendError' }],
    [
      'anything else, by its innermost cause',
      new Error('outer', { cause: new Error('inner') }),
      { is: 'error', message: 'inner. Operator: try again' },
    ],
    ['what is no error', 'text', { is: 'error', message: 'text. Operator: try again' }],
  ] as const)
    it(name, () => expect(outcomeOf(error)).toMatchObject(outcome));
});

describe('conditionFor', () => {
  it('a row that is off has no condition', () => expect(conditionFor('A', { is: 'off' })).toBeUndefined());
  it('a row that waits for another names it', () =>
    expect(conditionFor('A', { is: 'blocked', by: 'B' })).toEqual({
      type: 'A',
      status: 'Unknown',
      reason: 'Blocked',
      message: 'Waiting for B',
    }));
});

describe('readyFor', () => {
  const ok: Outcome = { is: 'ok', value: undefined };
  const waits: Outcome = { is: 'wait', reason: 'Slow', message: 'slow', who: 'Cluster' };
  const asks: Outcome = { is: 'wait', reason: 'NotFound', message: 'none', who: 'User' };
  const stalls: Outcome = { is: 'stall', reason: 'Bad', message: 'bad', who: 'User' };
  const fails: Outcome = {
    is: 'error',
    reason: 'Error',
    message: 'broken',
    who: 'Operator',
    error: new Error('broken'),
  };
  const blocked: Outcome = { is: 'blocked', by: 'A' };
  const off: Outcome = { is: 'off' };
  for (const [rows, said] of [
    [{ A: ok, B: ok }, 'True DeploymentReady: '],
    [{ A: ok, B: off }, 'True DeploymentReady: '],
    [{ A: waits, B: blocked }, 'False Reconciling: A: slow'],
    [{ A: asks, B: ok }, 'False NotFound: A: none'],
    [{ A: waits, B: stalls }, 'False Bad: B: bad'],
    [{ A: waits, B: fails }, 'False Error: B: broken'],
    [{ A: fails, B: stalls }, 'False Bad: B: bad'],
    [{ A: ok, B: blocked }, 'Unknown Reconciling: Waiting for A'],
  ] as const)
    it(said, () => {
      const outcomes = new Map<string, Outcome>(Object.entries(rows));
      const drafts = [...outcomes].flatMap(([type, outcome]) => conditionFor(type, outcome) ?? []);
      const { status, reason, message } = readyFor(drafts, outcomes);
      expect(`${status} ${reason}: ${message}`).toBe(said);
    });
});
