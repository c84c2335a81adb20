import { describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Cloud } from '../functional/cloud.ts';
import { GOLDEN, takenOver } from './clouds.ts';

const OURS = new Set<string>(KINDS.map(({ kind }) => kind));
const NOT_THE_CLOUD = new Set(['Event', 'Lease', 'Node', 'CustomResourceDefinition']);

/** Of each object what an update of a pod would show: all but status, whose messages a newer operator may word anew. */
function contents(cloud: Cloud): Record<string, unknown> {
  const whole = ({
    status: _,
    metadata: { managedFields: __, resourceVersion: ___, ...metadata },
    ...rest
  }: AnyObject) => ({
    ...rest,
    metadata,
  });
  const objects = cloud.store.objects().filter(({ kind }) => !NOT_THE_CLOUD.has(kind));
  return Object.fromEntries(
    objects.map(object => [`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, whole(object)]),
  );
}

/** Paths at which they differ, each the shortest. */
function differences(before: unknown, after: unknown, path: string): string[] {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null)
    return before === after ? [] : [path];
  const [left, right] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap(key =>
    differences(left[key], right[key], `${path} ${key}`),
  );
}

describe('an operator of this tree that takes over a cloud of an earlier one', () => {
  it.each(GOLDEN.map(group => [group.name, group] as const))(
    'changes nothing but status: %s',
    async (_name, group) => {
      const cloud = await takenOver(group);
      const before = contents(cloud);
      expect(Object.keys(before).filter(name => name.startsWith('Pod ')).length).toBeGreaterThan(10);
      await cloud.settle();
      expect(differences(before, contents(cloud), '')).toEqual([]);
      for (const object of cloud.store.objects().filter(({ kind }) => OURS.has(kind))) {
        const { observedGeneration } = object.status as { observedGeneration?: number };
        expect(observedGeneration).toBe(object.metadata.generation);
      }
    },
    120_000,
  );
});
