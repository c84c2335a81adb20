import type { Clock } from '../world/world.ts';
import type { AnyObject, KubeObject, Ref } from './object.ts';
import type { Resource } from './resource.ts';
import type { Transport } from './transport.ts';

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Stop after this many. */
  readonly limit?: number;
}

export interface WriteOptions {
  /** Field manager. */
  readonly manager?: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  readonly manager: string;
  readonly force?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** merge: RFC 7386 (arrays are replaced). json: RFC 6902 (a list of operations). */
  readonly type: 'merge' | 'json';
}

export interface DeleteOptions {
  /** Mandatory: names are reused, uids are not. */
  readonly uid: string;
  readonly resourceVersion?: string;
  /** Background unless said. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** Every read is live. Reads from memory are the cache's. */
export interface Client {
  /** undefined: there is none. */
  get<T extends KubeObject = AnyObject>(resource: Resource, ref: Ref): Promise<T | undefined>;
  /** Pages by itself; a consistent snapshot. */
  list<T extends KubeObject = AnyObject>(
    resource: Resource,
    options?: ListOptions,
  ): Promise<{ items: T[]; resourceVersion: string }>;
  /** Server-side apply: the body holds our opinions and nothing else. */
  apply<T extends KubeObject = AnyObject>(resource: Resource, object: T, options: ApplyOptions): Promise<T>;
  create<T extends KubeObject = AnyObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  replace<T extends KubeObject = AnyObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject = AnyObject>(
    resource: Resource,
    ref: Ref,
    body: unknown,
    options: PatchOptions,
  ): Promise<T>;
  /**
   * The object while finalizers or grace hold it (its resourceVersion feeds the read-your-writes gate); undefined when
   * it is gone. Absent, or replaced by another object of that name, counts as gone.
   */
  delete(resource: Resource, ref: Ref, options: DeleteOptions): Promise<AnyObject | undefined>;
  /** The API server's wall clock in ms. */
  serverTime(): number;
  /** The same client, each of its calls ended by `signal`. */
  withSignal(signal: AbortSignal): Client;
}

/** One attempt at one request, for metrics. */
export interface RequestInfo {
  readonly verb: 'get' | 'list' | 'apply' | 'create' | 'update' | 'patch' | 'delete';
  /** `deployments.apps` */
  readonly resource: string;
  readonly subresource: string | undefined;
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  readonly ms: number;
  /** 1 for the first. */
  readonly attempt: number;
}

export interface ClientOptions {
  /** A warning header of the API server, once per text. */
  readonly onWarning?: (text: string) => void;
  /** Called at send time before every attempt of a mutating request; throws when leadership is in doubt. */
  readonly fence?: () => void;
  readonly onRequest?: (info: RequestInfo) => void;
  /** ms */
  readonly readTimeout?: number;
  /** ms; keep it below leaseDuration - renewDeadline, or a write may land in the next leader's term. */
  readonly writeTimeout?: number;
  /** Attempts after the first; 0 for leader election, which has its own rhythm. */
  readonly retries?: number;
}

export function createClient(_transport: Transport, _clock: Clock, _options: ClientOptions = {}): Client {
  throw new Error('not written yet');
}
