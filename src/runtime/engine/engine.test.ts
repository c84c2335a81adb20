import { describe, expect, it } from 'vitest';
import { Memcached } from '../../../api/openstack/memcached.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import { Cloud, type CloudOptions, NS } from '../../../test/functional/cloud.ts';
import type { AnyObject, Condition } from '../../kube/object.ts';
import { ConfigMap, Event, Job, Pod, Secret } from '../../kube/resource.ts';
import type { Request } from '../../kube/transport.ts';
import { createOperator } from '../../operator/operator.ts';
import type { Body, Cx } from '../plan/cx.ts';
import { plan, type Row, rowsOf } from '../plan/row.ts';
import { stall, wait } from '../plan/unmet.ts';

type Toy = ObjectOf<typeof Memcached>;
const row = rowsOf<Toy>();
const toyObject = (more: object = {}) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Memcached',
  metadata: { name: 'toy' },
  ...more,
});

/** A kind of ours with rows that a test wrote, on the embedded cluster. */
async function world(rows: Record<string, Row<Toy, unknown>>, options: CloudOptions = {}) {
  const toy = { ...plan(Memcached, rows), manages: [ConfigMap, Secret, Job], reads: [Pod] };
  const cloud = await Cloud.start({ plans: [toy], ...options });
  cloud.apply(toyObject());
  const condition = (type = 'Ready'): Condition | undefined => cloud.condition(Memcached, 'toy', type);
  const said = (type = 'Ready') => `${condition(type)?.status} ${condition(type)?.reason}: ${condition(type)?.message}`;
  const annotate = (annotations: Record<string, string | null>) =>
    cloud.hands.patch(Memcached, NS, 'toy', { metadata: { annotations } });
  const writes = (path: RegExp) => cloud.writes().filter(line => path.test(line)).length;
  return { cloud, condition, said, annotate, writes };
}

const map = (name: string, data: Record<string, string> = {}): Body => ({ metadata: { name }, data });
const slow = wait({ reason: 'Slow', what: 'it starts', who: 'Cluster', next: 'go on' });
const job = (cx: Cx<Toy>, input: string) =>
  cx.job({
    step: 'sync',
    image: 'image',
    argv: ['sync'],
    inputs: [input],
    pod: { containers: [{ name: 'sync', image: 'image', command: ['sync', input] }] },
  });

describe('rows', () => {
  it('92: diamond A -> (B, C) -> D with B not ready: C runs, D does not and names B', async () => {
    const ran: string[] = [];
    const note = (name: string) => async () => void ran.push(name);
    const a = row('A', { run: note('A') });
    const b = row('B', { needs: { a }, run: async () => Promise.reject(slow) });
    const c = row('C', { needs: { a }, run: note('C') });
    const d = row('D', { needs: { b, c }, run: note('D') });
    const { cloud, said } = await world({ a, b, c, d });
    await cloud.settle();
    expect(new Set(ran)).toEqual(new Set(['A', 'C']));
    expect(said('C')).toBe('True Succeeded: ');
    expect(said('D')).toBe('Unknown Blocked: Waiting for B');
    expect(said()).toBe('False Reconciling: B: it starts. Cluster: go on');
  });

  it('sends no second SQL statement when the lease is lost between two', async () => {
    const sent: string[] = [];
    let sleepy = true;
    const a = row('A', {
      run: async cx => {
        const sql = cx.cloud.sql({ host: 'mariadb', port: 3306, user: 'root', password: 'p', ca: undefined });
        await sql.check().catch(() => undefined);
        if (sleepy) cloud.operator!.pause(30_000);
        sleepy = false;
        await cx.live(ConfigMap, 'any').catch(() => undefined);
        await sql.dropDatabase('nova', { id: '00112233aabbccdd', object: 'Nova/nova' }).catch(() => undefined);
      },
    });
    const election = { namespace: NS, name: 'openstack-operator', identity: 'a' };
    const options = {
      operator: { election },
      backendFaults: ({ method }: { method: string }) => void sent.push(method),
    };
    const { cloud } = await world({ a }, options);
    await cloud.sim.run(120_000);
    expect(String(cloud.failure)).toMatch(/lease|leader/);
    expect(sent).toEqual(['check']);
  });

  it('a pass that is stopped writes no status: its rows failed because of us', async () => {
    const stop = new AbortController();
    const a = row('A', {
      run: async () => {
        stop.abort(new Error('SIGTERM'));
        throw new Error('cut off');
      },
    });
    const idle = await world({ b: row('B', { run: async () => undefined }) });
    idle.cloud.crashOperator();
    const process = idle.cloud.sim.process('operator-b');
    const operator = createOperator({
      world: {
        cluster: process.transport(idle.cloud.store),
        cloud: idle.cloud.backends.cloud,
        clock: process.clock,
        random: process.random,
      },
      plans: [plan(Memcached, { a })],
    });
    const ended = operator.manager.run(stop.signal);
    await idle.cloud.drive(ended);
    expect(idle.condition('A')).toBeUndefined();
  });

  it('93: B fails: the independent branch completes, all errors are told and retried', async () => {
    let attempts = 0;
    const b = row('B', {
      run: async () => {
        if (++attempts < 4) throw new Error('no luck');
      },
    });
    const b2 = row('B2', { run: async () => (attempts < 4 ? Promise.reject(new Error('no luck here')) : undefined) });
    const c = row('C', { run: cx => cx.apply(ConfigMap, map('of-c')) });
    const after = row('AfterB', { needs: { b }, run: cx => cx.apply(ConfigMap, map('of-b')) });
    const { cloud, said } = await world({ b, b2, c, after });
    await cloud.sim.until(() => said('B').startsWith('False'));
    expect(said()).toBe('False Error: B: no luck. Operator: try again');
    expect(said('B2')).toBe('False Error: no luck here. Operator: try again');
    expect(cloud.get(ConfigMap, 'of-c')).toBeDefined();
    expect(cloud.get(ConfigMap, 'of-b')).toBeUndefined();
    await cloud.settle();
    expect(attempts).toBeGreaterThanOrEqual(4);
    expect(cloud.get(ConfigMap, 'of-b')).toBeDefined();
    expect(said()).toBe('True DeploymentReady: ');
  });

  it('94: a precondition turned false: objects are pruned, data is not undone, the condition goes, dependents go on', async () => {
    const log: string[] = [];
    const a = row('A', {
      when: object => object.spec.memoryMB !== 64,
      run: async cx => {
        await cx.apply(ConfigMap, map('of-a'));
        return 'value';
      },
      off: async cx => void log.push(`off, object ${cx.get(ConfigMap, 'of-a') ? 'there' : 'gone'}`),
      undo: async () => void log.push('undo'),
    });
    const b = row('B', { needs: { a }, run: async (_cx, d) => void log.push(`b got ${d.a}`) });
    const { cloud, condition, said } = await world({ a, b });
    await cloud.settle();
    expect(cloud.get(ConfigMap, 'of-a')).toBeDefined();
    cloud.apply(toyObject({ spec: { memoryMB: 64 } }));
    await cloud.settle();
    expect(cloud.get(ConfigMap, 'of-a')).toBeUndefined();
    expect(condition('A')).toBeUndefined();
    expect(said()).toBe('True DeploymentReady: ');
    expect(log.filter(line => line.startsWith('off'))).toEqual(['off, object there']);
    expect(log.at(-1)).toBe('b got undefined');
    // Only a deletion deletes.
    expect(log).not.toContain('undo');
  });

  it('rule 7: a row prunes what it no longer makes, after it ran to the end and not before', async () => {
    let fails = false;
    const a = row('A', {
      run: async cx => {
        if (cx.spec.memoryMB !== 64) await cx.apply(ConfigMap, map('old'));
        if (fails) throw slow;
        await cx.apply(ConfigMap, map('new'));
      },
    });
    const { cloud, annotate } = await world({ a });
    await cloud.settle();
    fails = true;
    cloud.apply(toyObject({ spec: { memoryMB: 64 } }));
    await cloud.settle();
    expect(cloud.get(ConfigMap, 'old')).toBeDefined();
    fails = false;
    annotate({ again: '1' });
    await cloud.settle();
    expect(cloud.get(ConfigMap, 'old')).toBeUndefined();
    expect(cloud.get(ConfigMap, 'new')).toBeDefined();
  });

  it('rule 7: what another row made, or another object owns, is not pruned', async () => {
    const a = row('A', { run: cx => cx.apply(ConfigMap, map('of-a')) });
    const b = row('B', { run: async () => undefined });
    const { cloud, annotate } = await world({ a, b });
    await cloud.settle();
    cloud.hands.patch(ConfigMap, NS, 'of-a', { metadata: { labels: { other: 'x' } } });
    annotate({ again: '1' });
    await cloud.settle();
    expect(cloud.get(ConfigMap, 'of-a')).toBeDefined();
  });

  it('waits on what it read: a Secret that comes into being, changes, or is found by a list', async () => {
    const seen: string[] = [];
    const a = row('A', {
      run: async cx => void seen.push((await cx.secret('theirs', ['word'], 'spec.x')).word),
    });
    const { cloud, said } = await world({ a });
    await cloud.settle();
    expect(said()).toBe(
      'False SecretNotFound: A: Secret theirs, named in spec.x, does not exist. User: create it with key word',
    );
    const put = (method: 'POST' | 'PUT', data: object) =>
      cloud.store.handle({
        method,
        path: `/api/v1/namespaces/${NS}/secrets${method === 'PUT' ? '/theirs' : ''}`,
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'theirs' }, data },
      });
    put('POST', {});
    await cloud.settle();
    expect(said()).toContain('has no key word');
    put('PUT', { word: Buffer.from('first').toString('base64') });
    await cloud.settle();
    put('PUT', { word: Buffer.from('second').toString('base64') });
    await cloud.settle();
    expect(seen).toEqual(['first', 'second']);
  });
});

describe('writes', () => {
  it('67: identical desired and live: no write, also for a new process; a status that stays is not written', async () => {
    const a = row('A', {
      run: async cx => {
        await cx.apply(ConfigMap, map('one', { a: '1' }));
        cx.report({ replicas: 3 });
      },
    });
    const { cloud, annotate } = await world({ a });
    await cloud.settle();
    const before = cloud.writes().length;
    annotate({ again: '1' });
    await cloud.settle();
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    expect(cloud.writes().slice(before)).toEqual([]);
  });

  it('68: one write per object and one per status, the finalizer first', async () => {
    const a = row('A', { run: cx => cx.apply(ConfigMap, map('one')), undo: async () => undefined });
    const b = row('B', { run: cx => cx.apply(ConfigMap, map('two')) });
    const { cloud } = await world({ a, b });
    await cloud.settle();
    const lines = cloud.writes().map(line => line.replace(/^\d+ operator (\S+) \S*\/(\S+\/\S+) commit$/, '$1 $2'));
    expect(lines[0]).toBe('PATCH memcacheds/toy');
    expect(lines.slice(1, 3).sort()).toEqual(['PATCH configmaps/one', 'PATCH configmaps/two']);
    expect(lines.slice(3)).toEqual(['PATCH toy/status']);
  });

  it('68: the finalizer is in the store before the first effect', async () => {
    const held: unknown[] = [];
    const a = row('A', {
      run: async cx => {
        const live = await cx.live(Memcached, cx.name);
        held.push(live?.metadata.finalizers);
      },
      undo: async () => undefined,
    });
    const { cloud } = await world({ a });
    await cloud.settle();
    expect(held.length).toBeGreaterThan(0);
    for (const finalizers of held) expect(finalizers).toEqual(['openstack.k8s.io/operator']);
  });

  it('71: a pass does not start before the cache shows what the last one wrote', async () => {
    const a = row('A', { run: cx => cx.apply(ConfigMap, map('one')) });
    const lag = (request: Request) => (request.path.includes('memcacheds') ? 5_000 : 0);
    const { cloud, writes } = await world({ a }, { faults: { lag } });
    await cloud.settle();
    // The new ConfigMap wakes the object at once, while the cache still shows it without a status.
    expect(writes(/toy\/status/)).toBe(1);
  });

  it('80: a value that the server writes otherwise is applied once, not for ever', async () => {
    let passes = 0;
    const a = row('A', {
      run: async cx => {
        passes++;
        await cx.apply(Job, {
          metadata: { name: 'odd' },
          spec: {
            suspend: true,
            template: {
              spec: {
                restartPolicy: 'Never',
                containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1000m' } } }],
              },
            },
          },
        });
      },
    });
    const { cloud, annotate, writes } = await world({ a });
    await cloud.settle();
    annotate({ again: '1' });
    await cloud.settle();
    expect(passes).toBeGreaterThan(1);
    expect(writes(/jobs\/odd/)).toBe(1);
  });

  it('rule 3: an object that is not ours is left alone and named; handed over, it is taken', async () => {
    const a = row('A', { run: cx => cx.apply(ConfigMap, map('theirs', { mine: 'yes' })) });
    const path = `/api/v1/namespaces/${NS}/configmaps`;
    const cloud = await Cloud.start({ plans: [{ ...plan(Memcached, { a }), manages: [ConfigMap] }] });
    cloud.store.handle({ method: 'POST', path, body: { metadata: { name: 'theirs' }, data: { theirs: 'yes' } } });
    cloud.apply(toyObject());
    await cloud.settle();
    expect(cloud.condition(Memcached, 'toy')).toMatchObject({ status: 'False', reason: 'AlreadyExists' });
    expect(cloud.get(ConfigMap, 'theirs')?.data).toEqual({ theirs: 'yes' });
    cloud.hands.patch(ConfigMap, NS, 'theirs', { metadata: { annotations: { 'openstack.k8s.io/adopt': 'true' } } });
    cloud.hands.patch(Memcached, NS, 'toy', { metadata: { annotations: { again: '1' } } });
    await cloud.settle();
    expect(cloud.condition(Memcached, 'toy')?.status).toBe('True');
    expect(cloud.get(ConfigMap, 'theirs')?.data).toEqual({ theirs: 'yes', mine: 'yes' });
  });

  it('82: an object that another one of ours controls is NameTaken', async () => {
    const a = row('A', { run: cx => cx.apply(ConfigMap, map('shared', { by: cx.name })) });
    const { cloud } = await world({ a });
    await cloud.settle();
    cloud.apply(toyObject({ metadata: { name: 'rival' } }));
    await cloud.settle();
    expect(cloud.condition(Memcached, 'rival')).toMatchObject({ status: 'False', reason: 'NameTaken' });
    expect(cloud.get(ConfigMap, 'shared')?.data).toEqual({ by: 'toy' });
  });

  it('102: generated values are made once, though the answer is lost and the cache is late', async () => {
    let made = 0;
    const a = row('A', {
      run: cx => cx.generate('password', () => ({ password: `secret-number-${++made}` }), { retain: true }),
    });
    let lost = 0;
    const faults = {
      lag: (request: Request) => (request.path.includes('secrets') ? 20_000 : 0),
      intercept: (request: Request) =>
        request.method === 'PATCH' && request.path.endsWith('secrets/password') && lost++ === 0
          ? ('lose-answer' as const)
          : undefined,
    };
    const { cloud } = await world({ a }, { faults });
    await cloud.settle();
    expect(lost).toBe(1);
    expect(made).toBe(1);
    const data = cloud.get(Secret, 'password')?.data as { password: string };
    expect(Buffer.from(data.password, 'base64').toString()).toBe('secret-number-1');
    expect(cloud.get(Secret, 'password')?.metadata.ownerReferences).toBeUndefined();
  });

  it('makes nothing for an object that is gone, though the cache still shows it', async () => {
    const a = row('A', {
      run: cx => cx.generate('kept', () => ({ password: 'long-enough-password' }), { retain: true }),
    });
    const lag = (request: Request) => (request.path.includes('memcacheds') ? 30_000 : 0);
    const { cloud, writes } = await world({ a }, { faults: { lag } });
    await cloud.sim.until(() => cloud.get(Secret, 'kept') !== undefined);
    await cloud.sim.run(60_000);
    expect(writes(/secrets\/kept/)).toBe(1);
    cloud.hands.remove(Memcached, NS, 'toy');
    cloud.hands.remove(Secret, NS, 'kept');
    await cloud.settle();
    expect(cloud.get(Secret, 'kept')).toBeUndefined();
  });

  it('rule 11: values of Secrets do not reach conditions', async () => {
    const a = row('A', {
      run: async cx => {
        const { password } = await cx.generate('login', () => ({
          password: 'hunter2hunter2',
          connection: 'x://hunter2hunter2@h',
        }));
        throw new Error(`Access denied for ${password} at x://hunter2hunter2@h`);
      },
    });
    const { cloud, said } = await world({ a });
    await cloud.sim.until(() => said('A').startsWith('False'));
    expect(said('A')).toBe('False Error: Access denied for *** at ***. Operator: try again');
    expect(JSON.stringify(cloud.hands.list(Event, NS))).not.toContain('hunter2');
  });

  it('a write that the plan did not declare is a programmer error, told as such', async () => {
    const a = row('A', { run: cx => cx.apply(Pod, { metadata: { name: 'x' } }) });
    const { cloud, said } = await world({ a });
    await cloud.sim.until(() => said('A').startsWith('False'));
    expect(said('A')).toContain('writes pods without declaring it');
  });
});

describe('jobs', () => {
  const names = (cloud: Cloud) => cloud.hands.list(Job, NS).map(found => found.metadata.name);

  it('96: hash unchanged: no Job is created even if it was cleaned away, also after a restart', async () => {
    const a = row('A', { run: cx => job(cx, 'x') });
    const { cloud, said, writes } = await world({ a });
    await cloud.settle();
    expect(said()).toBe('True DeploymentReady: ');
    const [name = ''] = names(cloud);
    cloud.hands.remove(Job, NS, name);
    await cloud.settle();
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    expect(names(cloud)).toEqual([]);
    expect(writes(/jobs/)).toBe(1);
    expect(said()).toBe('True DeploymentReady: ');
  });

  it('97: hash changed while the old Job runs: wait for it, then run the new one and drop the old', async () => {
    const a = row('A', { run: cx => job(cx, `${cx.spec.memoryMB}`) });
    const programs: CloudOptions['programs'] = () => ({ exit: 0, after: 10_000 });
    const { cloud, said } = await world({ a }, { programs });
    await cloud.sim.run(2_000);
    const [first] = names(cloud);
    cloud.apply(toyObject({ spec: { memoryMB: 64 } }));
    await cloud.sim.run(2_000);
    expect(names(cloud)).toEqual([first]);
    expect(said('A')).toContain(`JobRunning: Waiting for Job ${first}`);
    await cloud.settle();
    expect(names(cloud)).toHaveLength(1);
    expect(names(cloud)).not.toContain(first);
    expect(said()).toBe('True DeploymentReady: ');
  });

  it('98: a failed Job is told with its last words and not repeated; a changed input or annotation retry runs it again', async () => {
    let broken = true;
    const programs: CloudOptions['programs'] = () =>
      broken ? { exit: 1, after: 100, message: 'line\nno such table' } : { exit: 0, after: 100 };
    const a = row('A', { run: cx => job(cx, `${cx.spec.memoryMB}`) });
    const { cloud, said, annotate, writes } = await world({ a }, { programs });
    await cloud.settle();
    const [first] = names(cloud);
    expect(said()).toBe(
      `False JobFailed: A: Job ${first} failed: ended with 1: line | no such table. User: mend the cause, then annotate Memcached toy with openstack.k8s.io/retry=<anything new>`,
    );
    annotate({ again: '1' });
    await cloud.settle();
    expect(writes(/jobs/)).toBe(1);
    cloud.apply(toyObject({ spec: { memoryMB: 64 } }));
    await cloud.settle();
    expect(writes(/PATCH .*jobs/)).toBe(2);
    expect(said()).toContain('JobFailed');
    broken = false;
    annotate({ 'openstack.k8s.io/retry': '1' });
    await cloud.settle();
    expect(said()).toBe('True DeploymentReady: ');
    expect(names(cloud)).toHaveLength(1);
  });

  it("98: a Job that an earlier object of this name left behind does not count as this one's", async () => {
    let runs = 0;
    const programs: CloudOptions['programs'] = () => {
      runs++;
      return { exit: 0, after: 100 };
    };
    const a = row('A', { run: cx => job(cx, 'x') });
    const { cloud, said } = await world({ a }, { programs });
    await cloud.settle();
    cloud.hands.remove(Memcached, NS, 'toy');
    cloud.apply(toyObject());
    await cloud.settle();
    expect(said()).toBe('True DeploymentReady: ');
    expect(runs).toBe(2);
  });
});

describe('conditions', () => {
  it('99: lastTransitionTime moves with status, not with the message', async () => {
    let text = 'one';
    const a = row('A', {
      run: async () => Promise.reject(wait({ reason: 'Slow', what: text, who: 'Cluster', next: 'go on' })),
    });
    const { cloud, condition, annotate } = await world({ a });
    await cloud.settle();
    const before = condition();
    text = 'two';
    await cloud.sim.run(60_000);
    annotate({ again: '1' });
    await cloud.settle();
    expect(condition()?.message).toContain('two');
    expect(condition()?.lastTransitionTime).toBe(before?.lastTransitionTime);
  });

  it('100: what only a user can mend is told once and not tried again', async () => {
    let runs = 0;
    const a = row('A', {
      run: async () => {
        runs++;
        throw stall({ reason: 'Bad', what: 'it can not work', who: 'User', next: 'mend it' });
      },
    });
    const { cloud, said } = await world({ a });
    await cloud.settle();
    const first = runs;
    await cloud.sim.run(3_600_000);
    expect(runs).toBe(first);
    expect(said()).toBe('False Bad: A: it can not work. User: mend it');
    const events = cloud.hands.list(Event, NS).filter(event => (event as { reason?: string }).reason === 'Bad');
    expect(events).toHaveLength(1);
  });

  it('rule 8: status tells the generation that it speaks of', async () => {
    const a = row('A', { run: async () => undefined });
    const { cloud } = await world({ a });
    await cloud.settle();
    cloud.apply(toyObject({ spec: { memoryMB: 64 } }));
    await cloud.settle();
    const object = cloud.get(Memcached, 'toy') as AnyObject & { status: { observedGeneration: number } };
    expect(object.metadata.generation).toBe(2);
    expect(object.status.observedGeneration).toBe(2);
  });

  it('fields of status that a row did not get to report stay as they were', async () => {
    let open = true;
    const a = row('A', {
      run: async cx => {
        if (!open) throw slow;
        cx.report({ replicas: 3 });
      },
    });
    const { cloud, annotate } = await world({ a });
    await cloud.settle();
    open = false;
    annotate({ again: '1' });
    await cloud.settle();
    expect(cloud.get(Memcached, 'toy')?.status).toMatchObject({ replicas: 3, conditions: [{ status: 'False' }, {}] });
  });
});

describe('deletion', () => {
  it('95: an undo that is unmet keeps the object and holds back the undo of what it needs', async () => {
    const log: string[] = [];
    let open = false;
    const a = row('A', { run: async () => 'a', undo: async () => void log.push('a') });
    const b = row('B', {
      needs: { a },
      run: async () => 'b',
      undo: async () => {
        if (!open) throw slow;
        log.push('b');
      },
    });
    const c = row('C', { needs: { b }, run: async () => 'c', undo: async () => void log.push('c') });
    const { cloud, said, annotate } = await world({ a, b, c });
    await cloud.settle();
    cloud.hands.remove(Memcached, NS, 'toy');
    await cloud.settle();
    expect(new Set(log)).toEqual(new Set(['c']));
    expect(said()).toBe('False Deleting: B: it starts. Cluster: go on');
    open = true;
    annotate({ again: '1' });
    await cloud.settle();
    expect(log.slice(-3)).toEqual(['c', 'b', 'a']);
    expect(cloud.get(Memcached, 'toy')).toBeUndefined();
  });

  it('84: an undo that fails leaves the finalizer, and is tried again', async () => {
    let attempts = 0;
    const a = row('A', {
      run: async () => undefined,
      undo: async () => {
        if (++attempts < 3) throw new Error('the server is away');
      },
    });
    const { cloud } = await world({ a });
    await cloud.settle();
    cloud.hands.remove(Memcached, NS, 'toy');
    await cloud.sim.until(() => attempts === 1);
    expect(cloud.get(Memcached, 'toy')?.metadata.finalizers).toEqual(['openstack.k8s.io/operator']);
    await cloud.settle();
    expect(attempts).toBe(3);
    expect(cloud.get(Memcached, 'toy')).toBeUndefined();
  });

  it('70: letting go twice, the second time of nothing, is no error and brings nothing back', async () => {
    const a = row('A', { run: async () => undefined, undo: async () => undefined });
    let lost = 0;
    let deleting = false;
    const letsGo = (request: Request) =>
      deleting && request.method === 'PATCH' && /memcacheds\/toy$/.test(request.path);
    const faults = {
      intercept: (request: Request) => (letsGo(request) && lost++ === 0 ? ('lose-answer' as const) : undefined),
      lag: (request: Request) => (deleting && lost > 0 && request.path.includes('memcacheds') ? 10_000 : 0),
    };
    const { cloud } = await world({ a }, { faults });
    await cloud.settle();
    deleting = true;
    cloud.hands.remove(Memcached, NS, 'toy');
    await cloud.settle();
    expect(lost).toBe(2);
    expect(cloud.get(Memcached, 'toy')).toBeUndefined();
  });

  it("85: others' finalizers stay", async () => {
    const a = row('A', { run: async () => undefined, undo: async () => undefined });
    const { cloud } = await world({ a });
    await cloud.settle();
    cloud.hands.patch(Memcached, NS, 'toy', {
      metadata: { finalizers: ['example.com/theirs', 'openstack.k8s.io/operator'] },
    });
    cloud.hands.remove(Memcached, NS, 'toy');
    await cloud.settle();
    expect(cloud.get(Memcached, 'toy')?.metadata.finalizers).toEqual(['example.com/theirs']);
  });

  it('rule 17: after ten minutes it is blocked and names the way out, which works', async () => {
    const a = row('A', { run: async () => undefined, undo: async () => Promise.reject(slow) });
    const { cloud, said, annotate } = await world({ a });
    await cloud.settle();
    cloud.hands.remove(Memcached, NS, 'toy');
    await cloud.sim.run(590_000);
    expect(said()).toMatch(/^False Deleting/);
    await cloud.sim.run(20_000);
    expect(said()).toMatch(/^False DeletionBlocked: A: .*openstack.k8s.io\/skip-undo=A$/);
    annotate({ 'openstack.k8s.io/skip-undo': 'A' });
    await cloud.settle();
    expect(cloud.get(Memcached, 'toy')).toBeUndefined();
  });

  it('rule 15: paused, it writes nothing below itself, says so, and goes on afterwards', async () => {
    const a = row('A', { run: cx => cx.apply(ConfigMap, map('one', { size: `${cx.spec.memoryMB}` })) });
    const { cloud, said, annotate, condition, writes } = await world({ a });
    await cloud.settle();
    annotate({ 'openstack.k8s.io/paused': 'true' });
    cloud.apply(toyObject({ spec: { memoryMB: 64 } }));
    await cloud.settle();
    expect(said('Paused')).toMatch(/^True Annotated/);
    expect(writes(/configmaps/)).toBe(1);
    annotate({ 'openstack.k8s.io/paused': null });
    await cloud.settle();
    expect(condition('Paused')).toBeUndefined();
    expect(cloud.get(ConfigMap, 'one')?.data).toEqual({ size: '64' });
  });
});
