import { describe, expect, it } from 'vitest';
import { Sim } from '../../embedded/sim/sim.ts';
import { type Live, viewOf } from '../../insight/view/view.ts';
import type { Snapshot } from '../source/source.ts';
import { follow, logs } from './logs.ts';

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

describe('logs --follow', () => {
  const stamp = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.5Z`;
  /** What each pod has written by now; the API server gives whole lines from a time on. */
  const written: Record<string, [number, string][]> = {};
  let pods: Live[] = [];
  const live = (): Snapshot => ({
    ...snapshot([keystone, ...pods]),
    transport: {
      send: () => Promise.reject(new Error('not here')),
      watch: () => Promise.reject(new Error('nor here')),
    },
    logs: async ({ name }, _container, { lines, since } = {}) => {
      const all = (written[name] ?? []).map(([second, text]) => `${stamp(second)} ${text}`);
      return (since ? all.filter(line => line.slice(0, since.length) >= since) : all.slice(-(lines ?? 10))).join('\n');
    },
  });
  const named = (name: string): Live => ({ ...pod(name), metadata: { ...pod(name).metadata, uid: name } });

  it('tells each line once, in order over all pods, also of pods that come later', async () => {
    const sim = new Sim(1);
    const said: string[] = [];
    pods = [named('one'), named('two')];
    Object.assign(written, {
      one: [
        [1, 'old'],
        [2, 'first'],
      ],
      two: [[3, 'twin']],
    });
    const stop = new AbortController();
    const flags = { output: 'table', lines: '1' } as const;
    const cx = { args: ['keystone'], flags, snapshot: async () => live(), say: () => undefined };
    const following = follow(cx, { paper: plain, line: text => said.push(text) }, sim.clock, stop.signal);
    following.catch(() => undefined);
    await sim.run(500);
    expect(said.splice(0)).toEqual(['one api  first', 'two api  twin']);
    await sim.run(2_000);
    expect(said).toEqual([]);
    // Two lines of one moment, of which the second came later; and the same words again at another moment.
    written.two!.push([3, 'brother'], [4, 'twin']);
    written.one!.push([4, 'password = hunter2']);
    await sim.run(1_000);
    expect(said.splice(0)).toEqual(['two api  brother', 'one api  password = ***', 'two api  twin']);
    pods = [named('two'), named('three')];
    written.three = [[5, 'new here']];
    await sim.run(11_000);
    expect(said.splice(0)).toEqual(['three api  new here']);
    stop.abort();
    await expect(following).rejects.toBeDefined();
  });

  it('needs a cluster', () =>
    expect(
      follow(
        {
          args: ['keystone'],
          flags: { output: 'table' },
          snapshot: async () => snapshot([keystone, pod('one')]),
          say: () => undefined,
        },
        { paper: plain, line: () => undefined },
        new Sim(1).clock,
      ),
    ).rejects.toThrow(/--follow needs a cluster/));
});
