import type { DeepReadonly, ObjectMeta, Ref } from '../../kube/object.ts';
import { type Resource, resourceName } from '../../kube/resource.ts';

type Labels = Readonly<Record<string, string>>;
/** `pods ns/name` for one object, `pods ns {"app":"x"}` for a selection; behind either ` wish` where status was not read. */
type Interest = string;

/** What of an object was read: all of it, or all but its status. */
export type Part = 'all' | 'wish';

export interface Reads {
  read(resource: Resource, ref: Ref, part?: Part): void;
  scan(resource: Resource, namespace: string, labels: Labels, part?: Part): void;
  /** Forgets what the pass before looked at and this one did not. */
  done(): void;
}

const NOBODY: ReadonlySet<string> = new Set();
const SUFFIX: Readonly<Record<Part, string>> = { all: '', wish: ' wish' };

/**
 * Remembers what each owner's last pass looked at, and answers whom a change concerns. Rows never write a mapping
 * from events to objects: whatever a row read, found or missing, wakes it when it changes.
 */
export class Tracker {
  readonly #owners = new Map<Interest, Set<string>>();
  /** The label selections among the interests, by resource. */
  readonly #scans = new Map<string, Map<Interest, { namespace: string; labels: Labels; part: Part }>>();
  readonly #interests = new Map<string, Set<Interest>>();

  begin(owner: string): Reads {
    const before = this.#interests.get(owner) ?? new Set<Interest>();
    const now = new Set<Interest>();
    // Entered at once, not at the end: a change during the pass must wake the owner too.
    const enter = (interest: Interest): void => {
      now.add(interest);
      const owners = this.#owners.get(interest);
      if (owners) owners.add(owner);
      else this.#owners.set(interest, new Set([owner]));
    };
    return {
      read: (resource, ref, part = 'all') =>
        enter(`${resourceName(resource)} ${ref.namespace}/${ref.name}${SUFFIX[part]}`),
      scan: (resource, namespace, labels, part = 'all') => {
        const name = resourceName(resource);
        const interest = `${name} ${namespace} ${JSON.stringify(labels)}${SUFFIX[part]}`;
        enter(interest);
        const scans = this.#scans.get(name) ?? new Map();
        this.#scans.set(name, scans.set(interest, { namespace, labels, part }));
      },
      done: () => {
        for (const interest of before) if (!now.has(interest)) this.#leave(owner, interest);
        this.#interests.set(owner, now);
      },
    };
  }

  /** The owner is gone. */
  forget(owner: string): void {
    for (const interest of this.#interests.get(owner) ?? []) this.#leave(owner, interest);
    this.#interests.delete(owner);
  }

  /** Who looked at this object, or would have found it in a list. `statusOnly`: nothing but its status has changed. */
  concerned(resource: Resource, metadata: DeepReadonly<ObjectMeta>, statusOnly = false): ReadonlySet<string> {
    // While caches fill nobody has looked yet, and each of ten thousand objects asks.
    if (this.#owners.size === 0) return NOBODY;
    const name = resourceName(resource);
    const namespace = metadata.namespace ?? '';
    const key = `${name} ${namespace}/${metadata.name}`;
    const out = new Set(this.#owners.get(key));
    if (!statusOnly) for (const owner of this.#owners.get(key + SUFFIX.wish) ?? []) out.add(owner);
    for (const [interest, { namespace: within, labels, part }] of this.#scans.get(name) ?? []) {
      if (within !== namespace || (statusOnly && part === 'wish')) continue;
      if (Object.entries(labels).every(([k, v]) => metadata.labels?.[k] === v))
        for (const owner of this.#owners.get(interest) ?? []) out.add(owner);
    }
    return out;
  }

  #leave(owner: string, interest: Interest): void {
    const owners = this.#owners.get(interest);
    owners?.delete(owner);
    if (owners?.size !== 0) return;
    this.#owners.delete(interest);
    this.#scans.get(interest.slice(0, interest.indexOf(' ')))?.delete(interest);
  }
}
