import type { AnyKind, InputOf, ObjectOf } from '../../../api/schema/kind.ts';
import type { Claim, Owner } from '../../cloud/ownership.ts';
import type { Cloud } from '../../cloud/ports.ts';
import type { AnyObject, DeepReadonly, ObjectMeta } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Random } from '../../world/clock.ts';
import type { Managed } from './managed.ts';

/** What a row wants an object to be: only its opinions. Kind, namespace, labels and owner are the engine's. */
export interface Body {
  metadata: Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;
  [field: string]: unknown;
}

export interface JobBody {
  /** Names the Job: `<object>-<step>-<hash>`. */
  readonly step: string;
  readonly image: string;
  readonly argv: readonly string[];
  /** What, when changed, makes the work due again. Never credentials that may rotate without need. */
  readonly inputs: readonly unknown[];
  /** An input is, or is made from, a secret: the hash in the name of the Job is made with the key of the namespace. */
  readonly secret?: boolean;
  /** What a Job says by its exit code, where that is more than that it failed. */
  readonly exits?: Readonly<Record<number, { readonly reason: string; readonly next: string }>>;
  /** The pod template's spec; the image and argv above are already in it. */
  readonly pod: object;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Retention {
  /** Outlives its owner, because it opens data that does (rule 18). */
  readonly retain?: boolean;
}

export type Wish = DeepReadonly<AnyObject> & { readonly status?: never };

/** What a row may do to objects of one namespace. */
export interface Acts {
  /** From the cache. A change of it, also its coming into being, runs this object again. */
  get<K extends AnyKind>(kind: K, name: string): DeepReadonly<ObjectOf<K>> | undefined;
  get(resource: Resource, name: string): DeepReadonly<AnyObject> | undefined;
  list(resource: Resource, labels: Readonly<Record<string, string>>): readonly DeepReadonly<AnyObject>[];
  /** Past the cache, for decisions that destroy. */
  live(resource: Resource, name: string): Promise<AnyObject | undefined>;
  /** Server-side apply, unless it would change nothing. */
  apply(resource: Resource, body: Body, options?: Retention): Promise<DeepReadonly<AnyObject>>;
  /**
   * Applies a Deployment, StatefulSet or DaemonSet and waits until its pods run what it says. `earlier`: the form of an
   * earlier version, kept where pods run it, until they are replaced for another reason: an upgrade restarts nothing.
   */
  workload(resource: Resource, body: Body, earlier?: Body): Promise<DeepReadonly<AnyObject>>;
  /** Keeps an object of this row that the pass did not apply from being pruned. */
  keep(object: DeepReadonly<AnyObject>): void;
  /** Deletes by UID; succeeds when it is gone, waits while it is going. */
  remove(resource: Resource, name: string): Promise<void>;
}

/**
 * All that a row may do. Each call gives a value or throws Unmet; outcomes exist only inside the engine.
 * Everything is in the object's own namespace, but for `nodes` (rule 5).
 */
export interface Cx<O extends Managed> extends Acts {
  readonly object: DeepReadonly<O>;
  readonly spec: DeepReadonly<O['spec']>;
  readonly status: DeepReadonly<NonNullable<O['status']>>;
  readonly name: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly cloud: Cloud;
  readonly random: Random;
  /** The operator's environment: RELATED_IMAGE_*, IMAGE_REGISTRY, CLUSTER_DOMAIN. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The API server's clock, for times that are stored (rule 29). */
  serverTime(): number;

  /**
   * The same where pods with rights on their node live: in spec.nodeNamespace, or here where the object names none. What
   * is made there belongs to this object by labels, and the Secrets that pods mount are copied there.
   */
  readonly nodes: Acts;
  /** Each of the two once: where to look for whoever uses something of this object. */
  readonly places: readonly Acts[];
  /** To look into a namespace that the spec.nodeNamespace of another object names. What lies there tells by labels whose it is. */
  at(namespace: string): Pick<Acts, 'get' | 'list'>;
  /**
   * What this object has under that name in none of `nodes`: of a former cloud of this name, with another spec.nodeNamespace
   * or without. From the cache, so only of namespaces that are served.
   */
  astray(resource: Resource, name: string): DeepReadonly<AnyObject> | undefined;
  /**
   * What somebody wants of an object, not how far it is: without its status, whose changes do not run this object.
   * A cloud writes its status dozens of times while it comes up, and everything below it looks up to it.
   */
  wish(resource: Resource, name: string): Wish | undefined;
  wishes(resource: Resource): readonly Wish[];
  /** An object of ours that must exist and be Ready. */
  ready<K extends AnyKind>(kind: K, name: string, field: string): DeepReadonly<ObjectOf<K>>;
  /** The decoded keys of a Secret, whoever made it; waits naming Secret, key and the field that asks for it. */
  secret<K extends string>(name: string, keys: readonly K[], field: string): Promise<Record<K, string>>;
  /** The same without waiting: undefined when there is no such Secret. */
  secretIfAny(name: string): Promise<Readonly<Record<string, string>> | undefined>;

  /** A child object of ours. Only the fields given are ours; the rest belongs to whoever edits the child (rule 4). */
  child<K extends AnyKind>(kind: K, name: string, spec: Partial<InputOf<K>>): Promise<DeepReadonly<ObjectOf<K>>>;
  /** The same, which must be Ready. */
  readyChild<K extends AnyKind>(kind: K, name: string, spec: Partial<InputOf<K>>): Promise<DeepReadonly<ObjectOf<K>>>;
  /** Runs once per hash of image, argv and inputs; stalls with the pod's last words when it failed (rule 10). */
  job(job: JobBody): Promise<void>;
  /** A Secret whose values are made once and then only read. */
  generate<K extends string>(
    name: string,
    make: () => Record<K, string>,
    options?: Retention,
  ): Promise<Record<K, string>>;

  /** Who this object is to servers outside Kubernetes; `part` names a part of it. Created once per namespace. */
  owner(part?: string): Promise<Owner>;
  /** A hash over secrets, which those who know no Secret can't check guesses against. */
  hash(...inputs: unknown[]): Promise<string>;
  /** What this object brings along to ask a server for a thing by name. `proof`: credentials from its own Secret. */
  claim(proof?: Claim['proof'], part?: string): Promise<Claim>;
  /**
   * To be called before the first act outside Kubernetes: from then on the undo of the row is due. Recorded on the object
   * itself, so that deleting an object that never came up waits for no server.
   */
  effect(row?: string): Promise<void>;
  /** Whether the row ever announced such an act. */
  acted(): boolean;
  /** An event on the object, when this pass has written its status. */
  event(event: { readonly reason: string; readonly note: string }): void;
  /** What the condition of a row says that has succeeded. */
  note(text: string): void;

  /** Fields of status beside conditions. Fields of rows that did not get that far stay as they were. */
  report(status: Partial<NonNullable<O['status']>>): void;
  /** Clears a field of status, unless another row of this pass has reported it. */
  clear(field: string): void;
  /** Looks again after this time, for what no watch shows. The least one counts. */
  again(ms: number): void;
  /** Waits for all, and tells of the worst that is unmet. */
  all<T extends readonly unknown[]>(promises: readonly [...{ [K in keyof T]: Promise<T[K]> }]): Promise<T>;
}

/** A row for one of its keys. */
export interface EachCx<O extends Managed, T> extends Cx<O> {
  /** Dependents may go on with this value, though the key is not through yet. */
  usable(value: T): void;
  /** Fields of the key's line in status, beside name, ready, reason and message. */
  line(fields: Readonly<Record<string, unknown>>): void;
}
