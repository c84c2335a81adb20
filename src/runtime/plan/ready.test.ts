import { describe, expect, it } from 'vitest';
import type { StatusCause } from '../../../api/schema/kind.ts';
import type { AnyObject } from '../../kube/object.ts';
import { assertReady, endOf, isReady, jobFailure, notReady, podTrouble, workloadUnmet } from './ready.ts';

const live = (kind: string, spec: object, status: object, generation = 2): AnyObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'w', generation },
  spec,
  status,
});
const done = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

describe('workloadUnmet', () => {
  for (const [what, object, said] of [
    ['all there', live('Deployment', { replicas: 2 }, done), undefined],
    ['not observed', live('Deployment', { replicas: 2 }, { ...done, observedGeneration: 1 }), 'is not observed yet'],
    ['old pods', live('Deployment', { replicas: 2 }, { ...done, replicas: 3 }), 'still has 1 old replicas'],
    ['updating', live('Deployment', { replicas: 2 }, { ...done, updatedReplicas: 1 }), 'has 1 of 2 replicas updated'],
    [
      'ready but not available',
      live('Deployment', { replicas: 2 }, { ...done, availableReplicas: 1 }),
      'has 1 of 2 replicas ready',
    ],
    [
      'a StatefulSet counts ready ones',
      live('StatefulSet', { replicas: 2 }, { ...done, availableReplicas: 0 }),
      undefined,
    ],
    ['replicas unset is one', live('StatefulSet', {}, { ...done, replicas: 1 }), undefined],
    ['no status', live('StatefulSet', { replicas: 1 }, {}), 'is not observed yet'],
    ['scaled to none', live('Deployment', { replicas: 0 }, { observedGeneration: 2 }), undefined],
    [
      'a DaemonSet',
      live(
        'DaemonSet',
        {},
        { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2 },
      ),
      'has 2 of 3 replicas ready',
    ],
  ] as const)
    it(what, () => {
      const unmet = workloadUnmet(object, []);
      if (said === undefined) expect(unmet).toBeUndefined();
      else expect(unmet).toMatchObject({ reason: 'Progressing', what: `${object.kind} w ${said}` });
    });

  it('tells what the pods say is wrong', () => {
    const message = 'no nodes. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.';
    const pod = live('Pod', {}, { conditions: [{ type: 'PodScheduled', status: 'False', message }] });
    expect(workloadUnmet(live('StatefulSet', { replicas: 1 }, { observedGeneration: 2 }), [pod])).toMatchObject({
      reason: 'Unschedulable',
      what: 'StatefulSet w has 0 of 1 replicas updated: no nodes',
    });
  });
});

describe('podTrouble', () => {
  const container = (state: object, lastState?: object) =>
    podTrouble(live('Pod', {}, { containerStatuses: [{ name: 'c', image: 'reg/i:1', state, lastState }] }));
  for (const [what, found, reason] of [
    ['runs', container({ running: {} }), undefined],
    ['no image', container({ waiting: { reason: 'ImagePullBackOff' } }), 'ImagePullFailed'],
    [
      'no Secret',
      container({ waiting: { reason: 'CreateContainerConfigError', message: 'secret x not found' } }),
      'PodConfig',
    ],
    ['crashes', container({ waiting: { reason: 'CrashLoopBackOff' } }, { terminated: { exitCode: 1 } }), 'CrashLoop'],
    ['restarted once and runs', container({ running: {} }, { terminated: { exitCode: 1 } }), undefined],
    ['ended well', container({ terminated: { exitCode: 0 } }), undefined],
  ] as const)
    it(what, () => expect(found?.reason).toBe(reason));
});

describe('last words', () => {
  it('three lines, 300 characters, from the end', () => {
    expect(endOf({ exitCode: 1, reason: 'Error', message: 'a\nb\nc\nd\n' })).toBe('ended with 1: b | c | d');
    expect(endOf({ exitCode: 137, reason: 'OOMKilled' })).toBe('ended with 137 (OOMKilled)');
    const long = endOf({ exitCode: 1, message: `${'hunter2hunter2 '.repeat(100)}end` });
    expect(long.length).toBeLessThanOrEqual('ended with 1: '.length + 300);
    // Half a password at the cut would pass the masking.
    expect(long).toMatch(/^ended with 1: (hunter2hunter2 )+end$/);
  });

  it('of the pod that failed', () => {
    const pod = (exitCode: number) =>
      live(
        'Pod',
        {},
        { containerStatuses: [{ name: 'c', state: { terminated: { exitCode, message: `code ${exitCode}` } } }] },
      );
    expect(jobFailure([pod(0), pod(3)])).toBe('ended with 3: code 3');
    expect(jobFailure([])).toBeUndefined();
  });
});

describe('rule 8: Ready counts for the current generation only', () => {
  const object = (status: string, observedGeneration: number) =>
    live('Keystone', {}, { observedGeneration, conditions: [{ type: 'Ready', status, message: 'the cause' }] });
  it('observed', () => expect(isReady(object('True', 2))).toBe(true));
  it('of an older spec', () => expect(isReady(object('True', 1))).toBe(false));
  it('not Ready', () => expect(isReady(object('False', 2))).toBe(false));
  it("its own message travels up, an old Ready's does not", () => {
    expect(() => assertReady(object('False', 2))).toThrow(/^Keystone w: the cause$/);
    expect(() => assertReady(object('True', 1))).toThrow(/^Waiting for Keystone w$/);
    expect(() => assertReady(object('True', 2))).not.toThrow();
  });
});

describe('a parent has the cause of its child, once', () => {
  const secret = { kind: 'Secret', name: 'mine', namespace: 'openstack' };
  const cause: StatusCause = { type: 'InputReady', reason: 'SecretNotFound', actor: 'User', object: secret };
  const said = 'Secret mine does not exist. User: create it';
  const child = (reason: string, causes?: readonly StatusCause[]): AnyObject =>
    live(
      'MariaDB',
      {},
      {
        observedGeneration: 2,
        conditions: [
          { type: 'Ready', status: 'False', reason, message: `InputReady: ${said}` },
          { type: 'InputReady', status: 'False', reason, message: said },
        ],
        ...(causes && { causes: [...causes.map(c => ({ ...c, type: 'Ready', condition: c.type })), ...causes] }),
      },
    );
  const relayed = (object: AnyObject) => notReady(object);

  it('stands where a person must act: its reason, and the object that is concerned', () => {
    const { reason, who, message, unmet } = relayed(child('SecretNotFound', [cause]));
    expect([reason, who, unmet.about, unmet.waitsFor?.name]).toEqual(['SecretNotFound', 'User', secret, 'w']);
    expect(message).toBe(`MariaDB w: ${said}`);
  });

  it('names the object at which it shows once, however many wait for it', () => {
    const waitsFor = { kind: 'MariaDB', name: 'mariadb', namespace: 'openstack' };
    expect(relayed(child('SecretNotFound', [{ ...cause, waitsFor }])).message).toBe(said);
  });

  it('moves while nobody has to act, and says what it comes down to', () => {
    const job: StatusCause = { ...cause, reason: 'JobRunning', actor: 'Cluster' };
    const { reason, who, unmet } = relayed(child('Reconciling', [job]));
    expect([reason, who, unmet.root]).toEqual(['NotReady', 'Cluster', 'JobRunning']);
  });

  it('moves where an error is tried again', () => {
    const { reason, who } = relayed(child('Unreachable', [{ ...cause, reason: 'Unreachable', actor: 'Operator' }]));
    expect([reason, who]).toEqual(['NotReady', 'Operator']);
  });

  it('reads no message: one of an earlier operator, without causes, only waits', () => {
    const { reason, who } = relayed(child('SecretNotFound'));
    expect([reason, who]).toEqual(['NotReady', 'Operator']);
  });
});
