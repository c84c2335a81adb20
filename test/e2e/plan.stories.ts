import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { isKnown } from '../../src/cli/input/resources.ts';
import { type Planned, planned } from '../../src/cli/simulation/planning.ts';
import { type Change, compare } from '../../src/insight/plan/diff.ts';
import { precedes, stepsOf } from '../../src/insight/plan/rolling.ts';
import { stateOf } from '../../src/insight/status/status.ts';
import { progressOf } from '../../src/insight/status/workloads.ts';
import { viewOf } from '../../src/insight/view/view.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { figure } from './figure.ts';
import { type Eyes, ready, type Stage, until } from './stage.ts';

/** A living slice is edited; what a plan said before is what the API then shows: objects, restarts and their order. */

const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };

/** Each is the whole of what differs from the sample: it also takes the one before back. */
const EDITS: readonly (readonly [what: string, spec: object])[] = [
  ['config of one service', { keystone: { customServiceConfig: '[token]\nexpiration = 7200\n' } }],
  ['config of the whole cloud, and that of the service gone', { customServiceConfig: '[DEFAULT]\ndebug = true\n' }],
  ['more pods', { keystone: { replicas: 2 } }],
  ['a field that becomes config, and fewer pods', { keystone: { tokenExpiration: 600 } }],
  [
    'a schedule, which restarts nothing',
    { keystone: { tokenExpiration: 600, fernetRotation: { schedule: '5 4 * * *' } } },
  ],
  ['memory of the cache', { memcached: { memoryMB: 128 } }],
  ['text of the database server', { mariadb: { customServiceConfig: '[mysqld]\nmax_connections = 512\n' } }],
  ['a place', { keystone: { nodeSelector: { 'kubernetes.io/os': 'linux' } } }],
  ['one more service', { placement: { enabled: true } }],
  ['and gone again', {}],
];

const HASH = /-[0-9a-f]{8,10}$/;
/** New passwords are random, and so are the names of what holds them. */
const shown = ({ action, kind, name, fields }: Change): string =>
  `${action} ${kind} ${name.replace(HASH, '-#')}${fields.map(field => `\n  ${field.path}`).join('')}`;
const plain = (name: string): string => name.replace(/-[0-9a-f]{8,10}(?= |$)/g, '-#');

/** Without a write of the operator and without anything that moves, for so long, an edit is through. */
const QUIET = 20;
const PATIENCE = 1800;

export function planStories(open: () => Promise<Stage & Eyes>, release: string): void {
  let stage: Stage & Eyes;
  let exact = 0;
  const slice = (spec: object = {}): AnyObject => ({ ...sample, spec: { ...sample.spec, release, ...spec } });
  const inNamespace = (changes: readonly Change[]) => changes.filter(change => change.namespace === stage.namespace);

  async function atRest(): Promise<void> {
    let [writes, since, waited] = [-1, 0, 0];
    await until(stage, 'the cloud is at rest', PATIENCE / 5, async () => {
      await stage.pass(4);
      waited += 5;
      const { objects, at } = await stage.look();
      const view = viewOf(objects, at);
      const moves =
        view.ours.some(object => stateOf(object) !== 'ready') ||
        ['Deployment', 'StatefulSet', 'DaemonSet'].some(kind => view.ofKind(kind).some(o => progressOf(o).doing));
      const count = stage.writes().length;
      if (moves || count !== writes) since = waited;
      writes = count;
      return waited - since >= QUIET;
    });
  }

  describe(`plan, on a living slice, ${release}`, { timeout: 3_600_000 }, () => {
    beforeAll(async () => {
      stage = await open();
      await stage.apply(slice());
      await ready(stage, OpenStackControlPlane, 'slice');
      await atRest();
    }, 1_800_000);
    afterAll(async () => {
      if (await stage.get(OpenStackControlPlane, 'slice')) await stage.remove(OpenStackControlPlane, 'slice');
    }, 120_000);

    it.each(EDITS)('%s', async (what, spec) => {
      const { objects: before, at } = await stage.look();
      const edit = slice(spec);
      const plan: Planned = await planned({ objects: before.filter(isKnown), at }, [edit], {
        namespace: stage.namespace,
      });
      expect(plan.unsettled).toBeUndefined();
      expect(plan.why.causes).toEqual([]);
      expect(inNamespace(plan.anyway).map(shown)).toEqual([]);

      const watch = await stage.watch();
      await stage.apply(edit);
      await atRest();
      await watch.stop();
      const { objects: after } = await stage.look();

      expect(inNamespace(plan.changes).map(shown)).toEqual(inNamespace(compare(before, after)).map(shown));
      const real = stepsOf(watch.moments, []).map(({ kind, name, is }) => plain(`${is} ${kind} ${name}`));
      const told = plan.steps.map(({ kind, name, is }) => plain(`${is} ${kind} ${name}`));
      expect([...told].sort()).toEqual([...real].sort());
      // Of two that roll an ordinary edit gates neither, and who is first may be a race: not the other way round.
      const order = new Set(precedes(watch.moments).map(pair => plain(pair.join(' < '))));
      const rolls = new Set(plan.steps.filter(step => step.is === 'rolls').map(({ kind, name }) => `${kind} ${name}`));
      const wrong = plan.order.filter(([a, b]) =>
        rolls.has(a) && rolls.has(b) ? order.has(plain(`${b} < ${a}`)) : !order.has(plain(`${a} < ${b}`)),
      );
      expect(wrong).toEqual([]);
      console.log(
        `${what}: ${plan.changes.length} objects, ${told.join(', ') || 'nothing restarts'}, ${plan.order.length} pairs in order`,
      );
      figure('edits planned exactly', ++exact);
    });
  });
}
