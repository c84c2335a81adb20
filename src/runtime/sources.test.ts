import { describe, expect, it } from 'vitest';
import type { Handler, Informer } from '../kube/cache/cache.ts';
import type { AnyObject, ObjectMeta } from '../kube/object.ts';
import { Deployment, type Resource } from '../kube/resource.ts';
import { LOW, NORMAL } from './queue.ts';
import { changedByOthers, type Source, watchMapped, watchOwn, watchOwned } from './sources.ts';

const Keystone: Resource = {
  group: 'openstack.k8s.io',
  version: 'v1alpha1',
  kind: 'Keystone',
  plural: 'keystones',
  namespaced: true,
};

const object = (name: string, version: string, meta: Partial<ObjectMeta> = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: version, generation: 1, ...meta },
});

const owner = (name: string, kind = 'Keystone', apiVersion = 'openstack.k8s.io/v1alpha1') => ({
  apiVersion,
  kind,
  name,
  uid: 'u',
});

/** The one method of an informer that sources use, and a way to call the handler. */
function attach(make: (informer: Informer) => Source) {
  let handler: Handler = {};
  let removed = false;
  const informer = {
    resource: Deployment,
    synced: Promise.resolve(),
    onChange(h: Handler) {
      handler = h;
      return () => {
        removed = true;
      };
    },
  } as Partial<Informer> as Informer;
  const seen: [string, number][] = [];
  const running = make(informer)((key, priority = NORMAL) => seen.push([key, priority]));
  const take = () => seen.splice(0);
  return { take, handler, running, removed: () => removed };
}

describe('sources', () => {
  it('the initial list and updates without a change wait behind live events', () => {
    const { handler, take } = attach(watchOwn);
    handler.added?.(object('a', '1'), { initial: true });
    handler.added?.(object('b', '2'), { initial: false });
    handler.updated?.(object('a', '1'), object('a', '1'));
    expect(take()).toEqual([
      ['ns/a', LOW],
      ['ns/b', NORMAL],
      ['ns/a', LOW],
    ]);
  });

  it('a status write of its own does not wake a kind, an edit and a deletion do', () => {
    const { handler, take } = attach(watchOwn);
    handler.updated?.(object('a', '1'), object('a', '2'));
    expect(take()).toEqual([]);
    handler.updated?.(object('a', '2'), object('a', '3', { generation: 2 }));
    handler.deleted?.(object('a', '4'), { finalStateUnknown: false });
    expect(take()).toEqual([
      ['ns/a', NORMAL],
      ['ns/a', NORMAL],
    ]);
  });

  it.each<[string, Partial<ObjectMeta>, boolean]>([
    ['nothing', {}, false],
    ['generation', { generation: 2 }, true],
    ['labels', { labels: { a: '1' } }, true],
    ['annotations', { annotations: { 'openstack.k8s.io/paused': 'true' } }, true],
    ['finalizers', { finalizers: ['x'] }, true],
    ['deletion', { deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
    ['27: another object of that name and generation', { uid: 'other' }, true],
  ])('changedByOthers: %s', (_name, meta, expected) => {
    expect(changedByOthers(object('a', '1'), object('a', '2', meta))).toBe(expected);
  });

  it('a kind without generation changes whenever its version does', () => {
    const secret = (version: string) => object('s', version, { generation: undefined });
    expect(changedByOthers(secret('1'), secret('2'))).toBe(true);
  });

  it('83: an object that changes hands concerns both owners, each once', () => {
    const { handler, take } = attach(informer => watchOwned(informer, Keystone));
    const before = object('d', '1', { ownerReferences: [owner('old'), owner('both')] });
    const after = object('d', '2', { ownerReferences: [owner('new'), owner('both')] });
    handler.updated?.(before, after);
    expect(take().map(([key]) => key)).toEqual(['ns/old', 'ns/both', 'ns/new']);
  });

  it('owners are matched by group and kind, whatever the version', () => {
    const { handler, take } = attach(informer => watchOwned(informer, Keystone));
    const ownerReferences = [
      owner('v2', 'Keystone', 'openstack.k8s.io/v2'),
      owner('foreign', 'Keystone', 'keystone.openstack.org/v1'),
      owner('other', 'Glance'),
    ];
    handler.added?.(object('d', '1', { ownerReferences }), { initial: false });
    expect(take()).toEqual([['ns/v2', NORMAL]]);
  });

  it('the key of a cluster-scoped owner has no namespace', () => {
    const { handler, take } = attach(informer => watchOwned(informer, { ...Keystone, namespaced: false }));
    handler.added?.(object('d', '1', { ownerReferences: [owner('k')] }), { initial: false });
    expect(take()).toEqual([['k', NORMAL]]);
  });

  it('mapped keys come from both states, and stop removes the handler', () => {
    const { handler, take, running, removed } = attach(informer =>
      watchMapped(informer, o => [`ns/${o.metadata.labels?.user ?? 'nobody'}`]),
    );
    handler.updated?.(object('s', '1', { labels: { user: 'x' } }), object('s', '2', { labels: { user: 'y' } }));
    expect(take().map(([key]) => key)).toEqual(['ns/x', 'ns/y']);
    expect(running.name).toBe('deployments.apps');
    running.stop();
    expect(removed()).toBe(true);
  });
});
