import type { AnyKind, ObjectOf } from '../../../../api/schema/kind.ts';
import type { Informer } from '../../../kube/cache/cache.ts';
import { type AnyObject, type DeepReadonly, keyOf, type Ref } from '../../../kube/object.ts';
import { Pod, type Resource, Secret } from '../../../kube/resource.ts';
import type { Wish } from '../cx.ts';
import { ROW_LABEL } from '../names.ts';
import { assertReady } from '../ready.ts';
import { stall, subjectOf, wait } from '../unmet.ts';
import { INSTANCE_INDEX, INSTANCE_LABEL, OWNER_INDEX } from './indexes.ts';
import { decoded, keyIn, learn } from './memory.ts';
import type { Live, Walk } from './walk.ts';

/** What a pass looks at, from the cache where it can: each look is remembered, so that a change runs the object again. */
export class Reading {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  get(resource: Resource, name: string, at = this.#walk.home): Live | undefined {
    const ref = this.#walk.ref(name, resource, at);
    this.#walk.tracked.read(resource, ref);
    return this.#walk.written.get(keyIn(resource, ref)) ?? this.informer(resource)?.get(ref);
  }

  /** As the rows see it. */
  seen(resource: Resource, name: string, at = this.#walk.home): Live | undefined {
    const found = this.get(resource, name, at);
    return found && this.#walk.shared.lens ? this.#walk.shared.lens(found) : found;
  }

  list(resource: Resource, labels: Readonly<Record<string, string>>, namespace = this.#walk.home): readonly Live[] {
    this.#walk.tracked.scan(resource, namespace, labels);
    const instance = labels[INSTANCE_LABEL];
    const index = instance === undefined ? undefined : { name: INSTANCE_INDEX, value: instance };
    return this.informer(resource)?.list({ namespace, labels, ...(index && { index }) }) ?? [];
  }

  wish(resource: Resource, name: string): Wish | undefined {
    const ref = this.#walk.ref(name, resource);
    this.#walk.tracked.read(resource, ref, 'wish');
    const found = this.#walk.written.get(keyIn(resource, ref)) ?? this.informer(resource)?.get(ref);
    return found && wishOf(this.#walk.shared.lens ? this.#walk.shared.lens(found) : found);
  }

  wishes(resource: Resource): readonly Wish[] {
    const namespace = this.#walk.object.metadata.namespace ?? '';
    this.#walk.tracked.scan(resource, namespace, {}, 'wish');
    return this.informer(resource)?.list({ namespace }).map(wishOf) ?? [];
  }

  ready<K extends AnyKind>(kind: K, name: string, field: string): DeepReadonly<ObjectOf<K>> {
    const found = this.seen(kind, name);
    if (found === undefined)
      throw wait({
        reason: 'NotFound',
        about: subjectOf(kind, name),
        what: `${kind.kind} ${name} does not exist`,
        who: 'User',
        next: `create it, or name another one in ${field}`,
        field,
      });
    assertReady(found);
    return found as unknown as DeepReadonly<ObjectOf<K>>;
  }

  async secret<K extends string>(name: string, keys: readonly K[], field: string): Promise<Record<K, string>> {
    const data = await this.secretData(name);
    if (data === undefined)
      throw wait({
        reason: 'SecretNotFound',
        about: subjectOf(Secret, name),
        what: `Secret ${name}, named in ${field}, does not exist`,
        who: 'User',
        next: `create it with ${keys.length === 1 ? 'key' : 'keys'} ${keys.join(', ')}`,
        keys,
      });
    for (const key of keys)
      if (data[key] === undefined)
        throw wait({
          reason: 'SecretIncomplete',
          about: subjectOf(Secret, name),
          what: `Secret ${name}, named in ${field}, has no key ${key}`,
          who: 'User',
          next: `add ${key} to it`,
          keys: [key],
        });
    // Bytes that are no UTF-8 became this character: a password with them would be another one.
    const broken = keys.find(key => data[key]?.includes('\uFFFD'));
    if (broken !== undefined)
      throw stall({
        reason: 'SecretInvalid',
        about: subjectOf(Secret, name),
        what: `Secret ${name}, named in ${field}: key ${broken} is not UTF-8 text`,
        who: 'User',
        next: 'encode it as UTF-8',
      });
    return data as Record<K, string>;
  }

  #managedSecret(ref: Ref): Live | undefined {
    this.#walk.tracked.read(Secret, ref);
    return this.#walk.written.get(keyIn(Secret, ref)) ?? this.#walk.shared.cache.for(Secret).get(ref);
  }

  async secretData(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const managed = this.#managedSecret(this.#walk.ref(name));
    return managed ? this.decode(managed) : (await this.#foreignSecret(name))?.data;
  }

  async secretObject(name: string): Promise<Live | undefined> {
    return this.#managedSecret(this.#walk.ref(name)) ?? (await this.#foreignSecret(name))?.secret;
  }

  async #foreignSecret(name: string): Promise<{ secret: Live; data: Readonly<Record<string, string>> } | undefined> {
    const ref = this.#walk.ref(name);
    const meta = this.#walk.shared.secrets.get(ref);
    if (meta === undefined) return undefined;
    const version = `${meta.metadata.uid} ${meta.metadata.resourceVersion}`;
    const memo = this.#walk.shared.memory.secrets.get(keyOf(ref));
    if (memo?.version === version) return memo;
    const live = await this.#walk.client.get<AnyObject>(Secret, ref);
    if (live === undefined) return undefined;
    const found = { secret: live, data: this.decode(live) };
    this.#walk.shared.memory.secrets.set(keyOf(ref), {
      version: `${live.metadata.uid} ${live.metadata.resourceVersion}`,
      ...found,
    });
    return found;
  }

  decode(secret: Live): Readonly<Record<string, string>> {
    const data = decoded(secret);
    learn(this.#walk.shared.memory.known, secret, data);
    return data;
  }

  owned(resource: Resource): readonly Live[] {
    const index = { name: OWNER_INDEX, value: this.#walk.object.metadata.uid ?? '' };
    return [...new Set([this.#walk.home, this.#walk.nodes])].flatMap(
      namespace => this.informer(resource)?.list({ namespace, index }) ?? [],
    );
  }

  /** undefined where nobody watches an optional resource: its CRD is missing, and with it every object. */
  informer(resource: Resource): Informer | undefined {
    const { cache } = this.#walk.shared;
    return resource.optional && !cache.has(resource) ? undefined : cache.for(resource);
  }

  /** Whether this object owns something that the row made. */
  made(row: string): boolean {
    return this.marked(row).includes('');
  }

  /** What follows the prefix in the row marks of what this object owns. */
  marked(prefix: string): readonly string[] {
    const marks = new Set<string>();
    for (const resource of this.#walk.plan.manages)
      for (const object of this.owned(resource)) {
        const mark = object.metadata.labels?.[ROW_LABEL];
        if (mark?.startsWith(prefix) && !object.metadata.deletionTimestamp) marks.add(mark.slice(prefix.length));
      }
    return [...marks];
  }

  podsOf(workload: Live): readonly Live[] {
    const { selector } = workload.spec as { selector?: { matchLabels?: Record<string, string> } };
    return this.list(Pod, selector?.matchLabels ?? {}, workload.metadata.namespace);
  }
}

/** The status is cut off in deed, not only in type: who reads it would not hear of its changes. */
function wishOf(object: Live): Wish {
  const { status: _, ...rest } = object;
  return rest as Wish;
}
