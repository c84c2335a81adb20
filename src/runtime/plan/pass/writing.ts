import type { AnyKind, InputOf, ObjectOf } from '../../../../api/schema/kind.ts';
import type { DeleteOptions } from '../../../kube/client.ts';
import { ApiError } from '../../../kube/errors.ts';
import type { AnyObject, DeepReadonly, Ref } from '../../../kube/object.ts';
import { type Resource, resourceName, Secret } from '../../../kube/resource.ts';
import { secretsOf } from '../../../world/mask/secret.ts';
import { hashOf } from '../canonical.ts';
import type { Body, Retention } from '../cx.ts';
import { dress, mayDelete, notOurs } from '../dress.ts';
import { applied } from '../match.ts';
import { MANAGED_LABEL, MANAGER, ROW_LABEL } from '../names.ts';
import { wait } from '../unmet.ts';
import { keyIn, learn } from './memory.ts';
import type { NodeNamespace } from './nodes.ts';
import type { Reading } from './reading.ts';
import type { Live, Walk } from './walk.ts';

/** What a pass applies, creates and deletes, only where that changes something. */
export class Writing {
  readonly #walk: Walk;
  readonly #nodes: NodeNamespace;
  readonly #reading: Reading;
  #alive: Promise<void> | undefined;
  /** By row: keys of what it applied or wants kept. */
  readonly kept = new Map<string, Set<string>>();

  constructor(walk: Walk, nodes: NodeNamespace, reading: Reading) {
    this.#walk = walk;
    this.#nodes = nodes;
    this.#reading = reading;
  }

  async apply(
    row: string,
    resource: Resource,
    body: Body,
    { retain, at = this.#walk.home }: Retention & { readonly at?: string } = {},
  ): Promise<Live> {
    this.declared(resource);
    const wanted = dress(this.#walk.object, resource, body, row, retain, at);
    const ref = this.#walk.ref(body.metadata.name, undefined, at);
    this.keep(row, resource.kind, ref.name, at);
    return this.put(resource, ref, wanted, this.#reading.get(resource, ref.name, at));
  }

  async put(resource: Resource, ref: Ref, wanted: AnyObject, known: Live | undefined): Promise<Live> {
    const elsewhere = ref.namespace !== this.#walk.home;
    if (elsewhere) this.#nodes.nodesServed();
    const key = keyIn(resource, ref);
    const isThere = (live: Live): boolean => {
      if (applied(wanted, live, MANAGER)) return true;
      const memo = this.#walk.shared.memory.applied.get(key);
      // The hash is the dearest question of a pass, so it comes last.
      return memo !== undefined && memo.version === live.metadata.resourceVersion && memo.hash === hashOf(wanted);
    };
    const found = known && { live: known, why: notOurs(this.#walk.object, known) };
    if (found && !found.why && isThere(found.live)) return found.live;
    // Before every write, and before a word on what others have there: the namespace may have been taken back.
    if (elsewhere) await this.#nodes.nodesAdmitPods();
    // A name that the cache does not know may be taken by an object without our label (rule 3).
    const live = known ?? (await this.#walk.client.get<AnyObject>(resource, ref));
    if (live) {
      const why = found ? found.why : notOurs(this.#walk.object, live);
      if (why) throw why;
      if (known === undefined && isThere(live)) return live;
    } else await this.ownerLives();
    const result = await this.#walk.client.apply(resource, wanted, { manager: MANAGER, force: true });
    this.wrote(resource, result);
    // If the server normalised a value, our text and its object never match; the version then says "nothing changed".
    this.#walk.shared.memory.applied.set(key, { hash: hashOf(wanted), version: result.metadata.resourceVersion });
    return result;
  }

  /**
   * Asked once per pass, before it makes something. The watch that shows a child gone may be ahead of the one that
   * shows its owner gone: what is made then has nobody to collect it if it is retained, and flutters if it is not.
   */
  ownerLives(): Promise<void> {
    const check = async (): Promise<void> => {
      const { name, uid, deletionTimestamp } = this.#walk.object.metadata;
      const live = await this.#walk.client.get<AnyObject>(this.#walk.plan.kind, this.#walk.ref(name));
      if (live?.metadata.uid === uid && (deletionTimestamp || !live?.metadata.deletionTimestamp)) return;
      throw wait({
        reason: 'Terminating',
        what: `${this.#walk.object.kind} ${name} is deleted, or is another one by now`,
        who: 'Operator',
        next: 'see the change',
      });
    };
    this.#alive ??= check();
    return this.#alive;
  }

  wrote(resource: Resource, result: AnyObject): void {
    if (resource === Secret) learn(this.#walk.shared.memory.known, result);
    this.#walk.written.set(
      keyIn(resource, this.#walk.ref(result.metadata.name, resource, result.metadata.namespace)),
      result,
    );
    this.#walk.shared.gate.wrote(this.#walk.object.metadata.uid ?? '', resource, result.metadata.resourceVersion);
  }

  keep(row: string, kind: string, name: string, at = this.#walk.home): void {
    const kept = this.kept.get(row) ?? new Set<string>();
    this.kept.set(row, kept.add(keptIn(kind, name, at)));
  }

  /** RBAC is generated from what plans declare: an undeclared write would work in tests and fail in a cluster. */
  declared(resource: Resource): void {
    if (!this.#walk.plan.manages.some(managed => resourceName(managed) === resourceName(resource)))
      throw new Error(`The plan of ${this.#walk.plan.kind.kind} writes ${resourceName(resource)} without declaring it`);
  }

  async remove(resource: Resource, name: string, at: string): Promise<void> {
    this.declared(resource);
    if (at !== this.#walk.home) this.#nodes.nodesServed();
    const ref = this.#walk.ref(name, undefined, at);
    this.#walk.tracked.read(resource, ref);
    const live = await this.#walk.client.get<AnyObject>(resource, ref);
    if (live === undefined || !mayDelete(this.#walk.object, live)) return;
    const left = live.metadata.deletionTimestamp ? live : await this.delete(resource, live);
    if (left)
      throw wait({
        reason: 'Terminating',
        about: { kind: resource.kind, name, ...(resource.namespaced ? { namespace: at } : { namespace: '' }) },
        what: `${live.kind} ${name} is being deleted`,
        who: 'Cluster',
        next: 'finish deleting it',
      });
  }

  async delete(
    resource: Resource,
    live: Live,
    more: Pick<DeleteOptions, 'resourceVersion' | 'propagation'> = {},
  ): Promise<AnyObject | undefined> {
    const { name, namespace, uid = '' } = live.metadata;
    const left = await this.#walk.client.delete(resource, this.#walk.ref(name, resource, namespace), { uid, ...more });
    if (left)
      this.#walk.shared.gate.wrote(this.#walk.object.metadata.uid ?? '', resource, left.metadata.resourceVersion);
    return left;
  }

  /** A Secret of the namespace, by a create: two that ask at once get the same. */
  async create(
    ref: Ref,
    values: () => Readonly<Record<string, string>>,
    annotations?: Readonly<Record<string, string>>,
  ): Promise<Live> {
    await this.ownerLives();
    const data = Object.entries(values()).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...ref,
        labels: {
          'app.kubernetes.io/managed-by': MANAGER,
          'app.kubernetes.io/part-of': 'openstack',
          [MANAGED_LABEL]: 'true',
        },
        ...(annotations && { annotations }),
      },
      type: 'Opaque',
      data: Object.fromEntries(data) as Record<string, string>,
    };
    try {
      const made = await this.#walk.client.create<AnyObject>(Secret, body, { manager: MANAGER });
      this.wrote(Secret, made);
      return made;
    } catch (error) {
      const other =
        error instanceof ApiError && error.status === 409 && (await this.#walk.client.get<AnyObject>(Secret, ref));
      if (other) return other;
      throw error;
    }
  }

  async generate<K extends string>(
    row: string,
    name: string,
    make: () => Record<K, string>,
    options: Retention = {},
  ): Promise<Record<K, string>> {
    const ref = this.#walk.ref(name);
    this.keep(row, Secret.kind, name);
    // An empty cache must never make new keys for old data: ask the server before the first create.
    const found = this.#reading.get(Secret, name) ?? (await this.#walk.client.get<AnyObject>(Secret, ref));
    if (found) {
      const why = notOurs(this.#walk.object, found);
      if (why) throw why;
      return this.#reading.decode(found) as Record<K, string>;
    }
    const values = make();
    // Before it is sent: the answer may repeat it.
    this.#walk.shared.memory.known.learn(ref, 'made now', () => secretsOf(values, { made: true, files: false }));
    const data = Object.fromEntries(
      Object.entries<string>(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
    );
    await this.apply(row, Secret, { metadata: { name }, type: 'Opaque', data }, options);
    return values;
  }

  /** A patch of single labels, which leaves those of others alone. */
  label(
    resource: Resource,
    ref: Ref,
    uid: string,
    labels: Readonly<Record<string, string | null>>,
  ): Promise<AnyObject> {
    return this.#walk.client.patch(resource, ref, { metadata: { uid, labels } }, { type: 'merge', manager: MANAGER });
  }

  /**
   * Deletes what a row made in earlier passes and not in this one (rule 7). The cache proposes, a live read decides,
   * the UID makes sure: a new leader's cache may be behind.
   */
  async prune(row: string): Promise<void> {
    const kept = this.kept.get(row) ?? new Set<string>();
    for (const resource of this.#walk.plan.manages)
      for (const object of this.#reading.owned(resource)) {
        if (object.metadata.labels?.[ROW_LABEL] !== row || object.metadata.deletionTimestamp) continue;
        if (kept.has(keptIn(object.kind, object.metadata.name, object.metadata.namespace))) continue;
        await this.#prune(resource, object, row);
      }
  }

  async #prune(resource: Resource, { metadata: { name, namespace, uid } }: Live, row: string): Promise<void> {
    const live = await this.#walk.client.get<AnyObject>(resource, this.#walk.ref(name, resource, namespace));
    if (live === undefined || live.metadata.uid !== uid || live.metadata.labels?.[ROW_LABEL] !== row) return;
    await this.delete(resource, live);
  }

  child<K extends AnyKind>(
    row: string,
    kind: K,
    name: string,
    spec: Partial<InputOf<K>>,
  ): Promise<DeepReadonly<ObjectOf<K>>> {
    return this.apply(row, kind, { metadata: { name }, spec }, {}) as unknown as Promise<DeepReadonly<ObjectOf<K>>>;
  }
}

export const keptIn = (kind: string, name: string, namespace = ''): string => `${kind} ${namespace}/${name}`;
