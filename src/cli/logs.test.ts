import { describe, expect, it } from 'vitest';
import { type Live, viewOf } from '../insight/view.ts';
import { logs } from './logs.ts';
import type { Snapshot } from './source.ts';

const plain = { width: undefined, paint: (_style: string, text: string) => text };
const owner = (uid: string) => ({
  ownerReferences: [{ apiVersion: 'x', kind: 'x', name: 'x', uid, controller: true }],
});
const pod = (name: string): Live => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', ...owner('k') },
  spec: { containers: [{ name: 'api' }] },
});
const keystone: Live = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'keystone', namespace: 'a', uid: 'k' },
};
const asked: string[] = [];
const snapshot = (objects: Live[]): Snapshot => ({
  view: viewOf(objects, 0),
  namespace: 'a',
  where: 'here',
  notes: [],
  hide: text => text,
  logs: async ({ name }, container, options) => {
    asked.push(`${name} ${container} ${options?.lines} ${options?.previous}`);
    return name === 'one'
      ? '2026-01-01T00:00:01.5Z first\n2026-01-01T00:00:03Z password = hunter2\n'
      : '2026-01-01T00:00:02Z between\n';
  },
});
const run = (objects: Live[], flags: object = {}) =>
  logs({
    args: ['keystone'],
    flags: { output: 'table', ...flags },
    snapshot: async () => snapshot(objects),
    say: () => undefined,
  });

describe('logs', () => {
  it('are put in order over all pods, each line with its pod, passwords masked', async () => {
    const answer = await run([keystone, pod('one'), pod('two')]);
    expect(answer.text(plain)).toBe('one api  first\ntwo api  between\none api  password = ***');
  });
  it('ask for what the flags say', async () => {
    asked.length = 0;
    await run([keystone, pod('one')], { lines: '7', previous: true });
    expect(asked).toEqual(['one api 7 true']);
  });
  it('of one container need no names', async () =>
    expect((await run([keystone, pod('two')])).text(plain)).toBe('between'));
  it('no pods', () => expect(run([keystone])).rejects.toThrow(/Keystone keystone has no pods/));
  it('a wrong number', () =>
    expect(run([keystone, pod('one')], { lines: 'many' })).rejects.toThrow(/--lines must be a number/));
});
