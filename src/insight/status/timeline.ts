import { orderOf } from '../view/order.ts';
import { below, conditionsOf, type Live, type View } from '../view/view.ts';
import { type Group, stateOf } from './status.ts';
import { idOf, type ServiceId } from './topology.ts';
import { isWorkload } from './workloads.ts';

/** From one moment to another, in milliseconds since 1970. Open ends are under way. */
export interface Span {
  readonly from: number;
  readonly to?: number;
}

export interface TimelineStep extends Span {
  /** `Job keystone-db-sync-1a2b3c4d`, `Deployment keystone-api`. */
  readonly what: string;
}

export interface TimelineRow {
  readonly id: ServiceId;
  /** From the last thing it waited for until it was ready; absent when it took no part in the last roll-out. */
  readonly works?: Span;
  /** From its creation until that. */
  readonly waits?: Span;
  readonly steps: readonly TimelineStep[];
  readonly critical: boolean;
}

export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly open: boolean;
  readonly rows: readonly TimelineRow[];
  /** The services that nothing else could have made ready sooner, first to last. */
  readonly path: readonly ServiceId[];
}

/** Ten minutes in which nothing ended: what came before belongs to an earlier roll-out. */
const PAUSE_MS = 600_000;

/**
 * The last roll-out, from the times in conditions, Jobs and pods. These have seconds, and only the last of each: a service
 * that broke and was mended shows when it was mended.
 */
export function timelineOf(view: View, { services }: Group): Timeline | undefined {
  const order = orderOf(services);
  const drafts = services.map(object => {
    const to = order.readyAt(object);
    const from = Math.min(order.startOf(object), to ?? Number.POSITIVE_INFINITY);
    return {
      object,
      created: time(object.metadata.creationTimestamp),
      span: spanOf(from, to),
      steps: steps(view, object),
    };
  });
  const open = services.some(object => stateOf(object) !== 'ready');
  const moments = drafts.flatMap(({ span, steps }) => [
    ...(span.to === undefined ? [] : [span.to]),
    ...steps.flatMap(step => [step.from, ...(step.to === undefined ? [] : [step.to])]),
  ]);
  const last = open ? view.now : Math.max(...moments);
  if (!Number.isFinite(last)) return undefined;
  const first = beginning(moments.filter(Number.isFinite), last);
  // The first thing that ended began earlier.
  const begins = drafts
    .filter(({ span }) => (span.to ?? last) >= first)
    .map(({ span, created }) => Math.min(span.from, created));
  const from = Math.max(first - PAUSE_MS, Math.min(first, ...begins));
  const within = (span: Span): boolean => (span.to ?? last) >= first;
  const clipped = (span: Span): Span => ({ ...span, from: Math.max(span.from, from) });
  const path = criticalPath(services, order, within);
  return {
    from,
    to: last,
    open,
    path: path.map(idOf),
    rows: drafts.map(({ object, created, span, steps }) => ({
      id: idOf(object),
      ...(within(span) && { works: clipped(span) }),
      ...(within(span) && created < span.from && { waits: clipped({ from: created, to: span.from }) }),
      steps: steps.filter(within).map(step => ({ ...step, ...clipped(step) })),
      critical: path.includes(object),
    })),
  };
}

const time = (text: string | null | undefined): number => Date.parse(text ?? '');
const spanOf = (from: number, to: number | undefined): Span => ({ from, ...(to !== undefined && { to }) });

/** The earliest moment from which on there is no pause. */
function beginning(moments: readonly number[], last: number): number {
  let first = last;
  for (const moment of [...moments].sort((a, b) => b - a)) {
    if (first - moment > PAUSE_MS) break;
    first = Math.min(first, moment);
  }
  return first;
}

/** Jobs, and each workload with the pods that it has now. */
function steps(view: View, service: Live): readonly TimelineStep[] {
  return below(view, service)
    .flatMap((object): readonly TimelineStep[] => {
      if (object.kind === 'Job') return jobStep(object);
      if (!isWorkload(object)) return [];
      const pods = below(view, object).filter(pod => pod.kind === 'Pod' && !pod.metadata.deletionTimestamp);
      if (pods.length === 0) return [];
      const ready = pods.map(pod =>
        time(conditionsOf(pod).find(c => c.type === 'Ready' && c.status === 'True')?.lastTransitionTime),
      );
      const to = ready.every(Number.isFinite) ? Math.max(...ready) : undefined;
      const from = Math.min(...pods.map(pod => time(pod.metadata.creationTimestamp)));
      return [{ what: `${object.kind} ${object.metadata.name}`, ...spanOf(from, to) }];
    })
    .filter(step => Number.isFinite(step.from))
    .sort((a, b) => a.from - b.from);
}

function jobStep(job: Live): readonly TimelineStep[] {
  const { startTime, completionTime } = (job.status ?? {}) as { startTime?: string; completionTime?: string };
  const failed = conditionsOf(job).find(c => c.type === 'Failed' && c.status === 'True')?.lastTransitionTime;
  const end = completionTime ?? failed;
  const from = time(startTime ?? job.metadata.creationTimestamp);
  return [{ what: `Job ${job.metadata.name}`, ...spanOf(from, end === undefined ? undefined : time(end)) }];
}

/**
 * Backwards from what was ready last, or what is open and has most before it: each time to the one that it waited for
 * longest.
 */
function criticalPath(
  services: readonly Live[],
  { before, readyAt }: ReturnType<typeof orderOf>,
  within: (span: Span) => boolean,
): readonly Live[] {
  const took = services.filter(object => within(spanOf(0, readyAt(object))));
  const depth = (object: Live): number => 1 + Math.max(0, ...openBefore(object).map(depth));
  const openBefore = (object: Live): readonly Live[] => before(object).filter(other => readyAt(other) === undefined);
  // Later first; what is open is later than everything that is done.
  const latest = (objects: readonly Live[], rank: (object: Live) => number): Live | undefined =>
    objects.reduce<Live | undefined>((best, object) => (best && rank(best) >= rank(object) ? best : object), undefined);
  const end = (object: Live): number => readyAt(object) ?? Number.MAX_SAFE_INTEGER;
  const open = took.filter(object => readyAt(object) === undefined);
  let at = open.length > 0 ? latest(open, depth) : latest(took, end);
  const path: Live[] = [];
  while (at) {
    path.unshift(at);
    const waited: Live = at;
    const waits = openBefore(waited);
    const created = time(waited.metadata.creationTimestamp);
    at =
      waits.length > 0
        ? latest(waits, depth)
        : // Who was ready before it was even created held nobody up.
          latest(
            before(waited).filter(other => took.includes(other) && end(other) >= created),
            end,
          );
  }
  return path;
}
