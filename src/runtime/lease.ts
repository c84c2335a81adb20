import type { Client } from '../kube/client.ts';
import { ApiError, isNotFound } from '../kube/errors.ts';
import type { AnyObject } from '../kube/object.ts';
import { Lease } from '../kube/resource.ts';
import { microTimeOf } from '../kube/time.ts';
import { type Clock, type Random, sleep } from '../world/clock.ts';
import type { Log } from '../world/log.ts';
import type { Metrics } from './metrics/metrics.ts';

export interface ElectionOptions {
  readonly namespace: string;
  readonly name: string;
  /** Unique per process and per start: `hostname_uuid`. */
  readonly identity: string;
  /** Written on the Lease for those who look at it. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Why the holder of another Lease of the namespace and this process may not both work; undefined: they may. */
  readonly clash?: (other: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  }) => string | undefined;
  /** Milliseconds others wait after they last saw the record change. */
  readonly leaseDuration?: number;
  /** Milliseconds after the last renewal at which this process stops to consider itself the leader. */
  readonly renewDeadline?: number;
  /** Milliseconds between tries. */
  readonly retryPeriod?: number;
}

export interface ElectionDeps {
  /** Of its own: no fence, no retries, and timeouts of electionTimeout(). */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

type LeaseObject = AnyObject & { spec?: LeaseSpec };

/** client-go's: waiting processes do not come in step. */
const JITTER = 1.2;
/** kube-controller-manager's: a leader that cannot renew exits by itself long before a probe must kill it. */
const HEALTH_TOLERANCE = 20_000;

/** A request of the election may take half of the time in which a renewal must succeed. */
export const electionTimeout = (renewDeadline = 10_000): number => Math.max(1000, renewDeadline / 2);

/**
 * Leader election on a Lease, after client-go. Expiry is judged by the local monotonic clock since the record last
 * changed, so wrong wall clocks do no harm. The API server does not fence: fence() does, at the moment of sending.
 */
export class LeaderElection {
  readonly #options: ElectionOptions &
    Required<Pick<ElectionOptions, 'leaseDuration' | 'renewDeadline' | 'retryPeriod'>>;
  readonly #deps: ElectionDeps;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  /** The record as last read or written, and when it was first seen in that form. */
  #observed: { object: LeaseObject; at: number } | undefined;
  /** When the last successful renewal was *sent*; undefined while we do not lead. */
  #renewed: number | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #releasing: Promise<void> | undefined;

  constructor(options: ElectionOptions, deps: ElectionDeps) {
    const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options;
    if (!(retryPeriod > 0)) throw new Error('Leader election: retryPeriod must be greater than 0');
    if (!(renewDeadline > JITTER * retryPeriod))
      throw new Error(`Leader election: renewDeadline must be greater than ${JITTER} x retryPeriod`);
    if (!(leaseDuration > renewDeadline))
      throw new Error('Leader election: leaseDuration must be greater than renewDeadline');
    this.#options = { ...options, leaseDuration, renewDeadline, retryPeriod };
    this.#deps = deps;
    deps.metrics.leading(options.name, false);
  }

  /** Aborted when leadership is lost; there is no way back but a new process. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get leading(): boolean {
    return this.#renewed !== undefined && !this.#lost.signal.aborted;
  }

  /** Called before every mutating request. A timer may be late after a stall; this comparison is not. */
  fence(): void {
    const { clock } = this.#deps;
    if (this.#lost.signal.aborted) throw new Error('Refused to write: leadership was lost');
    if (this.#renewed === undefined) throw new Error('Refused to write: this process does not lead');
    if (clock.now() >= this.#renewed + this.#options.renewDeadline)
      throw new Error('Refused to write: the lease was not renewed in time, another process may lead');
  }

  /** What a liveness probe should complain about. */
  check(): string | undefined {
    if (!this.leading) return undefined;
    const age = this.#deps.clock.now() - this.#renewed!;
    const limit = this.#options.leaseDuration + HEALTH_TOLERANCE;
    return age > limit ? `the lease was last renewed ${Math.round(age / 1000)} s ago` : undefined;
  }

  /** Resolves when this process leads, and goes on renewing in the background. Rejects when aborted. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { clock, random, log, metrics } = this.#deps;
    const { name, identity, retryPeriod } = this.#options;
    log.info('Leader election began', { lease: name, identity });
    for (;;) {
      signal.throwIfAborted();
      if (await this.#try()) break;
      const pause = retryPeriod * (1 + random.next() * JITTER);
      await sleep(clock, pause, signal, { label: 'lease acquire', daemon: true });
    }
    log.info('Leader election was won', { lease: name, identity });
    metrics.leading(name, true);
    this.#renewing = this.#renew();
    const why = await this.#clash();
    if (why === undefined) return;
    await this.release();
    throw new Error(why);
  }

  /**
   * Asked after our own Lease is written: of two that come at once, at least one sees the other. The later one gives way, so
   * that exactly one goes on.
   */
  async #clash(): Promise<string | undefined> {
    const { client, log } = this.#deps;
    const { namespace, name, clash } = this.#options;
    if (clash === undefined) return undefined;
    try {
      const { items } = await client.list<LeaseObject>(Lease, { namespace });
      const now = client.serverTime();
      const mine = this.#observed?.object.spec?.acquireTime ?? '';
      for (const { metadata, spec = {} } of items) {
        if (metadata.name === name || !spec.holderIdentity) continue;
        const until = Date.parse(spec.renewTime ?? '') + 1000 * (spec.leaseDurationSeconds ?? 0);
        const came = spec.acquireTime ?? '';
        const isFirst = came < mine || (came === mine && metadata.name < name);
        const why = until > now && isFirst ? clash(metadata) : undefined;
        if (why !== undefined) return `${why} (Lease ${namespace}/${metadata.name}, held by ${spec.holderIdentity})`;
      }
    } catch (error) {
      // An operator whose Role is of an earlier version may not list them.
      log.warn('Other Leases could not be read, so nobody knows whether two operators serve the same objects', {
        error,
      });
    }
    return undefined;
  }

  /**
   * Gives the lease back so that a successor need not wait. Call it after the last write of the process. A caller that asks
   * again waits for the same end: the process may be over right after it.
   */
  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  async #release(): Promise<void> {
    const { client, clock, log, metrics } = this.#deps;
    const { name, retryPeriod, renewDeadline } = this.#options;
    const led = this.leading;
    this.#stop.abort();
    // A renewal under way would collide with the release.
    await this.#renewing;
    if (!led || this.#lost.signal.aborted) return;
    const until = clock.now() + renewDeadline;
    this.#renewed = undefined;
    metrics.leading(name, false);
    while (clock.now() < until) {
      try {
        const object = await client.get<LeaseObject>(Lease, this.#options);
        if (object?.spec?.holderIdentity !== this.#options.identity) return;
        const spec = { ...object.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#time() };
        await client.replace(Lease, { ...object, spec });
        log.info('Lease was released', { lease: name });
        return;
      } catch (error) {
        log.debug('Lease was not released yet', { error });
        if (!(error instanceof ApiError && error.status === 409)) await sleep(clock, retryPeriod);
      }
    }
    log.warn('Lease could not be released, the next leader waits until it expires', { lease: name });
  }

  async #renew(): Promise<void> {
    const { clock } = this.#deps;
    const { retryPeriod, renewDeadline } = this.#options;
    while (!this.#stop.signal.aborted) {
      // The watchdog covers a request that hangs; it is set again after each success.
      const deadline = this.#renewed! + renewDeadline;
      const cancel = clock.timer(deadline - clock.now(), () => this.#lose(`no renewal in ${renewDeadline} ms`), {
        label: 'lease deadline',
        daemon: true,
      });
      await sleep(clock, retryPeriod, this.#stop.signal, { label: 'lease renew', daemon: true }).catch(() => {});
      if (!this.#stop.signal.aborted && !this.#lost.signal.aborted) {
        // After a stall the term may be over although the record still names us: then it ends here.
        if (clock.now() >= deadline) this.#lose(`this process stood still past the deadline of ${renewDeadline} ms`);
        else await this.#try();
      }
      cancel();
      if (this.#lost.signal.aborted) return;
    }
  }

  #lose(why: string): void {
    if (this.#lost.signal.aborted || this.#renewed === undefined || this.#stop.signal.aborted) return;
    const { name, identity } = this.#options;
    this.#deps.log.error('Leadership was lost', { lease: name, identity, why });
    this.#deps.metrics.leading(name, false);
    this.#lost.abort(new Error(`leader election lost: ${why}`));
  }

  /** One try to get or keep the lease. Never throws: a failure is a try that did not succeed. */
  async #try(): Promise<boolean> {
    const sent = this.#deps.clock.now();
    try {
      // 1. The leader knows the record: one PUT, and its version proves that nobody wrote in between.
      if (this.leading && this.#observed) {
        const kept = await this.#write(this.#observed.object, sent).catch(conflictAsUndefined);
        if (kept) return true;
      }
      return await this.#tryFromServer();
    } catch (error) {
      this.#deps.log.warn('Lease could not be read or written', { lease: this.#options.name, error });
      return false;
    }
  }

  async #tryFromServer(): Promise<boolean> {
    const { client, clock } = this.#deps;
    const { namespace, name, identity } = this.#options;
    // 2. Read it, or make it.
    const object = await client.get<LeaseObject>(Lease, { namespace, name });
    const sent = clock.now();
    if (!object) return this.#created(sent);
    // 3. A record that changed starts its holder's term anew, by our clock.
    this.#observe(object);
    // 4. Somebody else's term that is not over.
    const holder = object.spec?.holderIdentity ?? '';
    const term = (object.spec?.leaseDurationSeconds ?? 0) * 1000;
    if (holder !== '' && holder !== identity) {
      if (this.leading) {
        this.#lose(`${holder} holds the lease`);
        return false;
      }
      if (this.#observed!.at + term > clock.now()) return false;
    }
    // 5. Ours, free or expired.
    return (await this.#write(object, sent).catch(conflictAsUndefined)) !== undefined;
  }

  async #created(sent: number): Promise<boolean> {
    const { namespace, name } = this.#options;
    const metadata = { name, namespace, ...this.#annotated() };
    const fresh = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
    const object = await this.#deps.client
      .create<LeaseObject>(Lease, { ...fresh, spec: this.#spec(undefined) })
      .catch(conflictAsUndefined);
    if (!object) return false;
    this.#won(object, sent);
    return true;
  }

  async #write(object: LeaseObject, sent: number): Promise<LeaseObject | undefined> {
    const metadata = { ...object.metadata, ...this.#annotated(object.metadata.annotations) };
    const next = { ...object, metadata, spec: this.#spec(object.spec) };
    const written = await this.#deps.client.replace<LeaseObject>(Lease, next);
    this.#won(written, sent);
    return written;
  }

  #won(object: LeaseObject, sent: number): void {
    this.#observe(object);
    // From sending, not from the answer: a successor counts from the commit, which came after the one and before the other.
    this.#renewed = sent;
  }

  #annotated(others: Readonly<Record<string, string>> = {}) {
    const { annotations } = this.#options;
    return annotations && { annotations: { ...others, ...annotations } };
  }

  #spec(old: LeaseSpec | undefined): LeaseSpec {
    const time = this.#time();
    const mine = old?.holderIdentity === this.#options.identity;
    return {
      ...old,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseDuration / 1000),
      acquireTime: mine ? (old.acquireTime ?? time) : time,
      renewTime: time,
      leaseTransitions: (old?.leaseTransitions ?? 0) + (mine || old === undefined ? 0 : 1),
    };
  }

  #observe(object: LeaseObject): void {
    const before = this.#observed;
    const same = before !== undefined && JSON.stringify(before.object.spec) === JSON.stringify(object.spec);
    const holder = object.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== before?.object.spec?.holderIdentity)
      this.#deps.log.info('Lease has a new holder', { lease: this.#options.name, holder });
    this.#observed = { object, at: same ? before.at : this.#deps.clock.now() };
  }

  #time(): string {
    return microTimeOf(this.#deps.client.serverTime());
  }
}

/** Somebody else wrote first, or it went away: read again. */
function conflictAsUndefined(error: unknown): undefined {
  if (isNotFound(error) || (error instanceof ApiError && error.status === 409)) return undefined;
  throw error;
}
