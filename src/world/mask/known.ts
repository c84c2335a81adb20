import { Lru } from '../lru.ts';
import { Matcher } from './matcher.ts';
import { MASK, maskShapes } from './shapes.ts';

interface Known {
  readonly namespace: string;
  version: string;
  readonly values: Set<string>;
}

/** All of a thousand clouds, and those that were there before. */
const MOST_SECRETS = 100_000;

/**
 * The values of all Secrets that a process has seen, by namespace. What a Secret held before stays known as long as there
 * is room: pods may still print it. Values are taken out of a Secret when the first text of its namespace asks for them.
 */
export class KnownSecrets {
  readonly #matcher = new Matcher();
  readonly #secrets = new Lru<string, Known>(MOST_SECRETS, ({ namespace, values }) => {
    for (const value of values) this.#matcher.remove(value, namespace);
  });
  /** By namespace and name. */
  readonly #waiting = new Map<
    string,
    Map<string, { readonly version: string; readonly values: () => readonly string[] }>
  >();

  learn(
    { namespace = '', name }: { readonly namespace?: string; readonly name: string },
    version: string,
    values: () => readonly string[],
  ): void {
    if (this.#secrets.get(`${namespace}/${name}`)?.version === version) return;
    const waiting = this.#waiting.get(namespace) ?? new Map();
    this.#waiting.set(namespace, waiting.set(name, { version, values }));
  }

  /**
   * By value and by shape. With a namespace only its own values: a text that one namespace sees must not reveal whether it
   * holds a secret of another.
   */
  mask(text: string, namespace?: string): string {
    if (text === '') return text;
    for (const where of namespace === undefined ? [...this.#waiting.keys()] : [namespace]) this.#take(where);
    return maskShapes(this.#matcher.replace(text, () => MASK, namespace));
  }

  #take(namespace: string): void {
    for (const [name, { version, values }] of this.#waiting.get(namespace) ?? []) {
      const key = `${namespace}/${name}`;
      const known = this.#secrets.get(key) ?? { namespace, version, values: new Set() };
      known.version = version;
      for (const value of values()) {
        if (known.values.has(value)) continue;
        known.values.add(value);
        this.#matcher.add(value, namespace);
      }
      this.#secrets.set(key, known);
    }
    this.#waiting.delete(namespace);
  }
}
