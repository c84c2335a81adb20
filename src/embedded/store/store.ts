import type { AnyObject } from '../../kube/object.ts';
import type { Request, Response, WatchEvent } from '../../kube/transport.ts';
import type { Clock, Random } from '../../world/world.ts';

export interface StoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between bookmarks of a watch; kube-apiserver sends one about every minute. */
  readonly bookmarkEvery?: number;
  /** How many events of history a watch may go back before it gets 410. */
  readonly history?: number;
}

/** All state as plain JSON values: a store made from it answers as this one would have. */
export interface Snapshot {
  readonly resourceVersion: number;
  readonly objects: readonly AnyObject[];
}

export interface Store {
  /** Synchronous; never throws; every answer is what kube-apiserver 1.37 would give. `user` goes to the audit only. */
  handle(request: Request, user?: string): Response;
  /**
   * Synchronous. On acceptance calls `sink` for each event (initial events before it returns) and `end` when the
   * server closes the stream: after timeoutSeconds, or after an ERROR event with code 410.
   */
  watch(
    request: Request,
    sink: (event: WatchEvent) => void,
    end: () => void,
  ): { status: 200; close(): void } | { status: number; refusal: Response };
  /** Deep copy of all state, for restart-from-every-state search and `plan`. */
  snapshot(): Snapshot;
  /** Every object, frozen, for oracles. */
  objects(): readonly AnyObject[];
}

export function createStore(options: StoreOptions): Store {
  return restoreStore({ resourceVersion: 0, objects: [] }, options);
}

export function restoreStore(_snapshot: Snapshot, _options: StoreOptions): Store {
  throw new Error('not written yet: src/embedded/store');
}
