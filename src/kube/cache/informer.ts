import type { Clock, Random } from '../../world/clock.ts';
import type { AnyObject, DeepReadonly, KubeObject, Ref } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Transport } from '../transport.ts';

/** What an informer watches and how much of it is kept. Two equal ones share one informer. */
export interface InformerOptions {
  readonly resource: Resource;
  /** Empty or absent: all. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only apiVersion, kind and metadata are fetched and kept. */
  readonly metadataOnly?: boolean;
  /** Managers whose Apply entries survive in managedFields; all others are dropped. */
  readonly keepManagers?: readonly string[];
  /** Runs after the default reduction, before store and handlers. Pure, idempotent, returns a new object. */
  readonly transform?: (object: AnyObject) => AnyObject;
  readonly indexers?: Readonly<Record<string, Indexer>>;
}

/** Pure. It reads objects whose type it knows better than the cache does. */
export type Indexer = (object: DeepReadonly<AnyObject>) => readonly string[];

/** Called synchronously, in order. A handler that throws is logged and keeps receiving. */
export interface Handler<T extends KubeObject = AnyObject> {
  /** `initial`: part of the first list, or of the replay to a handler that came late. */
  added?(object: DeepReadonly<T>, info: { readonly initial: boolean }): void;
  /** Never across uids: a recreated object is deleted, then added. */
  updated?(before: DeepReadonly<T>, after: DeepReadonly<T>): void;
  /**
   * Gone, or no longer matched by the selector. `finalStateUnknown`: seen missing from a list,
   * so `object` is the last state we know, not the last it had.
   */
  deleted?(object: DeepReadonly<T>, info: { readonly finalStateUnknown: boolean }): void;
}

export interface ListOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly index?: { readonly name: string; readonly value: string };
}

export interface InformerStats {
  readonly objects: number;
  /** Monotonic ms of the last event or bookmark. */
  readonly lastEventAt: number | undefined;
  readonly lists: number;
  readonly lastListMs: number | undefined;
  readonly watches: number;
  /** Why streams were opened again. */
  readonly reconnects: Readonly<Record<string, number>>;
  readonly rejected: number;
  readonly handlerErrors: number;
  /** Failures in a row; 0 when all is well. */
  readonly failures: number;
  readonly lastFailure: string | undefined;
}

export interface Informer<T extends KubeObject = AnyObject> {
  readonly resource: Resource;
  readonly options: InformerOptions;
  get(ref: Ref): DeepReadonly<T> | undefined;
  list(options?: ListOptions): readonly DeepReadonly<T>[];
  /** Replays existing objects as initial adds. Returns the removal, which may be called twice. */
  onChange(handler: Handler<T>): () => void;
  /** Back-fills from existing objects. Adding the same name again is an error unless it is the same function. */
  addIndexer(name: string, indexer: Indexer): void;
  start(): void;
  stop(): Promise<void>;
  /** The first list is in the store and every handler has seen it. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  /** Everything up to this version is in the store; moved by events and bookmarks after the store was written. */
  readonly resourceVersion: string | undefined;
  readonly stats: InformerStats;
}

export interface InformerDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
}

export type Log = (level: 'info' | 'warn', text: string, fields?: Readonly<Record<string, unknown>>) => void;
