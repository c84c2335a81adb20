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

/** Everything that is counted, by the names of controller-runtime and client-go where they have one. */
const instruments = ({ counter, histogram, gauge }: ReturnType<typeof makers>) => ({
  total: counter('controller_runtime_reconcile_total', 'Passes by result', 'controller', 'result'),
  errors: counter('controller_runtime_reconcile_errors_total', 'Passes that failed', 'controller'),
  terminal: counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Passes that failed and are not repeated',
    'controller',
  ),
  panics: counter('controller_runtime_reconcile_panics_total', 'Passes that met a mistake of ours', 'controller'),
  timeouts: counter('controller_runtime_reconcile_timeouts_total', 'Passes that took too long', 'controller'),
  time: histogram('controller_runtime_reconcile_time_seconds', 'Duration of passes', RECONCILE_BUCKETS, 'controller'),
  limit: gauge('controller_runtime_max_concurrent_reconciles', 'Workers', 'controller'),
  active: gauge('controller_runtime_active_workers', 'Workers that are busy', 'controller'),
  adds: counter('workqueue_adds_total', 'Keys added', 'name', 'controller'),
  retries: counter('workqueue_retries_total', 'Keys added again after a failure', 'name', 'controller'),
  waits: histogram('workqueue_queue_duration_seconds', 'From ready to worker', QUEUE_BUCKETS, 'name', 'controller'),
  works: histogram('workqueue_work_duration_seconds', 'From worker to done', QUEUE_BUCKETS, 'name', 'controller'),
  requests: counter('rest_client_requests_total', 'Requests to the API server', 'code', 'method', 'resource'),
  latency: histogram(
    'rest_client_request_duration_seconds',
    'Time to the answer of the API server',
    REQUEST_BUCKETS,
    'verb',
    'resource',
  ),
  requestRetries: counter('rest_client_request_retries_total', 'Requests sent again', 'verb', 'resource'),
  master: gauge('leader_election_master_status', 'Whether this process leads', 'name'),
  steps: counter('step_total', 'Rows of plans by outcome', 'controller', 'step', 'outcome'),
  applies: counter('apply_total', 'Objects applied, by what it came to', 'kind', 'result'),
  stale: counter('stale_cache_skips_total', 'Passes put off by a cache behind our writes', 'kind', 'how'),
  events: counter('events_total', 'Kubernetes events', 'result'),
});

const makers = (registers: Registry[]) => ({
  counter: (name: string, help: string, ...labelNames: string[]) => new Counter({ name, help, labelNames, registers }),
  histogram: (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames, registers }),
  gauge: (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers }),
});
type Instruments = ReturnType<typeof instruments>;

export function prometheusMetrics(options: { process?: boolean } = {}): PrometheusMetrics {
  const registry = new Registry();
  const registers = [registry];
  const made = instruments(makers(registers));
  if (options.process ?? true) collectDefaultMetrics({ register: registry });

  const sources = new Map<GaugeName, (() => Iterable<Sample>)[]>();

  return {
    queue: name => queueMetrics(made, name),
    controller: name => controllerMetrics(made, name),
    request({ verb, resource, status, ms, attempt }) {
      made.requests.inc({ code: status === undefined ? '<error>' : String(status), method: verb, resource });
      made.latency.observe({ verb, resource }, ms / 1000);
      if (attempt > 1) made.requestRetries.inc({ verb, resource });
    },
    leading: (name, yes) => made.master.set({ name }, yes ? 1 : 0),
    step: (controller, step, outcome) => made.steps.inc({ controller, step, outcome }),
    apply: (kind, result) => made.applies.inc({ kind, result }),
    stale: (kind, how) => made.stale.inc({ kind, how }),
    event: result => made.events.inc({ result }),
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

function queueMetrics(made: Instruments, name: string): ReturnType<Metrics['queue']> {
  const labels = { name, controller: name };
  made.adds.inc(labels, 0);
  made.retries.inc(labels, 0);
  return {
    added: () => made.adds.inc(labels),
    retried: () => made.retries.inc(labels),
    waited: ms => made.waits.observe(labels, ms / 1000),
    worked: ms => made.works.observe(labels, ms / 1000),
  };
}

function controllerMetrics(made: Instruments, controller: string): ReturnType<Metrics['controller']> {
  // A rate over a series that is born with its first error is zero: they all exist from the start.
  for (const result of RESULTS) made.total.inc({ controller, result }, 0);
  for (const each of [made.errors, made.terminal, made.panics, made.timeouts]) each.inc({ controller }, 0);
  return {
    reconciled(result, ms) {
      made.total.inc({ controller, result });
      made.time.observe({ controller }, ms / 1000);
      if (result === 'error') made.errors.inc({ controller });
    },
    terminal: () => made.terminal.inc({ controller }),
    panicked: () => made.panics.inc({ controller }),
    timedOut: () => made.timeouts.inc({ controller }),
    workers: count => made.limit.set({ controller }, count),
    active: change => made.active.inc({ controller }, change),
  };
}
