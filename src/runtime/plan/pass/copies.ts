import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { AnyObject, DeepReadonly } from '../../../kube/object.ts';
import { Pod, Secret } from '../../../kube/resource.ts';
import { sameJson } from '../canonical.ts';
import type { Body } from '../cx.ts';
import { dressCopy, holdersOf, labelsElsewhere, labelsOfCopies, notOurs } from '../dress.ts';
import { secretsNamed } from '../mounted.ts';
import { COPIES, holderLabel, RETAINED_LABEL, ROW_LABEL } from '../names.ts';
import { type Subject, Unmet, wait } from '../unmet.ts';
import { INSTANCE_LABEL, KIND_LABEL } from './indexes.ts';
import { keyIn } from './memory.ts';
import type { NodeNamespace } from './nodes.ts';
import type { Reading } from './reading.ts';
import { type Live, LOOK_AGAIN_MS, type Walk } from './walk.ts';
import { keptIn, type Writing } from './writing.ts';

/** What lies in the namespace of nodes: copies of the Secrets that pods mount there, and how all of it goes. */
export class Copies {
  readonly #walk: Walk;
  readonly #nodes: NodeNamespace;
  readonly #reading: Reading;
  readonly #writing: Writing;
  /** By name: rows that mount the same Secret would make its copy at once, each without knowing of the other. */
  readonly #copies = new Map<string, Promise<void>>();

  constructor(walk: Walk, nodes: NodeNamespace, reading: Reading, writing: Writing) {
    this.#walk = walk;
    this.#nodes = nodes;
    this.#reading = reading;
    this.#writing = writing;
  }

  /**
   * Copies of Secrets in the node namespace that no row of this pass asked for. Pods there read what changes in place, e.g.
   * a new CA, so a row that waits must not keep it from them. `complete`: every row has told what it mounts, and what
   * nothing names goes. One that a pod there names stays: the kubelet asks for it when a container of that pod starts again.
   * So does one of config that is kept as a spare here (rule 19).
   */
  async tendCopies(complete: boolean): Promise<void> {
    if (!this.#walk.hasNodes) return;
    const kept = this.#writing.kept.get(COPIES) ?? new Set<string>();
    const left = this.#reading
      .owned(Secret)
      .filter(
        ({ kind, metadata }) =>
          metadata.labels?.[ROW_LABEL] === COPIES &&
          metadata.deletionTimestamp === undefined &&
          !kept.has(keptIn(kind, metadata.name, metadata.namespace)),
      );
    if (left.length === 0) return;
    const { kind, metadata } = this.#walk.object;
    const pods = this.#reading.list(
      Pod,
      { [KIND_LABEL]: kind.toLowerCase(), [INSTANCE_LABEL]: metadata.name },
      this.#walk.nodes,
    );
    const named = new Set(pods.flatMap(pod => secretsNamed(pod.spec as DeepReadonly<PodSpec>)));
    for (const copy of left) {
      const source = await this.#reading.secretObject(copy.metadata.name);
      const isSpare = source?.immutable === true;
      if (complete && !isSpare && !named.has(copy.metadata.name)) await this.#letGo(copy);
      else if (source && !isSpare) await this.#copySecret(source).catch(error => this.#lookAgain(error));
    }
  }

  /** The rows have told what they wait for, and the status is written. */
  #lookAgain(error: unknown): void {
    if (!(error instanceof Unmet)) throw error;
    this.#walk.again(error.after ?? LOOK_AGAIN_MS);
  }

  /** The last that holds a copy deletes it. By its version: somebody else may begin to hold it just now. */
  async #letGo({ metadata: { name } }: Live): Promise<AnyObject | undefined> {
    const ref = this.#walk.ref(name, Secret, this.#walk.nodes);
    this.#walk.tracked.read(Secret, ref);
    const live = await this.#walk.client.get<AnyObject>(Secret, ref);
    if (live === undefined || notOurs(this.#walk.object, live)) return undefined;
    const mine = holderLabel(this.#walk.object);
    const { uid = '', resourceVersion } = live.metadata;
    if (holdersOf(live).every(([label]) => label === mine))
      return this.#writing.delete(Secret, live, resourceVersion === undefined ? {} : { resourceVersion });
    if (live.metadata.labels?.[mine] !== undefined)
      this.#writing.wrote(Secret, await this.#writing.label(Secret, ref, uid, { [mine]: null }));
    return undefined;
  }

  /** Also those that nobody holds: who made them was stopped before it could say so. */
  async #copiesHeld(): Promise<readonly AnyObject[]> {
    if (!this.#walk.plan.manages.includes(Secret)) return [];
    const labelSelector = Object.entries(labelsOfCopies(this.#walk.home))
      .map(pair => pair.join('='))
      .join();
    const { items } = await this.#walk.client.list<AnyObject>(Secret, { namespace: this.#walk.nodes, labelSelector });
    const mine = holderLabel(this.#walk.object);
    return items.filter(copy => holdersOf(copy).length === 0 || holdersOf(copy).some(([label]) => label === mine));
  }

  /** What a pod there mounts must be there: each Secret of its template, as it is here. */
  async copySecrets(body: Body): Promise<void> {
    const { template } = (body.spec ?? {}) as { readonly template?: { readonly spec?: DeepReadonly<PodSpec> } };
    if (template?.spec === undefined) return;
    for (const name of secretsNamed(template.spec)) {
      const source = await this.#reading.secretObject(name);
      // Where it is missing, the pod says so, as it would here.
      if (source) await this.#copySecret(source);
    }
  }

  #copySecret(source: Live): Promise<void> {
    const { name } = source.metadata;
    this.#writing.keep(COPIES, Secret.kind, name, this.#walk.nodes);
    const copying = this.#copies.get(name) ?? this.#copy(source);
    this.#copies.set(name, copying);
    return copying;
  }

  async #copy({ metadata: { name }, type, immutable, data = {} }: Live): Promise<void> {
    this.#writing.declared(Secret);
    const ref = this.#walk.ref(name, Secret, this.#walk.nodes);
    const owner = this.#walk.object;
    const there = this.#reading.get(Secret, name, this.#walk.nodes);
    // None of it can be changed, and the source is another one by now.
    const other =
      there &&
      (there.type !== type ||
        (there.immutable === true && (immutable !== true || !sameJson(there.data ?? {}, data)))) &&
      !notOurs(owner, there);
    if (other) {
      await this.#nodes.nodesAdmitPods();
      await this.#writing.delete(Secret, there);
      this.#walk.written.delete(keyIn(Secret, ref));
    }
    const body = { metadata: { name }, type, ...(immutable === true && { immutable }), data };
    const copy = await this.#writing.put(
      Secret,
      ref,
      dressCopy(this.#walk.home, this.#walk.nodes, body),
      other ? undefined : there,
    );
    const mine = [holderLabel(owner), owner.metadata.uid ?? ''] as const;
    const missing = [...(other ? holdersOf(there) : []), mine].filter(
      ([key, uid]) => copy.metadata.labels?.[key] !== uid,
    );
    if (missing.length === 0) return;
    await this.#nodes.nodesAdmitPods();
    this.#writing.wrote(
      Secret,
      await this.#writing.label(Secret, ref, copy.metadata.uid ?? '', Object.fromEntries(missing)),
    );
  }

  /** Takes along what lies in the node namespace: no garbage collector looks for an owner in another one. */
  async leaveNodes(): Promise<void> {
    if (this.#walk.nodes === this.#walk.home) return;
    this.#nodes.nodesServed();
    const labels = labelsElsewhere(this.#walk.object);
    const labelSelector = Object.entries(labels)
      .map(pair => pair.join('='))
      .join();
    const going: Subject[] = [];
    const namespace = this.#walk.nodes;
    for (const resource of this.#walk.plan.manages) {
      if (!resource.namespaced || this.#reading.informer(resource) === undefined) continue;
      const { items } = await this.#walk.client.list<AnyObject>(resource, {
        namespace: this.#walk.nodes,
        labelSelector,
      });
      for (const live of items) {
        // Data that was to stay has gone by its own undo, or stays.
        if (live.metadata.labels?.[RETAINED_LABEL] !== undefined) continue;
        this.#walk.tracked.read(resource, this.#walk.ref(live.metadata.name, resource, this.#walk.nodes));
        const left = live.metadata.deletionTimestamp ? live : await this.#writing.delete(resource, live);
        if (left) going.push({ kind: resource.kind, name: live.metadata.name, namespace });
      }
    }
    for (const copy of await this.#copiesHeld()) {
      const left = copy.metadata.deletionTimestamp ? copy : await this.#letGo(copy);
      if (left) going.push({ kind: Secret.kind, name: copy.metadata.name, namespace });
    }
    const [first] = going;
    if (first === undefined) return;
    throw wait({
      reason: 'Terminating',
      about: first,
      what: `${first.kind} ${first.name} in namespace ${namespace} is being deleted`,
      who: 'Cluster',
      next: 'finish deleting it',
    });
  }
}
