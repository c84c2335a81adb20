import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import type { Request, Response, WatchEvent } from '../../kube/transport.ts';
import { seededRandom } from '../sim/random.ts';
import { Sim } from '../sim/sim.ts';
import { createStore, restoreStore, type Store, type StoreOptions } from './store.ts';

const at = '/api/v1/namespaces/default/configmaps';
const config = (name: string, data: object = {}, metadata: object = {}) => ({ metadata: { name, ...metadata }, data });
const still = { now: () => 0, wall: () => Date.UTC(2026, 0, 5), timer: () => () => {} };

function make(options: Partial<StoreOptions> = {}) {
  const store = createStore({ clock: still, random: seededRandom(1), ...options });
  const send = (method: Request['method'], path: string, body?: unknown, more: Partial<Request> = {}): Response =>
    store.handle({ method, path, ...(body === undefined ? {} : { body }), ...more });
  const object = (response: Response) => response.body as AnyObject;
  const merge = (path: string, body: unknown) =>
    send('PATCH', path, body, { contentType: 'application/merge-patch+json' });
  return { store, send, object, merge };
}

function follow(store: Store, query: Record<string, string> = {}, path = at) {
  const events: WatchEvent[] = [];
  let ended = false;
  const opened = store.watch(
    { method: 'GET', path, query },
    e => events.push(e),
    () => {
      ended = true;
    },
  );
  return { events, opened, ended: () => ended, types: () => events.map(e => e.type) };
}

describe('Store', () => {
  it('hands out frozen objects and keeps no reference to what it was given', () => {
    const { send, object } = make();
    const body = config('a', { x: '1' });
    const made = object(send('POST', at, body));
    expect(() => {
      (made.data as Record<string, string>).x = '2';
    }).toThrow(TypeError);
    (body.data as Record<string, string>).x = '3';
    expect(object(send('GET', `${at}/a`)).data).toEqual({ x: '1' });
  });

  it('gives no new version to a write that changes nothing', () => {
    const { send, object, merge } = make();
    const first = object(send('POST', at, config('a', { x: '1' })));
    const again = object(merge(`${at}/a`, { data: { x: '1' } }));
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('answers a defect of its own with 500 and does not throw', () => {
    const { store } = make();
    const cyclic: Record<string, unknown> = { metadata: { name: 'a' } };
    cyclic.data = cyclic;
    expect(store.handle({ method: 'POST', path: at, body: cyclic }).status).toBeGreaterThanOrEqual(400);
  });

  it('a snapshot makes a store that answers alike, and the two then go separate ways', () => {
    const { store, send } = make();
    send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'toys.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Toy', plural: 'toys' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    const toys = '/apis/example.com/v1/namespaces/default/toys';
    expect(
      send('POST', toys, { apiVersion: 'example.com/v1', kind: 'Toy', metadata: { name: 't' }, spec: { a: 1 } }).status,
    ).toBe(201);
    const copy = restoreStore(store.snapshot(), { clock: still, random: seededRandom(2) });
    expect(copy.snapshot()).toEqual(store.snapshot());
    expect(copy.handle({ method: 'GET', path: toys }).body).toEqual(send('GET', toys).body);
    copy.handle({ method: 'DELETE', path: `${toys}/t` });
    expect(send('GET', `${toys}/t`).status).toBe(200);
  });
});

describe('watch', () => {
  it('ends after timeoutSeconds and sends a bookmark in between, without keeping a simulation awake', async () => {
    const sim = new Sim(1);
    const { store, send } = make({ clock: sim.clock, random: sim.random, bookmarkEvery: 1_500 });
    send('POST', at, config('a'));
    const seen = follow(store, { allowWatchBookmarks: 'true', timeoutSeconds: '2' });
    await sim.settle();
    expect(seen.types()).toEqual(['ADDED']);
    await sim.run(5_000);
    expect(seen.types()).toEqual(['ADDED', 'BOOKMARK']);
    expect(seen.ended()).toBe(true);
    send('POST', at, config('b'));
    expect(seen.events).toHaveLength(2);
  });

  it('from a version that is forgotten gets 410 and the end', () => {
    const { store, send } = make({ history: 3 });
    for (const name of 'abcdefg') send('POST', at, config(name));
    const seen = follow(store, { resourceVersion: '5' });
    expect(seen.events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    expect(seen.ended()).toBe(true);
  });

  it('a closed watch is silent', () => {
    const { store, send } = make();
    const seen = follow(store);
    if ('close' in seen.opened) seen.opened.close();
    send('POST', at, config('a'));
    expect(seen.events).toEqual([]);
    expect(seen.ended()).toBe(false);
  });

  it('a list and the watch that follows it always agree with a new list, whatever is selected', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ do: fc.constant('put' as const), name, label: fc.constantFrom('x', 'y') }),
      fc.record({ do: fc.constant('delete' as const), name }),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.nat(30),
        fc.constantFrom(undefined, 'l=x', 'l!=x'),
        (steps, start, selector) => {
          const { store, send, merge } = make();
          const query: Record<string, string> = selector ? { labelSelector: selector } : {};
          const list = () =>
            send('GET', at, undefined, { query }).body as { metadata: { resourceVersion: string }; items: AnyObject[] };
          const known = new Map<string, string | undefined>();
          const run = (part: typeof steps) => {
            for (const s of part) {
              if (s.do === 'delete') send('DELETE', `${at}/${s.name}`);
              else if (merge(`${at}/${s.name}`, { metadata: { labels: { l: s.label } } }).status === 404) {
                send('POST', at, config(s.name, {}, { labels: { l: s.label } }));
              }
            }
          };
          run(steps.slice(0, start));
          const first = list();
          for (const o of first.items) known.set(o.metadata.name, o.metadata.resourceVersion);
          const seen = follow(store, { ...query, resourceVersion: first.metadata.resourceVersion });
          run(steps.slice(start));
          for (const { type, object } of seen.events as { type: string; object: AnyObject }[]) {
            if (type === 'DELETED') known.delete(object.metadata.name);
            else known.set(object.metadata.name, object.metadata.resourceVersion);
          }
          expect(known).toEqual(new Map(list().items.map(o => [o.metadata.name, o.metadata.resourceVersion])));
        },
      ),
    );
  });
});

describe('paging', () => {
  it('shows the state at the first page, whatever is written between two pages', () => {
    const { send } = make();
    for (const name of 'abcde') send('POST', at, config(name));
    const page = (query: Record<string, string>) =>
      send('GET', at, undefined, { query }).body as {
        metadata: { continue?: string; remainingItemCount?: number };
        items: AnyObject[];
      };
    const first = page({ limit: '2' });
    expect(first.metadata.remainingItemCount).toBe(3);
    send('DELETE', `${at}/c`);
    send('POST', at, config('bb'));
    const second = page({ limit: '2', continue: first.metadata.continue! });
    const third = page({ limit: '2', continue: second.metadata.continue! });
    expect([first, second, third].flatMap(p => p.items.map(o => o.metadata.name))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(third.metadata.continue).toBeUndefined();
  });

  it('whose first page is forgotten gets 410', () => {
    const { send } = make({ history: 2 });
    for (const name of 'abc') send('POST', at, config(name));
    const { metadata } = send('GET', at, undefined, { query: { limit: '1' } }).body as {
      metadata: { continue: string };
    };
    for (const name of 'defgh') send('POST', at, config(name));
    expect(send('GET', at, undefined, { query: { limit: '1', continue: metadata.continue } })).toMatchObject({
      status: 410,
      body: { reason: 'Expired' },
    });
  });
});

describe('deletion', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (spec: object = {}) => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'x:1' }], ...spec },
  });

  it('of a running pod waits for the kubelet; a shorter grace counts, a longer one does not', () => {
    const { send, object } = make();
    send('POST', pods, pod({ nodeName: 'n' }));
    expect(object(send('DELETE', `${pods}/p`)).metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    send('DELETE', `${pods}/p`, { gracePeriodSeconds: 60 });
    expect(object(send('GET', `${pods}/p`)).metadata.deletionGracePeriodSeconds).toBe(30);
    send('DELETE', `${pods}/p`, { gracePeriodSeconds: 5 });
    expect(object(send('GET', `${pods}/p`)).metadata.deletionGracePeriodSeconds).toBe(5);
    send('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 });
    expect(send('GET', `${pods}/p`).status).toBe(404);
  });

  it('of a namespace ends when both kinds of finalizers are gone', () => {
    const { send, object } = make();
    const path = '/api/v1/namespaces/n';
    send('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
    expect(object(send('DELETE', path))).toMatchObject({ status: { phase: 'Terminating' } });
    expect(send('POST', `${path}/configmaps`, config('late'))).toMatchObject({
      status: 403,
      body: { details: { causes: [{ reason: 'NamespaceTerminating' }] } },
    });
    const live = object(send('GET', path));
    send('PUT', `${path}/finalize`, { ...live, spec: { finalizers: [] } });
    expect(send('GET', path).status).toBe(404);
  });

  it('in the foreground leaves the mark for the garbage collector', () => {
    const { send, object, merge } = make();
    send('POST', at, config('a'));
    send('DELETE', `${at}/a`, { propagationPolicy: 'Foreground' });
    expect(object(send('GET', `${at}/a`)).metadata.finalizers).toEqual(['foregroundDeletion']);
    merge(`${at}/a`, { metadata: { finalizers: null } });
    expect(send('GET', `${at}/a`).status).toBe(404);
  });
});
