import type { InformerStats } from '../kube/cache/cache.ts';
import type { Clock } from '../world/clock.ts';
import type { Log } from '../world/log.ts';
import type { Metrics } from './metrics/metrics.ts';

/** Says what is wrong, or nothing. */
export type Check = () => string | undefined;

export interface Health {
  readonly live: Readonly<Record<string, Check>>;
  readonly ready: Readonly<Record<string, Check>>;
}

/** What is wrong, by the name of the check. */
export function failures(checks: Readonly<Record<string, Check>>): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, check] of Object.entries(checks)) {
    const wrong = check();
    if (wrong !== undefined) found[name] = wrong;
  }
  return found;
}

/** Ten bookmarks missed. The reflector itself reconnects much earlier; this is for when that fails. */
const STALLED = 600_000;

/**
 * An informer that reports no error and has received nothing for ten minutes: a restart cures that. One that knows
 * it fails (API server down, RBAC) is left alone: a restart would only add load.
 */
export const informersAlive =
  (clock: Clock, informers: () => readonly { resource: { plural: string }; stats: InformerStats }[]): Check =>
  () => {
    const stalled = informers().filter(({ stats }) => {
      return stats.failures === 0 && stats.lastEventAt !== undefined && clock.now() - stats.lastEventAt > STALLED;
    });
    if (stalled.length === 0) return undefined;
    return `nothing heard for ${STALLED / 60_000} minutes of ${stalled.map(i => i.resource.plural).join(', ')}`;
  };

const BEAT = 500;
/** Renewals and probes share the loop with everything else. */
const LAG_WARNING = 200;

/** Measures by how much a timer comes late, which is how long the loop was blocked. Runs until aborted. */
export function watchLoop(clock: Clock, log: Log, metrics: Metrics, signal: AbortSignal): void {
  let worst = 0;
  const beat = (due: number) => {
    if (signal.aborted) return;
    const lag = clock.now() - due;
    worst = Math.max(worst, lag);
    if (lag > LAG_WARNING) log.warn('Event loop was blocked', { milliseconds: Math.round(lag) });
    next();
  };
  const next = () => {
    const due = clock.now() + BEAT;
    const cancel = clock.timer(BEAT, () => beat(due), { label: 'loop beat', daemon: true });
    stop = cancel;
  };
  let stop = () => {};
  signal.addEventListener('abort', () => stop(), { once: true });
  next();
  // The worst since the last scrape.
  metrics.gauge('eventloop_lag_seconds', () => {
    const value = worst / 1000;
    worst = 0;
    return [{ labels: {}, value }];
  });
}
