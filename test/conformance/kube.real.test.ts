import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCache, type Informer } from '../../src/kube/cache/cache.ts';
import { type Client, createClient, isConflict, isInvalid } from '../../src/kube/client.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { ConfigMap, CustomResourceDefinition, Lease, type Resource, Secret } from '../../src/kube/resource.ts';
import { microTimeOf } from '../../src/kube/time.ts';
import { compareResourceVersion } from '../../src/kube/version.ts';
import { realClock, realRandom } from '../../src/real/clock.ts';
import { type Credentials, loadCredentials } from '../../src/real/credentials.ts';
import { type Connection, connect } from '../../src/real/transport.ts';
import { type ApiServer, kubeconfigOf, startApiServer } from './apiserver.ts';

const Widget: Resource = { group: 'example.org', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const widgets: AnyObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};
const configMap = (name: string, more: Record<string, unknown> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...more,
});
const at = (name: string, namespace = 'default') => ({ namespace, name });

/** Polls: a real server keeps no promises about when. */
async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

describe('our client on a real kube-apiserver', { timeout: 120_000 }, () => {
  let server: ApiServer;
  let connection: Connection;
  let client: Client;
  const requests: string[] = [];
  const warnings: string[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'kube-real-'));
  const cleanup: (() => unknown)[] = [];

  beforeAll(async () => {
    server = await startApiServer();
    connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }), {
      userAgent: 'kube.real.test',
    });
    client = createClient(connection, realClock, {
      onRequest: ({ verb, status }) => requests.push(`${verb} ${status}`),
      onWarning: text => warnings.push(text),
    });
    await client.apply(CustomResourceDefinition, widgets, { manager: 'test', force: true });
    await eventually('widgets are served', async () => {
      const answer = await connection.send({ method: 'GET', path: '/apis/example.org/v1/widgets' });
      return answer.status === 200;
    });
  }, 180_000);
  afterAll(async () => {
    for (const close of cleanup.reverse()) await close();
    await connection?.close();
    await server?.stop();
    rmSync(dir, { recursive: true });
  });

  it('applies: creates, owns, does not move the version when nothing changes, prunes what is dropped', async () => {
    const body = configMap('applied', { data: { a: '1', b: '2' } });
    const first = await client.apply(ConfigMap, body, { manager: 'one', force: true });
    expect(first.metadata.managedFields?.map(entry => [entry.manager, entry.operation])).toEqual([['one', 'Apply']]);
    const same = await client.apply(ConfigMap, body, { manager: 'one', force: true });
    expect(same.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const less = await client.apply(ConfigMap, configMap('applied', { data: { a: '1' } }), {
      manager: 'one',
      force: true,
    });
    expect(less.data).toEqual({ a: '1' });
    expect(compareResourceVersion(less.metadata.resourceVersion, first.metadata.resourceVersion)).toBe(1);
  });

  it('an apply without force against another manager is a conflict that names field and manager', async () => {
    await client.apply(ConfigMap, configMap('fought', { data: { a: '1' } }), { manager: 'one' });
    const rival = configMap('fought', { data: { a: '2' } });
    const error = await client.apply(ConfigMap, rival, { manager: 'two' }).catch((e: unknown) => e);
    expect(isConflict(error)).toBe(true);
    expect(error).toMatchObject({ causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] });
    expect((error as Error).message).toContain('apply configmaps default/fought');
    expect((await client.apply(ConfigMap, rival, { manager: 'two', force: true })).data).toEqual({ a: '2' });
  });

  it('a dry run changes nothing; a uid in the body refuses another object', async () => {
    await client.apply(ConfigMap, configMap('dry', { data: { a: '1' } }), { manager: 'one', dryRun: true });
    expect(await client.get(ConfigMap, at('dry'))).toBeUndefined();
    const wrong = configMap('dry');
    wrong.metadata.uid = '00000000-0000-4000-8000-000000000000';
    expect(isConflict(await client.apply(ConfigMap, wrong, { manager: 'one' }).catch((e: unknown) => e))).toBe(true);
  });

  it('status is its own endpoint, and does not move the generation', async () => {
    const body: AnyObject = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: at('w'), spec: { size: 1 } };
    await client.apply(Widget, { ...body, status: { ignored: true } }, { manager: 'spec' });
    const { spec: _, ...bare } = body;
    const done = await client.apply<AnyObject>(
      Widget,
      { ...bare, status: { ready: true } },
      { manager: 'status', subresource: 'status' },
    );
    expect([done.spec, done.status, done.metadata.generation]).toEqual([{ size: 1 }, { ready: true }, 1]);
  });

  it('fields that nobody here knows survive reading and writing back', async () => {
    const spec = { future: { deep: [{ x: 1 }, 'y', null, 1.5] }, size: 9_007_199_254_740_991 };
    const body: AnyObject = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: at('future'), spec };
    await client.create(Widget, body, { manager: 'one' });
    const read = (await client.get(Widget, at('future')))!;
    await client.replace(Widget, { ...read, metadata: { ...read.metadata, labels: { touched: 'yes' } } });
    const again = await client.get(Widget, at('future'));
    expect([again?.spec, again?.metadata.labels]).toEqual([spec, { touched: 'yes' }]);
  });

  it('patches: merge with an old version is a conflict, json with a failed test is refused', async () => {
    const made = await client.create(ConfigMap, configMap('patched', { data: { a: '1' } }));
    const merged = await client.patch(ConfigMap, at('patched'), { data: { a: null, b: '2' } }, { type: 'merge' });
    expect(merged.data).toEqual({ b: '2' });
    const stale = { metadata: { resourceVersion: made.metadata.resourceVersion }, data: { c: '3' } };
    const error = await client.patch(ConfigMap, at('patched'), stale, { type: 'merge' }).catch((e: unknown) => e);
    expect(isConflict(error)).toBe(true);
    const operations = [{ op: 'test', path: '/data/b', value: 'x' }];
    expect(
      isInvalid(await client.patch(ConfigMap, at('patched'), operations, { type: 'json' }).catch((e: unknown) => e)),
    ).toBe(true);
  });

  it('74: deletes by uid: gone, held by a finalizer, absent, or another object of that name', async () => {
    const plain = await client.create(ConfigMap, configMap('doomed'));
    expect(await client.delete(ConfigMap, at('doomed'), { uid: plain.metadata.uid! })).toBeUndefined();
    expect(await client.delete(ConfigMap, at('doomed'), { uid: plain.metadata.uid! })).toBeUndefined();

    const next = await client.create(ConfigMap, configMap('doomed'));
    expect(await client.delete(ConfigMap, at('doomed'), { uid: plain.metadata.uid! })).toBeUndefined();
    expect((await client.get(ConfigMap, at('doomed')))?.metadata.uid).toBe(next.metadata.uid); // untouched

    const wrongVersion = { uid: next.metadata.uid!, resourceVersion: '1' };
    expect(isConflict(await client.delete(ConfigMap, at('doomed'), wrongVersion).catch((e: unknown) => e))).toBe(true);

    const finalizers = { metadata: { finalizers: ['example.org/hold'] } };
    const held = await client.patch(ConfigMap, at('doomed'), finalizers, { type: 'merge' });
    const dying = await client.delete(ConfigMap, at('doomed'), { uid: next.metadata.uid! });
    expect(dying?.metadata.deletionTimestamp).toBeDefined();
    expect(compareResourceVersion(dying?.metadata.resourceVersion, held.metadata.resourceVersion)).toBe(1);
  });

  it('lists over several pages with the type of every item', async () => {
    await Promise.all(
      Array.from({ length: 520 }, (_, i) =>
        client.create(ConfigMap, {
          ...configMap(`page-${i}`),
          metadata: { ...at(`page-${i}`), labels: { page: 'yes' } },
        }),
      ),
    );
    const { items, resourceVersion } = await client.list(ConfigMap, {
      namespace: 'default',
      labelSelector: 'page=yes',
    });
    expect([items.length, new Set(items.map(item => `${item.apiVersion} ${item.kind}`))]).toEqual([
      520,
      new Set(['v1 ConfigMap']),
    ]);
    expect(compareResourceVersion(resourceVersion, items[0]!.metadata.resourceVersion)).toBeGreaterThanOrEqual(0);
    expect((await client.list(ConfigMap, { labelSelector: 'page=yes', limit: 7 })).items).toHaveLength(7);
  });

  it('takes six digits in a MicroTime; knows the time of the server', async () => {
    const renewTime = microTimeOf(client.serverTime());
    const lease: AnyObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: at('l'),
      spec: { renewTime },
    };
    expect(((await client.create(Lease, lease)).spec as { renewTime: string }).renewTime).toBe(renewTime);
    expect(Math.abs(client.serverTime() - Date.now())).toBeLessThan(2_000); // it is this machine
  });

  it('reports every attempt and passes warnings on', async () => {
    requests.length = 0;
    await client.get(ConfigMap, at('no-such'));
    expect(requests).toEqual(['get 404']);
    await client.create(ConfigMap, configMap('odd', { colour: 'blue' }), { dryRun: true });
    expect(warnings).toContain('unknown field "colour"');
  });

  const informerOn = (
    transport: Connection,
    options: { metadataOnly?: boolean; selector?: string; resource?: Resource } = {},
  ) => {
    const { metadataOnly, selector, resource = ConfigMap } = options;
    const cache = createCache({ transport, clock: realClock, random: realRandom });
    const informer = cache.informer({ resource, namespaces: ['default'], labelSelector: selector, metadataOnly });
    cleanup.push(() => cache.stopAll());
    cache.startAll();
    return informer;
  };
  const labelled = (name: string, label: string, data: Record<string, string> = {}): AnyObject => ({
    ...configMap(name, { data }),
    metadata: { ...at(name), labels: { story: label } },
  });

  it('11: fills by WatchList in one request, and hears every write afterwards', async () => {
    await client.create(ConfigMap, labelled('w1', 'watchlist'));
    const informer = informerOn(connection, { selector: 'story=watchlist' });
    await informer.synced;
    expect(informer.list().map(object => object.metadata.name)).toEqual(['w1']);
    expect([informer.stats.lists, informer.stats.watches]).toEqual([1, 1]); // no fallback to a list
    const written = await client.apply(ConfigMap, labelled('w2', 'watchlist'), { manager: 'one' });
    await eventually('w2 in the store', () => informer.get(at('w2')));
    expect(compareResourceVersion(informer.resourceVersion, written.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      0,
    );
    const heard: string[] = [];
    informer.onChange({
      deleted: (object, { finalStateUnknown }) => void heard.push(`${object.metadata.name} ${finalStateUnknown}`),
    });
    // Out of the selector is a deletion for the watcher, though the object lives.
    await client.patch(ConfigMap, at('w2'), { metadata: { labels: { story: 'other' } } }, { type: 'merge' });
    await eventually('w2 gone', () => heard.includes('w2 false'));
    expect(await client.get(ConfigMap, at('w2'))).toBeDefined();
  });

  it('metadata only: no data comes over the wire, nothing of the managers stays', async () => {
    const secret: AnyObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...at('s'), labels: { story: 'meta' } },
      data: { key: 'aHVudGVy' },
    };
    await client.create(Secret, secret);
    const informer = informerOn(connection, { metadataOnly: true, selector: 'story=meta', resource: Secret });
    await informer.synced;
    const [object] = informer.list();
    expect([object?.apiVersion, object?.kind, object?.data, object?.metadata.managedFields]).toEqual([
      'v1',
      'Secret',
      undefined,
      undefined,
    ]);
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    const raw = await connection.send({ method: 'GET', path: '/api/v1/namespaces/default/secrets/s', accept });
    expect(raw.body).toMatchObject({ kind: 'PartialObjectMetadata' });
    expect(raw.body).not.toHaveProperty('data');
  });

  it('a version from before the history is answered as the reflector expects', async () => {
    const stop = new AbortController();
    const query = { watch: 'true', resourceVersion: '1', timeoutSeconds: '300' };
    const answer = await connection.watch({ method: 'GET', path: '/api/v1/configmaps', query }, stop.signal);
    // etcd still has version 1 unless compacted, so the server may serve it; what it must not do is hang or differ in form.
    if ('refusal' in answer) expect(answer.refusal.status).toBe(410);
    else {
      const first = await answer.events[Symbol.asyncIterator]().next();
      expect(['ADDED', 'ERROR']).toContain(first.value.type);
    }
    stop.abort();
    const future = await connection.send({
      method: 'GET',
      path: '/api/v1/configmaps',
      query: { resourceVersion: '999999999' },
    });
    expect([future.status, future.body]).toMatchObject([
      504,
      { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
    ]);
  });

  it('a watch outlives the time allowed for its first byte', async () => {
    const stop = new AbortController();
    const request = { method: 'GET', path: '/api/v1/namespaces/default/configmaps', timeout: 2_000 } as const;
    const { resourceVersion } = await client.list(ConfigMap, { limit: 1 });
    const answer = await connection.watch(
      { ...request, query: { watch: 'true', resourceVersion, timeoutSeconds: '300' } },
      stop.signal,
    );
    if (!('events' in answer)) throw new Error(`refused with ${answer.status}`);
    const next = answer.events[Symbol.asyncIterator]().next();
    await new Promise(resolve => setTimeout(resolve, 2_500));
    await client.create(ConfigMap, configMap('late'));
    expect((await next).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'late' } } });
    stop.abort();
  });

  it('18: after the server was away the watch goes on from where it was: nothing lost, nothing listed again', async () => {
    const gate = await openGate(new URL(server.url));
    cleanup.push(gate.close);
    const credentials = loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} });
    const through = connect({ ...credentials, server: `https://127.0.0.1:${gate.port}` });
    cleanup.push(through.close);
    await client.create(ConfigMap, labelled('r1', 'away'));
    await client.create(ConfigMap, labelled('r2', 'away'));
    const informer = informerOn(through, { selector: 'story=away' });
    await informer.synced;
    gate.shut();
    await client.create(ConfigMap, labelled('r3', 'away'));
    const r1 = (await client.get(ConfigMap, at('r1')))!;
    await client.delete(ConfigMap, at('r1'), { uid: r1.metadata.uid! });
    await eventually('a failed attempt', () => informer.stats.failures > 0);
    expect(names(informer)).toEqual(['r1', 'r2']); // it cannot know yet
    gate.open();
    await eventually('r3 without r1', () => names(informer).join() === 'r2,r3');
    expect([informer.stats.lists, informer.stats.failures]).toEqual([1, 0]);
    const read = createClient(through, realClock);
    expect((await read.get(ConfigMap, at('r3')))?.metadata.name).toBe('r3');
  });

  it('14, 21: after a restart of the server, whose history is gone, store and events still agree with it', async () => {
    for (const name of ['s1', 's2']) await client.create(ConfigMap, labelled(name, 'restart'));
    const informer = informerOn(connection, { selector: 'story=restart' });
    const believed = new Set<string>();
    informer.onChange({
      added: object => void believed.add(object.metadata.uid!),
      deleted: object => void believed.delete(object.metadata.uid!),
    });
    await informer.synced;
    await server.restart();
    const s1 = (await client.get(ConfigMap, at('s1')))!;
    await client.delete(ConfigMap, at('s1'), { uid: s1.metadata.uid! });
    const reborn = await client.create(ConfigMap, labelled('s1', 'restart', { again: 'yes' }));
    const s2 = (await client.get(ConfigMap, at('s2')))!;
    await client.delete(ConfigMap, at('s2'), { uid: s2.metadata.uid! });
    await eventually('s1 reborn, s2 gone', () => names(informer).join() === 's1' && believed.has(reborn.metadata.uid!));
    expect([...believed]).toEqual([reborn.metadata.uid]);
    expect(informer.stats.reconnects).not.toEqual({});
  });

  it('a token that stopped working is read again from its file, in the middle of everything', async () => {
    writeFileSync(join(dir, 'token'), 'expired');
    const config = JSON.parse(kubeconfigOf(server.url, server.ca, '')) as { users: { user: Record<string, string> }[] };
    config.users[0]!.user = { tokenFile: 'token' };
    writeFileSync(join(dir, 'config'), JSON.stringify(config));
    const credentials: Credentials = loadCredentials({ kubeconfig: join(dir, 'config'), env: {} });
    const rotating = connect(credentials);
    cleanup.push(rotating.close);
    const mine = createClient(rotating, realClock);
    const refused = await mine.get(ConfigMap, at('late')).catch((e: unknown) => e);
    expect(refused).toMatchObject({ status: 401 });
    writeFileSync(join(dir, 'token'), server.token('admin'));
    expect((await mine.get(ConfigMap, at('late')))?.metadata.name).toBe('late');
    // Watches take the same road.
    writeFileSync(join(dir, 'token'), 'expired');
    const late = connect(credentials);
    cleanup.push(late.close);
    writeFileSync(join(dir, 'token'), server.token('admin'));
    const informer = informerOn(late, { selector: 'story=away' });
    await informer.synced;
    expect(informer.stats.failures).toBe(0);
  });

  it('the audit log shows one GET per read and our name', () => {
    const lines = readFileSync(server.auditLog, 'utf8').trim().split('\n');
    const mine = lines.map(line => JSON.parse(line)).filter(entry => entry.userAgent === 'kube.real.test');
    const reads = mine.filter(entry => entry.requestURI === '/api/v1/namespaces/default/configmaps/no-such');
    expect(reads.map(entry => [entry.verb, entry.responseStatus.code])).toEqual([['get', 404]]);
  });
});

const names = (informer: Informer) => informer.list().map(object => object.metadata.name);

/** A door in front of a server: shut, it cuts what passes through and lets nobody in. */
async function openGate(target: URL) {
  const pairs = new Set<Socket>();
  let isOpen = true;
  const gate = createServer(inner => {
    if (!isOpen) return void inner.destroy();
    const outer = dial(Number(target.port), target.hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      pairs.add(from);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>(resolve => gate.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of pairs) socket.destroy();
  };
  return {
    port: (gate.address() as { port: number }).port,
    shut: () => {
      isOpen = false;
      cut();
    },
    open: () => {
      isOpen = true;
    },
    close: () => {
      cut();
      gate.close();
    },
  };
}
