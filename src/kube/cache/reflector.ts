/**
 * How a store follows a collection of the API server: a pure `step(state, event)`; reflect.ts carries out the effects.
 * fill (WatchList, or pages of a list) -> watch from the filled version -> watch again from the last version heard,
 * and back to fill when that version is gone.
 */
import type { AnyObject, Status } from '../object.ts';
import type { WatchEvent } from '../transport.ts';
import { newerResourceVersion } from '../version.ts';
import { failureOf, flawOf, stage } from './reflector-objects.ts';
import { after, expired, fail, fill, IDLE, ignore, list, PAGE, QUIET, stream, watch } from './reflector-requests.ts';
import type { Alarm, Effect, Failure, Moment, Phase, ReflectorEvent, State, Step } from './reflector-state.ts';

/** A clean end so soon and without an event is a broken proxy: without a pause it would spin us. */
const SHORT = 1_000;
/** ERROR 500 in a row before the version is no longer trusted. */
const SERVER_ERRORS = 5;

export function step(state: State, event: ReflectorEvent, moment: Moment): Step {
  const { phase } = state;
  if (phase.at === 'stopped') return { state, effects: [] };
  if (event.is === 'stop') return { state: { ...state, phase: { at: 'stopped' } }, effects: [{ do: 'hangUp' }] };
  switch (phase.at) {
    case 'idle':
      return event.is === 'start' ? fill(state, moment, 'start') : ignore(state);
    case 'waiting':
      if (event.is !== 'alarm' || event.name !== 'retry') return ignore(state);
      return phase.next === 'fill' ? fill(state, moment, 'retry') : watch(state, moment, 'retry');
    case 'listing':
      return listing(state, phase, event, moment);
    case 'streaming':
      return streaming(state, phase, event, moment);
    case 'watching':
      return watching(state, phase, event, moment);
  }
}

const isGone = (failure: Failure): boolean => failure.status === 410 || failure.tooLarge === true;

function listing(state: State, phase: Phase & { at: 'listing' }, event: ReflectorEvent, moment: Moment): Step {
  if (event.is === 'broken') return fail(state, moment, 'fill', 'broken', event.why);
  if (event.is === 'refused') {
    const { failure } = event;
    if (failure.status === 410 && phase.page > 1) return list(state, 'expired', { requested: phase.requested });
    if (isGone(failure) && phase.requested !== '') return list({ ...state, unavailable: true }, 'expired');
    const cause = failure.status === 429 ? 'throttled' : 'refused';
    return fail(state, moment, 'fill', cause, failure.message, failure.retryAfter);
  }
  if (event.is !== 'page') return ignore(state);

  const uncached = state.uncached || (event.next !== undefined && phase.page === 1 && phase.requested === '0');
  const version = phase.page === 1 ? event.version : phase.version;
  const staged = stage(event.items, state.kinds);
  if (event.next !== undefined) {
    // A continue token carries its version; sending both is an error.
    const query = { limit: PAGE, continue: event.next };
    return {
      state: { ...state, uncached, phase: { ...phase, page: phase.page + 1, version } },
      effects: [...staged, { do: 'list', query, cause: 'filled' }],
    };
  }
  const filled = { ...state, uncached, unavailable: false, version };
  return after([...staged, { do: 'commit', version }], watch(filled, moment, 'filled'));
}

function streaming(state: State, phase: Phase & { at: 'streaming' }, event: ReflectorEvent, moment: Moment): Step {
  switch (event.is) {
    case 'closed':
      return fail(state, moment, 'fill', 'closed', 'the stream ended before the initial events did');
    case 'broken':
      return fail(state, moment, 'fill', 'broken', event.why);
    case 'refused':
      return refusedStream(state, event.failure, moment);
    case 'alarm':
      return streamingAlarm(state, phase, event.name, moment);
    case 'event':
      return initialEvent({ ...state, heardAt: moment.now }, event.event, moment);
    default:
      return ignore(state);
  }
}

function refusedStream(state: State, failure: Failure, moment: Moment): Step {
  if (failure.status === 429) return fail(state, moment, 'fill', 'throttled', failure.message, failure.retryAfter);
  if (isGone(failure) && !state.unavailable) return stream({ ...state, unavailable: true }, moment, 'expired');
  // "Unknown or forbidden option" will not change while this server runs; any other refusal may.
  const unsupported = failure.status === 400 || failure.status === 422;
  return list({ ...state, watchList: state.watchList && !unsupported }, 'fallback');
}

function streamingAlarm(state: State, phase: Phase & { at: 'streaming' }, name: Alarm, moment: Moment): Step {
  const silence = moment.now - state.heardAt;
  if (name === 'quiet') {
    if (phase.quietSaid) return ignore(state);
    if (silence < QUIET) return { state, effects: [{ do: 'alarm', name, ms: QUIET - silence }] };
    const text = `no initial events for ${Math.round(silence / 1000)} s, and no mark that they are complete`;
    return { state: { ...state, phase: { ...phase, quietSaid: true } }, effects: [{ do: 'warn', text }] };
  }
  if (name === 'idle' && silence < IDLE) return { state, effects: [{ do: 'alarm', name, ms: IDLE - silence }] };
  const failed = fail(state, moment, 'fill', name === 'idle' ? 'stalled' : 'deadline', 'the initial events stalled');
  return after([{ do: 'hangUp' }], failed);
}

function initialEvent(state: State, event: WatchEvent, moment: Moment): Step {
  if (event.type === 'ERROR') {
    return after([{ do: 'hangUp' }], refusedStream(state, failureOf(event.object as Status), moment));
  }
  const object = event.object as AnyObject;
  const flaw = flawOf(object, state.kinds, event.type !== 'BOOKMARK');
  if (flaw !== undefined) return { state, effects: [{ do: 'reject', why: flaw }] };
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      return { state, effects: [{ do: 'stage', objects: [object] }] };
    case 'DELETED':
      return { state, effects: [{ do: 'unstage', object }] };
    case 'BOOKMARK': {
      if (object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return ignore(state);
      const version = object.metadata.resourceVersion!;
      const phase: Phase = { at: 'watching', ordered: true, openedAt: moment.now, events: 1 };
      // The same stream goes on as the watch: idle and deadline alarms stay armed.
      return { state: { ...state, phase, version, unavailable: false }, effects: [{ do: 'commit', version }] };
    }
    default:
      return strange(state, event);
  }
}

function watching(state: State, phase: Phase & { at: 'watching' }, event: ReflectorEvent, moment: Moment): Step {
  switch (event.is) {
    case 'opened':
      return { state: { ...state, phase: { ...phase, openedAt: moment.now }, heardAt: moment.now }, effects: [] };
    case 'closed':
    case 'broken': {
      const why = event.is === 'broken' ? event.why : 'the server ended the watch at once';
      if (phase.openedAt === undefined) return fail(state, moment, 'watch', 'broken', why);
      const short = phase.events === 0 && moment.now - phase.openedAt < SHORT;
      return short ? fail(state, moment, 'watch', 'short', why) : watch(state, moment, event.is);
    }
    case 'refused':
      return refusedWatch(state, event.failure, moment);
    case 'alarm': {
      const silence = moment.now - state.heardAt;
      if (event.name === 'idle' && silence < IDLE) {
        return { state, effects: [{ do: 'alarm', name: 'idle', ms: IDLE - silence }] };
      }
      if (event.name !== 'idle' && event.name !== 'deadline') return ignore(state);
      return after([{ do: 'hangUp' }], watch(state, moment, event.name === 'idle' ? 'stalled' : 'deadline'));
    }
    case 'event':
      return watchEvent(state, phase, event.event, moment);
    default:
      return ignore(state);
  }
}

/** Of the request itself, or by an ERROR event in its stream. */
function refusedWatch(state: State, failure: Failure, moment: Moment): Step {
  const { message, retryAfter } = failure;
  if (isGone(failure)) return expired(state, moment, message);
  if (failure.status === 429) return fail(state, moment, 'watch', 'throttled', message, retryAfter);
  return fail(state, moment, 'fill', 'refused', message, retryAfter);
}

function watchEvent(state: State, phase: Phase & { at: 'watching' }, event: WatchEvent, moment: Moment): Step {
  const heard = { ...state, heardAt: moment.now };
  if (event.type === 'ERROR') {
    const failure = failureOf(event.object as Status);
    const counted = { ...heard, serverErrors: state.serverErrors + 1 };
    const within = failure.status === 500 && counted.serverErrors <= SERVER_ERRORS;
    const next = within
      ? fail(counted, moment, 'watch', 'server-error', failure.message)
      : refusedWatch({ ...heard, serverErrors: 0 }, failure, moment);
    return after([{ do: 'hangUp' }], next);
  }
  const object = event.object as AnyObject;
  const flaw = flawOf(object, state.kinds, event.type !== 'BOOKMARK');
  if (flaw !== undefined) return { state: heard, effects: [{ do: 'reject', why: flaw }] };
  const change = changeOf(event.type, object);
  if (change === undefined) return strange(heard, event);

  const ordered = phase.ordered || event.type !== 'ADDED';
  const version = ordered ? newerResourceVersion(state.version, object.metadata.resourceVersion!) : state.version;
  return {
    state: { ...heard, version, serverErrors: 0, phase: { ...phase, ordered, events: phase.events + 1 } },
    // Store first, then the version: a reader who sees the version must find the object.
    effects: ordered ? [...change, { do: 'advance', version }] : change,
  };
}

function changeOf(type: WatchEvent['type'], object: AnyObject): readonly Effect[] | undefined {
  if (type === 'ADDED' || type === 'MODIFIED') return [{ do: 'put', object }];
  if (type === 'DELETED') return [{ do: 'remove', object }];
  return type === 'BOOKMARK' ? [] : undefined;
}

function strange(state: State, event: WatchEvent): Step {
  if (state.strangeSeen) return ignore(state);
  const text = `skipping watch events of unknown type ${String(event.type)}`;
  return { state: { ...state, strangeSeen: true }, effects: [{ do: 'warn', text }] };
}
