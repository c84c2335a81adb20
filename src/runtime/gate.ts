import { type Resource, resourceName } from '../kube/resource.ts';
import { compareResourceVersion } from '../kube/version.ts';
import type { Clock } from '../world/clock.ts';
import { type Metrics, noMetrics } from './metrics/metrics.ts';

/** How soon to look again. Mostly the awaited event itself is faster and takes this delay's place. */
const RETRY = 100;
/** A bookmark comes every minute and an event within a second; after this we would rather act than hang. */
const PATIENCE = 30_000;

interface Written {
  readonly resource: Resource;
  version: string;
  since: number;
}

/**
 * Read your writes: an owner's pass must not start on a cache that has not yet seen what its last pass wrote, or it
 * would create, change or delete the same thing again. Holds the highest version written, per owner and resource.
 */
export class Gate {
  /** By owner uid: an owner that is recreated under the same name starts with an empty record. */
  readonly #owners = new Map<string, Map<string, Written>>();
  readonly #clock: Clock;
  readonly #metrics: Metrics;

  constructor(clock: Clock, metrics: Metrics = noMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** `version` of the object as the server answered it; undefined (a delete that left nothing) is no record. */
  wrote(owner: string, resource: Resource, version: string | undefined): void {
    if (version === undefined) return;
    const records = this.#owners.get(owner) ?? new Map<string, Written>();
    this.#owners.set(owner, records);
    const record = records.get(resourceName(resource));
    if (record && compareResourceVersion(version, record.version) < 0) return;
    records.set(resourceName(resource), { resource, version, since: this.#clock.now() });
  }

  /**
   * Milliseconds to wait before asking again, or undefined when the caches have caught up. `versionOf` returns how far
   * the informer of a resource has come; undefined is one that has not synced. Gives up after 30 s: what the owner
   * then does on an old view is idempotent, and its deletes read live first.
   */
  behind(owner: string, versionOf: (resource: Resource) => string | undefined): number | undefined {
    const records = this.#owners.get(owner);
    if (!records) return undefined;
    for (const [name, record] of records) {
      const seen = versionOf(record.resource);
      const late = seen === undefined || compareResourceVersion(seen, record.version) < 0;
      if (late && this.#clock.now() - record.since < PATIENCE) {
        this.#metrics.stale(name, 'skipped');
        return RETRY;
      }
      if (late) this.#metrics.stale(name, 'live');
      records.delete(name);
    }
    this.#owners.delete(owner);
    return undefined;
  }

  forget(owner: string): void {
    this.#owners.delete(owner);
  }

  /** Owners with writes that were not seen yet. */
  get size(): number {
    return this.#owners.size;
  }
}
