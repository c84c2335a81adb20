import { sleep } from '../../world/clock.ts';
import type { AnyObject, KubeObject } from '../object.ts';
import { apiVersionOf, type Resource, resourceName } from '../resource.ts';
import { createInformer } from './create-informer.ts';
import type { Informer, InformerDeps, InformerOptions } from './informer.ts';

export type { Handler, Indexer, Informer, InformerOptions, InformerStats } from './informer.ts';

/** Nothing that is alive takes longer to fill (CR's default for the same wait). */
const SYNC_TIMEOUT = 120_000;

export interface Cache {
  /** The informer of these options: made on first call, shared afterwards. Does not start it. */
  informer<T extends KubeObject = AnyObject>(options: InformerOptions): Informer<T>;
  /** The informer registered first for a resource, whole objects before metadata only; throws NoInformer. */
  for<T extends KubeObject = AnyObject>(resource: Resource): Informer<T>;
  /** Whether somebody watches it: an optional resource is not watched while its CRD is missing. */
  has(resource: Resource): boolean;
  all(): readonly Informer[];
  startAll(): void;
  /** Stops and forgets one: its CRD went away. */
  drop(informer: Informer): Promise<void>;
  stopAll(): Promise<void>;
  /** Rejects after `timeout` ms (2 min unless said) and names what did not sync. */
  waitForSync(options?: { readonly timeout?: number; readonly signal?: AbortSignal }): Promise<void>;
}

/** A read of a kind nobody watches. Informers never start by accident: a silent one on Secrets eats the memory. */
export class NoInformer extends Error {
  override readonly name = 'NoInformer';
}

export type CacheDeps = InformerDeps;

class InformerCache implements Cache {
  readonly #deps: CacheDeps;
  readonly #informers = new Map<string, Informer>();
  /** By resource, what for() answers: rows ask dozens of times per pass, and there are some sixty informers. */
  readonly #chosen = new Map<string, Informer>();

  constructor(deps: CacheDeps) {
    this.#deps = deps;
  }

  // The store holds what the API server sent; T is the caller's word for it, as with every JSON.
  informer<T extends KubeObject>(options: InformerOptions) {
    const key = keyOfOptions(options);
    let informer = this.#informers.get(key);
    if (!informer) {
      informer = createInformer(options, this.#deps);
      this.#informers.set(key, informer);
      this.#choose(options.resource);
    } else {
      assertSameKeeping(informer.options, options);
      for (const [name, indexer] of Object.entries(options.indexers ?? {})) informer.addIndexer(name, indexer);
    }
    return informer as Informer<KubeObject> as Informer<T>;
  }

  for<T extends KubeObject>(resource: Resource) {
    const found = this.#chosen.get(resourceName(resource));
    if (!found) throw new NoInformer(`nobody watches ${resourceName(resource)}: register an informer before reading`);
    return found as Informer<KubeObject> as Informer<T>;
  }

  has(resource: Resource) {
    return this.#chosen.has(resourceName(resource));
  }

  all() {
    return [...this.#informers.values()];
  }

  startAll() {
    for (const informer of this.#informers.values()) informer.start();
  }

  async drop(informer: Informer<AnyObject>) {
    for (const [key, known] of this.#informers) if (known === informer) this.#informers.delete(key);
    this.#choose(informer.resource);
    await informer.stop();
  }

  async stopAll() {
    await Promise.all([...this.#informers.values()].map(informer => informer.stop()));
  }

  #choose(resource: Resource): void {
    const mine = [...this.#informers.values()].filter(
      informer => resourceName(informer.resource) === resourceName(resource),
    );
    const found = mine.find(informer => !informer.options.metadataOnly) ?? mine[0];
    if (found) this.#chosen.set(resourceName(resource), found);
    else this.#chosen.delete(resourceName(resource));
  }

  async waitForSync({ timeout = SYNC_TIMEOUT, signal }: { timeout?: number; signal?: AbortSignal } = {}) {
    const over = new AbortController();
    const expiry = sleep(this.#deps.clock, timeout, over.signal, { label: 'wait for caches', daemon: true }).then(
      () => {
        const missing = [...this.#informers.values()].filter(informer => !informer.hasSynced());
        const names = missing.map(({ resource, stats }) =>
          [resourceName(resource), stats.lastFailure && `(${stats.lastFailure})`].filter(Boolean).join(' '),
        );
        throw new Error(`not synced within ${timeout / 1000} s: ${names.join(', ')}`);
      },
    );
    const abort = () => over.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      // One that has synced may have made others: those of kinds whose CRD it found.
      while ([...this.#informers.values()].some(informer => !informer.hasSynced()))
        await Promise.race([Promise.all([...this.#informers.values()].map(informer => informer.synced)), expiry]);
    } finally {
      signal?.removeEventListener('abort', abort);
      expiry.catch(() => {});
      over.abort();
    }
  }
}

export const createCache = (deps: CacheDeps): Cache => new InformerCache(deps);

const keyOfOptions = (o: InformerOptions): string =>
  JSON.stringify([
    apiVersionOf(o.resource),
    o.resource.plural,
    [...(o.namespaces ?? [])].sort(),
    o.labelSelector ?? '',
    o.fieldSelector ?? '',
    o.metadataOnly ?? false,
  ]);

/** One store cannot keep two versions of the same object. */
function assertSameKeeping(a: InformerOptions, b: InformerOptions): void {
  const managers = (o: InformerOptions) => [...(o.keepManagers ?? [])].sort().join();
  if (a.transform === b.transform && managers(a) === managers(b)) return;
  throw new Error(`two informers of ${resourceName(a.resource)} differ only in transform or keepManagers: use one`);
}
