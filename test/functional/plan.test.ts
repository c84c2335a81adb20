import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import type { ObjectOf } from '../../api/schema/kind.ts';
import { plan as planCommand } from '../../src/cli/commands/plan.ts';
import { type Planned, planned, type Rehearsed } from '../../src/cli/simulation/planning.ts';
import { simulate } from '../../src/cli/simulation/simulation.ts';
import { type Change, compare } from '../../src/insight/plan/diff.ts';
import { type Moment, momentsOf, precedes, type Step, stepsOf } from '../../src/insight/plan/rolling.ts';
import { viewOf } from '../../src/insight/view/view.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { ConfigMap } from '../../src/kube/resource.ts';
import type { Request, Transport } from '../../src/kube/transport.ts';
import type { Managed } from '../../src/runtime/plan/managed.ts';
import { type Plan, plan as planOf, rowsOf } from '../../src/runtime/plan/row.ts';
import { issuer } from './certificates.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import { secret } from './services.ts';
import { ours, slice } from './stories.ts';

type Edit = readonly [
  what: string,
  spec: Readonly<Record<string, unknown>>,
  more?: { metadata?: object; remove?: boolean; before?: Readonly<Record<string, unknown>> },
];

/** Over the slice, or over what `before` makes of it. */
const EDITS: readonly Edit[] = [
  ['config of one service', { keystone: { customServiceConfig: '[token]\nexpiration = 7200\n' } }],
  ['config of the whole cloud', { customServiceConfig: '[DEFAULT]\ndebug = true\n' }],
  ['config that can not be read', { keystone: { customServiceConfig: '[token\n' } }],
  ['more pods', { keystone: { replicas: 2 } }],
  ['more pods and config', { keystone: { replicas: 2, customServiceConfig: '[DEFAULT]\ndebug = true\n' } }],
  ['a field that becomes config', { keystone: { tokenExpiration: 600 } }],
  ['a schedule, which restarts nothing', { keystone: { fernetRotation: { schedule: '5 4 * * *' } } }],
  ['an image', { keystone: { image: 'example.org/keystone:other' } }],
  ['images by name', { images: { memcached: 'example.org/memcached:other', rabbitmq: 'example.org/rabbitmq:other' } }],
  ['resources', { rabbitmq: { resources: { requests: { memory: '1Gi' } } } }],
  ['a place', { keystone: { nodeSelector: { 'kubernetes.io/os': 'linux' } } }],
  ['memory of the cache', { memcached: { memoryMB: 128 } }],
  ['more caches, which all who use them must know', { memcached: { replicas: 2 } }],
  ['text of the database server', { mariadb: { customServiceConfig: '[mysqld]\nmax_connections = 512\n' } }],
  ['the pod profile of all', { podProfile: 'restricted' }],
  ['an address for the world', { keystone: { publicURL: 'https://identity.example.org' } }],
  ['one more service', { placement: { enabled: true } }],
  ['a service that needs a bus', { heat: { enabled: true } }],
  ['a dashboard', { horizon: { enabled: true } }],
  ['no bus any more', { rabbitmq: { enabled: false } }],
  [
    'no bus any more, nor its data',
    { rabbitmq: { enabled: false } },
    { before: { rabbitmq: { deletionPolicy: 'Delete' } } },
  ],
  [
    'another extra mount',
    { keystone: { extraMounts: [{ name: 'mine', mountPath: '/mine', secret: { secretName: 'mine' } }] } },
  ],
  [
    'paused, and an edit below',
    { customServiceConfig: '[DEFAULT]\ndebug = true\n' },
    { metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } } },
  ],
  ['nothing', {}],
  ['all of it gone', {}, { remove: true }],
];

const bases = new Map<string, Promise<Rest>>();
const baseOf = (spec: Readonly<Record<string, unknown>> = {}): Promise<Rest> => {
  const key = JSON.stringify(spec);
  const known =
    bases.get(key) ??
    Cloud.start().then(async cloud => {
      cloud.apply(secret('mine', { note: 'hello' }), slice(spec));
      await cloud.ready(OpenStackControlPlane, 'slice');
      await cloud.settle();
      return cloud.rest();
    });
  bases.set(key, known);
  return known;
};

/** A Monday morning, as in src/embedded/sim. */
const EPOCH = Date.UTC(2026, 0, 5, 8, 0, 0);
const HASH = /-[0-9a-f]{8,10}$/;

/** New passwords are random, and so are the names of what holds them. */
const shown = ({ action, kind, name, fields }: Change): string =>
  `${action} ${kind} ${name.replace(HASH, '-#')}${fields.map(field => `\n  ${field.path}`).join('')}`;
const plain = (name: string): string => name.replace(/-[0-9a-f]{8,10}(?= |$)/g, '-#');

/** The same edit on a cloud with other seeds, durations and lost answers. */
async function happens(
  rest: Rest,
  edit: AnyObject,
  remove: boolean,
  seed: number,
): Promise<{ changes: readonly Change[]; moments: readonly Moment[] }> {
  const moments: Moment[] = [];
  let now = (): number => 0;
  const watching = momentsOf(() => now(), moments);
  let armed = false;
  const cloud = await Cloud.start({
    from: rest,
    seed,
    faults: {
      latency: 5 * seed,
      intercept: (request, n) => (armed && n % 29 === seed && request.method !== 'GET' ? 'lose-answer' : undefined),
    },
    wrap: store => ({
      ...store,
      handle: (request, user) => {
        const answer = store.handle(request, user);
        if (request.method !== 'GET' && answer.status < 300)
          watching(answer.body as AnyObject, request.method === 'DELETE' ? 'deleted' : 'written');
        return answer;
      },
    }),
  });
  now = () => cloud.sim.clock.now();
  await cloud.settle();
  const before = cloud.store.objects();
  for (const object of before) watching(object, 'seen');
  moments.length = 0;
  armed = true;
  if (remove) cloud.hands.remove(OpenStackControlPlane, NS, edit.metadata.name);
  else cloud.apply(edit);
  await cloud.settle();
  return { changes: compare(before, cloud.store.objects()), moments };
}

/** A controller that is never content with what it did. */
function flipping(): Plan<never> {
  const row = rowsOf<ObjectOf<typeof Memcached> & Managed>();
  const flip = row('FlipReady', {
    run: async cx => {
      const now = (cx.get(ConfigMap, 'flip')?.data as { side?: string } | undefined)?.side;
      await cx.apply(ConfigMap, { metadata: { name: 'flip' }, data: { side: now === 'heads' ? 'tails' : 'heads' } });
      return cx.get(ConfigMap, 'flip');
    },
  });
  return { ...planOf(Memcached, { flip }), manages: [ConfigMap] } as Plan<never>;
}

describe('a plan is what then happens', { timeout: 180_000 }, () => {
  it.each(EDITS.map((edit, index) => [edit[0], index] as const))('%s', async (_what, index) => {
    const [, spec, more = {}] = EDITS[index]!;
    const rest = await baseOf(more.before);
    const edit = slice({
      ...more.before,
      ...spec,
      ...(more.before && { rabbitmq: { ...(more.before.rabbitmq as object), ...(spec.rabbitmq as object) } }),
    }) as AnyObject;
    Object.assign(edit.metadata, more.metadata);
    const plan: Planned = await planned({ objects: rest.store.objects as AnyObject[], at: EPOCH + rest.at }, [edit], {
      namespace: NS,
      remove: more.remove === true,
    });
    expect(plan.anyway.map(shown)).toEqual([]);
    expect(plan.unsettled).toBeUndefined();
    const real = await happens(rest, edit, more.remove === true, 2 + (index % 7));
    expect(plan.changes.map(shown)).toEqual(real.changes.map(shown));
    const named = (steps: readonly Step[]) => steps.map(({ kind, name, is }) => plain(`${is} ${kind} ${name}`)).sort();
    expect(named(plan.steps)).toEqual(named(stepsOf(real.moments, [])));
    // What the plan puts one after the other happened one after the other. Of two that roll an ordinary edit gates
    // neither, and who is first may be a race: there the order must only not be the other way round.
    const order = new Set(precedes(real.moments).map(pair => plain(pair.join(' < '))));
    const rolls = new Set(plan.steps.filter(step => step.is === 'rolls').map(({ kind, name }) => `${kind} ${name}`));
    const wrong = plan.order.filter(([a, b]) =>
      rolls.has(a) && rolls.has(b) ? order.has(plain(`${b} < ${a}`)) : !order.has(plain(`${a} < ${b}`)),
    );
    expect(wrong).toEqual([]);
  });

  it('shows no secret: neither those of the cluster nor those that would be made', async () => {
    const rest = await baseOf();
    const edit = slice({ placement: { enabled: true } }) as AnyObject;
    const { writes: _writes, ...plan } = await planned(
      { objects: rest.store.objects as AnyObject[], at: EPOCH + rest.at },
      [edit],
      { namespace: NS },
    );
    const text = JSON.stringify(plan);
    const values = rest.store.objects
      .filter(object => object.kind === 'Secret')
      .flatMap(object => Object.entries((object.data ?? {}) as Record<string, string>))
      .filter(([key]) => /password|^key|fernet|^\d+$/.test(key))
      .map(([, value]) => Buffer.from(value, 'base64').toString());
    expect(values.length).toBeGreaterThan(3);
    for (const value of values) expect(text).not.toContain(value);
  });

  it("takes objects of others' kinds along, without their definitions", async () => {
    const rest = await baseOf();
    const lab = { ...issuer('ClusterIssuer', 'lab-ca'), metadata: { name: 'lab-ca', resourceVersion: '1', uid: 'u' } };
    const at = { objects: [...(rest.store.objects as AnyObject[]), lab as AnyObject], at: EPOCH + rest.at };
    const plan = await planned(at, [slice({}) as AnyObject], { namespace: NS });
    expect(plan.changes).toEqual([]);
    expect(plan.anyway).toEqual([]);
  });

  it('tells what the cluster would refuse', async () => {
    const rest = await baseOf();
    const edit = slice({ region: 'Elsewhere' }) as AnyObject;
    await expect(
      planned({ objects: rest.store.objects as AnyObject[], at: EPOCH + rest.at }, [edit], { namespace: NS }),
    ).rejects.toThrow(/spec\.region.*can't change/);
  });

  it('ends when the world never comes to rest, and names what is written again and again', async () => {
    const world = await simulate({ namespace: NS, plans: [flipping()], maxEvents: 20_000 });
    world.admin.apply({ ...ours('Memcached', 'm'), metadata: { name: 'm', namespace: NS } } as AnyObject);
    await expect(world.settle()).rejects.toThrow(/does not come to rest: configmaps\/flip \(\d+ times\)/);
  });

  describe('as a command', () => {
    const edited = `.run/plan-${process.pid}.yaml`;
    const command = async (spec: object, flags: object, transport?: Transport, rehearsed: Rehearsed = {}) => {
      const rest = await baseOf();
      mkdirSync('.run', { recursive: true });
      writeFileSync(edited, JSON.stringify(slice(spec)));
      const objects = rest.store.objects.filter(object => object.metadata.namespace === NS || object.kind === 'Node');
      const snapshot = async () => ({
        view: viewOf(objects, EPOCH + rest.at),
        namespace: NS,
        where: 'a test',
        notes: [],
        hide: (text: string) => text,
        ...(transport && { transport }),
        logs: async () => undefined,
      });
      return planCommand(
        { args: [], flags: { output: 'json', file: edited, ...flags }, snapshot, say: () => undefined },
        rehearsed,
      );
    };

    it('fails for CI on a restart or a deletion, when asked', async () => {
      const config = { keystone: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } };
      expect((await command(config, {})).code).toBe(0);
      expect((await command(config, { failOn: 'restart' })).code).toBe(1);
      expect((await command(config, { failOn: 'delete' })).code).toBe(0);
      expect((await command({ rabbitmq: { enabled: false } }, { failOn: 'delete' })).code).toBe(1);
    });

    it('tells what ends badly, with the cause', async () => {
      const answer = await command({ keystone: { customServiceConfig: '[token\n' } }, {});
      expect(answer.code).toBe(1);
      expect(answer.text({ width: undefined, paint: (_style, text) => text })).toMatch(
        /Does not end well\n {2}InvalidConfig: /,
      );
    });

    it('that never settles ends all the same, and says what is written again and again', async () => {
      const rehearsed = { plans: [flipping()], maxEvents: 20_000 };
      const answer = await command({}, { file: undefined, operator: true }, undefined, rehearsed);
      expect(answer.code).toBe(1);
      expect(answer.text({ width: undefined, paint: (_style, text) => text })).toMatch(
        /Does not end well\n(?: {2}.*\n)* {2}it does not come to rest: configmaps\/flip \(\d+ times\)\n/,
      );
    });

    it('asks the cluster what it thinks of it, and never writes', async () => {
      const sent: Request[] = [];
      const transport: Transport = {
        send: async request => {
          sent.push(request);
          if (request.path.endsWith('/deployments/keystone-api'))
            return {
              status: 403,
              headers: {},
              body: { kind: 'Status', message: 'violates PodSecurity "restricted:latest"' },
            };
          return { status: request.method === 'GET' ? 404 : 200, headers: {}, body: {} };
        },
        watch: async () => ({ status: 500, refusal: { status: 500, headers: {}, body: {} } }),
      };
      const answer = await command({ keystone: { replicas: 2 } }, {}, transport);
      expect(answer.code).toBe(1);
      expect((answer.data as { refused: string[] }).refused).toEqual([
        'Deployment keystone-api: violates PodSecurity "restricted:latest"',
      ]);
      const writes = sent.filter(request => request.method !== 'GET');
      expect(writes.length).toBeGreaterThan(0);
      expect(writes.filter(request => request.query?.dryRun !== 'All')).toEqual([]);
    });
  });
});
