import type { Claim, Owner } from '../../../cloud/ownership.ts';
import type { AnyObject, Ref } from '../../../kube/object.ts';
import { Secret } from '../../../kube/resource.ts';
import { type HashKey, isOfOther } from '../keyed.ts';
import {
  ADOPT_ANNOTATION,
  FINALIZER,
  FINALIZER_MANAGER,
  HASH_KEY_SECRET,
  keptKey,
  OWNER_OF_ANNOTATION,
  OWNER_SECRET,
  UNDO_ANNOTATION,
} from '../names.ts';
import { stall, subjectOf } from '../unmet.ts';
import { keyIn } from './memory.ts';
import type { Reading } from './reading.ts';
import { type Live, LOOK_AGAIN_MS, type Walk } from './walk.ts';
import type { Writing } from './writing.ts';

/** Who the object is to servers outside Kubernetes, and what it has done there. */
export class Ownership {
  readonly #walk: Walk;
  readonly #reading: Reading;
  readonly #writing: Writing;
  /** Rows that acted outside Kubernetes; undefined where nobody kept a record, and all may have. */
  #effects: ReadonlySet<string> | undefined;
  #recording: Promise<void> = Promise.resolve();

  constructor(walk: Walk, reading: Reading, writing: Writing) {
    this.#walk = walk;
    this.#reading = reading;
    this.#writing = writing;
    const record = walk.object.metadata.annotations?.[UNDO_ANNOTATION];
    this.#effects = record === undefined ? undefined : new Set(record.split(',').filter(row => row !== ''));
  }

  /** Of an object without a record all rows may have acted: the first one that is written lists them all. */
  effect(row: string): Promise<void> {
    this.#recording = this.#recording.then(async () => {
      if (this.#effects?.has(row)) return;
      // First: where a record is, an id was, and is not made a second time.
      await this.#ownerId();
      const all =
        this.#effects ?? this.#walk.plan.rows.filter(each => each.undo ?? each.each?.undo).map(each => each.type);
      const record = new Set([...all, row]);
      const { name, namespace, uid } = this.#walk.object.metadata;
      const { apiVersion, kind } = this.#walk.object;
      const annotations = { [UNDO_ANNOTATION]: [...record].sort().join(',') };
      const body = { apiVersion, kind, metadata: { name, namespace, uid, finalizers: [FINALIZER], annotations } };
      const options = { manager: FINALIZER_MANAGER, force: true };
      await this.#writing.ownerLives();
      const written = await this.#walk.client.apply(this.#walk.plan.kind, body as AnyObject, options);
      this.#walk.shared.gate.wrote(uid ?? '', this.#walk.plan.kind, written.metadata.resourceVersion);
      this.#effects = record;
    });
    return this.#recording;
  }

  async owner(part?: string): Promise<Owner> {
    const { kind, metadata } = this.#walk.object;
    const object = [kind, metadata.name, ...(part === undefined ? [] : [part])].join('/');
    return { id: await this.#ownerId(), object };
  }

  async #ownerSecret(): Promise<Live | undefined> {
    const ref = this.#walk.ref(OWNER_SECRET);
    this.#walk.tracked.read(Secret, ref);
    return (
      this.#walk.written.get(keyIn(Secret, ref)) ??
      this.#walk.shared.cache.for(Secret).get(ref) ??
      (await this.#walk.client.get<AnyObject>(Secret, ref))
    );
  }

  async #ownerId(): Promise<string> {
    const ref = this.#walk.ref(OWNER_SECRET);
    const live = (await this.#ownerSecret()) ?? (await this.#makeOwner(ref));
    this.#walk.written.set(keyIn(Secret, ref), live);
    const home = live.metadata.annotations?.[OWNER_OF_ANNOTATION];
    if (home !== undefined && home !== ref.namespace)
      throw stall({
        reason: 'SecretInvalid',
        about: subjectOf(Secret, OWNER_SECRET),
        what: `Secret ${OWNER_SECRET} is a copy: its id marks what belongs to namespace ${home}, and two clouds with one id would use and drop each other's data`,
        who: 'User',
        next: `delete it, and a new id is created; or, only if this cloud takes the place of that one, run: kubectl annotate secret ${OWNER_SECRET} -n ${ref.namespace} ${OWNER_OF_ANNOTATION}-`,
        after: LOOK_AGAIN_MS,
      });
    const { id } = (live.data ?? {}) as { readonly id?: string };
    const text = Buffer.from(id ?? '', 'base64')
      .toString('utf8')
      .trim();
    if (/^[0-9a-f]{8,64}$/.test(text)) return text;
    throw stall({
      reason: 'SecretInvalid',
      about: subjectOf(Secret, OWNER_SECRET),
      what: `Secret ${OWNER_SECRET} holds no owner id: its key id must be 8 to 64 hexadecimal digits`,
      who: 'User',
      next: 'restore it from a backup; the id is also in the marks, e.g. in the comment of a database',
    });
  }

  /** Made once per namespace, and kept whatever is deleted: a hash with another key would make everything due again. */
  async hashKey(): Promise<HashKey> {
    const ref = this.#walk.ref(HASH_KEY_SECRET);
    const seen =
      this.#walk.written.get(keyIn(Secret, ref)) ??
      this.#reading.get(Secret, HASH_KEY_SECRET) ??
      (await this.#walk.client.get<AnyObject>(Secret, ref));
    const bytes = (count: number): string => Buffer.from(this.#walk.shared.random.bytes(count)).toString('hex');
    const live = seen ?? (await this.#writing.create(ref, () => ({ id: bytes(3), key: bytes(32) })));
    this.#walk.written.set(keyIn(Secret, ref), live);
    const { id = '', key = '' } = this.#reading.decode(live);
    if (id !== '' && key.length >= 32) return { id, key };
    throw stall({
      reason: 'SecretInvalid',
      about: subjectOf(Secret, HASH_KEY_SECRET),
      what: `Secret ${HASH_KEY_SECRET} needs key id, and key key with 32 characters or more`,
      who: 'User',
      next: 'restore it from a backup, or delete it: a new one is made, and Jobs whose inputs are secret run once more',
    });
  }

  /** Nobody can tell whether what was recorded with a lost key is still true, and each Job may run twice (rule 10). */
  async tellLostKey(record: string, job: string): Promise<void> {
    if (!isOfOther(await this.hashKey(), record)) return;
    this.#walk.events.push({
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
      await this.#makeOwner(this.#walk.ref(OWNER_SECRET));
    }
    const data = { [this.#keptKey()]: version === null ? null : Buffer.from(version).toString('base64') };
    await this.#walk.client.patch(Secret, this.#walk.ref(OWNER_SECRET), { data }, { type: 'merge' });
  }

  readonly #keptKey = (): string => keptKey(this.#walk.object);

  /** By a create, which only one can win: two ids in one namespace would each call the other's things foreign. */
  async #makeOwner(ref: Ref): Promise<Live> {
    const holder = this.#actedBefore();
    if (holder)
      throw stall({
        reason: 'SecretNotFound',
        about: subjectOf(Secret, OWNER_SECRET),
        what: `Secret ${OWNER_SECRET} does not exist, and what ${holder.kind} ${holder.metadata.name} has outside Kubernetes carries the owner id that was in it`,
        who: 'User',
        next: `restore it from a backup, or read the id off the comment of a database or the description of a virtual host and run: kubectl create secret generic ${OWNER_SECRET} -n ${ref.namespace} --from-literal=id=<id>`,
        after: LOOK_AGAIN_MS,
      });
    const id = () => Buffer.from(this.#walk.shared.random.bytes(8)).toString('hex');
    return this.#writing.create(ref, () => ({ id: id() }), { [OWNER_OF_ANNOTATION]: ref.namespace });
  }

  /** An object in this namespace that has marked something. */
  #actedBefore(): Live | undefined {
    const { namespace } = this.#walk.object.metadata;
    for (const informer of this.#walk.shared.cache.all())
      for (const object of informer.list({ namespace }))
        if (object.metadata.annotations?.[UNDO_ANNOTATION]) return object;
    return undefined;
  }

  readonly #adopted = (what: string, from: string): void => {
    const before = (this.#walk.object.status as { adopted?: readonly string[] } | undefined)?.adopted ?? [];
    const known = (this.#walk.reported.adopted as readonly string[] | undefined) ?? before;
    if (known.includes(what)) return;
    this.#walk.reported.adopted = [...new Set([...known, what])].slice(-20);
    this.#walk.events.push({
      reason: 'Adopted',
      note: `${what} was adopted from ${from}, as annotation ${ADOPT_ANNOTATION} says`,
    });
  };

  async claim(proof?: Claim['proof'], part?: string): Promise<Claim> {
    const owner = await this.owner(part);
    const adopt = this.#walk.object.metadata.annotations?.[ADOPT_ANNOTATION];
    const { namespace = '' } = this.#walk.object.metadata;
    return { owner, namespace, ...(proof && { proof }), ...(adopt && { adopt, adopted: this.#adopted }) };
  }

  /** Of one key of several: the record may name the key, or the row as a whole. */
  acted(row: string): boolean {
    return this.#effects === undefined || [row, row.split('.')[0]!].some(name => this.#effects?.has(name));
  }
}
