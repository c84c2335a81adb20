import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { GaugeName, Metrics, ReconcileResult, Sample } from './metrics.ts';

/** controller-runtime's. */
const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** client-go's are powers of ten from 10 ns; a JavaScript timer knows nothing below a millisecond. */
const QUEUE_BUCKETS = [0.001, 0.01, 0.1, 1, 10, 100, 1000];
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const RESULTS: readonly ReconcileResult[] = ['success', 'error', 'requeue', 'requeue_after'];

const GAUGES: Readonly<Record<GaugeName, { help: string; labels: readonly string[] }>> = {
  workqueue_depth: { help: 'Keys that are ready', labels: ['name', 'controller', 'priority'] },
  workqueue_unfinished_work_seconds: { help: 'Age of all passes under way, summed', labels: ['name', 'controller'] },
  workqueue_longest_running_processor_seconds: { help: 'Age of the oldest pass', labels: ['name', 'controller'] },
  informer_objects: { help: 'Objects in memory', labels: ['resource'] },
  informer_failures: { help: 'Failures in a row of list or watch', labels: ['resource'] },
  watch_restarts: { help: 'Watches opened again since the start, by cause', labels: ['resource', 'cause'] },
  object_ready: {
    help: 'Whether an object of ours is Ready, as its last generation says',
    labels: ['namespace', 'kind', 'object'],
  },
  eventloop_lag_seconds: { help: 'Longest time the event loop was blocked since the last scrape', labels: [] },
};

export interface PrometheusMetrics extends Metrics {
  /** The page that Prometheus reads. */
  render(): Promise<string>;
  readonly contentType: string;
}

export function prometheusMetrics(options: { process?: boolean } = {}): PrometheusMetrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers });

  const total = counter('controller_runtime_reconcile_total', 'Passes by result', 'controller', 'result');
  const errors = counter('controller_runtime_reconcile_errors_total', 'Passes that failed', 'controller');
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Passes that failed and are not repeated',
    'controller',
  );
  const panics = counter(
    'controller_runtime_reconcile_panics_total',
    'Passes that met a mistake of ours',
    'controller',
  );
  const timeouts = counter('controller_runtime_reconcile_timeouts_total', 'Passes that took too long', 'controller');
  const time = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Duration of passes',
    RECONCILE_BUCKETS,
    'controller',
  );
  const limit = gauge('controller_runtime_max_concurrent_reconciles', 'Workers', 'controller');
  const active = gauge('controller_runtime_active_workers', 'Workers that are busy', 'controller');
  const adds = counter('workqueue_adds_total', 'Keys added', 'name', 'controller');
  const retries = counter('workqueue_retries_total', 'Keys added again after a failure', 'name', 'controller');
  const waits = histogram(
    'workqueue_queue_duration_seconds',
    'From ready to worker',
    QUEUE_BUCKETS,
    'name',
    'controller',
  );
  const works = histogram(
    'workqueue_work_duration_seconds',
    'From worker to done',
    QUEUE_BUCKETS,
    'name',
    'controller',
  );
  const requests = counter('rest_client_requests_total', 'Requests to the API server', 'code', 'method', 'resource');
  const latency = histogram(
    'rest_client_request_duration_seconds',
    'Time to the answer of the API server',
    REQUEST_BUCKETS,
    'verb',
    'resource',
  );
  const requestRetries = counter('rest_client_request_retries_total', 'Requests sent again', 'verb', 'resource');
  const master = gauge('leader_election_master_status', 'Whether this process leads', 'name');
  const steps = counter('step_total', 'Rows of plans by outcome', 'controller', 'step', 'outcome');
  const applies = counter('apply_total', 'Objects applied, by what it came to', 'kind', 'result');
  const stale = counter('stale_cache_skips_total', 'Passes put off by a cache behind our writes', 'kind', 'how');
  const events = counter('events_total', 'Kubernetes events', 'result');
  if (options.process ?? true) collectDefaultMetrics({ register: registry });

  const sources = new Map<GaugeName, (() => Iterable<Sample>)[]>();

  return {
    queue(name) {
      const labels = { name, controller: name };
      adds.inc(labels, 0);
      retries.inc(labels, 0);
      return {
        added: () => adds.inc(labels),
        retried: () => retries.inc(labels),
        waited: ms => waits.observe(labels, ms / 1000),
        worked: ms => works.observe(labels, ms / 1000),
      };
    },
    controller(controller) {
      // A rate over a series that is born with its first error is zero: they all exist from the start.
      for (const result of RESULTS) total.inc({ controller, result }, 0);
      for (const each of [errors, terminal, panics, timeouts]) each.inc({ controller }, 0);
      return {
        reconciled(result, ms) {
          total.inc({ controller, result });
          time.observe({ controller }, ms / 1000);
          if (result === 'error') errors.inc({ controller });
        },
        terminal: () => terminal.inc({ controller }),
        panicked: () => panics.inc({ controller }),
        timedOut: () => timeouts.inc({ controller }),
        workers: count => limit.set({ controller }, count),
        active: change => active.inc({ controller }, change),
      };
    },
    request({ verb, resource, status, ms, attempt }) {
      requests.inc({ code: status === undefined ? '<error>' : String(status), method: verb, resource });
      latency.observe({ verb, resource }, ms / 1000);
      if (attempt > 1) requestRetries.inc({ verb, resource });
    },
    leading: (name, yes) => master.set({ name }, yes ? 1 : 0),
    step: (controller, step, outcome) => steps.inc({ controller, step, outcome }),
    apply: (kind, result) => applies.inc({ kind, result }),
    stale: (kind, how) => stale.inc({ kind, how }),
    event: result => events.inc({ result }),
    gauge(name, read) {
      const readers = sources.get(name);
      if (readers) {
        readers.push(read);
        return;
      }
      const all = [read];
      sources.set(name, all);
      const { help, labels } = GAUGES[name];
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers,
        collect() {
          this.reset();
          for (const each of all) for (const { labels: own, value } of each()) this.set({ ...own }, value);
        },
      });
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
