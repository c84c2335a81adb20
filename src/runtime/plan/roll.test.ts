import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { rollOf } from './roll.ts';

const set = (spec: object = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's' },
  spec: { replicas: 2, podManagementPolicy: 'Parallel', ...spec },
});

type Is = 'serves' | 'starts' | 'leaves' | 'crashes';
const pod = (ordinal: number, is: Is, revision: number): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `s-${ordinal}`,
    uid: `${ordinal}-${revision}`,
    labels: { 'controller-revision-hash': `r${revision}` },
    // One that was told to stop answers for a while, and ends as the signal made it.
    ...(is === 'leaves' && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  },
  status: {
    conditions: [{ type: 'Ready', status: is === 'serves' || is === 'leaves' ? 'True' : 'False' }],
    containerStatuses: [
      {
        name: 'c',
        state: is === 'leaves' || is === 'crashes' ? { terminated: { exitCode: 143 } } : { running: {} },
      },
    ],
  },
});

describe('a new template', () => {
  for (const [what, pods, waits] of [
    ['goes when all serve', [pod(0, 'serves', 1), pod(1, 'serves', 1)], false],
    ['goes when the one that is taken first is on its way', [pod(0, 'serves', 0), pod(1, 'leaves', 0)], false],
    ['goes when that one starts', [pod(0, 'serves', 0), pod(1, 'starts', 1)], false],
    ['goes when that one is broken', [pod(0, 'serves', 0), pod(1, 'crashes', 1)], false],
    ['goes when that one is not there', [pod(0, 'serves', 0)], false],
    ['goes when none serves', [pod(0, 'starts', 0), pod(1, 'starts', 0)], false],
    ['waits between two pods of a roll', [pod(0, 'serves', 0), pod(1, 'serves', 1)], true],
    ['waits while a lower one stops', [pod(0, 'leaves', 0), pod(1, 'serves', 1)], true],
    ['waits while a lower one is to be made', [pod(1, 'serves', 1)], true],
    ['waits while a lower one starts', [pod(0, 'starts', 1), pod(1, 'serves', 1)], true],
    ['waits for one that was evicted too', [pod(0, 'starts', 0), pod(1, 'serves', 0)], true],
    ['does not wait for one that is broken', [pod(0, 'crashes', 1), pod(1, 'serves', 1)], false],
  ] as const)
    it(what, () => expect(rollOf(set(), pods) !== undefined).toBe(waits));

  it('of one pod, of an ordered set and of one that people replace goes at once', () => {
    const pods = [pod(0, 'leaves', 0), pod(1, 'serves', 1)];
    expect(rollOf(set({ replicas: 1 }), [pod(0, 'leaves', 0)])).toBeUndefined();
    expect(rollOf(set({ podManagementPolicy: 'OrderedReady' }), pods)).toBeUndefined();
    expect(rollOf(set({ updateStrategy: { type: 'OnDelete' } }), pods)).toBeUndefined();
    expect(rollOf({ ...set(), kind: 'Deployment', spec: { replicas: 2 } }, [])).toBeUndefined();
  });

  it('sees every step of a roll as another picture', () => {
    const pictures = [
      [pod(0, 'serves', 0), pod(1, 'serves', 1)],
      [pod(0, 'leaves', 0), pod(1, 'serves', 1)],
      [pod(1, 'serves', 1)],
      [pod(0, 'starts', 1), pod(1, 'serves', 1)],
    ].map(pods => rollOf(set(), pods));
    expect(new Set(pictures).size).toBe(4);
    expect(pictures).not.toContain(undefined);
  });
});
