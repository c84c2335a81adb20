import { assert, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budget, roll, type Scale } from './deployment.ts';
import { judge, type Tally } from './job.ts';
import { expand } from './mounts.ts';
import type { NodeObject, PodObject } from './objects.ts';
import { victims } from './replicaset.ts';
import { choose, tolerates } from './schedule.ts';
import { type Member, steps } from './statefulset.ts';

describe('a Deployment', () => {
  const spec = (replicas: number, rollingUpdate?: object) =>
    ({ replicas, selector: {}, template: { spec: { containers: [] } }, strategy: { rollingUpdate } }) as never;
  it.each([
    ['the default of three', spec(3), { maxSurge: 1, maxUnavailable: 0 }],
    ['the default of four', spec(4), { maxSurge: 1, maxUnavailable: 1 }],
    ['numbers', spec(3, { maxSurge: 0, maxUnavailable: 2 }), { maxSurge: 0, maxUnavailable: 2 }],
    [
      'both zero, which would stand still',
      spec(3, { maxSurge: 0, maxUnavailable: 0 }),
      { maxSurge: 0, maxUnavailable: 1 },
    ],
  ])('budget: %s', (_, given, wanted) => expect(budget(given)).toEqual(wanted));

  it('a roll keeps its budget at every step and ends, whatever the numbers', () => {
    const sizes = record({
      replicas: integer({ min: 0, max: 9 }),
      old: integer({ min: 0, max: 9 }),
      surge: integer({ min: 0, max: 3 }),
      down: integer({ min: 0, max: 3 }),
    });
    assert(
      property(sizes, ({ replicas, old, surge, down }) => {
        const limits = { maxSurge: surge, maxUnavailable: surge + down === 0 ? 1 : down };
        // Pods of a step are ready before the next one: the slowest case is covered by the floor below.
        let [fresh, left] = [0, old];
        for (let i = 0; i < 50; i++) {
          const state: Scale = {
            replicas,
            ...limits,
            fresh: { replicas: fresh, available: fresh },
            old: [{ replicas: left, available: left }],
          };
          const next = roll(state);
          if (old <= replicas) {
            expect(next.fresh + next.old[0]!).toBeLessThanOrEqual(replicas + surge);
            expect(Math.min(fresh, next.fresh) + next.old[0]!).toBeGreaterThanOrEqual(
              Math.min(replicas - limits.maxUnavailable, fresh + left),
            );
          }
          if (next.fresh === fresh && next.old[0] === left) break;
          [fresh, left] = [next.fresh, next.old[0]!];
        }
        expect([fresh, left]).toEqual([replicas, 0]);
      }),
    );
  });

  it('does not scale down on old news', () => {
    // The old set has been cut to 2, its status still says 3.
    const state = { replicas: 3, maxSurge: 1, maxUnavailable: 0, fresh: { replicas: 2, available: 1 } };
    expect(roll({ ...state, old: [{ replicas: 2, available: 3 }] })).toEqual({ fresh: 2, old: [2] });
  });

  it('gives up pods that are not ready first, and none when there are not enough', () => {
    const pod = (name: string, ready: boolean, node?: string): PodObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [], ...(node && { nodeName: node }) },
      status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    });
    const pods = [pod('old', true, 'n'), pod('young', true, 'n'), pod('sick', false, 'n'), pod('homeless', false)];
    expect(victims(pods, 3).map(p => p.metadata.name)).toEqual(['homeless', 'sick', 'young']);
    expect(victims(pods, 0)).toEqual([]);
  });
});

describe('a StatefulSet', () => {
  const m = (ordinal: number, is: Member['is'], updated = true): Member => ({ ordinal, is, updated });
  it.each([
    ['in order: the first that is absent', [m(0, 'absent'), m(1, 'absent')], [], false, 0, [{ make: 0 }]],
    ['in order: waits for one that starts', [m(0, 'starting'), m(1, 'absent')], [], false, 0, []],
    [
      'parallel: all at once',
      [m(0, 'starting'), m(1, 'absent'), m(2, 'absent')],
      [],
      true,
      0,
      [{ make: 1 }, { make: 2 }],
    ],
    ['replaces what has ended', [m(0, 'broken')], [], false, 0, [{ remove: 0 }]],
    ['surplus from the top, one by one', [m(0, 'ready')], [m(1, 'ready'), m(2, 'ready')], false, 0, [{ remove: 2 }]],
    ['surplus: waits for one that leaves', [m(0, 'ready')], [m(1, 'ready'), m(2, 'leaving')], false, 0, []],
    ['rolls from the top', [m(0, 'ready', false), m(1, 'ready', false)], [], false, 0, [{ remove: 1 }]],
    ['rolls on when the top is ready', [m(0, 'ready', false), m(1, 'ready')], [], true, 0, [{ remove: 0 }]],
    ['waits for the top', [m(0, 'ready', false), m(1, 'starting')], [], true, 0, []],
    ['not below the partition', [m(0, 'ready', false), m(1, 'ready')], [], true, 1, []],
    ['OnDelete never rolls', [m(0, 'ready', false)], [], true, undefined, []],
  ] as const)('%s', (_, members, surplus, parallel, from, wanted) =>
    expect(steps(members, surplus, parallel, from)).toEqual(wanted),
  );

  /** A second template while the first roll is under way: the top runs the first one. */
  it.each([
    ['a lower one stops', [m(0, 'leaving', false), m(1, 'ready', false)], [{ remove: 1 }], []],
    ['a lower one starts', [m(0, 'starting', false), m(1, 'ready', false)], [{ remove: 1 }], [{ remove: 0 }]],
    ['the top starts', [m(0, 'ready', false), m(1, 'starting', false)], [{ remove: 1 }], [{ remove: 1 }]],
    ['the top stops', [m(0, 'ready', false), m(1, 'leaving', false)], [], []],
    ['all serve', [m(0, 'ready', false), m(1, 'ready', false)], [{ remove: 1 }], [{ remove: 1 }]],
  ] as const)('before 1.37 and from then on, when %s', (_, members, before, since) => {
    expect(steps(members, [], true, 0)).toEqual(before);
    expect(steps(members, [], true, 0, true)).toEqual(since);
  });
});

describe('a Job', () => {
  const tally = (t: Partial<Tally>): Tally => ({
    succeeded: 0,
    failed: 0,
    active: 0,
    restarts: 0,
    sinceStart: 0,
    sinceFailure: 0,
    ...t,
  });
  it.each([
    ['starts one', {}, {}, { is: 'running', start: 1 }],
    ['runs', {}, { active: 1 }, { is: 'running', start: 0 }],
    ['is complete', {}, { succeeded: 1 }, { is: 'complete' }],
    ['waits after a failure', {}, { failed: 1 }, { is: 'running', start: 0, lookIn: 10_000 }],
    ['tries again', {}, { failed: 1, sinceFailure: 10_000 }, { is: 'running', start: 1 }],
    ['gives up at its limit', { backoffLimit: 0 }, { failed: 1 }, { is: 'failed', reason: 'BackoffLimitExceeded' }],
    ['counts restarts in place', { backoffLimit: 2 }, { active: 1, restarts: 2 }, { is: 'failed' }],
    [
      'ends at its deadline',
      { activeDeadlineSeconds: 5 },
      { active: 1, sinceStart: 5_000 },
      { is: 'failed', reason: 'DeadlineExceeded' },
    ],
  ] as const)('%s', (_, spec, t, wanted) =>
    expect(judge({ selector: {}, template: { spec: { containers: [] } }, ...spec }, tally(t))).toMatchObject(wanted),
  );
});

describe('the scheduler', () => {
  const node = (name: string, ready = true, labels = {}, taints: object[] = []): NodeObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { taints: taints as never },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  });
  const pod = (spec: object = {}): PodObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [], ...spec },
  });
  const has = (key: string) => ({ key, operator: 'Exists' });
  const not = (key: string, value: string) => ({ key, operator: 'NotIn', values: [value] });
  const near = (...terms: object[][]) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: terms.map(matchExpressions => ({ matchExpressions })),
        },
      },
    },
  });
  const load = (n: string) => ({ a: 2, b: 1 })[n] ?? 0;
  const tainted = node('t', true, {}, [{ key: 'only', value: 'me', effect: 'NoSchedule' }]);
  it.each([
    ['the emptiest', pod(), [node('a'), node('b')], { node: 'b' }],
    ['only nodes that are up', pod(), [node('a'), node('b', false)], { node: 'a' }],
    ['the selector', pod({ nodeSelector: { x: 'y' } }), [node('a', true, { x: 'y' }), node('b')], { node: 'a' }],
    [
      'any term of the affinity',
      pod(near([has('x')], [has('y')])),
      [node('a', true, { y: '' }), node('b')],
      { node: 'a' },
    ],
    [
      'all of a term',
      pod(near([has('x'), not('x', 'z')])),
      [node('a', true, { x: 'y' }), node('b', true, { x: 'z' })],
      { node: 'a' },
    ],
    ['no taint that is not tolerated', pod(), [node('a'), tainted], { node: 'a' }],
  ])('respects %s', (_, p, nodes, wanted) => expect(choose(p, nodes, [], load)).toEqual(wanted));

  it('says why there is none', () => {
    expect(choose(pod(), [], [{ name: 'c', claim: undefined }], load)).toEqual({
      why: 'persistentvolumeclaim "c" not found',
    });
    const going = { metadata: { name: 'c', deletionTimestamp: '2026-01-05T08:00:00Z' } } as never;
    expect(choose(pod(), [node('a')], [{ name: 'c', claim: going }], load)).toEqual({
      why: 'persistentvolumeclaim "c" is being deleted',
    });
    const cordoned = { ...node('b'), spec: { unschedulable: true } };
    const nodes = [node('a'), cordoned, tainted];
    expect(choose(pod({ nodeSelector: { x: 'y' } }), nodes, [], load)).toEqual({
      why: "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {only: me}, 1 node(s) were unschedulable.",
    });
  });

  it('tolerations match by key, value and effect', () => {
    const spec = (t: object) => ({ containers: [], tolerations: [t] }) as never;
    expect(tolerates(spec({ key: 'only', value: 'me' }), tainted)).toBe(true);
    expect(tolerates(spec({ key: 'only', operator: 'Exists', effect: 'NoExecute' }), tainted)).toBe(false);
    expect(tolerates(spec({ operator: 'Exists' }), tainted)).toBe(true);
  });
});

describe('an environment', () => {
  it.each([
    ['$(A)-x', '1-x'],
    ['$(B)', '$(B)'],
    ['$$(A)', '$(A)'],
    ['$A', '$A'],
  ])('%s becomes %s', (text, wanted) => expect(expand(text, { A: '1' })).toBe(wanted));
});
