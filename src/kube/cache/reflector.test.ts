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
import { ConfigMap } from '../resource.ts';
import type { WatchEvent } from '../transport.ts';
import { createInformer } from './create-informer.ts';
import type { InformerOptions } from './informer.ts';

function setUp(options: Partial<InformerOptions> = {}, roll = 0) {
  const net = new ScriptedTransport();
  const clock = new ManualClock();
  const logs: string[] = [];
  const log = (_: string, text: string) => void logs.push(text);
  const informer = createInformer(
    { resource: ConfigMap, ...options },
    { transport: net, clock, random: fixedRandom(roll), log },
  );
  informer.start();
  return { net, clock, informer, logs, names: () => informer.list().map(object => object.metadata.name) };
}

/** Filled by WatchList at version 10 with a (5) and b (6); the stream goes on. */
async function filled(options: Partial<InformerOptions> = {}, roll = 0) {
  const world = setUp(options, roll);
  const first = await world.net.next();
  const stream = await first.stream(added(configMap('a', 5)), added(configMap('b', 6)), bookmark(10, true));
  return { ...world, stream };
}

/** A server without WatchList. */
async function refuseWatchList(net: ScriptedTransport) {
  await (await net.next()).answer(422, status(422, 'Invalid'));
}

describe('filling', () => {
  it('asks for WatchList first, consistent, with bookmarks', async () => {
    const { net } = setUp({ labelSelector: 'x=y', namespaces: ['os'] });
    const { request, isWatch } = await net.next();
    expect(isWatch).toBe(true);
    expect(request.path).toBe('/api/v1/namespaces/os/configmaps');
    expect(request.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      labelSelector: 'x=y',
    });
  });

  it('9: a WatchList stream cut before the end mark leaves the store as it was', async () => {
    const { net, clock, informer, names, stream } = await filled();
    await stream.send(failed(410)); // refill
    const second = await (await net.next()).stream(added(configMap('z', 20)));
    await second.break();
    expect(names()).toEqual(['a', 'b']);
    expect(informer.resourceVersion).toBe('10');
    await clock.advance(1_600);
    await (await net.next()).stream(added(configMap('c', 20)), bookmark(21, true));
    expect(names()).toEqual(['c']); // z was forgotten
  });

  it.each([400, 422])('10: WatchList refused with %i means list and watch in the same pass', async code => {
    const { net, informer, names } = setUp();
    await (await net.next()).answer(code, status(code, 'Invalid'));
    const list = await net.next();
    expect([list.isWatch, list.request.query]).toEqual([false, { resourceVersion: '0', limit: '500' }]);
    await list.answer(200, listOf(10, [configMap('a', 5)]));
    const watch = await net.next();
    expect(watch.request.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: '10',
    });
    expect([informer.hasSynced(), informer.resourceVersion, names()]).toEqual([true, '10', ['a']]);
  });

  it('11: at the end mark the store is replaced once and the same connection goes on', async () => {
    const { net, informer, names, stream } = await filled();
    expect(await net.unseen()).toBe(0);
    await stream.send(modified(configMap('a', 11)));
    expect([names(), informer.resourceVersion]).toEqual([['a', 'b'], '11']);
  });

  it('nothing is visible before the end mark', async () => {
    const { net, informer, names } = setUp();
    const stream = await (await net.next()).stream(added(configMap('a', 5)), added(configMap('b', 6)));
    await stream.send(bookmark(7)); // an ordinary one
    await stream.send(deleted(configMap('b', 8)));
    expect([names(), informer.hasSynced(), informer.resourceVersion]).toEqual([[], false, undefined]);
    await stream.send(bookmark(9, true));
    expect([names(), informer.hasSynced(), informer.resourceVersion]).toEqual([['a'], true, '9']);
  });

  it('12: ten silent seconds before the end mark make one warning', async () => {
    const { net, clock, logs } = setUp();
    const stream = await (await net.next()).stream(added(configMap('a', 5)));
    await clock.advance(8_000);
    await stream.send(added(configMap('b', 6)));
    await clock.advance(8_000);
    expect(logs).toEqual([]);
    await clock.advance(60_000);
    expect(logs).toEqual(['no initial events for 10 s, and no mark that they are complete']);
  });

  it('WatchList throttled or without answer is tried again after a pause, not replaced by a list', async () => {
    const { net, clock } = setUp();
    await (await net.next()).answer(429, status(429, 'TooManyRequests'), { 'retry-after': '5' });
    await clock.advance(4_999);
    expect(await net.unseen()).toBe(0);
    await clock.advance(1);
    const second = await net.next();
    expect(second.request.query?.sendInitialEvents).toBe('true');
    await second.noAnswer();
    await clock.advance(1_600);
    expect((await net.next()).request.query?.sendInitialEvents).toBe('true');
  });

  it('WatchList expired at our version is asked again for the newest', async () => {
    const { net, stream } = await filled();
    await stream.send(failed(410));
    const again = await net.next();
    expect(again.request.query?.resourceVersion).toBe('10');
    await again.answer(410, status(410, 'Expired'));
    const newest = await net.next();
    expect(newest.request.query).toMatchObject({ sendInitialEvents: 'true' });
    expect(newest.request.query).not.toHaveProperty('resourceVersion');
  });

  it('4: with a watch cache later lists send the version and no limit', async () => {
    const { net } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, listOf(10, [configMap('a', 5)]));
    await (await net.next()).answer(410, status(410, 'Expired'));
    expect((await net.next()).request.query).toEqual({ resourceVersion: '10' });
  });

  it('4: a paged first answer means no watch cache, and later lists are paged', async () => {
    const { net, names } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, listOf(10, [configMap('a', 5)], 'more'));
    const second = await net.next();
    expect(second.request.query).toEqual({ limit: '500', continue: 'more' });
    expect(names()).toEqual([]);
    await second.answer(200, listOf(14, [configMap('b', 6)]));
    expect(names()).toEqual(['a', 'b']);
    const watch = await net.next();
    expect(watch.request.query?.resourceVersion).toBe('10'); // of the snapshot, not of the moment a page was sent
    await watch.answer(410, status(410, 'Expired'));
    expect((await net.next()).request.query).toEqual({ resourceVersion: '10', limit: '500' });
  });

  const tooLarge = status(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
  it.each([
    ['5: expired', 410, status(410, 'Expired')],
    ['6: too large a version', 504, tooLarge],
  ])('%s on a list means the newest, at once and paged, and only this time', async (_, code, body) => {
    const { net, clock, names } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, listOf(10, [configMap('a', 5)]));
    await (await net.next()).answer(410, status(410, 'Expired'));
    await (await net.next()).answer(code, body);
    const newest = await net.next();
    expect(newest.request.query).toEqual({ limit: '500' });
    await newest.answer(200, listOf(20, [configMap('b', 15)]));
    expect(names()).toEqual(['b']);
    const watch = await net.next();
    expect(watch.request.query?.resourceVersion).toBe('20');
    await clock.advance(130_000);
    await watch.answer(410, status(410, 'Expired'));
    expect((await net.next()).request.query).toEqual({ resourceVersion: '20' });
  });

  it('a page that expired is followed by one whole list at the version first asked for', async () => {
    const { net, names } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, listOf(10, [configMap('a', 5)], 'more'));
    await (await net.next()).answer(410, status(410, 'Expired'));
    const whole = await net.next();
    expect(whole.request.query).toEqual({ resourceVersion: '0' });
    await whole.answer(200, listOf(12, [configMap('b', 11)]));
    expect(names()).toEqual(['b']);
  });

  it.each([
    ['without items', { metadata: { resourceVersion: '9' } }],
    ['of items that are no list', { metadata: { resourceVersion: '9' }, items: {} }],
    ['of items that are no objects', { metadata: { resourceVersion: '9' }, items: [null] }],
    ['that is a page', '<html>sign in</html>'],
  ])('a list %s is a failure', async (_what, body) => {
    const { net, informer } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, body);
    expect([informer.hasSynced(), informer.stats.lastFailure]).toEqual([false, expect.stringContaining('not a list')]);
  });

  it('an answer that is no list is a failure, not an empty collection', async () => {
    const { net, clock, informer } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, { kind: 'Table', rows: [], metadata: {} });
    expect([informer.hasSynced(), informer.stats.lastFailure]).toEqual([false, 'the answer is a Table, not a list']);
    await clock.advance(1_600);
    expect(await net.unseen()).toBe(1);
  });
});

describe('watching', () => {
  it('1, 19: a clean end is followed by a watch from the last version, at once, without a list or initial events', async () => {
    const { net, clock, stream } = await filled();
    await clock.advance(1_000);
    await stream.send(modified(configMap('a', 12)));
    await stream.close();
    const { request } = await net.next();
    expect(request.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: '12',
    });
    expect(net.exchanges).toHaveLength(2);
  });

  it('a clean end within a second and without an event is a failure: a broken proxy must not spin us', async () => {
    const { net, clock, stream, informer } = await filled();
    await stream.close();
    await (await (await net.next()).stream()).close();
    expect([await net.unseen(), informer.stats.failures]).toEqual([0, 1]);
    await clock.advance(800);
    expect((await net.next()).request.query?.resourceVersion).toBe('10');
  });

  it.each([
    ['null', null],
    ['a number', 5],
    ['an object without a type', { object: configMap('c', 11) }],
    ['an event of nothing', { type: 'DELETED', object: null }],
  ])('a line that is JSON but no event (%s) breaks the watch, and the store keeps what it has', async (_what, line) => {
    const { net, stream, names } = await filled();
    await stream.send(line as unknown as WatchEvent);
    expect(names()).toEqual(['a', 'b']);
    expect((await net.next()).request.query?.resourceVersion).toBe('10');
    expect(stream.aborted()).toBe(true);
  });

  it('2: a watch refused with 429 backs off and keeps its version: no list', async () => {
    const { net, clock, stream, informer } = await filled();
    await stream.close();
    for (const wait of [800, 1_600, 3_200]) {
      await (await net.next()).answer(429, status(429, 'TooManyRequests'));
      await clock.advance(wait - 1);
      expect(await net.unseen()).toBe(0);
      await clock.advance(1);
    }
    expect((await net.next()).request.query).toMatchObject({ resourceVersion: '10' });
    expect([informer.stats.lists, net.exchanges.some(exchange => !exchange.isWatch)]).toEqual([1, false]);
  });

  it('a watch without answer backs off and keeps its version', async () => {
    const { net, clock, stream } = await filled();
    await stream.break();
    await (await net.next()).noAnswer();
    expect(await net.unseen()).toBe(0);
    await clock.advance(800);
    const { query } = (await net.next()).request;
    expect([query?.resourceVersion, query?.sendInitialEvents]).toEqual(['10', undefined]);
  });

  it('any other refusal of a watch fills again', async () => {
    const { net, clock, stream } = await filled();
    await stream.close();
    await (await net.next()).answer(403, status(403, 'Forbidden'));
    await clock.advance(800);
    expect((await net.next()).request.query?.sendInitialEvents).toBe('true');
  });

  it('3: ERROR 500 five times in a row watches again, the sixth time fills', async () => {
    const { net, clock, stream } = await filled();
    await stream.send(failed(500));
    for (let i = 1; i < 6; i++) {
      await clock.advance(60_000);
      const next = await net.next();
      expect(next.request.query).not.toHaveProperty('sendInitialEvents');
      await next.stream(failed(500));
    }
    await clock.advance(60_000);
    expect((await net.next()).request.query?.sendInitialEvents).toBe('true');
  });

  it('21: ERROR 410 fills again from the last version, at once; others back off first', async () => {
    const { net, clock, stream } = await filled();
    await stream.send(failed(410));
    const refill = await net.next();
    expect(refill.request.query).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '10' });
    const second = await refill.stream(added(configMap('a', 5)), bookmark(20, true));
    await second.send(failed(403));
    expect(await net.unseen()).toBe(0);
    await clock.advance(60_000);
    expect((await net.next()).request.query?.sendInitialEvents).toBe('true');
  });

  it('410 again and again does not spin', async () => {
    const { net, clock, stream } = await filled();
    await stream.send(failed(410));
    await (await net.next()).stream(bookmark(20, true), failed(410));
    expect(await net.unseen()).toBe(0);
    await clock.advance(1_600);
    expect(await net.unseen()).toBe(1);
  });

  it('ERROR 429 in the stream backs off and keeps its version', async () => {
    const { net, clock, stream } = await filled();
    await stream.send(failed(429));
    await clock.advance(799);
    expect(await net.unseen()).toBe(0);
    await clock.advance(1);
    expect((await net.next()).request.query).not.toHaveProperty('sendInitialEvents');
  });

  it.each([
    [0, '300'],
    [0.999, '599'],
  ])('7: a roll of %d asks for %s seconds', async (roll, seconds) => {
    const { net } = setUp({}, roll);
    expect((await net.next()).request.query?.timeoutSeconds).toBe(seconds);
  });

  it('8: a watch from no version does not trust the versions of its first ADDEDs', async () => {
    const { net, informer, names } = setUp();
    await refuseWatchList(net);
    await (await net.next()).answer(200, listOf('', [configMap('a', 5)]));
    const watch = await net.next();
    expect(watch.request.query).not.toHaveProperty('resourceVersion');
    const stream = await watch.stream(added(configMap('b', 9)), added(configMap('c', 7)));
    expect([names(), informer.resourceVersion]).toEqual([['a', 'b', 'c'], '']);
    await stream.send(bookmark(12));
    expect(informer.resourceVersion).toBe('12');
    await stream.send(added(configMap('d', 13)));
    expect(informer.resourceVersion).toBe('13');
  });

  it('17: the version is that of the last event or bookmark', async () => {
    const { informer, stream } = await filled();
    await stream.send(modified(configMap('a', 12)));
    expect(informer.resourceVersion).toBe('12');
    await stream.send(bookmark(30));
    expect(informer.resourceVersion).toBe('30');
    await stream.send(deleted(configMap('a', 31)));
    expect(informer.resourceVersion).toBe('31');
  });

  it('17: who sees the version finds the object: the store comes first', async () => {
    const { informer, stream } = await filled();
    const seen: (string | undefined)[] = [];
    informer.onChange({ updated: () => seen.push(informer.resourceVersion) });
    await stream.send(modified(configMap('a', 12)));
    expect(seen).toEqual(['10']);
    expect(informer.resourceVersion).toBe('12');
  });

  it('18, 20: silence ends a stream and resumes it; a bookmark restarts the count', async () => {
    const { net, clock, stream, informer } = await filled();
    await clock.advance(100_000);
    await stream.send(bookmark(15));
    await clock.advance(149_999);
    expect([await net.unseen(), stream.aborted()]).toEqual([0, false]);
    await clock.advance(1);
    expect(stream.aborted()).toBe(true);
    expect((await net.next()).request.query).toMatchObject({ resourceVersion: '15' });
    expect(informer.stats.reconnects).toEqual({ stalled: 1 });
  });

  it('silence is counted once when its end falls between two numbers of the clock', async () => {
    const { net, clock, stream } = await filled();
    await clock.advance(120_000.1); // 270,000.1 - 120,000.1 is less than 150,000
    await stream.send(bookmark(15));
    await clock.advance(150_001);
    expect([await net.unseen(), stream.aborted()]).toEqual([1, true]);
  });

  it('a stream that outlives what was asked for is ended', async () => {
    const { net, clock, stream } = await filled();
    for (let i = 1; i <= 3; i++) {
      await clock.advance(100_000);
      await stream.send(bookmark(10 + i));
    }
    await clock.advance(5_000);
    expect([stream.aborted(), await net.unseen()]).toEqual([true, 1]);
  });

  it('backs off up to a minute with jitter, and starts afresh after two quiet minutes', async () => {
    const { net, clock, stream } = await filled({}, 0.5);
    await stream.close();
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      await (await net.next()).noAnswer();
      const since = clock.now();
      while ((await net.unseen()) === 0) await clock.advance(100);
      waits.push(clock.now() - since);
    }
    expect(waits).toEqual([1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 45_000]);
    const healthy = await (await net.next()).stream();
    await clock.advance(130_000);
    await healthy.break();
    await (await net.next()).noAnswer();
    await clock.advance(1_200);
    expect(await net.unseen()).toBe(1);
  });

  it('skips what is no object of the collection, and counts it', async () => {
    const { informer, stream, logs, names } = await filled();
    const strange = { type: 'PATCHED', object: configMap('x', 20) } as unknown as WatchEvent;
    await stream.send(
      added({ ...configMap('t', 20), kind: 'Table' }),
      added({ ...configMap('u', 21), kind: 'Secret' }),
      added({ ...configMap('v', ''), apiVersion: 'v1' }),
      strange,
      strange,
      added(configMap('w', 25)),
    );
    expect([informer.stats.rejected, names(), informer.resourceVersion]).toEqual([3, ['a', 'b', 'w'], '25']);
    expect(logs.filter(text => text.includes('unknown type PATCHED'))).toHaveLength(1);
  });

  it('stops for good: the stream is ended, no timer stays', async () => {
    const { net, clock, informer, stream } = await filled();
    await informer.stop();
    expect([stream.aborted(), clock.timers]).toEqual([true, 0]);
    await clock.advance(600_000);
    expect(await net.unseen()).toBe(0);
    expect(() => informer.start()).toThrow('make a new one');
  });
});
