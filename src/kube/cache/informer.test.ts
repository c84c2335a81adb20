import { describe, expect, it } from 'vitest';
import {
  added,
  bookmark,
  configMap,
  deleted,
  failed,
  fixedRandom,
  listOf,
  ManualClock,
  modified,
  ScriptedTransport,
  status,
} from '../../../test/unit/kube.ts';
import type { AnyObject, ManagedFieldsEntry } from '../object.ts';
import { ConfigMap, Node, Secret } from '../resource.ts';
import { type CacheDeps, createCache, type Indexer, type InformerOptions, NoInformer } from './cache.ts';

function setUp() {
  const net = new ScriptedTransport();
  const clock = new ManualClock();
  const deps: CacheDeps = { transport: net, clock, random: fixedRandom() };
  const cache = createCache(deps);
  const fill = async (options: Partial<InformerOptions>, ...objects: AnyObject[]) => {
    const informer = cache.informer({ resource: ConfigMap, ...options });
    const heard: string[] = [];
    informer.onChange({
      added: (object, { initial }) => void heard.push(`+${describeObject(object)}${initial ? ' initial' : ''}`),
      updated: (before, after) => void heard.push(`${describeObject(before)} -> ${describeObject(after)}`),
      deleted: (object, info) =>
        void heard.push(`-${describeObject(object)}${info.finalStateUnknown ? ' unknown' : ''}`),
    });
    informer.start();
    const stream = await (await net.next()).stream(...objects.map(added), bookmark(100, true));
    return { informer, heard, stream };
  };
  return { net, clock, cache, fill };
}
const describeObject = (object: { metadata: { name: string; resourceVersion?: string } }) =>
  `${object.metadata.name}@${object.metadata.resourceVersion}`;
const reborn = (object: AnyObject): AnyObject => ({ ...object, metadata: { ...object.metadata, uid: 'another' } });

describe('events', () => {
  it('come in order, with old and new', async () => {
    const { fill } = setUp();
    const { heard, stream } = await fill({}, configMap('a', 1));
    await stream.send(added(configMap('b', 101)), modified(configMap('a', 102)), deleted(configMap('b', 103)));
    expect(heard).toEqual(['+a@1 initial', '+b@101', 'a@1 -> a@102', '-b@103']);
  });

  it('14: a key missing from a later list is deleted after the replacement, with its last known state', async () => {
    const { net, fill } = setUp();
    const { heard, stream, informer } = await fill({}, configMap('a', 1), configMap('b', 2));
    heard.length = 0;
    const seen: string[] = [];
    informer.onChange({ deleted: () => void seen.push(...informer.list().map(describeObject)) });
    await stream.send(failed(410));
    await (await net.next()).stream(added(configMap('a', 1)), added(configMap('c', 110)), bookmark(120, true));
    expect(heard).toEqual(['+c@110', '-b@2 unknown']); // a did not change: no event
    expect(seen).toEqual(['a@1', 'c@110']);
  });

  it('an object recreated behind our back is deleted and added, never updated', async () => {
    const { net, fill } = setUp();
    const { heard, stream } = await fill({}, configMap('a', 1));
    await stream.send(modified(reborn(configMap('a', 105))));
    expect(heard).toEqual(['+a@1 initial', '-a@1 unknown', '+a@105']);
    heard.length = 0;
    await stream.send(failed(410));
    await (await net.next()).stream(added(configMap('a', 110)), bookmark(120, true));
    expect(heard).toEqual(['-a@105 unknown', '+a@110']);
  });

  it('15: an older state after a newer one is not shown', async () => {
    const { fill } = setUp();
    const { heard, stream, informer } = await fill({}, configMap('a', 50));
    await stream.send(modified(configMap('a', 49)), modified(configMap('a', 50)));
    expect([heard, informer.resourceVersion]).toEqual([['+a@50 initial'], '100']);
  });

  it('23: a handler that throws does not keep others from hearing, nor itself', async () => {
    const { fill } = setUp();
    const { heard, stream, informer } = await fill({});
    let calls = 0;
    informer.onChange({
      added: () => {
        calls++;
        throw new Error('bug');
      },
    });
    const late: string[] = [];
    informer.onChange({ added: object => void late.push(object.metadata.name) });
    await stream.send(added(configMap('a', 101)), added(configMap('b', 102)));
    expect([heard, late, calls, informer.stats.handlerErrors]).toEqual([['+a@101', '+b@102'], ['a', 'b'], 2, 2]);
    expect(informer.resourceVersion).toBe('102');
  });

  it('24: a handler that comes late gets the present state once, marked initial, and may leave twice', async () => {
    const { fill } = setUp();
    const { informer, stream } = await fill({}, configMap('b', 1), configMap('a', 2));
    const heard: [string, boolean][] = [];
    const remove = informer.onChange({
      added: (object, { initial }) => void heard.push([object.metadata.name, initial]),
    });
    await stream.send(added(configMap('c', 101)));
    remove();
    remove();
    await stream.send(added(configMap('d', 102)));
    expect(heard).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
    ]);
  });

  it('25: synced only after every handler has seen the whole first list', async () => {
    const { net, cache } = setUp();
    const informer = cache.informer({ resource: ConfigMap });
    const during: boolean[] = [];
    informer.onChange({ added: () => void during.push(informer.hasSynced()) });
    informer.onChange({ added: () => void during.push(informer.hasSynced()) });
    informer.start();
    await (await net.next()).stream(added(configMap('a', 1)), added(configMap('b', 2)), bookmark(3, true));
    expect([during, informer.hasSynced()]).toEqual([[false, false, false, false], true]);
    await informer.synced;
  });

  it('a handler may stop the informer', async () => {
    const { net, clock, fill } = setUp();
    const { informer, stream } = await fill({});
    informer.onChange({ added: () => void informer.stop() });
    await stream.send(added(configMap('a', 101)), added(configMap('b', 102)));
    expect([informer.list().length, stream.aborted(), clock.timers, await net.unseen()]).toEqual([1, true, 0, 0]);
  });
});

describe('a handler that stops the informer during the first list', () => {
  it('keeps the watch from being opened', async () => {
    const { net, clock, cache } = setUp();
    const informer = cache.informer({ resource: ConfigMap });
    informer.onChange({ added: () => void informer.stop() });
    informer.start();
    await (await net.next()).answer(422, status(422, 'Invalid'));
    await (await net.next()).answer(200, listOf(10, [configMap('a', 1)]));
    expect([await net.unseen(), clock.timers]).toEqual([0, 0]);
  });
});

describe('what is kept', () => {
  const entry = (manager: string, operation: 'Apply' | 'Update'): ManagedFieldsEntry => ({
    manager,
    operation,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': {} },
  });
  const heavy = (): AnyObject => {
    const object = configMap('a', 1, { data: { big: 'x' } });
    object.metadata.managedFields = [entry('us', 'Apply'), entry('us', 'Update'), entry('kubectl', 'Apply')];
    object.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', keep: 'me' };
    return object;
  };

  it('13: drops bookkeeping from initial events and later ones alike', async () => {
    const { fill } = setUp();
    const { informer, stream } = await fill({}, heavy());
    const first = informer.get({ namespace: 'default', name: 'a' });
    expect(first?.metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: 'uid-a',
      resourceVersion: '1',
      annotations: { keep: 'me' },
    });
    const second = heavy();
    second.metadata.resourceVersion = '101';
    await stream.send(modified(second));
    expect(informer.get({ namespace: 'default', name: 'a' })?.metadata).not.toHaveProperty('managedFields');
    expect(second.metadata.managedFields).toHaveLength(3); // the sender's object is left alone
  });

  it('keeps the Apply entries of the managers asked for', async () => {
    const { fill } = setUp();
    const { informer } = await fill({ keepManagers: ['us'] }, heavy());
    expect(informer.list()[0]?.metadata.managedFields).toEqual([entry('us', 'Apply')]);
  });

  it('metadata only: asks for it, and drops the rest of a server that sends all', async () => {
    const { net, fill } = setUp();
    const { informer, stream } = await fill({ metadataOnly: true }, heavy());
    expect(net.exchanges[0]?.request.accept).toContain('as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
    const partial = { ...configMap('b', 101), apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };
    await stream.send(added(partial));
    expect(informer.list().map(object => [object.apiVersion, object.kind, object.metadata.name, object.data])).toEqual([
      ['v1', 'ConfigMap', 'a', undefined],
      ['v1', 'ConfigMap', 'b', undefined],
    ]);
  });

  it('13: a transform sees initial events too; one that throws costs only that object', async () => {
    const { fill } = setUp();
    const transform = (object: AnyObject) => {
      if (object.metadata.name === 'bad') throw new Error('bug');
      return { ...object, data: 'reduced' };
    };
    const { informer, stream } = await fill({ transform }, configMap('a', 1), configMap('bad', 2));
    await stream.send(added(configMap('b', 101)), added(configMap('bad', 102)));
    expect(informer.list().map(object => [object.metadata.name, object.data])).toEqual([
      ['a', 'reduced'],
      ['b', 'reduced'],
    ]);
    expect([informer.stats.rejected, informer.resourceVersion]).toEqual([2, '102']);
  });

  it('objects are frozen through and through', async () => {
    const { fill } = setUp();
    const { informer } = await fill({}, configMap('a', 1, { data: { list: [{ x: 1 }] } }));
    const object = informer.list()[0] as AnyObject;
    const data = object.data as { list: { x: number }[] };
    expect(() => {
      data.list[0]!.x = 2;
    }).toThrow(TypeError);
    expect(() => {
      object.metadata.name = 'z';
    }).toThrow(TypeError);
  });
});

describe('reading', () => {
  const inNamespace = (namespace: string, name: string, labels: Record<string, string> = {}): AnyObject => {
    const object = configMap(name, 1, { data: { owner: labels.owner ?? 'none' } });
    return { ...object, metadata: { ...object.metadata, namespace, uid: `${namespace}/${name}`, labels } };
  };
  const owner: Indexer = object => [(object.data as { owner: string }).owner];

  it('lists by namespace, label and index, sorted by key', async () => {
    const { fill } = setUp();
    const objects = [
      inNamespace('y', 'b', { owner: 'k' }),
      inNamespace('x', 'c', { owner: 'k' }),
      inNamespace('x', 'a'),
    ];
    const { informer, stream } = await fill({ indexers: { owner } }, ...objects);
    const names = (options: Parameters<typeof informer.list>[0]) =>
      informer.list(options).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(names({})).toEqual(['x/a', 'x/c', 'y/b']);
    expect(names({ namespace: 'x' })).toEqual(['x/a', 'x/c']);
    expect(names({ labels: { owner: 'k' } })).toEqual(['x/c', 'y/b']);
    expect(names({ index: { name: 'owner', value: 'k' } })).toEqual(['x/c', 'y/b']);
    expect(names({ index: { name: 'owner', value: 'k' }, namespace: 'y' })).toEqual(['y/b']);
    const moved = inNamespace('y', 'b', { owner: 'm' });
    moved.metadata.resourceVersion = '101';
    await stream.send(modified(moved));
    expect(names({ index: { name: 'owner', value: 'k' } })).toEqual(['x/c']);
    expect(names({ index: { name: 'owner', value: 'm' } })).toEqual(['y/b']);
    expect(() => informer.list({ index: { name: 'nobody', value: '' } })).toThrow('no index nobody');
  });

  it('an index added later knows what was there before', async () => {
    const { fill } = setUp();
    const { informer } = await fill({}, inNamespace('x', 'a', { owner: 'k' }));
    informer.addIndexer('owner', owner);
    informer.addIndexer('owner', owner);
    expect(informer.list({ index: { name: 'owner', value: 'k' } })).toHaveLength(1);
    expect(() => informer.addIndexer('owner', () => [])).toThrow('another function');
  });

  it('26: a cluster-scoped object is found with a namespace; a namespaced one not without', async () => {
    const { net, cache, fill } = setUp();
    const { informer } = await fill({}, configMap('a', 1));
    expect([informer.get({ namespace: '', name: 'a' }), informer.list()]).toEqual([undefined, [expect.anything()]]);
    const nodes = cache.informer({ resource: Node });
    nodes.start();
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u', resourceVersion: '1' } };
    const end = bookmark(2, true);
    await (await net.next()).stream(added(node), { ...end, object: { ...end.object, kind: 'Node' } as AnyObject });
    expect(nodes.get({ namespace: 'os', name: 'n' })?.metadata.uid).toBe('u');
  });

  it('several namespaces: one watch each, synced and up to date when all are', async () => {
    const { net, cache } = setUp();
    const informer = cache.informer({ resource: ConfigMap, namespaces: ['x', 'y'] });
    informer.start();
    const [x, y] = [await net.next(), await net.next()];
    expect([x.request.path, y.request.path]).toEqual([
      '/api/v1/namespaces/x/configmaps',
      '/api/v1/namespaces/y/configmaps',
    ]);
    const inX = await x.stream(added(inNamespace('x', 'a')), bookmark(10, true));
    expect(informer.hasSynced()).toBe(false);
    await y.stream(added(inNamespace('y', 'a')), bookmark(12, true));
    expect([informer.hasSynced(), informer.resourceVersion]).toEqual([true, '10']);
    await inX.send(bookmark(20));
    expect(informer.resourceVersion).toBe('12');
    await inX.send(failed(410));
    await (await net.next()).stream(bookmark(21, true));
    expect(informer.list().map(object => object.metadata.namespace)).toEqual(['y']); // only x was emptied
  });
});

describe('cache', () => {
  it('28: a read of a kind without informer is an error of its own, and asks nobody', async () => {
    const { net, cache } = setUp();
    cache.informer({ resource: ConfigMap });
    expect(() => cache.for(Secret)).toThrow(NoInformer);
    expect(() => cache.for(Secret)).toThrow('nobody watches secrets');
    expect(cache.for(ConfigMap).resource).toBe(ConfigMap);
    expect(net.exchanges).toHaveLength(0);
  });

  it('shares an informer between equal options and prefers whole objects', () => {
    const { cache } = setUp();
    const owner = () => ['x'];
    const partial = cache.informer({ resource: ConfigMap, metadataOnly: true });
    const whole = cache.informer({ resource: ConfigMap, labelSelector: 'managed' });
    expect(cache.informer({ resource: ConfigMap, labelSelector: 'managed', indexers: { owner } })).toBe(whole);
    expect(whole.list({ index: { name: 'owner', value: 'x' } })).toEqual([]);
    expect(partial).not.toBe(whole);
    expect(cache.for(ConfigMap)).toBe(whole);
    expect(cache.all()).toHaveLength(2);
    expect(() => cache.informer({ resource: ConfigMap, labelSelector: 'managed', keepManagers: ['us'] })).toThrow(
      'use one',
    );
  });

  it('waits for all to sync, and names those that do not', async () => {
    const { net, clock, cache } = setUp();
    cache.informer({ resource: ConfigMap });
    cache.informer({ resource: Secret });
    cache.startAll();
    cache.startAll();
    const waiting = cache.waitForSync({ timeout: 5_000 }).catch((error: Error) => error.message);
    await (await net.next()).stream(bookmark(10, true));
    await (await net.next()).noAnswer('connection refused');
    await clock.advance(5_000);
    expect(await waiting).toBe('not synced within 5 s: secrets (connection refused)');
    await cache.drop(cache.for(Secret));
    await cache.waitForSync();
    await cache.stopAll();
    expect(clock.timers).toBe(0);
  });

  it('stops waiting when told', async () => {
    const { clock, cache } = setUp();
    cache.informer({ resource: ConfigMap });
    const stop = new AbortController();
    const waiting = cache.waitForSync({ signal: stop.signal });
    const failure = waiting.catch((error: Error) => error.message);
    stop.abort(new Error('shutting down'));
    expect([await failure, clock.timers]).toEqual(['shutting down', 0]);
  });
});
