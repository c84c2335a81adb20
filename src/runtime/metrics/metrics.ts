import type { InformerStats } from '../../kube/cache/informer.ts';
import { resourceName } from '../../kube/resource.ts';
import type { RequestInfo } from '../../kube/sender.ts';

/**
 * What the runtime counts. Names of the series are those of controller-runtime and client-go, so that dashboards
 * and alerts written for Go operators work; prometheus.ts has them. Durations are milliseconds here, seconds there.
 */
export interface Metrics {
  queue(name: string): QueueMetrics;
  controller(name: string): ControllerMetrics;
  request(info: RequestInfo): void;
  /** Whether this process leads. */
  leading(lease: string, yes: boolean): void;
  /** One row of one pass of a plan. */
  step(controller: string, step: string, outcome: string): void;
  apply(resource: string, result: 'created' | 'changed' | 'noop' | 'skipped'): void;
  /** A pass that was put off, or (`live`) had to read live, because the cache was behind our own writes. */
  stale(resource: string, how: 'skipped' | 'live'): void;
  event(result: 'created' | 'patched' | 'dropped'): void;
  /** Values that are read when somebody scrapes. */
  gauge(name: GaugeName, read: () => Iterable<Sample>): void;
}

export type GaugeName =
  | 'workqueue_depth'
  | 'workqueue_unfinished_work_seconds'
  | 'workqueue_longest_running_processor_seconds'
  | 'informer_objects'
  | 'informer_failures'
  | 'watch_restarts'
  | 'eventloop_lag_seconds'
  | 'object_ready';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface QueueMetrics {
  added(): void;
  retried(): void;
  /** From ready to taken by a worker. */
  waited(ms: number): void;
  /** From taken by a worker to done. */
  worked(ms: number): void;
}

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

export interface ControllerMetrics {
  reconciled(result: ReconcileResult, ms: number): void;
  /** No retry will help. */
  terminal(): void;
  /** A mistake in our own code (TypeError and its kin). */
  panicked(): void;
  timedOut(): void;
  /** Workers busy; the limit is exported once. */
  workers(limit: number): void;
  active(change: 1 | -1): void;
}

const nothing = () => {};
const noQueue: QueueMetrics = { added: nothing, retried: nothing, waited: nothing, worked: nothing };
const noController: ControllerMetrics = {
  reconciled: nothing,
  terminal: nothing,
  panicked: nothing,
  timedOut: nothing,
  workers: nothing,
  active: nothing,
};

export const noMetrics: Metrics = {
  queue: () => noQueue,
  controller: () => noController,
  request: nothing,
  leading: nothing,
  step: nothing,
  apply: nothing,
  stale: nothing,
  event: nothing,
  gauge: nothing,
};

/** What the caches hold and how well they hear. */
export function exportInformers(
  metrics: Metrics,
  informers: () => readonly { resource: { group: string; plural: string }; stats: InformerStats }[],
): void {
  const samples = (read: (stats: InformerStats) => Readonly<Record<string, number>>, label?: string) => () =>
    informers().flatMap(({ resource, stats }) =>
      Object.entries(read(stats)).map(([name, value]) => ({
        labels: { resource: resourceName(resource), ...(label === undefined ? {} : { [label]: name }) },
        value,
      })),
    );
  metrics.gauge(
    'informer_objects',
    samples(stats => ({ objects: stats.objects })),
  );
  metrics.gauge(
    'informer_failures',
    samples(stats => ({ failures: stats.failures })),
  );
  metrics.gauge(
    'watch_restarts',
    samples(stats => stats.reconnects, 'cause'),
  );
}
