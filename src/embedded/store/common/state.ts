import type { AnyObject } from '../../../kube/object.ts';

/** One committed change. Objects are frozen; `object.metadata.resourceVersion` is the change's own, also for DELETED. */
export interface Change {
  readonly version: number;
  readonly storage: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: AnyObject;
  readonly previous: AnyObject | undefined;
}

export const storageKey = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

/** All objects, one counter, and enough history to go back: what etcd is to the API server. */
export class State {
  version: number;
  readonly #objects = new Map<string, Map<string, AnyObject>>();
  readonly #history = new Map<string, { changes: Change[]; oldest: number }>();
  /** Keys in order, and the objects beside them: made on the first list and kept from then on. */
  readonly #sorted = new Map<string, { keys: string[]; objects: AnyObject[] }>();
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  readonly #limit: number;
  readonly #start: number;

  constructor(version: number, limit: number) {
    this.version = version;
    this.#start = version;
    this.#limit = limit;
  }

  get(storage: string, namespace: string | undefined, name: string): AnyObject | undefined {
    return this.#objects.get(storage)?.get(storageKey(namespace, name));
  }

  /** Loads an object as it is, without an event. */
  load(storage: string, object: AnyObject): void {
    this.#bucket(storage).set(storageKey(object.metadata.namespace, object.metadata.name), deepFreeze(object));
    this.#sorted.delete(storage);
  }

  /** Stores with the next version and notifies the listeners. */
  put(storage: string, object: AnyObject): AnyObject {
    const key = storageKey(object.metadata.namespace, object.metadata.name);
    const bucket = this.#bucket(storage);
    const previous = bucket.get(key);
    this.version++;
    const stored = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } });
    bucket.set(key, stored);
    this.#place(storage, key, stored);
    this.#commit({ version: this.version, storage, type: previous ? 'MODIFIED' : 'ADDED', object: stored, previous });
    return stored;
  }

  remove(storage: string, object: AnyObject): AnyObject {
    const key = storageKey(object.metadata.namespace, object.metadata.name);
    this.#bucket(storage).delete(key);
    this.#place(storage, key, undefined);
    this.version++;
    const last = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } });
    this.#commit({ version: this.version, storage, type: 'DELETED', object: last, previous: object });
    return last;
  }

  /** Ordered by namespace and name, as etcd's keys are. */
  list(storage: string): readonly AnyObject[] {
    let sorted = this.#sorted.get(storage);
    if (!sorted) {
      const entries = [...(this.#objects.get(storage) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      sorted = { keys: entries.map(([key]) => key), objects: entries.map(([, object]) => object) };
      this.#sorted.set(storage, sorted);
    }
    return sorted.objects;
  }

  /** Callers keep lists, so a change makes a new one; the keys stay. */
  #place(storage: string, key: string, object: AnyObject | undefined): void {
    const sorted = this.#sorted.get(storage);
    if (!sorted) return;
    let low = 0;
    let high = sorted.keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    const known = sorted.keys[low] === key ? 1 : 0;
    sorted.keys.splice(low, known, ...(object ? [key] : []));
    sorted.objects = sorted.objects.toSpliced(low, known, ...(object ? [object] : []));
  }

  /** The list as it was at `version`; undefined when that is forgotten. */
  listAt(storage: string, version: number): readonly AnyObject[] | undefined {
    const changes = this.since(storage, version);
    if (changes === undefined) return undefined;
    if (changes.length === 0) return this.list(storage);
    const then = new Map(this.#objects.get(storage));
    for (const change of changes.toReversed()) {
      const key = storageKey(change.object.metadata.namespace, change.object.metadata.name);
      if (change.previous) then.set(key, change.previous);
      else then.delete(key);
    }
    return [...then].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** The changes after `version`; undefined when some of them are forgotten. */
  since(storage: string, version: number): readonly Change[] | undefined {
    const history = this.#history.get(storage);
    if (version < (history?.oldest ?? this.#start)) return undefined;
    if (!history) return [];
    let low = 0;
    let high = history.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (history.changes[middle]!.version <= version) low = middle + 1;
      else high = middle;
    }
    return history.changes.slice(low);
  }

  listen(storage: string, listener: (change: Change) => void): () => void {
    let listeners = this.#listeners.get(storage);
    if (!listeners) {
      listeners = new Set();
      this.#listeners.set(storage, listeners);
    }
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  all(): AnyObject[] {
    return [...this.#objects.keys()].sort().flatMap(storage => this.list(storage));
  }

  #bucket(storage: string): Map<string, AnyObject> {
    let bucket = this.#objects.get(storage);
    if (!bucket) {
      bucket = new Map();
      this.#objects.set(storage, bucket);
    }
    return bucket;
  }

  #commit(change: Change): void {
    let history = this.#history.get(change.storage);
    if (!history) {
      history = { changes: [], oldest: this.#start };
      this.#history.set(change.storage, history);
    }
    history.changes.push(change);
    // Cut in halves, so that forgetting costs nothing per change.
    if (history.changes.length > this.#limit * 2 || (this.#limit < 64 && history.changes.length > this.#limit)) {
      const dropped = history.changes.splice(0, history.changes.length - this.#limit);
      history.oldest = dropped.at(-1)!.version;
    }
    for (const listener of [...(this.#listeners.get(change.storage) ?? [])]) listener(change);
  }
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
