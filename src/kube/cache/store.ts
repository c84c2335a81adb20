import { type AnyObject, keyOf, type Ref, refOf } from '../object.ts';
import { compareResourceVersion } from '../version.ts';

export type IndexFunction = (object: AnyObject) => readonly string[];

/** What happened to one key. Never an update across uids: that is a deletion and an addition. */
export type Change =
  | { readonly is: 'added'; readonly object: AnyObject }
  | { readonly is: 'updated'; readonly before: AnyObject; readonly after: AnyObject }
  | { readonly is: 'deleted'; readonly object: AnyObject; readonly finalStateUnknown: boolean };

interface Index {
  readonly of: IndexFunction;
  /** value -> keys; a value without keys is removed, or values of long gone objects would pile up. */
  readonly keys: Map<string, Set<string>>;
}

/** Objects by key, with indexes that follow. Returns changes instead of calling anyone. */
export class Store {
  #objects = new Map<string, AnyObject>();
  readonly #indexes = new Map<string, Index>();

  constructor() {
    this.addIndex(NAMESPACE, object => [object.metadata.namespace ?? '']);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(ref: Ref): AnyObject | undefined {
    return this.#objects.get(keyOf(ref));
  }

  all(): AnyObject[] {
    return [...this.#objects.values()];
  }

  inNamespace(namespace: string): AnyObject[] {
    return this.byIndex(NAMESPACE, namespace);
  }

  byIndex(name: string, value: string): AnyObject[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`no index ${name}; there are ${[...this.#indexes.keys()].sort().join(', ')}`);
    return [...(index.keys.get(value) ?? [])].map(key => this.#objects.get(key)!);
  }

  /** How many values an index holds. */
  indexSize(name: string): number {
    return this.#indexes.get(name)?.keys.size ?? 0;
  }

  addIndex(name: string, of: IndexFunction): void {
    const known = this.#indexes.get(name);
    if (known) {
      if (known.of !== of) throw new Error(`index ${name} exists with another function`);
      return;
    }
    const index = { of, keys: new Map<string, Set<string>>() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) enter(index, key, object);
  }

  put(object: AnyObject): Change[] {
    return this.#put(keyOf(refOf(object)), object);
  }

  #put(key: string, object: AnyObject): Change[] {
    const before = this.#objects.get(key);
    if (before && before.metadata.uid === object.metadata.uid) {
      // The same state again, or one that a newer has overtaken.
      if (before.metadata.resourceVersion === object.metadata.resourceVersion) return [];
      if (compareResourceVersion(object.metadata.resourceVersion, before.metadata.resourceVersion) < 0) return [];
      this.#set(key, object);
      return [{ is: 'updated', before, after: object }];
    }
    this.#set(key, object);
    const added: Change = { is: 'added', object };
    return before ? [{ is: 'deleted', object: before, finalStateUnknown: true }, added] : [added];
  }

  remove(object: AnyObject): Change[] {
    const key = keyOf(refOf(object));
    const before = this.#objects.get(key);
    if (!before) return [];
    const newer = compareResourceVersion(before.metadata.resourceVersion, object.metadata.resourceVersion) > 0;
    if (before.metadata.uid !== object.metadata.uid && newer) return [];
    this.#delete(key);
    const last = before.metadata.uid === object.metadata.uid;
    return [{ is: 'deleted', object: last ? object : before, finalStateUnknown: !last }];
  }

  /**
   * Makes `contents`, by key, those of a namespace or of everything, and returns what that changed. The map is the
   * store's from then on: a first list of ten thousand objects is taken over as it is, because putting them one by one
   * (each key made and hashed twice more, then a sweep that finds nothing) held the loop for a tenth of a second.
   */
  replace(contents: Map<string, AnyObject>, namespace?: string): Change[] {
    if (this.#objects.size === 0) {
      this.#objects = contents;
      for (const index of this.#indexes.values()) for (const [key, object] of contents) enter(index, key, object);
      return Array.from(contents.values(), object => ({ is: 'added', object }));
    }
    const changes: Change[] = [];
    for (const [key, object] of contents) changes.push(...this.#put(key, object));
    for (const object of namespace === undefined ? this.all() : this.inNamespace(namespace)) {
      const key = keyOf(refOf(object));
      if (contents.has(key)) continue;
      this.#delete(key);
      changes.push({ is: 'deleted', object, finalStateUnknown: true });
    }
    return changes;
  }

  #set(key: string, object: AnyObject): void {
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (before) leave(index, key, before);
      enter(index, key, object);
    }
  }

  #delete(key: string): void {
    const object = this.#objects.get(key);
    if (!object) return;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) leave(index, key, object);
  }
}

const NAMESPACE = 'namespace';

function enter(index: Index, key: string, object: AnyObject): void {
  for (const value of index.of(object)) {
    const keys = index.keys.get(value);
    if (keys) keys.add(key);
    else index.keys.set(value, new Set([key]));
  }
}

function leave(index: Index, key: string, object: AnyObject): void {
  for (const value of index.of(object)) {
    const keys = index.keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.keys.delete(value);
  }
}
