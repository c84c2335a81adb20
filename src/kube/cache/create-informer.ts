import { type AnyObject, keyOf, refOf } from '../object.ts';
import { pathOf, resourceName } from '../resource.ts';
import { METADATA } from '../transport.ts';
import { compareResourceVersion } from '../version.ts';
import type { Handler, Indexer, Informer, InformerDeps, InformerOptions } from './informer.ts';
import { reducer } from './reduce.ts';
import { type Reflection, reflect } from './reflect.ts';
import type { Cause, Effect } from './reflector-state.ts';
import { type Change, Store } from './store.ts';

/** The part of the collection that one reflector follows: a namespace, or everything. */
interface Scope {
  readonly namespace: string | undefined;
  readonly reflection: Reflection;
  version: string | undefined;
}

export function createInformer(options: InformerOptions, deps: InformerDeps): Informer {
  const { resource, labelSelector, fieldSelector, metadataOnly = false } = options;
  const { clock, log = () => {} } = deps;
  const label = resourceName(resource);
  const store = new Store();
  const reduce = reducer(options);
  const indexers = new Map<string, Indexer>();
  const handlers = new Set<Handler>();
  const stats = {
    lastEventAt: undefined as number | undefined,
    lists: 0,
    lastListMs: undefined as number | undefined,
    watches: 0,
    reconnects: {} as Partial<Record<Cause, number>>,
    rejected: 0,
    handlerErrors: 0,
    failures: 0,
    lastFailure: undefined as string | undefined,
  };
  let state: 'new' | 'running' | 'stopped' = 'new';
  let isSynced = false;
  let resolveSynced = () => {};
  const synced = new Promise<void>(resolve => {
    resolveSynced = resolve;
  });

  const namespaces = resource.namespaced ? [...new Set(options.namespaces ?? [])] : [];
  const scopes: Scope[] = (namespaces.length === 0 ? [undefined] : namespaces).map(makeScope);
  for (const [name, indexer] of Object.entries(options.indexers ?? {})) addIndexer(name, indexer);

  function makeScope(namespace: string | undefined): Scope {
    let staged = new Map<string, AnyObject>();
    let fillingSince: number | undefined;
    const scope: Scope = {
      namespace,
      version: undefined,
      reflection: reflect({
        ...deps,
        path: pathOf(resource, namespace ?? ''),
        query: { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) },
        ...(metadataOnly && { accept: METADATA }),
        kinds: metadataOnly ? [resource.kind, 'PartialObjectMetadata'] : [resource.kind],
        label: namespace === undefined ? label : `${label} in ${namespace}`,
        sink,
      }),
    };
    return scope;

    function sink(effect: Effect): void {
      switch (effect.do) {
        case 'unstageAll':
          staged.clear();
          fillingSince = clock.now();
          break;
        case 'stage':
          stats.lastEventAt = clock.now();
          for (const object of effect.objects) reduced(object, kept => staged.set(keyOf(refOf(kept)), kept));
          break;
        case 'unstage':
          staged.delete(keyOf(refOf(effect.object)));
          break;
        case 'commit': {
          const changes = store.replace(staged, namespace);
          staged = new Map();
          scope.version = effect.version;
          if (fillingSince !== undefined) stats.lastListMs = clock.now() - fillingSince;
          healthy();
          emit(changes, !isSynced);
          settle();
          break;
        }
        case 'put':
          reduced(effect.object, kept => emit(store.put(kept), false));
          break;
        case 'remove':
          reduced(effect.object, kept => emit(store.remove(kept), false));
          break;
        case 'advance':
          scope.version = effect.version;
          healthy();
          break;
        case 'list':
        case 'watch':
          observeRequest(effect);
          break;
        case 'reject':
          reject(effect.why);
          break;
        case 'warn':
          log('warn', effect.text, { resource: label });
          break;
        case 'failed':
          stats.failures++;
          stats.lastFailure = effect.why;
          log('info', `Watch of ${label} interrupted`, { resource: label, cause: effect.cause, why: effect.why });
          break;
        case 'alarm':
        case 'hangUp':
          break;
      }
    }
  }

  function observeRequest({ do: what, query, cause }: Extract<Effect, { do: 'list' | 'watch' }>): void {
    if (what === 'watch') {
      stats.watches++;
      if (cause !== 'start' && cause !== 'filled') stats.reconnects[cause] = (stats.reconnects[cause] ?? 0) + 1;
    }
    if ((what === 'list' && query.continue === undefined) || query.sendInitialEvents !== undefined) stats.lists++;
  }

  function healthy(): void {
    stats.lastEventAt = clock.now();
    stats.failures = 0;
  }

  /** An object that the user's transform chokes on is left out and counted; the stream goes on. */
  function reduced(object: AnyObject, use: (object: AnyObject) => void): void {
    let kept: AnyObject;
    try {
      kept = reduce(object);
    } catch (error) {
      reject(`transform failed on ${object.metadata.name}: ${String(error)}`);
      return;
    }
    use(kept);
  }

  function reject(why: string): void {
    stats.rejected++;
    log('warn', `Skipped an object of ${label}`, { resource: label, why });
  }

  function emit(changes: readonly Change[], initial: boolean): void {
    for (const change of changes) for (const handler of [...handlers]) call(handler, change, initial);
  }

  function call(handler: Handler, change: Change, initial: boolean): void {
    if (!handlers.has(handler)) return; // removed by a handler before it
    try {
      if (change.is === 'added') handler.added?.(change.object, { initial });
      else if (change.is === 'updated') handler.updated?.(change.before, change.after);
      else handler.deleted?.(change.object, { finalStateUnknown: change.finalStateUnknown });
    } catch (error) {
      stats.handlerErrors++;
      log('warn', `A handler of ${label} threw`, { resource: label, error });
    }
  }

  /** Handlers are synchronous: once the last scope is filled, each of them has seen everything. */
  function settle(): void {
    if (isSynced || scopes.some(scope => scope.version === undefined)) return;
    isSynced = true;
    resolveSynced();
  }

  function addIndexer(name: string, indexer: Indexer): void {
    const known = indexers.get(name);
    if (known === indexer) return;
    if (known) throw new Error(`${label} has an index ${name} made by another function`);
    indexers.set(name, indexer);
    store.addIndex(name, object => {
      try {
        return indexer(object);
      } catch (error) {
        log('warn', `Index ${name} of ${label} threw`, { resource: label, name: object.metadata.name, error });
        return [];
      }
    });
  }

  const informer: Informer = {
    resource,
    options,
    get: ref => store.get(resource.namespaced ? ref : { namespace: '', name: ref.name }),
    list({ namespace, labels, index } = {}) {
      let found = index ? store.byIndex(index.name, index.value) : namespace === undefined ? store.all() : undefined;
      found ??= store.inNamespace(namespace!);
      if (index && namespace !== undefined) found = found.filter(object => object.metadata.namespace === namespace);
      if (labels) found = found.filter(object => matches(object.metadata.labels, labels));
      // By name, not by arrival: what is rendered from a list must not depend on the order of events.
      return found.sort(byKey);
    },
    onChange(handler) {
      handlers.add(handler);
      for (const object of store.all().sort(byKey)) call(handler, { is: 'added', object }, true);
      return () => void handlers.delete(handler);
    },
    addIndexer,
    start() {
      if (state === 'stopped') throw new Error(`the informer of ${label} was stopped; make a new one`);
      if (state === 'running') return;
      state = 'running';
      for (const scope of scopes) scope.reflection.start();
    },
    async stop() {
      state = 'stopped';
      for (const scope of scopes) scope.reflection.stop();
    },
    synced,
    hasSynced: () => isSynced,
    get resourceVersion() {
      return isSynced ? oldest(scopes.map(scope => scope.version!)) : undefined;
    },
    get stats() {
      return { ...stats, reconnects: { ...stats.reconnects }, objects: store.size };
    },
  };
  return informer;
}

const byKey = (a: AnyObject, b: AnyObject): number => {
  // Mostly one namespace: then the names decide, and no key needs to be made.
  const near = a.metadata.namespace === b.metadata.namespace;
  const [x, y] = near ? [a.metadata.name, b.metadata.name] : [keyOf(refOf(a)), keyOf(refOf(b))];
  return x < y ? -1 : x > y ? 1 : 0;
};

const matches = (labels: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>>) =>
  Object.entries(wanted).every(([name, value]) => labels?.[name] === value);

const oldest = (versions: readonly string[]): string =>
  versions.reduce((a, b) => (compareResourceVersion(b, a) < 0 ? b : a));
