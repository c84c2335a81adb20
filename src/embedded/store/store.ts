import type { AnyObject } from '../../kube/object.ts';
import type { Request, Response, WatchEvent } from '../../kube/transport.ts';
import type { Clock, Random } from '../../world/clock.ts';
import { discovery } from '../kubectl/discovery.ts';
import { bind } from './binding.ts';
import { type Call, type Server, warningsOf } from './common/call.ts';
import { clone } from './common/json.ts';
import { Registry } from './common/registry.ts';
import { builtins } from './common/resources.ts';
import { State } from './common/state.ts';
import { failure, methodNotAllowed, NoSuchGroup, Refusal } from './common/status.ts';
import { remove, removeCollection } from './delete.ts';
import { patch } from './patch.ts';
import { get, list } from './read.ts';
import { route } from './route.ts';
import { scale } from './scale.ts';
import { watch } from './watch.ts';
import { create, update } from './write.ts';

export interface StoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between bookmarks of a watch; kube-apiserver sends one about every minute. */
  readonly bookmarkEvery?: number;
  /** How many events of history of a resource a watch may go back before it gets 410. */
  readonly history?: number;
}

/** All state as plain JSON values: a store made from it answers as this one would have. Its history starts anew. */
export interface Snapshot {
  readonly resourceVersion: number;
  readonly objects: readonly AnyObject[];
}

export interface Store {
  /** Synchronous; never throws; every answer is what kube-apiserver 1.37 would give. `user` goes to the audit only. */
  handle(request: Request, user?: string): Response;
  /**
   * Synchronous. On acceptance calls `sink` for each event (initial events before it returns) and `end` when the
   * server closes the stream: after timeoutSeconds, or after an ERROR event with code 410.
   */
  watch(
    request: Request,
    sink: (event: WatchEvent) => void,
    end: () => void,
  ): { status: 200; close(): void } | { status: number; refusal: Response };
  /** Deep copy of all state, for restart-from-every-state search and `plan`. */
  snapshot(): Snapshot;
  /** Every object, frozen, for oracles. */
  objects(): readonly AnyObject[];
}

/** With the namespaces that every cluster has. */
export function createStore(options: StoreOptions): Store {
  const store = restoreStore({ resourceVersion: 0, objects: [] }, options);
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    const query = { fieldManager: 'kube-apiserver' };
    store.handle(
      { method: 'POST', path: '/api/v1/namespaces', query, body: { metadata: { name } } },
      'system:apiserver',
    );
  }
  return store;
}

/** kube-apiserver's watch cache holds between 100 and 100,000 events of a resource. */
const HISTORY = 10_000;
const BOOKMARK_EVERY = 60_000;

export function restoreStore(snapshot: Snapshot, options: StoreOptions): Store {
  const state = new State(snapshot.resourceVersion, options.history ?? HISTORY);
  const registry = new Registry();
  const server: Server = {
    state,
    registry,
    clock: options.clock,
    random: options.random,
    bookmarkEvery: options.bookmarkEvery ?? BOOKMARK_EVERY,
  };
  const crds = 'customresourcedefinitions.apiextensions.k8s.io';
  state.listen(crds, change => {
    if (change.type === 'DELETED') registry.forget(change.object.metadata.name);
    else registry.serve(change.object);
  });
  const copies = snapshot.objects.map(clone);
  for (const object of copies) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    state.load(crds, object);
    registry.serve(object);
  }
  for (const object of copies)
    if (object.kind !== 'CustomResourceDefinition') state.load(storageOf(registry, object), object);

  return {
    handle: request => guarded(() => dispatch(server, request)),
    watch(request, sink, end) {
      let close: (() => void) | undefined;
      const answer = guarded(() => {
        close = watch(
          server,
          route(registry, request, () => server.clock.wall()),
          sink,
          end,
        );
        return { status: 200, headers: {}, body: undefined };
      });
      return close ? { status: 200, close } : { status: answer.status, refusal: answer };
    },
    snapshot: () => ({ resourceVersion: state.version, objects: state.all().map(clone) }),
    objects: () => state.all(),
  };
}

function storageOf(registry: Registry, object: AnyObject): string {
  const slash = object.apiVersion.lastIndexOf('/');
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
  const found = [...builtins, ...registry.all()].find(r => r.group === group && r.kind === object.kind);
  if (!found)
    throw new Error(
      `snapshot: no resource for ${object.apiVersion} ${object.kind}; put its CustomResourceDefinition into the snapshot`,
    );
  return found.storage;
}

function guarded(run: () => Response): Response {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error.response;
    if (error instanceof NoSuchGroup)
      return { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found\n' };
    // A defect of the Store itself: said in full, so that a test shows where.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: 500, headers: {}, body: failure(500, 'InternalError', `the embedded Store failed: ${text}`) };
  }
}

function dispatch(server: Server, request: Request): Response {
  const found = discovery(server, request);
  if (found) return found;
  const call = route(server.registry, request, () => server.clock.wall());
  try {
    return verb(server, call);
  } catch (error) {
    // Warnings were written before the refusal was known; they go out with it.
    if (error instanceof Refusal)
      return { ...error.response, headers: { ...error.response.headers, ...warningsOf(call) } };
    throw error;
  }
}

function verb(server: Server, call: Call): Response {
  const { request } = call;
  if (call.subresource === 'scale') return scale(server, call);
  if (call.subresource === 'binding') return bind(server, call);
  switch (request.method) {
    case 'GET':
      return call.name === '' ? list(server, call) : get(server, call);
    case 'POST':
      return create(server, call);
    case 'PUT':
      return named(call, () => update(server, call));
    case 'PATCH':
      return named(call, () => patch(server, call));
    case 'DELETE':
      return call.name === '' ? removeCollection(server, call) : remove(server, call);
  }
}

function named(call: Call, run: () => Response): Response {
  if (call.name === '') throw methodNotAllowed();
  return run();
}
