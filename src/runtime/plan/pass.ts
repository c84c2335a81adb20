import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { AnyKind, InputOf, ObjectOf } from '../../../api/kind.ts';
import type { Owner } from '../../cloud/ownership.ts';
import type { Cloud } from '../../cloud/ports.ts';
import type { Cache, Informer } from '../../kube/cache.ts';
import type { Client, DeleteOptions } from '../../kube/client.ts';
import { ApiError } from '../../kube/errors.ts';
import { type AnyObject, type DeepReadonly, keyOf, type Ref } from '../../kube/object.ts';
import { Job, Namespace, Pod, type Resource, resourceName, Secret } from '../../kube/resource.ts';
import { Lru } from '../../world/lru.ts';
import { KnownSecrets } from '../../world/mask/known.ts';
import { secretsOf } from '../../world/mask/secret.ts';
import type { Clock, Random } from '../../world/world.ts';
import type { Gate } from '../gate.ts';
import { hashOf, sameJson } from './canonical.ts';
import type { Acts, Body, Cx, JobBody, Retention, Wish } from './cx.ts';
import {
  dress,
  dressCopy,
  holdersOf,
  labelsElsewhere,
  labelsOfCopies,
  mayDelete,
  notOurs,
  ownerUids,
} from './dress.ts';
import { type HashKey, isOfOther, type JobHash, keyedHash, plainJob, secretJob } from './keyed.ts';
import type { Managed } from './managed.ts';
import { applied, appliedTemplate } from './match.ts';
import { secretsNamed } from './mounted.ts';
import {
  ADOPT_ANNOTATION,
  COPIES,
  FINALIZER,
  FINALIZER_MANAGER,
  HASH_KEY_SECRET,
  holderLabel,
  isPlainOwnerKey,
  keptKey,
  MANAGED_LABEL,
  MANAGER,
  NODE_OBJECTS,
  NODES_OF_LABEL,
  OWNER_OF_ANNOTATION,
  OWNER_SECRET,
  RETAINED_LABEL,
  RETRY_ANNOTATION,
  ROW_LABEL,
  SKIP_UNDO_ANNOTATION,
  STEP_LABEL,
  UNDO_ANNOTATION,
} from './names.ts';
import { assertReady, conditionOf, jobExit, jobFailure, jobStuck, workloadUnmet } from './ready.ts';
import { HANGS_MS, rollOf } from './roll.ts';
import type { Plan } from './row.ts';
import type { Reads } from './tracker.ts';
import { stall, Unmet, wait } from './unmet.ts';

type Live = DeepReadonly<AnyObject>;

/** What all passes share. */
export interface Shared {
  readonly client: Client;
  readonly cache: Cache;
  /** Metadata of every Secret and of no other use: foreign ones are read live, once per version (rule 2). */
  readonly secrets: Informer;
  readonly gate: Gate;
  readonly cloud: Cloud;
  /** Throws when leadership is in doubt; absent where nobody else could lead. */
  readonly fence?: () => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** That are served; absent or empty: all. */
  readonly namespaces?: readonly string[];
  readonly memory: Memory;
  /** Tests look over the shoulder of the rows at every object of ours they read (rule 26). */
  readonly lens?: <T extends Live>(object: T) => T;
}

/** What survives a pass only to save requests: losing it costs reads and patience, never a write. */
export class Memory {
  /** By resource and key: what was applied last, and the version that the server answered it with. */
  readonly applied = new Lru<string, { readonly hash: string; readonly version: string | undefined }>(MOST_APPLIED);
  /** By namespace/name of foreign Secrets: what they are at a version. */
  readonly secrets = new Lru<string, { version: string; secret: AnyObject; data: Readonly<Record<string, string>> }>(
    MOST_SECRETS,
  );
  /** What no text may hold. */
  readonly known: KnownSecrets;
  /** By resource and key of sets that a new template waits for: what they look like, and since when. */
  readonly rolls = new Lru<string, { picture: string; since: number }>(MOST_ROLLS);

  constructor(known = new KnownSecrets()) {
    this.known = known;
  }

  /** It is gone: what comes under its name is another one. */
  forget(resource: Resource, ref: Ref): void {
    const key = keyIn(resource, ref);
    this.applied.delete(key);
    this.rolls.delete(key);
    if (resource === Secret) this.secrets.delete(keyOf(ref));
  }
}

/** Objects below some hundred clouds; an entry is a hash and a version. What is pushed out costs an apply that changes nothing. */
const MOST_APPLIED = 50_000;
/** Those that users bring. Each holds its data, so there are fewer. */
const MOST_SECRETS = 1_000;
const MOST_ROLLS = 10_000;

/** What a namespace admits. */
const ENFORCE = 'pod-security.kubernetes.io/enforce';

/** One that is made by hand carries no label of ours, so no watch of ours shows its data. */
const LOOK_FOR_OWNER_MS = 60_000;

/** The index by which a pass finds what its object owns. */
export const OWNER_INDEX = 'owner';
export const ownerIndex = (object: Live): readonly string[] => ownerUids(object);

/** Finds the pods of one object among those of a thousand others. */
export const INSTANCE_INDEX = 'instance';
const INSTANCE_LABEL = 'app.kubernetes.io/instance';
const KIND_LABEL = 'app.kubernetes.io/name';
export const instanceIndex = (object: Live): readonly string[] => {
  const instance = object.metadata.labels?.[INSTANCE_LABEL];
  return instance === undefined ? [] : [instance];
};

/** No text that this process writes holds a value of it from now on. */
export function learn(known: KnownSecrets, secret: Live, data?: Readonly<Record<string, string>>): void {
  const { metadata } = secret;
  const made = metadata.labels?.[MANAGED_LABEL] === 'true';
  const all = (): Readonly<Record<string, string>> => data ?? decoded(secret);
  known.learn(metadata, `${metadata.uid} ${metadata.resourceVersion}`, () =>
    secretsOf(metadata.name === OWNER_SECRET ? withoutId(all()) : all(), { made, files: false }),
  );
}

const withoutId = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !isPlainOwnerKey(key)));

const decoded = (secret: Live): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((secret.data ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString('utf8'),
    ]),
  );

/** One walk over the rows of one object: what it read, wrote, reported and learned. */
export class Pass<O extends Managed> {
  readonly #shared: Shared;
  readonly #plan: Plan<O>;
  readonly #object: DeepReadonly<O>;
  readonly #reads: Reads;
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #cloud: Cloud;
  /** Our own writes of this pass, ahead of the cache. */
  readonly #written = new Map<string, Live>();
  /** By row: keys of what it applied or wants kept. */
  readonly #kept = new Map<string, Set<string>>();
  #alive: Promise<void> | undefined;
  readonly #home: string;
  /** Where its objects of nodes are: spec.nodeNamespace, or its own namespace. */
  readonly #nodes: string;
  #nodesAdmit: Promise<void> | undefined;
  /** By name: rows that mount the same Secret would make its copy at once, each without knowing of the other. */
  readonly #copies = new Map<string, Promise<void>>();
  readonly reported: Record<string, unknown> = {};
  readonly events: { readonly reason: string; readonly note: string }[] = [];
  /** By row. */
  readonly notes = new Map<string, string>();
  after: number | undefined;
  /** Rows that acted outside Kubernetes; undefined where nobody kept a record, and all may have. */
  #effects: ReadonlySet<string> | undefined;
  #recording: Promise<void> = Promise.resolve();

  constructor(shared: Shared, plan: Plan<O>, object: DeepReadonly<O>, reads: Reads, signal: AbortSignal) {
    this.#shared = shared;
    this.#plan = plan;
    this.#object = object;
    this.#reads = reads;
    this.#signal = signal;
    this.#client = shared.client.withSignal(signal);
    this.#home = object.metadata.namespace ?? '';
    this.#nodes = (object.spec as { nodeNamespace?: string } | undefined)?.nodeNamespace || this.#home;
    const record = object.metadata.annotations?.[UNDO_ANNOTATION];
    this.#effects = record === undefined ? undefined : new Set(record.split(',').filter(row => row !== ''));
    const cloud = shared.cloud.during?.({ signal, fence: shared.fence ?? (() => undefined) }) ?? shared.cloud;
    this.#cloud = cloud.asked?.(`${object.kind} ${object.metadata.name}`) ?? cloud;
  }

  /** A namespace that is being deleted takes everything along, and nothing can be created in it any more. */
  async namespaceGoes(): Promise<boolean> {
    const { namespace = '' } = this.#object.metadata;
    const live = await this.#client.get<AnyObject>(Namespace, { namespace: '', name: namespace });
    return live?.metadata.deletionTimestamp !== undefined;
  }

  readonly #adopted = (what: string, from: string): void => {
    const before = (this.#object.status as { adopted?: readonly string[] } | undefined)?.adopted ?? [];
    const known = (this.reported.adopted as readonly string[] | undefined) ?? before;
    if (known.includes(what)) return;
    this.reported.adopted = [...new Set([...known, what])].slice(-20);
    this.events.push({
      reason: 'Adopted',
      note: `${what} was adopted from ${from}, as annotation ${ADOPT_ANNOTATION} says`,
    });
  };

  /** Of an object without a record all rows may have acted: the first one that is written lists them all. */
  #effect(row: string): Promise<void> {
    this.#recording = this.#recording.then(async () => {
      if (this.#effects?.has(row)) return;
      // First: where a record is, an id was, and is not made a second time.
      await this.#ownerId();
      const all = this.#effects ?? this.#plan.rows.filter(each => each.undo ?? each.each?.undo).map(each => each.type);
      const record = new Set([...all, row]);
      const { name, namespace, uid } = this.#object.metadata;
      const { apiVersion, kind } = this.#object;
      const annotations = { [UNDO_ANNOTATION]: [...record].sort().join(',') };
      const body = { apiVersion, kind, metadata: { name, namespace, uid, finalizers: [FINALIZER], annotations } };
      const options = { manager: FINALIZER_MANAGER, force: true };
      await this.#ownerLives();
      const written = await this.#client.apply(this.#plan.kind, body as AnyObject, options);
      this.#shared.gate.wrote(uid ?? '', this.#plan.kind, written.metadata.resourceVersion);
      this.#effects = record;
    });
    return this.#recording;
  }

  async #owner(part?: string): Promise<Owner> {
    const { kind, metadata } = this.#object;
    const object = [kind, metadata.name, ...(part === undefined ? [] : [part])].join('/');
    return { id: await this.#ownerId(), object };
  }

  async #ownerSecret(): Promise<Live | undefined> {
    const ref = this.#ref(OWNER_SECRET);
    this.#reads.read(Secret, ref);
    return (
      this.#written.get(keyIn(Secret, ref)) ??
      this.#shared.cache.for(Secret).get(ref) ??
      (await this.#client.get<AnyObject>(Secret, ref))
    );
  }

  async #ownerId(): Promise<string> {
    const ref = this.#ref(OWNER_SECRET);
    const live = (await this.#ownerSecret()) ?? (await this.#makeOwner(ref));
    this.#written.set(keyIn(Secret, ref), live);
    const home = live.metadata.annotations?.[OWNER_OF_ANNOTATION];
    if (home !== undefined && home !== ref.namespace)
      throw stall({
        reason: 'SecretInvalid',
        what: `Secret ${OWNER_SECRET} is a copy: its id marks what belongs to namespace ${home}, and two clouds with one id would use and drop each other's data`,
        who: 'User',
        next: `delete it, and a new id is created; or, only if this cloud takes the place of that one, run: kubectl annotate secret ${OWNER_SECRET} -n ${ref.namespace} ${OWNER_OF_ANNOTATION}-`,
        after: LOOK_FOR_OWNER_MS,
      });
    const { id } = (live.data ?? {}) as { readonly id?: string };
    const text = Buffer.from(id ?? '', 'base64')
      .toString('utf8')
      .trim();
    if (/^[0-9a-f]{8,64}$/.test(text)) return text;
    throw stall({
      reason: 'SecretInvalid',
      what: `Secret ${OWNER_SECRET} holds no owner id: its key id must be 8 to 64 hexadecimal digits`,
      who: 'User',
      next: 'restore it from a backup; the id is also in the marks, e.g. in the comment of a database',
    });
  }

  /** Made once per namespace, and kept whatever is deleted: a hash with another key would make everything due again. */
  async #hashKey(): Promise<HashKey> {
    const ref = this.#ref(HASH_KEY_SECRET);
    const seen =
      this.#written.get(keyIn(Secret, ref)) ??
      this.#get(Secret, HASH_KEY_SECRET) ??
      (await this.#client.get<AnyObject>(Secret, ref));
    const bytes = (count: number): string => Buffer.from(this.#shared.random.bytes(count)).toString('hex');
    const live = seen ?? (await this.#create(ref, () => ({ id: bytes(3), key: bytes(32) })));
    this.#written.set(keyIn(Secret, ref), live);
    const { id = '', key = '' } = this.#decode(live);
    if (id !== '' && key.length >= 32) return { id, key };
    throw stall({
      reason: 'SecretInvalid',
      what: `Secret ${HASH_KEY_SECRET} needs key id, and key key with 32 characters or more`,
      who: 'User',
      next: 'restore it from a backup, or delete it: a new one is made, and Jobs whose inputs are secret run once more',
    });
  }

  /** Nobody can tell whether what was recorded with a lost key is still true, and each Job may run twice (rule 10). */
  async #tellLostKey(record: string, job: string): Promise<void> {
    if (!isOfOther(await this.#hashKey(), record)) return;
    this.events.push({
      reason: 'HashKeyReplaced',
      note: `Secret ${HASH_KEY_SECRET} has another key than when the last Job of this step was recorded: Job ${job} runs once more; pods stay as they are`,
    });
  }

  /** The version of the data that an object of this kind and name left behind. */
  async keptVersion(): Promise<string | undefined> {
    const live = await this.#ownerSecret();
    const text = ((live?.data ?? {}) as Readonly<Record<string, string>>)[this.#keptKey()];
    return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
  }

  /**
   * Records it beside the owner id, which stays as well; `null`: no data stays. By a patch of this one key, so that
   * objects that are deleted at the same time do not undo each other's record. Where an id was and is lost there is no
   * place for it, which must not hold a deletion up.
   */
  async keepVersion(version: string | null): Promise<void> {
    if (version === null && (await this.keptVersion()) === undefined) return;
    if ((await this.#ownerSecret()) === undefined) {
      if (this.#actedBefore()) return;
      await this.#makeOwner(this.#ref(OWNER_SECRET));
    }
    const data = { [this.#keptKey()]: version === null ? null : Buffer.from(version).toString('base64') };
    await this.#client.patch(Secret, this.#ref(OWNER_SECRET), { data }, { type: 'merge' });
  }

  readonly #keptKey = (): string => keptKey(this.#object);

  /** By a create, which only one can win: two ids in one namespace would each call the other's things foreign. */
  async #makeOwner(ref: Ref): Promise<Live> {
    const holder = this.#actedBefore();
    if (holder)
      throw stall({
        reason: 'SecretNotFound',
        what: `Secret ${OWNER_SECRET} does not exist, and what ${holder.kind} ${holder.metadata.name} has outside Kubernetes carries the owner id that was in it`,
        who: 'User',
        next: `restore it from a backup, or read the id off the comment of a database or the description of a virtual host and run: kubectl create secret generic ${OWNER_SECRET} -n ${ref.namespace} --from-literal=id=<id>`,
        after: LOOK_FOR_OWNER_MS,
      });
    const id = () => Buffer.from(this.#shared.random.bytes(8)).toString('hex');
    return this.#create(ref, () => ({ id: id() }), { [OWNER_OF_ANNOTATION]: ref.namespace });
  }

  /** A Secret of the namespace, by a create: two that ask at once get the same. */
  async #create(
    ref: Ref,
    values: () => Readonly<Record<string, string>>,
    annotations?: Readonly<Record<string, string>>,
  ): Promise<Live> {
    await this.#ownerLives();
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
      const made = await this.#client.create<AnyObject>(Secret, body, { manager: MANAGER });
      this.#wrote(Secret, made);
      return made;
    } catch (error) {
      const other =
        error instanceof ApiError && error.status === 409 && (await this.#client.get<AnyObject>(Secret, ref));
      if (other) return other;
      throw error;
    }
  }

  /** An object in this namespace that has marked something. */
  #actedBefore(): Live | undefined {
    const { namespace } = this.#object.metadata;
    for (const informer of this.#shared.cache.all())
      for (const object of informer.list({ namespace }))
        if (object.metadata.annotations?.[UNDO_ANNOTATION]) return object;
    return undefined;
  }

  /** Values of Secrets of its namespace leave no pass: condition text is passed through here (rule 11). */
  mask(text: string): string {
    const out = this.#shared.memory.known.mask(text, this.#object.metadata.namespace ?? '');
    return out.length > 512 ? `${out.slice(0, 509)}...` : out;
  }

  again(ms: number): void {
    this.after = Math.min(this.after ?? ms, ms);
  }

  cx(row: string): Cx<O> {
    const object = this.#object;
    const shared = this.#shared;
    const home = this.#acts(row, this.#home);
    const nodes = this.#acts(row, this.#nodes);
    return {
      object,
      spec: object.spec as DeepReadonly<O['spec']>,
      status: (object.status ?? {}) as DeepReadonly<NonNullable<O['status']>>,
      name: object.metadata.name,
      namespace: object.metadata.namespace ?? '',
      signal: this.#signal,
      cloud: this.#cloud,
      random: shared.random,
      env: shared.env,
      serverTime: () => shared.client.serverTime(),
      ...home,
      nodes,
      places: this.hasNodes ? [home, nodes] : [home],
      at: namespace => this.#acts(row, namespace),
      astray: (resource, name) => this.#astray(resource, name, this.#nodes),
      wish: (resource, name) => this.#wish(resource, name),
      wishes: resource => this.#wishes(resource),
      ready: (kind, name, field) => this.#ready(kind, name, field),
      secret: (name, keys, field) => this.#secret(name, keys, field),
      secretIfAny: name => this.#secretData(name),
      child: (kind, name, spec) => this.#child(row, kind, name, spec),
      readyChild: async (kind, name, spec) => {
        const child = await this.#child(row, kind, name, spec);
        assertReady(child);
        return child;
      },
      job: job => this.#job(row, job),
      generate: (name, make, options) => this.#generate(row, name, make, options),
      owner: part => this.#owner(part),
      hash: async (...inputs) => keyedHash(await this.#hashKey(), ...inputs),
      claim: async (proof, part) => {
        const owner = await this.#owner(part);
        const adopt = object.metadata.annotations?.[ADOPT_ANNOTATION];
        const { namespace = '' } = object.metadata;
        return { owner, namespace, ...(proof && { proof }), ...(adopt && { adopt, adopted: this.#adopted }) };
      },
      effect: (of = row) => this.#effect(of),
      // Of one key of several: the record may name the key, or the row as a whole.
      acted: () => this.#effects === undefined || [row, row.split('.')[0]!].some(name => this.#effects?.has(name)),
      event: event => void this.events.push(event),
      note: text => void this.notes.set(row, text),
      report: status => void Object.assign(this.reported, status),
      clear: field => {
        if (!(field in this.reported)) this.reported[field] = undefined;
      },
      again: ms => this.again(ms),
      all,
    };
  }

  #child<K extends AnyKind>(
    row: string,
    kind: K,
    name: string,
    spec: Partial<InputOf<K>>,
  ): Promise<DeepReadonly<ObjectOf<K>>> {
    return this.#apply(row, kind, { metadata: { name }, spec }, {}) as unknown as Promise<DeepReadonly<ObjectOf<K>>>;
  }

  #acts(row: string, at: string): Acts {
    return {
      get: ((resource: Resource, name: string) => {
        this.#readable(at);
        return this.#seen(resource, name, at);
      }) as Acts['get'],
      list: (resource, labels) => {
        this.#readable(at);
        return this.#list(resource, labels, at);
      },
      live: async (resource, name) => {
        this.#readable(at);
        return this.#client.get<AnyObject>(resource, this.#ref(name, resource, at));
      },
      apply: (resource, body, options) => this.#apply(row, resource, body, { ...options, at }),
      workload: (resource, body, earlier) =>
        this.#workload(row, resource, earlier && this.#runs(row, resource, earlier, at) ? earlier : body, at),
      keep: kept => this.#keep(row, kept.kind, kept.metadata.name, at),
      remove: (resource, name) => this.#remove(resource, name, at),
    };
  }

  /**
   * Deletes what a row made in earlier passes and not in this one (rule 7). The cache proposes, a live read decides,
   * the UID makes sure: a new leader's cache may be behind.
   */
  async prune(row: string): Promise<void> {
    const kept = this.#kept.get(row) ?? new Set<string>();
    for (const resource of this.#plan.manages)
      for (const object of this.#owned(resource)) {
        if (object.metadata.labels?.[ROW_LABEL] !== row || object.metadata.deletionTimestamp) continue;
        if (kept.has(keptIn(object.kind, object.metadata.name, object.metadata.namespace))) continue;
        await this.#prune(resource, object, row);
      }
  }

  async #prune(resource: Resource, { metadata: { name, namespace, uid } }: Live, row: string): Promise<void> {
    const live = await this.#client.get<AnyObject>(resource, this.#ref(name, resource, namespace));
    if (live === undefined || live.metadata.uid !== uid || live.metadata.labels?.[ROW_LABEL] !== row) return;
    await this.#delete(resource, live);
  }

  /**
   * Copies of Secrets in the node namespace that no row of this pass asked for. Pods there read what changes in place, e.g.
   * a new CA, so a row that waits must not keep it from them. `complete`: every row has told what it mounts, and what
   * nothing names goes. One that a pod there names stays: the kubelet asks for it when a container of that pod starts again.
   * So does one of config that is kept as a spare here (rule 19).
   */
  async tendCopies(complete: boolean): Promise<void> {
    if (!this.hasNodes) return;
    const kept = this.#kept.get(COPIES) ?? new Set<string>();
    const left = this.#owned(Secret).filter(
      ({ kind, metadata }) =>
        metadata.labels?.[ROW_LABEL] === COPIES &&
        metadata.deletionTimestamp === undefined &&
        !kept.has(keptIn(kind, metadata.name, metadata.namespace)),
    );
    if (left.length === 0) return;
    const { kind, metadata } = this.#object;
    const pods = this.#list(Pod, { [KIND_LABEL]: kind.toLowerCase(), [INSTANCE_LABEL]: metadata.name }, this.#nodes);
    const named = new Set(pods.flatMap(pod => secretsNamed(pod.spec as DeepReadonly<PodSpec>)));
    for (const copy of left) {
      const source = await this.#secretObject(copy.metadata.name);
      const isSpare = source?.immutable === true;
      if (complete && !isSpare && !named.has(copy.metadata.name)) await this.#letGo(copy);
      else if (source && !isSpare) await this.#copySecret(source).catch(error => this.#lookAgain(error));
    }
  }

  /** The rows have told what they wait for, and the status is written. */
  #lookAgain(error: unknown): void {
    if (!(error instanceof Unmet)) throw error;
    this.again(error.after ?? LOOK_FOR_OWNER_MS);
  }

  /** The last that holds a copy deletes it. By its version: somebody else may begin to hold it just now. */
  async #letGo({ metadata: { name } }: Live): Promise<AnyObject | undefined> {
    const ref = this.#ref(name, Secret, this.#nodes);
    this.#reads.read(Secret, ref);
    const live = await this.#client.get<AnyObject>(Secret, ref);
    if (live === undefined || notOurs(this.#object as DeepReadonly<Managed>, live)) return undefined;
    const mine = holderLabel(this.#object as DeepReadonly<Managed>);
    const { uid = '', resourceVersion } = live.metadata;
    if (holdersOf(live).every(([label]) => label === mine))
      return this.#delete(Secret, live, resourceVersion === undefined ? {} : { resourceVersion });
    if (live.metadata.labels?.[mine] !== undefined)
      this.#wrote(Secret, await this.#label(Secret, ref, uid, { [mine]: null }));
    return undefined;
  }

  /** A patch of single labels, which leaves those of others alone. */
  #label(
    resource: Resource,
    ref: Ref,
    uid: string,
    labels: Readonly<Record<string, string | null>>,
  ): Promise<AnyObject> {
    return this.#client.patch(resource, ref, { metadata: { uid, labels } }, { type: 'merge', manager: MANAGER });
  }

  /** Takes along what lies in the node namespace: no garbage collector looks for an owner in another one. */
  async leaveNodes(): Promise<void> {
    if (this.#nodes === this.#home) return;
    this.#nodesServed();
    const labels = labelsElsewhere(this.#object as DeepReadonly<Managed>);
    const labelSelector = Object.entries(labels)
      .map(pair => pair.join('='))
      .join();
    const going: string[] = [];
    for (const resource of this.#plan.manages) {
      if (!resource.namespaced || this.#informer(resource) === undefined) continue;
      const { items } = await this.#client.list<AnyObject>(resource, { namespace: this.#nodes, labelSelector });
      for (const live of items) {
        // Data that was to stay has gone by its own undo, or stays.
        if (live.metadata.labels?.[RETAINED_LABEL] !== undefined) continue;
        this.#reads.read(resource, this.#ref(live.metadata.name, resource, this.#nodes));
        const left = live.metadata.deletionTimestamp ? live : await this.#delete(resource, live);
        if (left) going.push(`${resource.kind} ${live.metadata.name}`);
      }
    }
    for (const copy of await this.#copiesHeld()) {
      const left = copy.metadata.deletionTimestamp ? copy : await this.#letGo(copy);
      if (left) going.push(`Secret ${copy.metadata.name}`);
    }
    if (going.length === 0) return;
    throw wait({
      reason: 'Terminating',
      what: `${going[0]} in namespace ${this.#nodes} is being deleted`,
      who: 'Cluster',
      next: 'finish deleting it',
    });
  }

  /** Also those that nobody holds: who made them was stopped before it could say so. */
  async #copiesHeld(): Promise<readonly AnyObject[]> {
    if (!this.#plan.manages.includes(Secret)) return [];
    const labelSelector = Object.entries(labelsOfCopies(this.#home))
      .map(pair => pair.join('='))
      .join();
    const { items } = await this.#client.list<AnyObject>(Secret, { namespace: this.#nodes, labelSelector });
    const mine = holderLabel(this.#object as DeepReadonly<Managed>);
    return items.filter(copy => holdersOf(copy).length === 0 || holdersOf(copy).some(([label]) => label === mine));
  }

  /** Whether deleting the object leaves something that only an undo takes along. */
  get hasNodes(): boolean {
    return this.#nodes !== this.#home;
  }

  /** Nothing is seen of a namespace that is not served, which is not the same as that nothing is there. */
  #readable(at: string): void {
    if (at !== this.#home && !this.#givesUpNodes) this.#nodesServed();
  }

  /** Somebody has said that what lies there is left behind. */
  get #givesUpNodes(): boolean {
    const { deletionTimestamp, annotations } = this.#object.metadata;
    const skipped = (annotations?.[SKIP_UNDO_ANNOTATION] ?? '').split(',').map(name => name.trim());
    return deletionTimestamp !== undefined && skipped.includes(NODE_OBJECTS);
  }

  #nodesServed(): void {
    const { namespaces = [] } = this.#shared;
    if (namespaces.length === 0 || namespaces.includes(this.#nodes)) return;
    const both = [...namespaces, this.#nodes].join(',');
    throw stall({
      reason: 'NamespaceNotServed',
      what: `Namespace ${this.#nodes}, named in spec.nodeNamespace, is not one that this operator serves (--namespaces ${namespaces.join(',')})`,
      who: 'User',
      next: `give the operator rights in both and start it so: make overlay ARGS="--namespaces ${both}", then kubectl apply -k the folder that it writes`,
    });
  }

  /** Asked once per pass, before something is made, changed or taken over there, and of the server: it is in no informer. */
  #nodesAdmitPods(): Promise<void> {
    const check = async (): Promise<void> => {
      this.#nodesServed();
      const name = this.#nodes;
      const live = await this.#client.get<AnyObject>(Namespace, { namespace: '', name });
      if (live === undefined)
        throw stall({
          reason: 'NamespaceNotFound',
          what: `Namespace ${name}, named in spec.nodeNamespace, does not exist`,
          who: 'User',
          next: `create it: kubectl create namespace ${name} && kubectl label namespace ${name} ${ENFORCE}=privileged ${NODES_OF_LABEL}=${this.#home}`,
          after: LOOK_FOR_OWNER_MS,
        });
      const given = live.metadata.labels?.[NODES_OF_LABEL];
      if (given !== this.#home)
        throw stall({
          reason: 'NamespaceNotGiven',
          what: `Namespace ${name}, named in spec.nodeNamespace, is not there for pods of namespace ${this.#home}${given === undefined ? '' : `, but for those of ${given}`}`,
          who: 'User',
          next: `use another one; or, if it is meant for them and for nothing else, run: kubectl label --overwrite namespace ${name} ${NODES_OF_LABEL}=${this.#home}`,
          after: LOOK_FOR_OWNER_MS,
        });
      if (live.metadata.deletionTimestamp)
        throw wait({
          reason: 'Terminating',
          what: `Namespace ${name}, named in spec.nodeNamespace, is being deleted`,
          who: 'Cluster',
          next: 'finish deleting it; then create it again',
          after: LOOK_FOR_OWNER_MS,
        });
      const level = live.metadata.labels?.[ENFORCE];
      if (level !== undefined && level !== 'privileged')
        throw stall({
          reason: 'NamespaceRefusesPods',
          what: `Namespace ${name}, named in spec.nodeNamespace, enforces PodSecurity ${level}, which refuses pods of the node`,
          who: 'User',
          next: `run: kubectl label --overwrite namespace ${name} ${ENFORCE}=privileged`,
          after: LOOK_FOR_OWNER_MS,
        });
    };
    this.#nodesAdmit ??= check();
    return this.#nodesAdmit;
  }

  /** What a pod there mounts must be there: each Secret of its template, as it is here. */
  async #copySecrets(body: Body): Promise<void> {
    const { template } = (body.spec ?? {}) as { readonly template?: { readonly spec?: DeepReadonly<PodSpec> } };
    if (template?.spec === undefined) return;
    for (const name of secretsNamed(template.spec)) {
      const source = await this.#secretObject(name);
      // Where it is missing, the pod says so, as it would here.
      if (source) await this.#copySecret(source);
    }
  }

  #copySecret(source: Live): Promise<void> {
    const { name } = source.metadata;
    this.#keep(COPIES, Secret.kind, name, this.#nodes);
    const copying = this.#copies.get(name) ?? this.#copy(source);
    this.#copies.set(name, copying);
    return copying;
  }

  async #copy({ metadata: { name }, type, immutable, data = {} }: Live): Promise<void> {
    this.#declared(Secret);
    const ref = this.#ref(name, Secret, this.#nodes);
    const owner = this.#object as DeepReadonly<Managed>;
    const there = this.#get(Secret, name, this.#nodes);
    // None of it can be changed, and the source is another one by now.
    const other =
      there &&
      (there.type !== type ||
        (there.immutable === true && (immutable !== true || !sameJson(there.data ?? {}, data)))) &&
      !notOurs(owner, there);
    if (other) {
      await this.#nodesAdmitPods();
      await this.#delete(Secret, there);
      this.#written.delete(keyIn(Secret, ref));
    }
    const body = { metadata: { name }, type, ...(immutable === true && { immutable }), data };
    const copy = await this.#put(Secret, ref, dressCopy(this.#home, this.#nodes, body), other ? undefined : there);
    const mine = [holderLabel(owner), owner.metadata.uid ?? ''] as const;
    const missing = [...(other ? holdersOf(there) : []), mine].filter(
      ([key, uid]) => copy.metadata.labels?.[key] !== uid,
    );
    if (missing.length === 0) return;
    await this.#nodesAdmitPods();
    this.#wrote(Secret, await this.#label(Secret, ref, copy.metadata.uid ?? '', Object.fromEntries(missing)));
  }

  /** Whether this object owns something that the row made. */
  made(row: string): boolean {
    return this.marked(row).includes('');
  }

  /** What follows the prefix in the row marks of what this object owns. */
  marked(prefix: string): readonly string[] {
    const marks = new Set<string>();
    for (const resource of this.#plan.manages)
      for (const object of this.#owned(resource)) {
        const mark = object.metadata.labels?.[ROW_LABEL];
        if (mark?.startsWith(prefix) && !object.metadata.deletionTimestamp) marks.add(mark.slice(prefix.length));
      }
    return [...marks];
  }

  #owned(resource: Resource): readonly Live[] {
    const index = { name: OWNER_INDEX, value: this.#object.metadata.uid ?? '' };
    return [...new Set([this.#home, this.#nodes])].flatMap(
      namespace => this.#informer(resource)?.list({ namespace, index }) ?? [],
    );
  }

  /** undefined where nobody watches an optional resource: its CRD is missing, and with it every object. */
  #informer(resource: Resource): Informer | undefined {
    const { cache } = this.#shared;
    return resource.optional && !cache.has(resource) ? undefined : cache.for(resource);
  }

  #ref(name: string, resource?: Resource, at = this.#home): Ref {
    return { namespace: resource?.namespaced === false ? '' : at, name };
  }

  #get(resource: Resource, name: string, at = this.#home): Live | undefined {
    const ref = this.#ref(name, resource, at);
    this.#reads.read(resource, ref);
    return this.#written.get(keyIn(resource, ref)) ?? this.#informer(resource)?.get(ref);
  }

  /** As the rows see it. */
  #seen(resource: Resource, name: string, at = this.#home): Live | undefined {
    const found = this.#get(resource, name, at);
    return found && this.#shared.lens ? this.#shared.lens(found) : found;
  }

  #list(resource: Resource, labels: Readonly<Record<string, string>>, namespace = this.#home): readonly Live[] {
    this.#reads.scan(resource, namespace, labels);
    const instance = labels[INSTANCE_LABEL];
    const index = instance === undefined ? undefined : { name: INSTANCE_INDEX, value: instance };
    return this.#informer(resource)?.list({ namespace, labels, ...(index && { index }) }) ?? [];
  }

  #wish(resource: Resource, name: string): Wish | undefined {
    const ref = this.#ref(name, resource);
    this.#reads.read(resource, ref, 'wish');
    const found = this.#written.get(keyIn(resource, ref)) ?? this.#informer(resource)?.get(ref);
    return found && wishOf(this.#shared.lens ? this.#shared.lens(found) : found);
  }

  #wishes(resource: Resource): readonly Wish[] {
    const namespace = this.#object.metadata.namespace ?? '';
    this.#reads.scan(resource, namespace, {}, 'wish');
    return this.#informer(resource)?.list({ namespace }).map(wishOf) ?? [];
  }

  #ready<K extends AnyKind>(kind: K, name: string, field: string): DeepReadonly<ObjectOf<K>> {
    const found = this.#seen(kind, name);
    if (found === undefined)
      throw wait({
        reason: 'NotFound',
        what: `${kind.kind} ${name} does not exist`,
        who: 'User',
        next: `create it, or name another one in ${field}`,
      });
    assertReady(found);
    return found as unknown as DeepReadonly<ObjectOf<K>>;
  }

  async #secret<K extends string>(name: string, keys: readonly K[], field: string): Promise<Record<K, string>> {
    const data = await this.#secretData(name);
    if (data === undefined)
      throw wait({
        reason: 'SecretNotFound',
        what: `Secret ${name}, named in ${field}, does not exist`,
        who: 'User',
        next: `create it with ${keys.length === 1 ? 'key' : 'keys'} ${keys.join(', ')}`,
      });
    for (const key of keys)
      if (data[key] === undefined)
        throw wait({
          reason: 'SecretIncomplete',
          what: `Secret ${name}, named in ${field}, has no key ${key}`,
          who: 'User',
          next: `add ${key} to it`,
        });
    // Bytes that are no UTF-8 became this character: a password with them would be another one.
    const broken = keys.find(key => data[key]?.includes('\uFFFD'));
    if (broken !== undefined)
      throw stall({
        reason: 'SecretInvalid',
        what: `Secret ${name}, named in ${field}: key ${broken} is not UTF-8 text`,
        who: 'User',
        next: 'encode it as UTF-8',
      });
    return data as Record<K, string>;
  }

  #managedSecret(ref: Ref): Live | undefined {
    this.#reads.read(Secret, ref);
    return this.#written.get(keyIn(Secret, ref)) ?? this.#shared.cache.for(Secret).get(ref);
  }

  async #secretData(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const managed = this.#managedSecret(this.#ref(name));
    return managed ? this.#decode(managed) : (await this.#foreignSecret(name))?.data;
  }

  async #secretObject(name: string): Promise<Live | undefined> {
    return this.#managedSecret(this.#ref(name)) ?? (await this.#foreignSecret(name))?.secret;
  }

  async #foreignSecret(name: string): Promise<{ secret: Live; data: Readonly<Record<string, string>> } | undefined> {
    const ref = this.#ref(name);
    const meta = this.#shared.secrets.get(ref);
    if (meta === undefined) return undefined;
    const version = `${meta.metadata.uid} ${meta.metadata.resourceVersion}`;
    const memo = this.#shared.memory.secrets.get(keyOf(ref));
    if (memo?.version === version) return memo;
    const live = await this.#client.get<AnyObject>(Secret, ref);
    if (live === undefined) return undefined;
    const found = { secret: live, data: this.#decode(live) };
    this.#shared.memory.secrets.set(keyOf(ref), {
      version: `${live.metadata.uid} ${live.metadata.resourceVersion}`,
      ...found,
    });
    return found;
  }

  #decode(secret: Live): Readonly<Record<string, string>> {
    const data = decoded(secret);
    learn(this.#shared.memory.known, secret, data);
    return data;
  }

  async #apply(
    row: string,
    resource: Resource,
    body: Body,
    { retain, at = this.#home }: Retention & { readonly at?: string } = {},
  ): Promise<Live> {
    this.#declared(resource);
    const wanted = dress(this.#object, resource, body, row, retain, at);
    const ref = this.#ref(body.metadata.name, undefined, at);
    this.#keep(row, resource.kind, ref.name, at);
    return this.#put(resource, ref, wanted, this.#get(resource, ref.name, at));
  }

  async #put(resource: Resource, ref: Ref, wanted: AnyObject, known: Live | undefined): Promise<Live> {
    const elsewhere = ref.namespace !== this.#home;
    if (elsewhere) this.#nodesServed();
    const key = keyIn(resource, ref);
    const isThere = (live: Live): boolean => {
      if (applied(wanted, live, MANAGER)) return true;
      const memo = this.#shared.memory.applied.get(key);
      // The hash is the dearest question of a pass, so it comes last.
      return memo !== undefined && memo.version === live.metadata.resourceVersion && memo.hash === hashOf(wanted);
    };
    const found = known && { live: known, why: notOurs(this.#object, known) };
    if (found && !found.why && isThere(found.live)) return found.live;
    // Before every write, and before a word on what others have there: the namespace may have been taken back.
    if (elsewhere) await this.#nodesAdmitPods();
    // A name that the cache does not know may be taken by an object without our label (rule 3).
    const live = known ?? (await this.#client.get<AnyObject>(resource, ref));
    if (live) {
      const why = found ? found.why : notOurs(this.#object, live);
      if (why) throw why;
      if (known === undefined && isThere(live)) return live;
    } else await this.#ownerLives();
    const result = await this.#client.apply(resource, wanted, { manager: MANAGER, force: true });
    this.#wrote(resource, result);
    // If the server normalised a value, our text and its object never match; the version then says "nothing changed".
    this.#shared.memory.applied.set(key, { hash: hashOf(wanted), version: result.metadata.resourceVersion });
    return result;
  }

  /**
   * Asked once per pass, before it makes something. The watch that shows a child gone may be ahead of the one that
   * shows its owner gone: what is made then has nobody to collect it if it is retained, and flutters if it is not.
   */
  #ownerLives(): Promise<void> {
    const check = async (): Promise<void> => {
      const { name, uid, deletionTimestamp } = this.#object.metadata;
      const live = await this.#client.get<AnyObject>(this.#plan.kind, this.#ref(name));
      if (live?.metadata.uid === uid && (deletionTimestamp || !live?.metadata.deletionTimestamp)) return;
      throw wait({
        reason: 'Terminating',
        what: `${this.#object.kind} ${name} is deleted, or is another one by now`,
        who: 'Operator',
        next: 'see the change',
      });
    };
    this.#alive ??= check();
    return this.#alive;
  }

  #wrote(resource: Resource, result: AnyObject): void {
    if (resource === Secret) learn(this.#shared.memory.known, result);
    this.#written.set(keyIn(resource, this.#ref(result.metadata.name, resource, result.metadata.namespace)), result);
    this.#shared.gate.wrote(this.#object.metadata.uid ?? '', resource, result.metadata.resourceVersion);
  }

  #keep(row: string, kind: string, name: string, at = this.#home): void {
    const kept = this.#kept.get(row) ?? new Set<string>();
    this.#kept.set(row, kept.add(keptIn(kind, name, at)));
  }

  async #workload(row: string, resource: Resource, body: Body, at: string): Promise<Live> {
    const astray = this.#astray(resource, body.metadata.name, at);
    if (astray) await this.#leavePlace(resource, astray, at);
    this.#inTurn(row, resource, body, at);
    if (at !== this.#home) await this.#copySecrets(body);
    const live = await this.#apply(row, resource, body, { at });
    const unmet = workloadUnmet(live, this.#podsOf(live));
    if (unmet) throw wait(unmet);
    return live;
  }

  /** One of its name in another namespace than the one where it belongs by now. */
  #astray(resource: Resource, name: string, at: string): Live | undefined {
    const { kind, metadata } = this.#object;
    const labels = { [KIND_LABEL]: kind.toLowerCase(), [INSTANCE_LABEL]: metadata.name };
    const index = { name: INSTANCE_INDEX, value: metadata.name };
    const found = this.#informer(resource)
      ?.list({ labels, index })
      .find(
        other =>
          other.metadata.name === name &&
          other.metadata.namespace !== at &&
          mayDelete(this.#object as DeepReadonly<Managed>, other),
      );
    if (found) this.#reads.read(resource, this.#ref(name, resource, found.metadata.namespace));
    return found;
  }

  /** Two of one workload would work on the same volumes or nodes. Foreground: it is there until its pods are gone. */
  async #leavePlace(resource: Resource, cached: Live, at: string): Promise<void> {
    const { namespace = '', name, uid } = cached.metadata;
    const live = await this.#client.get<AnyObject>(resource, this.#ref(name, resource, namespace));
    if (live === undefined || live.metadata.uid !== uid || !mayDelete(this.#object as DeepReadonly<Managed>, live))
      return;
    const going = live.metadata.deletionTimestamp
      ? live
      : await this.#delete(resource, live, { propagation: 'Foreground' });
    if (going)
      throw wait({
        reason: 'Terminating',
        what: `${resource.kind} ${name} in namespace ${namespace} is being deleted, because it belongs in namespace ${at}`,
        who: 'Cluster',
        next: 'finish deleting it',
      });
  }

  /** Whether there is such a workload and its pods would stay. */
  #runs(row: string, resource: Resource, body: Body, at: string): boolean {
    const live = this.#get(resource, body.metadata.name, at);
    const key = keyIn(resource, this.#ref(body.metadata.name, undefined, at));
    return live !== undefined && this.#sameTemplate(key, dress(this.#object, resource, body, row, false, at), live);
  }

  #podsOf(workload: Live): readonly Live[] {
    const { selector } = workload.spec as { selector?: { matchLabels?: Record<string, string> } };
    return this.#list(Pod, selector?.matchLabels ?? {}, workload.metadata.namespace);
  }

  /** A new template waits while it would take a second pod of its set down, unless the set hangs. */
  #inTurn(row: string, resource: Resource, body: Body, at: string): void {
    const { memory, clock } = this.#shared;
    const { name } = body.metadata;
    const key = keyIn(resource, this.#ref(name, undefined, at));
    const live = this.#get(resource, name, at);
    const picture = live?.kind === 'StatefulSet' ? rollOf(live, this.#podsOf(live)) : undefined;
    if (picture === undefined || this.#sameTemplate(key, dress(this.#object, resource, body, row, false, at), live))
      return void memory.rolls.delete(key);
    const known = memory.rolls.get(key);
    const since = known?.picture === picture ? known.since : clock.now();
    memory.rolls.set(key, { picture, since });
    const left = since + HANGS_MS - clock.now();
    if (left <= 0) return;
    throw wait({
      reason: 'Progressing',
      what: `${resource.kind} ${name} replaces its pods one by one, and a new template now would take a second one`,
      who: 'Cluster',
      next: 'finish that; then they are replaced once more',
      // Nobody tells of what does not change.
      after: left,
    });
  }

  /** Where the server normalised a value, only memory tells that it is what we sent. */
  #sameTemplate(key: string, wanted: AnyObject, live: Live | undefined): boolean {
    const memo = this.#shared.memory.applied.get(key);
    return (live !== undefined && appliedTemplate(wanted, live, MANAGER)) || memo?.hash === hashOf(wanted);
  }

  async #job(row: string, job: JobBody): Promise<void> {
    const retry = this.#object.metadata.annotations?.[RETRY_ANNOTATION];
    const inputs = [job.image, job.argv, job.inputs, retry];
    const { hash, record, former }: JobHash = job.secret
      ? secretJob(await this.#hashKey(), ...inputs)
      : plainJob(...inputs);
    const nameOf = (hash: string): string => `${this.#object.metadata.name}-${job.step}-${hash}`;
    const done = (this.#object.status as { hashes?: Record<string, string> } | undefined)?.hashes ?? {};
    const finish = (): void => {
      const reported = this.reported.hashes as Record<string, string> | undefined;
      this.reported.hashes = { ...done, ...reported, [job.step]: record };
    };
    const find = async (name: string): Promise<Live | undefined> =>
      this.#get(Job, name) ?? (await this.#client.get<AnyObject>(Job, this.#ref(name)));
    // What an earlier operator did, or does just now, by its name is done: it is recorded by ours, and not run again.
    const earlier = former !== undefined && done[job.step] !== record ? await find(nameOf(former)) : undefined;
    const before = earlier && !notOurs(this.#object, earlier) ? earlier : undefined;
    const name = before?.metadata.name ?? nameOf(hash);
    this.#keep(row, Job.kind, name);
    if (former !== undefined) this.#keep(row, Job.kind, nameOf(former));
    // Recorded in status, so that a Job that was cleaned away is not run again.
    if (done[job.step] === record) return;
    if (former !== undefined && done[job.step] === former) return finish();
    if (job.secret && done[job.step] !== undefined) await this.#tellLostKey(done[job.step] ?? '', name);
    const live = before ?? (await find(name));
    // One that an earlier object of this name left behind worked on an earlier database.
    const why = live && notOurs(this.#object, live);
    if (why) throw why;
    if (live && conditionOf(live, 'Complete')?.status === 'True') return finish();
    const pods = this.#list(Pod, { 'batch.kubernetes.io/job-name': name });
    if (live && conditionOf(live, 'Failed')?.status === 'True') {
      const said = jobFailure(pods) ?? conditionOf(live, 'Failed')?.message;
      const meaning = job.exits?.[jobExit(pods) ?? 0];
      if (meaning)
        throw stall({
          reason: meaning.reason,
          what: `Job ${name}: ${said}`,
          who: 'User',
          next: `${meaning.next}, then annotate ${this.#object.kind} ${this.#object.metadata.name} with ${RETRY_ANNOTATION}=<anything new>`,
        });
      throw stall({
        reason: 'JobFailed',
        what: `Job ${name} failed: ${said ?? 'no last words'}`,
        who: 'User',
        next: `mend the cause, then annotate ${this.#object.kind} ${this.#object.metadata.name} with ${RETRY_ANNOTATION}=<anything new>`,
      });
    }
    const stuck = live && jobStuck(pods);
    // It never started, so nothing is lost; a Job's pod template is fixed, and this one was made with other Secrets.
    if (stuck && !live.metadata.deletionTimestamp && !samePullSecrets(live, job.pod)) await this.#delete(Job, live);
    if (stuck) throw wait({ ...stuck, what: `Job ${name} can't start: ${stuck.what}` });
    if (live) throw running(name, jobFailure(this.#list(Pod, { 'batch.kubernetes.io/job-name': name })));
    const rivals = this.#owned(Job).filter(
      other =>
        other.metadata.labels?.[STEP_LABEL] === job.step &&
        other.metadata.name !== name &&
        !['Complete', 'Failed'].some(type => conditionOf(other, type)?.status === 'True'),
    );
    // Two runs of one step at once would meet in the database; one that can't start would be waited for forever.
    for (const { metadata } of rivals) {
      this.#keep(row, Job.kind, metadata.name);
      const rival = this.#get(Job, metadata.name);
      const waits = this.#list(Pod, { 'batch.kubernetes.io/job-name': metadata.name });
      if (rival && !rival.metadata.deletionTimestamp && jobStuck(waits)) await this.#delete(Job, rival);
      throw running(metadata.name);
    }
    const labels = { ...job.labels, [STEP_LABEL]: job.step };
    await this.#apply(row, Job, {
      metadata: { name, labels },
      spec: { backoffLimit: 4, template: { metadata: { labels }, spec: { restartPolicy: 'Never', ...job.pod } } },
    });
    throw running(name);
  }

  async #generate<K extends string>(
    row: string,
    name: string,
    make: () => Record<K, string>,
    options: Retention = {},
  ): Promise<Record<K, string>> {
    const ref = this.#ref(name);
    this.#keep(row, Secret.kind, name);
    // An empty cache must never make new keys for old data: ask the server before the first create.
    const found = this.#get(Secret, name) ?? (await this.#client.get<AnyObject>(Secret, ref));
    if (found) {
      const why = notOurs(this.#object, found);
      if (why) throw why;
      return this.#decode(found) as Record<K, string>;
    }
    const values = make();
    // Before it is sent: the answer may repeat it.
    this.#shared.memory.known.learn(ref, 'made now', () => secretsOf(values, { made: true, files: false }));
    const data = Object.fromEntries(
      Object.entries<string>(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
    );
    await this.#apply(row, Secret, { metadata: { name }, type: 'Opaque', data }, options);
    return values;
  }

  /** RBAC is generated from what plans declare: an undeclared write would work in tests and fail in a cluster. */
  #declared(resource: Resource): void {
    if (!this.#plan.manages.some(managed => resourceName(managed) === resourceName(resource)))
      throw new Error(`The plan of ${this.#plan.kind.kind} writes ${resourceName(resource)} without declaring it`);
  }

  async #remove(resource: Resource, name: string, at: string): Promise<void> {
    this.#declared(resource);
    if (at !== this.#home) this.#nodesServed();
    const ref = this.#ref(name, undefined, at);
    this.#reads.read(resource, ref);
    const live = await this.#client.get<AnyObject>(resource, ref);
    if (live === undefined || !mayDelete(this.#object, live)) return;
    const left = live.metadata.deletionTimestamp ? live : await this.#delete(resource, live);
    if (left)
      throw wait({
        reason: 'Terminating',
        what: `${live.kind} ${name} is being deleted`,
        who: 'Cluster',
        next: 'finish deleting it',
      });
  }

  async #delete(
    resource: Resource,
    live: Live,
    more: Pick<DeleteOptions, 'resourceVersion' | 'propagation'> = {},
  ): Promise<AnyObject | undefined> {
    const { name, namespace, uid = '' } = live.metadata;
    const left = await this.#client.delete(resource, this.#ref(name, resource, namespace), { uid, ...more });
    if (left) this.#shared.gate.wrote(this.#object.metadata.uid ?? '', resource, left.metadata.resourceVersion);
    return left;
  }
}

const samePullSecrets = (live: Live, pod: object): boolean => {
  const { template } = (live.spec ?? {}) as { readonly template?: { readonly spec?: object } };
  const secretsOf = (spec: object = {}) => (spec as { readonly imagePullSecrets?: unknown }).imagePullSecrets ?? [];
  return sameJson(secretsOf(template?.spec), secretsOf(pod));
};

/** The status is cut off in deed, not only in type: who reads it would not hear of its changes. */
function wishOf(object: Live): Wish {
  const { status: _, ...rest } = object;
  return rest as Wish;
}

const keptIn = (kind: string, name: string, namespace = ''): string => `${kind} ${namespace}/${name}`;
const keyIn = (resource: Resource, ref: Ref): string => `${resourceName(resource)} ${keyOf(ref)}`;

/** A Job tries several times; what its last try said is worth more than that it runs. */
const running = (name: string, said?: string): Unmet =>
  wait({
    reason: 'JobRunning',
    what: said === undefined ? `Job ${name} is running` : `Job ${name} is running again: its pod ${said}`,
    who: 'Cluster',
    next: 'finish it',
  });

/** Settles all before it tells of the worst: no effect of a losing branch may outlive the pass. */
async function all<T extends readonly unknown[]>(
  promises: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const results = await Promise.allSettled(promises);
  const failures = results
    .filter(r => r.status === 'rejected')
    .map(r => (r as PromiseRejectedResult).reason as unknown);
  const worst =
    failures.find(e => !(e instanceof Unmet)) ??
    failures.find(e => e instanceof Unmet && e.outcome === 'stall') ??
    failures[0];
  if (failures.length > 0) throw worst;
  return results.map(r => (r as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
