import { describe, expect, it } from 'vitest';
import type { StatusCause } from '../../../api/schema/kind.ts';
import type { Draft } from '../conditions.ts';
import { bounded, causesOf } from './causes.ts';
import type { Managed } from './managed.ts';
import { conditionFor, type Outcome, outcomeOf } from './outcome.ts';
import { stall, subjectOf, wait } from './unmet.ts';

const object: Managed = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'keystone', namespace: 'openstack' },
  spec: {},
};
const Secret = { kind: 'Secret', namespaced: true };
const StorageClass = { kind: 'StorageClass', namespaced: false };
const missing = outcomeOf(
  wait({
    reason: 'SecretNotFound',
    about: subjectOf(Secret, 'mine'),
    keys: ['user', 'password'],
    what: 'Secret mine does not exist',
    who: 'User',
    next: 'create it',
  }),
);
const job = outcomeOf(
  wait({ reason: 'JobRunning', about: { kind: 'Job', name: 'j' }, what: 'Waiting', who: 'Cluster' }),
);
const told = (rows: Readonly<Record<string, Outcome>>): readonly StatusCause[] => {
  const outcomes = new Map(Object.entries(rows));
  const drafts = [...outcomes].flatMap(([type, outcome]): Draft[] => {
    const draft = conditionFor(type, outcome);
    return draft ? [draft] : [];
  });
  return causesOf(object, outcomes, drafts);
};
const ok: Outcome = { is: 'ok', value: undefined };

describe('causes', () => {
  it('there are none where all is well', () => expect(told({ A: ok, B: { is: 'off' } })).toEqual([]));

  it('are fields, with the object written out, and Ready names its condition', () => {
    const mine = { kind: 'Secret', name: 'mine', namespace: 'openstack' };
    const cause = { reason: 'SecretNotFound', actor: 'User', object: mine };
    expect(told({ A: ok, B: missing, C: { is: 'blocked', by: 'B' } })).toEqual([
      { type: 'Ready', ...cause, condition: 'B' },
      { type: 'B', ...cause, next: 'create it', details: { keys: 'user,password' } },
    ]);
  });

  it('name no namespace for what is in none, and the object itself where nothing else is concerned', () => {
    const about = subjectOf(StorageClass, 'fast');
    const [, a, b] = told({
      A: outcomeOf(stall({ reason: 'R', about, what: 'x', who: 'User', next: 'y' })),
      B: outcomeOf(stall({ reason: 'R', what: 'x', who: 'User', next: 'y' })),
    });
    expect(a?.object).toEqual({ kind: 'StorageClass', name: 'fast' });
    expect(b?.object).toEqual({ kind: 'Keystone', name: 'keystone', namespace: 'openstack' });
  });

  it('Ready has that of what stands still before what moves', () => {
    const still = outcomeOf(stall({ reason: 'Bad', what: 'x', who: 'User', next: 'y' }));
    expect(told({ A: job, B: still })[0]).toMatchObject({ type: 'Ready', reason: 'Bad', condition: 'B' });
  });

  it('each key of a row has one, and the row says whose it has', () => {
    const row = {
      ...missing,
      key: 'cell2',
      keys: [
        ['cell1', job],
        ['cell2', missing],
        ['cell3', ok],
      ] as const,
    };
    expect(told({ CellsReady: row }).map(({ type, reason, key }) => [type, reason, key])).toEqual([
      ['Ready', 'SecretNotFound', undefined],
      ['CellsReady', 'SecretNotFound', 'cell2'],
      ['CellsReady.cell1', 'JobRunning', undefined],
      ['CellsReady.cell2', 'SecretNotFound', undefined],
    ]);
  });

  it('of an error is what the server said, as far as it said something', () => {
    const [, cause] = told({ A: outcomeOf(new Error('outer', { cause: new Error('no route to host') })) });
    expect(cause).toMatchObject({ reason: 'Error', actor: 'Operator', details: { said: 'no route to host' } });
  });
});

describe('what is written of them', () => {
  const writer = { mask: (text: string) => text.replaceAll('hunter2', '***'), text: (text: string) => text };
  const cause = (type: string, said: string): StatusCause => ({
    type,
    reason: 'Forbidden',
    actor: 'User',
    object: { kind: 'Keystone', name: 'keystone' },
    details: { said },
  });

  it('holds no value of a Secret', () => {
    expect(bounded([cause('A', 'it is hunter2')], writer)[0]?.details?.said).toBe('it is ***');
  });

  it('keeps actor and object of as many as there is room for, and never more than 64 or 8 KiB', () => {
    const many = Array.from({ length: 100 }, (_, index) => cause(`Row${index}`, 'x'.repeat(900)));
    const written = bounded(many, writer);
    expect(JSON.stringify(written).length).toBeLessThan(8_400);
    expect(written.length).toBeGreaterThan(20);
    expect(written.length).toBeLessThanOrEqual(64);
    expect(written[0]?.details?.said).toHaveLength(512);
    expect(written.at(-1)).toMatchObject({ actor: 'User', object: { name: 'keystone' } });
  });
});
