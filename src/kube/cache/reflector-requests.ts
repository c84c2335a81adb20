/** The requests a reflector makes and the pauses between them. */
import type { Cause, Effect, Moment, Next, Phase, Query, State, Step } from './reflector-state.ts';

/** First retry after 0.8 to 1.6 s, last after 30 to 60 s (client-go's figures): jitter spreads a herd after an outage. */
const BACKOFF = { first: 800, cap: 30_000, quiet: 120_000 };
/** The API server sends a bookmark about once a minute; 2.5 times that without a word means a dead peer. */
export const IDLE = 150_000;
/** Seconds after which the server ends a watch, spread so that not all watches end together. */
const WATCH_SECONDS = { least: 300, spread: 300 };
/** A server that keeps a stream open beyond what we asked for is no longer there. */
const OVERTIME = 5_000;
/** WatchList: this long without a word before the end mark is worth a line in the log. */
export const QUIET = 10_000;
/** Parsing this many objects blocks the loop for 40 ms (measured). */
export const PAGE = '500';

export const ignore = (state: State): Step => ({ state, effects: [] });

/** Puts effects in front of a step: they come first in time. */
export const after = (effects: readonly Effect[], { state, effects: rest }: Step): Step => ({
  state,
  effects: [...effects, ...rest],
});

export const fill = (state: State, moment: Moment, cause: Cause): Step =>
  state.watchList ? stream(state, moment, cause) : list(state, cause);

function openWatch(state: State, phase: Phase, query: Query, moment: Moment, cause: Cause): Step {
  const seconds = WATCH_SECONDS.least + Math.floor(moment.roll * WATCH_SECONDS.spread);
  const all = { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(seconds), ...query };
  return {
    state: { ...state, phase, heardAt: moment.now },
    effects: [
      { do: 'watch', query: all, cause },
      { do: 'alarm', name: 'idle', ms: IDLE },
      { do: 'alarm', name: 'deadline', ms: seconds * 1000 + OVERTIME },
    ],
  };
}

const at = (version: string): Query => (version === '' ? {} : { resourceVersion: version });

export function stream(state: State, moment: Moment, cause: Cause): Step {
  const version = state.unavailable ? '' : state.version;
  const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', ...at(version) };
  const opened = openWatch(state, { at: 'streaming', quietSaid: false }, query, moment, cause);
  const quiet: Effect = { do: 'alarm', name: 'quiet', ms: QUIET };
  return { state: opened.state, effects: [{ do: 'unstageAll' }, ...opened.effects, quiet] };
}

/** From the last version: initial events are asked for once, not again on each reconnect. */
export const watch = (state: State, moment: Moment, cause: Cause): Step => {
  const ordered = state.version !== '' && state.version !== '0';
  const phase: Phase = { at: 'watching', ordered, openedAt: undefined, events: 0 };
  return openWatch(state, phase, at(state.version), moment, cause);
};

/**
 * The first list takes any version the watch cache has; a later one must not go back in time, and sends no limit
 * because a limit bypasses the watch cache. Only "the newest" is read from etcd, in pages.
 */
export function list(state: State, cause: Cause, whole?: { readonly requested: string }): Step {
  const requested = whole?.requested ?? (state.unavailable ? '' : state.version === '' ? '0' : state.version);
  const paged = !whole && (requested === '' || requested === '0' || state.uncached);
  return {
    state: { ...state, phase: { at: 'listing', requested, page: 1, version: '' } },
    effects: [{ do: 'unstageAll' }, { do: 'list', query: { ...at(requested), ...(paged && { limit: PAGE }) }, cause }],
  };
}

/** Waits, longer each time, until two minutes have passed without a failure. */
export function fail(state: State, moment: Moment, next: Next, cause: Cause, why: string, retryAfter = 0): Step {
  const failures = moment.now - state.failedAt > BACKOFF.quiet ? 0 : state.failures;
  const base = Math.min(BACKOFF.cap, BACKOFF.first * 2 ** Math.min(failures, 16));
  const ms = Math.max(base * (1 + moment.roll), retryAfter);
  return {
    state: { ...state, phase: { at: 'waiting', next }, failures: failures + 1, failedAt: moment.now },
    effects: [
      { do: 'failed', cause, why },
      { do: 'alarm', name: 'retry', ms },
    ],
  };
}

/** Our version left the server's history. Once that costs no pause; again soon after, it does. */
export function expired(state: State, moment: Moment, why: string): Step {
  if (moment.now - state.failedAt <= BACKOFF.quiet) return fail(state, moment, 'fill', 'expired', why);
  const counted = { ...state, failures: 1, failedAt: moment.now };
  return after([{ do: 'failed', cause: 'expired', why }], fill(counted, moment, 'expired'));
}
