import type { Clock, Random } from '../../world/clock.ts';
import { statusOf } from '../errors.ts';
import type { AnyObject } from '../object.ts';
import type { Request, Response, Transport } from '../transport.ts';
import { step } from './reflector.ts';
import { failureOf } from './reflector-objects.ts';
import { type Alarm, type Effect, initialState, type Query, type ReflectorEvent } from './reflector-state.ts';

/** For a page, or for the first byte of a watch. */
const ANSWER_TIMEOUT = 60_000;

export interface ReflectOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /** Of the collection. */
  readonly path: string;
  readonly query: Query;
  readonly accept?: { readonly list: string; readonly watch: string };
  readonly kinds: readonly string[];
  /** In the journal of a simulation. */
  readonly label: string;
  /** Carries out what is not a request or an alarm; sees those too. Must not throw. */
  readonly sink: (effect: Effect) => void;
}

export interface Reflection {
  start(): void;
  stop(): void;
}

/** Runs a reflector: requests over the transport, alarms on the clock, everything else into the sink. */
export function reflect(options: ReflectOptions): Reflection {
  const { transport, clock, random, sink } = options;
  let state = initialState(options.kinds);
  /** Of the open request; an answer that carries another serial comes from one we hung up on. */
  let serial = 0;
  let open: AbortController | undefined;
  const alarms = new Map<Alarm, () => void>();

  const moment = {
    get now() {
      return clock.now();
    },
    get roll() {
      return random.next();
    },
  };

  function hear(event: ReflectorEvent): void {
    const before = state;
    const next = step(before, event, moment);
    for (const effect of next.effects) if (!isRequest(effect)) sink(effect);
    if (state !== before) return; // a handler behind the sink stopped us
    // Only now: a version may not be known before the store holds what it stands for.
    state = next.state;
    for (const effect of next.effects) if (isRequest(effect)) carryOut(effect);
  }

  function carryOut(effect: RequestEffect): void {
    if (effect.do === 'alarm') arm(effect.name, effect.ms);
    else hangUp();
    if (effect.do !== 'list' && effect.do !== 'watch') return;
    sink(effect);
    open = new AbortController();
    const accept = options.accept?.[effect.do];
    const request: Request = {
      method: 'GET',
      path: options.path,
      query: { ...options.query, ...effect.query },
      timeout: ANSWER_TIMEOUT,
      ...(accept && { accept }),
    };
    void (effect.do === 'list' ? runList(request, serial, open.signal) : runWatch(request, serial, open.signal));
  }

  function hangUp(): void {
    serial++;
    for (const cancel of alarms.values()) cancel();
    alarms.clear();
    open?.abort(new Error('the reflector hung up'));
    open = undefined;
  }

  function arm(name: Alarm, ms: number): void {
    alarms.get(name)?.();
    const run = () => {
      alarms.delete(name);
      hear({ is: 'alarm', name });
    };
    // Whole milliseconds: a rest of 1e-11 of them is lost in the sum with the clock, and would ring at this moment for ever.
    // A watchdog must not keep a simulation awake; a retry must.
    alarms.set(name, clock.timer(Math.ceil(ms), run, { label: `${name} ${options.label}`, daemon: name !== 'retry' }));
  }

  async function runList(request: Request, mine: number, signal: AbortSignal): Promise<void> {
    const event = await transport.send(request, signal).then(pageOf, broken);
    if (mine === serial) hear(event);
  }

  async function runWatch(request: Request, mine: number, signal: AbortSignal): Promise<void> {
    const answer = await transport.watch(request, signal).catch(broken);
    if (mine !== serial) return;
    if ('is' in answer) return hear(answer);
    if ('refusal' in answer) return hear(refusalOf(answer.refusal));
    hear({ is: 'opened' });
    const events = answer.events[Symbol.asyncIterator]();
    while (mine === serial) {
      const next = await events.next().catch(broken);
      if (mine !== serial) break;
      if ('is' in next) return hear(next);
      if (next.done) return hear({ is: 'closed' });
      if (!isEvent(next.value)) return hear({ is: 'broken', why: 'a line of the watch is no event' });
      hear({ is: 'event', event: next.value });
    }
  }

  return { start: () => hear({ is: 'start' }), stop: () => hear({ is: 'stop' }) };
}

type RequestEffect = Extract<Effect, { do: 'alarm' | 'hangUp' | 'list' | 'watch' }>;

const isRequest = (effect: Effect): effect is RequestEffect =>
  effect.do === 'alarm' || effect.do === 'hangUp' || effect.do === 'list' || effect.do === 'watch';

const broken = (error: unknown): ReflectorEvent => ({
  is: 'broken',
  why: error instanceof Error ? error.message : String(error),
});

/** JSON of somebody else: a line may be any value. */
const isEvent = (value: unknown): boolean => {
  const { type, object } = (value ?? {}) as { type?: unknown; object?: unknown };
  return typeof type === 'string' && typeof object === 'object' && object !== null;
};

function refusalOf(response: Response): ReflectorEvent {
  const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
  const failure = failureOf(statusOf(response), Number.isFinite(seconds) ? seconds * 1000 : undefined);
  return { is: 'refused', failure: { ...failure, status: response.status } };
}

function pageOf(response: Response): ReflectorEvent {
  if (response.status !== 200) return refusalOf(response);
  const body = response.body as {
    kind?: string;
    items?: AnyObject[] | null;
    metadata?: { resourceVersion?: string; continue?: string };
  };
  if (
    !body?.metadata ||
    (body.items !== null && !Array.isArray(body.items)) ||
    body.items?.some(item => !item?.metadata)
  ) {
    return { is: 'broken', why: `the answer is a ${body?.kind ?? typeof body}, not a list` };
  }
  return {
    is: 'page',
    items: body.items ?? [],
    version: body.metadata.resourceVersion ?? '',
    next: body.metadata.continue || undefined,
  };
}
