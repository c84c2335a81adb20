import type { Client } from '../kube/client.ts';
import { ApiError, isNotFound } from '../kube/errors.ts';
import type { AnyObject, DeepReadonly, KubeObject } from '../kube/object.ts';
import { Event } from '../kube/resource.ts';
import { microTimeOf } from '../kube/time.ts';
import { NoAnswer } from '../kube/transport.ts';
import { type Clock, type Random, sleep } from '../world/clock.ts';
import type { Log } from '../world/log.ts';
import type { Metrics } from './metrics/metrics.ts';
import { SpamFilter } from './spam.ts';

export interface Happening {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for machines. */
  readonly reason: string;
  /** What we did or tried when it happened. */
  readonly action?: string;
  /** For people. Not part of the identity: the note of the first of a series stays. */
  readonly note: string;
  readonly related?: DeepReadonly<KubeObject>;
}

export interface Recorder {
  /** Never blocks, never throws: an event is a courtesy, not a duty. */
  event(regarding: DeepReadonly<KubeObject>, happening: Happening): void;
  /** Resolves when all that was recorded is written or given up; open series get their final count. */
  flush(): Promise<void>;
}

export interface RecorderDeps {
  /** Without a fence: the last events are written after the lease is released. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly controller: string;
  /** Which replica speaks, e.g. the pod's name. */
  readonly instance: string;
}

/** More than this waiting to be written means an API server in trouble; events must not add to it. */
const QUEUE_LIMIT = 1000;
const NOTE_LIMIT = 1024;
const WORD_LIMIT = 128;
/** A server keeps an event for an hour; a series that goes on is refreshed well before. */
const REFRESH = 30 * 60_000;
/** No repetition for so long ends a series. */
const IDLE = 6 * 60_000;
const SWEEP = 60_000;
const TRIES = 12;
const RETRY_DELAY = 10_000;

interface Series {
  readonly object: AnyObject;
  count: number;
  /** What the server knows. */
  written: number;
  /** Monotonic. */
  seenAt: number;
  writtenAt: number;
  lastObserved: string;
  queued: boolean;
}

/**
 * Writes events.k8s.io/v1 events as client-go does: the first of an identity is created, the second makes it a series,
 * later ones are counted in memory and written every half hour and at the end.
 */
class EventRecorder implements Recorder {
  readonly #deps: RecorderDeps;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #spam = new SpamFilter();
  /** By identity; an entry lives until its series has been idle. */
  readonly #open = new Map<string, Series>();
  readonly #queue: Series[] = [];
  readonly #flushed: (() => void)[] = [];
  #writing = false;
  #sweeping = false;
  #flushing = false;
  #lastName = 0;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    const { client, clock, random, log, metrics } = deps;
    this.#client = client;
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
    this.#metrics = metrics;
  }

  async flush() {
    this.#flushing = true;
    for (const series of this.#open.values()) if (series.count > series.written) this.#enqueue(series);
    if (this.#writing) await new Promise<void>(resolve => this.#flushed.push(resolve));
    this.#flushing = false;
    // A timer that waits for a series to end would keep a stopped process alive for minutes.
    this.#cancelSweep();
    this.#sweeping = false;
  }

  #cancelSweep = () => {};

  event(regarding: DeepReadonly<KubeObject>, happening: Happening): void {
    const now = this.#clock.now();
    const identity = this.#identityOf(regarding, happening);
    if (!this.#spam.allow(regarding.metadata.uid ?? identity, now)) {
      this.#metrics.event('dropped');
      return;
    }
    const time = microTimeOf(this.#client.serverTime());
    const series = this.#open.get(identity);
    if (series) {
      series.count++;
      series.seenAt = now;
      series.lastObserved = time;
      if (series.count === 2) this.#enqueue(series);
      return;
    }
    if (this.#queue.length >= QUEUE_LIMIT) {
      this.#metrics.event('dropped');
      return;
    }
    const object = this.#build(regarding, happening, time);
    const first = { object, count: 1, written: 0, seenAt: now, writtenAt: now, lastObserved: time, queued: false };
    this.#open.set(identity, first);
    this.#enqueue(first);
    this.#sweepLater();
  }

  #build(regarding: DeepReadonly<KubeObject>, happening: Happening, eventTime: string): AnyObject {
    // Nanoseconds in client-go; here microseconds that never repeat.
    this.#lastName = Math.max(this.#lastName + 1, Math.floor(this.#client.serverTime() * 1000));
    const name = `${regarding.metadata.name.slice(0, 230)}.${this.#lastName.toString(16)}`;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: regarding.metadata.namespace ?? 'default' },
      eventTime,
      type: happening.type,
      reason: happening.reason.slice(0, WORD_LIMIT),
      action: (happening.action ?? happening.reason).slice(0, WORD_LIMIT),
      note: cutBytes(happening.note, NOTE_LIMIT),
      regarding: reference(regarding),
      ...(happening.related === undefined ? {} : { related: reference(happening.related) }),
      reportingController: this.#deps.controller,
      reportingInstance: this.#deps.instance.slice(0, WORD_LIMIT),
    };
  }

  #enqueue(series: Series): void {
    if (series.queued) return;
    if (this.#queue.length >= QUEUE_LIMIT) {
      this.#metrics.event('dropped');
      return;
    }
    series.queued = true;
    this.#queue.push(series);
    if (!this.#writing) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#writing = true;
    for (let series = this.#queue.shift(); series; series = this.#queue.shift()) {
      series.queued = false;
      await this.#write(series);
    }
    this.#writing = false;
    for (const resolve of this.#flushed.splice(0)) resolve();
  }

  async #write(series: Series): Promise<void> {
    for (let attempt = 1; series.written < series.count; attempt++) {
      const { count } = series;
      try {
        this.#metrics.event(await this.#put(series));
        series.written = count;
        series.writtenAt = this.#clock.now();
        return;
      } catch (error) {
        // The server said no, or has been silent for two minutes: nobody is helped by insisting.
        if (!(error instanceof NoAnswer) || attempt >= TRIES || this.#flushing) {
          this.#log.debug('Event was dropped', { error, event: series.object.metadata.name });
          series.written = count;
          return this.#metrics.event('dropped');
        }
        await sleep(this.#clock, RETRY_DELAY * (0.75 + 0.5 * this.#random.next()), undefined, {
          label: 'event retry',
          daemon: true,
        });
      }
    }
  }

  async #put(series: Series): Promise<'created' | 'patched'> {
    const { object, count } = series;
    const tail = count > 1 ? { series: { count, lastObservedTime: series.lastObserved } } : {};
    const ref = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
    if (series.written > 0) {
      try {
        await this.#client.patch(Event, ref, tail, { type: 'merge' });
        return 'patched';
      } catch (error) {
        // Its time to live was over on the server.
        if (!isNotFound(error)) throw error;
      }
    }
    try {
      await this.#client.create(Event, { ...object, ...tail });
    } catch (error) {
      // The answer to our own first try was lost.
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
    }
    return 'created';
  }

  #sweepLater(): void {
    if (this.#sweeping || this.#open.size === 0) return;
    this.#sweeping = true;
    this.#cancelSweep = this.#clock.timer(SWEEP, this.#sweep, { label: 'event sweep', daemon: true });
  }

  readonly #sweep = (): void => {
    this.#sweeping = false;
    const now = this.#clock.now();
    for (const [identity, series] of this.#open) {
      const idle = now - series.seenAt >= IDLE;
      if (series.count > series.written && (idle || now - series.writtenAt >= REFRESH)) this.#enqueue(series);
      if (idle) this.#open.delete(identity);
    }
    this.#sweepLater();
  };

  #identityOf(regarding: DeepReadonly<KubeObject>, { type, reason, action, related }: Happening): string {
    return JSON.stringify([type, reason, action, reference(regarding), related && reference(related)]);
  }
}

export const createRecorder = (deps: RecorderDeps): Recorder => new EventRecorder(deps);

/** Which object, not which version of it: a series spans many. */
const reference = ({ apiVersion, kind, metadata }: DeepReadonly<KubeObject>) => ({
  apiVersion,
  kind,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name,
  ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
});

/** The limit of the API counts bytes, and a cut must not split a character. */
function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return text;
  let end = limit - 3;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}...`;
}
