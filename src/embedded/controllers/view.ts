import type { AnyObject, KubeObject, OwnerReference } from '../../kube/object.ts';
import { apiVersionOf, pathOf, type Resource, resourceName } from '../../kube/resource.ts';
import { NoAnswer, type Transport } from '../../kube/transport.ts';
import { type Clock, sleep } from '../../world/clock.ts';

export interface Held {
  readonly resource: Resource;
  readonly object: KubeObject;
}

type Changed = (resource: Resource, before: KubeObject | undefined, after: KubeObject | undefined) => void;

interface Kind {
  readonly resource: Resource;
  /** Namespace ('' when cluster-scoped) to name to object. */
  readonly objects: Map<string, Map<string, KubeObject>>;
  /** How far the watch has come: an answer to a write that is older teaches nothing. */
  seen: number;
  readonly cancel: AbortController;
  readonly listed: Promise<void>;
}

/** Milliseconds before a broken list or watch is tried again; a second, as client-go begins with. */
const RETRY = 1_000;
/** A kind that the server does not serve (yet): asked again as rarely as discovery caches expire. */
const ABSENT = 30_000;

const versionOf = (object: KubeObject) => Number(object.metadata.resourceVersion ?? 0);
const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find(o => o.controller);

/**
 * The cluster as watches show it, a moment late. Answers to our own writes are learned at once, so that
 * nothing is made twice; a lost answer may still do that, and the next look repairs it.
 */
export class View {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #changed: Changed;
  readonly #kinds = new Map<string, Kind>();
  readonly #dependents = new Map<string, Map<string, Held>>();
  readonly #byKind = new Map<string, Resource>();

  constructor(transport: Transport, clock: Clock, changed: Changed) {
    this.#transport = transport;
    this.#clock = clock;
    this.#changed = changed;
  }

  list<T extends KubeObject>(resource: Resource, namespace?: string): T[] {
    const objects = this.#kinds.get(resourceName(resource))?.objects;
    if (objects === undefined) return [];
    const maps = namespace === undefined ? [...objects.values()] : [objects.get(namespace)];
    return maps.flatMap(m => [...(m?.values() ?? [])]) as T[];
  }

  get<T extends KubeObject>(resource: Resource, namespace: string, name: string): T | undefined {
    return this.#kinds.get(resourceName(resource))?.objects.get(namespace)?.get(name) as T | undefined;
  }

  /** Objects of the kind whose controller is this owner, oldest first. */
  controlled<T extends KubeObject>(resource: Resource, owner: KubeObject): T[] {
    return this.dependents(owner)
      .filter(d => d.resource === resource && controllerOf(d.object)?.uid === owner.metadata.uid)
      .map(d => d.object as T)
      .sort(byAge);
  }

  dependents(owner: KubeObject): Held[] {
    return [...(this.#dependents.get(owner.metadata.uid ?? '')?.values() ?? [])];
  }

  /** The resource that an owner reference means; undefined when its kind is not watched. */
  resourceOf(ref: { apiVersion: string; kind: string }): Resource | undefined {
    return this.#byKind.get(`${ref.apiVersion} ${ref.kind}`);
  }

  resources(): Resource[] {
    return [...this.#kinds.values()].map(k => k.resource);
  }

  /** Everything in a namespace, for its end. */
  inNamespace(namespace: string): Held[] {
    return [...this.#kinds.values()].flatMap(({ resource, objects }) =>
      resource.namespaced ? [...(objects.get(namespace)?.values() ?? [])].map(object => ({ resource, object })) : [],
    );
  }

  /** The first list of a kind that is followed already. */
  followed(resource: Resource | undefined): Promise<void> {
    return (resource && this.#kinds.get(resourceName(resource))?.listed) ?? Promise.resolve();
  }

  /** Watches the kind from now on; resolves after its first list (or when the server does not serve it). */
  follow(resource: Resource): Promise<void> {
    if (this.#kinds.has(resourceName(resource))) return this.followed(resource);
    let done: () => void = () => {};
    const listed = new Promise<void>(resolve => {
      done = resolve;
    });
    const kind: Kind = { resource, objects: new Map(), seen: 0, cancel: new AbortController(), listed };
    this.#kinds.set(resourceName(resource), kind);
    this.#byKind.set(`${apiVersionOf(resource)} ${resource.kind}`, resource);
    void this.#loop(kind, done);
    return listed;
  }

  unfollow(resource: Resource): void {
    const kind = this.#kinds.get(resourceName(resource));
    if (kind === undefined) return;
    kind.cancel.abort();
    for (const object of this.list(resource)) this.#set(kind, object, undefined);
    this.#kinds.delete(resourceName(resource));
    this.#byKind.delete(`${apiVersionOf(resource)} ${resource.kind}`);
  }

  stop(): void {
    for (const kind of this.#kinds.values()) kind.cancel.abort();
  }

  /** What a write was answered with. */
  learn(resource: Resource, object: KubeObject): void {
    const kind = this.#kinds.get(resourceName(resource));
    if (kind !== undefined && versionOf(object) > kind.seen) this.#newer(kind, object);
  }

  forget(resource: Resource, object: KubeObject): void {
    const kind = this.#kinds.get(resourceName(resource));
    const held = this.get(resource, object.metadata.namespace ?? '', object.metadata.name);
    if (kind !== undefined && held?.metadata.uid === object.metadata.uid) this.#set(kind, held, undefined);
  }

  async #loop(kind: Kind, listed: () => void): Promise<void> {
    const { signal } = kind.cancel;
    while (!signal.aborted) {
      let wait = RETRY;
      try {
        const path = pathOf(kind.resource, '');
        const answer = await this.#transport.send({ method: 'GET', path, timeout: 30_000 }, signal);
        if (answer.status === 200) {
          const list = answer.body as { metadata: { resourceVersion: string }; items: KubeObject[] | null };
          this.#replace(kind, list.items ?? []);
          kind.seen = Number(list.metadata.resourceVersion);
          listed();
          await this.#watch(kind, path, signal);
          continue;
        }
        if (answer.status === 404) {
          listed();
          wait = ABSENT;
        }
      } catch {
        // NoAnswer, or aborted: the loop's condition distinguishes them.
      }
      await sleep(this.#clock, wait, signal, { label: 'list again', daemon: wait === ABSENT }).catch(() => {});
    }
  }

  /** Returns when only a new list helps. */
  async #watch(kind: Kind, path: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A signal of its own: what a watch hangs on it goes with the watch.
      const own = new AbortController();
      const stop = () => own.abort();
      signal.addEventListener('abort', stop, { once: true });
      try {
        const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: String(kind.seen) };
        const answer = await this.#transport.watch({ method: 'GET', path, query }, own.signal);
        if (!('events' in answer)) {
          if (answer.status === 410) return;
          throw new NoAnswer(`watch ${path}: ${answer.status}`);
        }
        for await (const event of answer.events) {
          if (event.type === 'ERROR') return;
          const object = event.object as AnyObject;
          kind.seen = Math.max(kind.seen, versionOf(object));
          if (event.type === 'DELETED') this.forget(kind.resource, object);
          else if (event.type !== 'BOOKMARK') this.#newer(kind, object);
        }
      } finally {
        signal.removeEventListener('abort', stop);
      }
    }
  }

  #replace(kind: Kind, items: KubeObject[]): void {
    const uids = new Set(items.map(i => i.metadata.uid));
    for (const held of this.list(kind.resource)) if (!uids.has(held.metadata.uid)) this.#set(kind, held, undefined);
    for (const item of items) this.#newer(kind, item);
  }

  #newer(kind: Kind, object: KubeObject): void {
    const held = this.get(kind.resource, object.metadata.namespace ?? '', object.metadata.name);
    if (held?.metadata.uid === object.metadata.uid && held && versionOf(held) >= versionOf(object)) return;
    // Items of a list come without these two.
    object.apiVersion ??= apiVersionOf(kind.resource);
    object.kind ??= kind.resource.kind;
    this.#set(kind, held, object);
  }

  #set(kind: Kind, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const { namespace = '', name } = (after ?? before)!.metadata;
    const names = entry(kind.objects, namespace);
    if (after === undefined) names.delete(name);
    else names.set(name, after);
    const key = `${resourceName(kind.resource)}/${namespace}/${name}`;
    for (const owner of before?.metadata.ownerReferences ?? []) {
      const held = this.#dependents.get(owner.uid);
      held?.delete(key);
      if (held?.size === 0) this.#dependents.delete(owner.uid);
    }
    for (const owner of after?.metadata.ownerReferences ?? []) {
      entry(this.#dependents, owner.uid).set(key, { resource: kind.resource, object: after! });
    }
    this.#changed(kind.resource, before, after);
  }
}

function entry<V>(maps: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const old = maps.get(key);
  if (old !== undefined) return old;
  const fresh = new Map<string, V>();
  maps.set(key, fresh);
  return fresh;
}

export function byAge(a: KubeObject, b: KubeObject): number {
  const [x, y] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (x !== y) return x < y ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
