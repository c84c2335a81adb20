import { describe, expect, it } from 'vitest';
import { configMap, listOf, ManualClock, ScriptedTransport, settle, status } from '../../test/unit/kube.ts';
import {
  type ApiError,
  type ClientOptions,
  createClient,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
} from './client.ts';
import type { AnyObject } from './object.ts';
import { ConfigMap, Deployment, Node } from './resource.ts';
import type { RequestInfo } from './sender.ts';
import { NoAnswer } from './transport.ts';

function setUp(options: ClientOptions = {}) {
  const net = new ScriptedTransport();
  const clock = new ManualClock();
  return { net, clock, client: createClient(net, clock, options) };
}
const ref = { namespace: 'default', name: 'a' };

describe('reads', () => {
  it('gets an object, and undefined where there is none', async () => {
    const { net, client } = setUp();
    const found = client.get(ConfigMap, ref);
    const first = await net.next();
    expect(first.request).toMatchObject({ method: 'GET', path: '/api/v1/namespaces/default/configmaps/a' });
    await first.answer(200, configMap('a', 5));
    expect((await found)?.metadata.resourceVersion).toBe('5');

    const absent = client.get(Node, { namespace: '', name: 'n1' });
    const second = await net.next();
    expect(second.request.path).toBe('/api/v1/nodes/n1');
    await second.answer(404, status(404, 'NotFound'));
    expect(await absent).toBeUndefined();
  });

  it('lists in pages, gives items their type, and drops the version on continuation', async () => {
    const { net, client } = setUp();
    const all = client.list(ConfigMap, { namespace: 'default', labelSelector: 'x=y' });
    const first = await net.next();
    expect(first.request.query).toEqual({ labelSelector: 'x=y', limit: '500' });
    await first.answer(200, listOf(9, [configMap('a', 1)], 'more'));
    const second = await net.next();
    expect(second.request.query).toEqual({ labelSelector: 'x=y', limit: '500', continue: 'more' });
    await second.answer(200, listOf(9, [configMap('b', 2)]));
    const { items, resourceVersion } = await all;
    expect(resourceVersion).toBe('9');
    expect(items.map(item => [item.apiVersion, item.kind, item.metadata.name])).toEqual([
      ['v1', 'ConfigMap', 'a'],
      ['v1', 'ConfigMap', 'b'],
    ]);
  });

  it('starts over unpaged when the snapshot of a continue token is gone', async () => {
    const { net, client } = setUp();
    const all = client.list(ConfigMap);
    await (await net.next()).answer(200, listOf(9, [configMap('a', 1)], 'more'));
    await (await net.next()).answer(410, status(410, 'Expired'));
    const whole = await net.next();
    expect(whole.request.query).toEqual({});
    await whole.answer(200, listOf(12, [configMap('b', 11)]));
    const { items, resourceVersion } = await all;
    expect([resourceVersion, items.map(item => item.metadata.name)]).toEqual(['12', ['b']]);
  });

  it('stops at a limit', async () => {
    const { net, client } = setUp();
    const some = client.list(ConfigMap, { limit: 1 });
    const first = await net.next();
    expect(first.request.query).toEqual({ limit: '1' });
    await first.answer(200, listOf(9, [configMap('a', 1)], 'more'));
    expect((await some).items).toHaveLength(1);
    expect(await net.unseen()).toBe(0);
  });

  it('tries a read again when there was no answer, and gives up after three', async () => {
    const { net, clock, client } = setUp();
    const found = client.get(ConfigMap, ref);
    found.catch(() => {});
    for (let i = 0; i < 4; i++) {
      await (await net.next()).noAnswer();
      await clock.advance(2_000);
    }
    await expect(found).rejects.toThrow('connection refused');
    expect(net.exchanges).toHaveLength(4);
  });
});

describe('writes', () => {
  it('applies with manager, force and the type of the resource', async () => {
    const { net, client } = setUp();
    const body: AnyObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'api', namespace: 'os' },
      spec: { x: 1 },
    };
    const done = client.apply(Deployment, body, { manager: 'me', force: true });
    const sent = await net.next();
    expect(sent.request).toMatchObject({
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/os/deployments/api',
      query: { fieldManager: 'me', force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body,
    });
    await sent.answer(200, { ...body, metadata: { ...body.metadata, resourceVersion: '3' } });
    expect((await done).metadata.resourceVersion).toBe('3');
  });

  it('addresses subresources, and dry runs say so', async () => {
    const { net, client } = setUp();
    void client.apply(ConfigMap, configMap('a', 1), { manager: 'me', subresource: 'status', dryRun: true });
    const sent = await net.next();
    expect(sent.request.path).toBe('/api/v1/namespaces/default/configmaps/a/status');
    expect(sent.request.query).toEqual({ fieldManager: 'me', dryRun: 'All' });
    void client.patch(ConfigMap, ref, [{ op: 'test' }], { type: 'json' });
    expect((await net.next()).request).toMatchObject({ method: 'PATCH', contentType: 'application/json-patch+json' });
    void client.create(ConfigMap, configMap('a', 1));
    expect((await net.next()).request).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/default/configmaps' });
    void client.replace(ConfigMap, configMap('a', 1));
    expect((await net.next()).request).toMatchObject({
      method: 'PUT',
      path: '/api/v1/namespaces/default/configmaps/a',
    });
  });

  it('says in an error what was asked, of which object, and why not', async () => {
    const { net, client } = setUp();
    const done = client.apply(ConfigMap, configMap('a', 1), { manager: 'me' }).catch((e: unknown) => e);
    const causes = [{ field: 'spec.x', message: 'must be blue' }];
    await (await net.next()).answer(422, status(422, 'Invalid', { message: 'x is invalid', details: { causes } }));
    const error = await done;
    expect(isInvalid(error)).toBe(true);
    expect((error as ApiError).message).toBe('apply configmaps default/a: x is invalid');
    expect((error as ApiError).causes).toEqual(causes);
  });

  it.each([
    ['a page', '<html>sign in</html>'],
    ['a list without items', { kind: 'ConfigMapList', metadata: { resourceVersion: '1' } }],
    ['items that are no list', { metadata: { resourceVersion: '1' }, items: {} }],
    ['JSON of somebody else', { ok: true }],
    ['nothing', undefined],
  ])('a list answered 200 with %s is a failure, never an empty list', async (_what, body) => {
    const { net, client } = setUp();
    const done = client.list(ConfigMap, { namespace: 'default' }).catch((e: unknown) => e);
    await (await net.next()).answer(200, body);
    const error = await done;
    expect(error).toBeInstanceOf(NoAnswer);
    expect(String(error)).toMatch(/list configmaps in default: status 200 .* without an object of the API/);
  });

  it.each(['get', 'apply', 'delete'] as const)('200 with a page is a failure of %s', async verb => {
    const { net, client } = setUp();
    const ref = { namespace: 'default', name: 'a' };
    const calls = {
      get: () => client.get(ConfigMap, ref),
      apply: () => client.apply(ConfigMap, configMap('a', 1), { manager: 'me' }),
      delete: () => client.delete(ConfigMap, ref, { uid: 'u' }),
    };
    const done: Promise<unknown> = calls[verb]().catch((e: unknown) => e);
    await (await net.next()).answer(200, '<html>sign in</html>');
    expect(await done).toBeInstanceOf(NoAnswer);
  });

  it.each(['get', 'delete'] as const)('the 404 of a proxy is not that there is nothing: %s', async verb => {
    const { net, client } = setUp();
    const ref = { namespace: 'default', name: 'a' };
    const ask = (): Promise<unknown> =>
      (verb === 'get' ? client.get(ConfigMap, ref) : client.delete(ConfigMap, ref, { uid: 'u' })).catch(
        (e: unknown) => e,
      );
    const proxy = ask();
    await (await net.next()).answer(404, '<html>no such host</html>', { 'content-type': 'text/html; charset=utf-8' });
    expect(String(await proxy)).toMatch(/configmaps default\/a: status 404 .* without an object of the API/);
    // A kind that the server does not have.
    const none = ask();
    await (await net.next()).answer(404, '404 page not found\n', { 'content-type': 'text/plain; charset=utf-8' });
    expect(await none).toBeUndefined();
  });

  it.each([{ metadata: {} }, { kind: 'Status', metadata: {}, status: 'Success' }, { metadata: { name: 'b' } }])(
    '200 with %j is not the object that was asked for',
    async body => {
      const { net, client } = setUp();
      const done: Promise<unknown> = client
        .get(ConfigMap, { namespace: 'default', name: 'a' })
        .catch((e: unknown) => e);
      await (await net.next()).answer(200, body);
      expect(await done).toBeInstanceOf(NoAnswer);
    },
  );

  it('makes a Status of an answer that is none', async () => {
    const { net, client } = setUp();
    const done = client.create(ConfigMap, configMap('a', 1)).catch((e: unknown) => e);
    await (await net.next()).answer(502, '<html>\n bad   gateway </html>');
    const error = (await done) as ApiError;
    expect([error.status, error.reason, error.message]).toEqual([
      502,
      'Unknown',
      'create configmaps in default: <html> bad gateway </html>',
    ]);
  });

  it.each([
    [403, status(403, 'Forbidden'), ['isForbidden']],
    [404, status(404, 'NotFound'), ['isNotFound']],
    [409, status(409, 'Conflict'), ['isConflict']],
    [410, status(410, 'Expired'), ['isExpired']],
    [422, status(422, 'Invalid'), ['isInvalid']],
    [
      403,
      status(403, 'Forbidden', { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
      ['isForbidden', 'isNamespaceTerminating'],
    ],
  ])('names %i by its helper only', async (code, body, helpers) => {
    const { net, client } = setUp();
    const error = client.create(ConfigMap, configMap('a', 1)).catch((e: unknown) => e);
    await (await net.next()).answer(code, body);
    const all = { isForbidden, isNotFound, isConflict, isExpired, isInvalid, isNamespaceTerminating };
    const said = await error;
    expect(Object.entries(all).flatMap(([name, is]) => (is(said) ? [name] : []))).toEqual(helpers);
    expect(Object.values(all).some(is => is(new Error('other')))).toBe(false);
  });

  it('tells AlreadyExists from a conflict', async () => {
    const { net, client } = setUp();
    const create = client.create(ConfigMap, configMap('a', 1)).catch((e: unknown) => e);
    await (await net.next()).answer(409, status(409, 'AlreadyExists'));
    const replace = client.replace(ConfigMap, configMap('a', 1)).catch((e: unknown) => e);
    await (await net.next()).answer(409, status(409, 'Conflict'));
    expect([isAlreadyExists(await create), isConflict(await create)]).toEqual([true, false]);
    expect([isAlreadyExists(await replace), isConflict(await replace)]).toEqual([false, true]);
  });
});

describe('delete', () => {
  it('74: with finalizers returns the object and its version; without, nothing', async () => {
    const { net, client } = setUp();
    const held = client.delete(ConfigMap, ref, { uid: 'u1', resourceVersion: '4' });
    const sent = await net.next();
    expect(sent.request.body).toMatchObject({
      preconditions: { uid: 'u1', resourceVersion: '4' },
      propagationPolicy: 'Background',
    });
    await sent.answer(200, configMap('a', 7));
    expect((await held)?.metadata.resourceVersion).toBe('7');
    const gone = client.delete(ConfigMap, ref, { uid: 'u1' });
    await (await net.next()).answer(200, status(200, '', { status: 'Success' }));
    expect(await gone).toBeUndefined();
  });

  it('counts an absent object, and another one of that name, as gone', async () => {
    const { net, client } = setUp();
    const absent = client.delete(ConfigMap, ref, { uid: 'u1' });
    await (await net.next()).answer(404, status(404, 'NotFound'));
    expect(await absent).toBeUndefined();
    const other = client.delete(ConfigMap, ref, { uid: 'u1' });
    await (await net.next()).answer(409, status(409, 'Conflict'));
    await (await net.next()).answer(200, configMap('a', 7)); // uid-a
    expect(await other).toBeUndefined();
  });

  it('fails when the object is ours and another precondition did not hold', async () => {
    const { net, client } = setUp();
    const done = client.delete(ConfigMap, ref, { uid: 'uid-a', resourceVersion: '1' }).catch((e: unknown) => e);
    await (await net.next()).answer(409, status(409, 'Conflict'));
    await (await net.next()).answer(200, configMap('a', 7));
    expect(isConflict(await done)).toBe(true);
  });
});

describe('retries', () => {
  const cases: [verb: 'get' | 'create', status: number, retryAfter: string | undefined, again: boolean][] = [
    ['get', 429, '1', true],
    ['create', 429, '1', true],
    ['create', 503, '2', true],
    ['get', 500, '1', true],
    ['create', 500, '1', false], // may have been done
    ['create', 504, '1', false],
    ['create', 429, undefined, false], // the server did not say when
    ['get', 503, undefined, false],
    ['get', 429, '3600', false], // longer than a pass may wait
    ['get', 404, '1', false],
  ];
  it.each(cases)('%s answered %i with Retry-After %s: again %s', async (verb, code, after, again) => {
    const { net, clock, client } = setUp();
    const done = (verb === 'get' ? client.get(ConfigMap, ref) : client.create(ConfigMap, configMap('a', 1))).catch(
      () => {},
    );
    const headers: Record<string, string> = after === undefined ? {} : { 'retry-after': after };
    await (await net.next()).answer(code, status(code, 'X'), headers);
    await clock.advance(Number(after ?? 1) * 1000 - 1);
    expect(await net.unseen()).toBe(0);
    await clock.advance(1);
    expect(await net.unseen()).toBe(again ? 1 : 0);
    if (again) await (await net.next()).answer(200, configMap('a', 1));
    await done;
  });

  it('never repeats a write that got no answer', async () => {
    const { net, clock, client } = setUp();
    const done = client.create(ConfigMap, configMap('a', 1)).catch((e: unknown) => e);
    await (await net.next()).noAnswer('reset');
    await clock.advance(60_000);
    expect(((await done) as Error).name).toBe('NoAnswer');
    expect(net.exchanges).toHaveLength(1);
  });

  it('gives up after the allowed number and reports every attempt', async () => {
    const seen: RequestInfo[] = [];
    const { net, clock, client } = setUp({ retries: 2, onRequest: info => seen.push(info) });
    const done = client.get(ConfigMap, ref).catch((e: unknown) => e);
    for (let i = 0; i < 3; i++) {
      await (await net.next()).answer(429, status(429, 'TooManyRequests'), { 'retry-after': '1' });
      await clock.advance(1_000);
    }
    expect(((await done) as ApiError).status).toBe(429);
    expect(seen.map(({ attempt, status: code, verb, resource }) => [attempt, code, verb, resource])).toEqual([
      [1, 429, 'get', 'configmaps'],
      [2, 429, 'get', 'configmaps'],
      [3, 429, 'get', 'configmaps'],
    ]);
  });

  it('ends with its signal, waiting or not', async () => {
    const { net, client } = setUp();
    const stop = new AbortController();
    const done = client
      .withSignal(stop.signal)
      .get(ConfigMap, ref)
      .catch((e: unknown) => e);
    await (await net.next()).answer(429, status(429, 'TooManyRequests'), { 'retry-after': '5' });
    stop.abort(new Error('pass over'));
    expect(((await done) as Error).message).toBe('pass over');
  });
});

describe('fence', () => {
  it('is asked before every attempt of a write, and never for a read', async () => {
    let leading = true;
    let asked = 0;
    const fence = () => {
      asked++;
      if (!leading) throw new Error('no longer the leader');
    };
    const { net, clock, client } = setUp({ fence });
    const done = client.create(ConfigMap, configMap('a', 1)).catch((e: unknown) => e);
    await (await net.next()).answer(429, status(429, 'TooManyRequests'), { 'retry-after': '1' });
    leading = false;
    await clock.advance(1_000);
    expect(((await done) as Error).message).toBe('no longer the leader');
    expect(net.exchanges).toHaveLength(1);
    void client.get(ConfigMap, ref);
    await settle();
    expect([net.exchanges.length, asked]).toEqual([2, 2]);
  });

  it('keeps writes shorter than the gap between two leaders', async () => {
    const { net, client } = setUp();
    void client.create(ConfigMap, configMap('a', 1));
    expect((await net.next()).request.timeout).toBeLessThan(5_000);
  });
});

describe('headers', () => {
  it('shows a warning once per text', async () => {
    const texts: string[] = [];
    const { net, client } = setUp({ onWarning: text => texts.push(text) });
    const warning = '299 - "old \\"v1beta1\\", use v1", 299 - "unknown field"';
    for (let i = 0; i < 2; i++) {
      const done = client.get(ConfigMap, ref);
      await (await net.next()).answer(200, configMap('a', 1), { warning });
      await done;
    }
    expect(texts).toEqual(['old "v1beta1", use v1', 'unknown field']);
  });

  it('takes the time from the API server', async () => {
    const { net, clock, client } = setUp();
    expect(client.serverTime()).toBe(clock.wall());
    const done = client.get(ConfigMap, ref);
    const date = new Date(clock.wall() + 3_600_000).toUTCString();
    await (await net.next()).answer(200, configMap('a', 1), { date });
    await done;
    expect(client.serverTime() - clock.wall()).toBe(3_600_000);
  });
});
