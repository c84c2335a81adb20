import { OPERATOR_NAMESPACE } from '../runtime/plan/names.ts';

/** What to look at and when to be woken, in the series of src/runtime/metrics/prometheus.ts. A test knows every name. */
interface Alert {
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'warning' | 'critical';
  readonly summary: string;
  readonly description: string;
}

export const ALERTS: readonly Alert[] = [
  {
    name: 'OpenStackObjectNotReady',
    expr: 'min by (namespace, kind, object) (object_ready) == 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $labels.kind }} {{ $labels.object }} in {{ $labels.namespace }} has not been Ready for 15 minutes',
    description: 'kubectl openstack why {{ $labels.kind }}/{{ $labels.object }} -n {{ $labels.namespace }}',
  },
  {
    name: 'OpenStackOperatorAway',
    expr: 'absent(leader_election_master_status == 1)',
    for: '5m',
    severity: 'critical',
    summary: 'No operator holds the lease: nothing is reconciled, what runs goes on',
    description: `kubectl -n ${OPERATOR_NAMESPACE} get pods`,
  },
  {
    name: 'OpenStackReconcileErrors',
    expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total[10m])) > 0.05',
    for: '15m',
    severity: 'warning',
    summary: 'Passes of {{ $labels.controller }} fail again and again',
    description: 'kubectl openstack why -A',
  },
  {
    name: 'OpenStackReconcileMistake',
    expr: 'sum by (controller) (increase(controller_runtime_reconcile_panics_total[15m])) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'A pass of {{ $labels.controller }} met a mistake in the operator itself',
    description: `kubectl -n ${OPERATOR_NAMESPACE} logs deployment/openstack-operator; it is worth a report`,
  },
  {
    name: 'OpenStackPassHangs',
    expr: 'max by (controller) (workqueue_longest_running_processor_seconds) > 300',
    for: '5m',
    severity: 'warning',
    summary: 'A pass of {{ $labels.controller }} has run for more than 5 minutes',
    description: 'A pass never waits for the cluster; a backend that neither answers nor refuses may hold it.',
  },
  {
    name: 'OpenStackWatchFails',
    expr: 'max by (resource) (informer_failures) > 5',
    for: '10m',
    severity: 'warning',
    summary: '{{ $labels.resource }} can not be listed or watched: what changes there is not seen',
    description: 'The log names the status: RBAC, a missing CRD, or an API server that is away.',
  },
  {
    name: 'OpenStackRequestsRefused',
    expr: 'sum by (resource, code) (rate(rest_client_requests_total{code=~"403|5.."}[10m])) > 0.1',
    for: '10m',
    severity: 'warning',
    summary: 'The API server answers {{ $labels.code }} to requests for {{ $labels.resource }}',
    description: '403: rights, a quota or a policy. 5xx: the API server or a webhook is in trouble.',
  },
];

interface Panel {
  readonly title: string;
  readonly expr: string;
  readonly legend: string;
  readonly unit?: string;
}

export const PANELS: readonly Panel[] = [
  {
    title: 'Objects that are not Ready',
    expr: 'object_ready == 0',
    legend: '{{kind}} {{object}} in {{namespace}}',
  },
  {
    title: 'Passes by result',
    expr: 'sum by (result) (rate(controller_runtime_reconcile_total[5m]))',
    legend: '{{result}}',
    unit: 'ops',
  },
  {
    title: 'Duration of passes, 95 %',
    expr: 'histogram_quantile(0.95, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket[5m])))',
    legend: '{{controller}}',
    unit: 's',
  },
  { title: 'Rows by outcome', expr: 'sum by (outcome) (rate(step_total[5m]))', legend: '{{outcome}}', unit: 'ops' },
  { title: 'Keys that wait', expr: 'sum by (controller) (workqueue_depth)', legend: '{{controller}}' },
  {
    title: 'Requests by code',
    expr: 'sum by (code, method) (rate(rest_client_requests_total[5m]))',
    legend: '{{method}} {{code}}',
    unit: 'ops',
  },
  {
    title: 'Applies by what they came to',
    expr: 'sum by (result) (rate(apply_total[5m]))',
    legend: '{{result}}',
    unit: 'ops',
  },
  { title: 'Watches opened again', expr: 'sum by (cause) (increase(watch_restarts[1h]))', legend: '{{cause}}' },
  { title: 'Memory', expr: 'process_resident_memory_bytes', legend: '{{pod}}', unit: 'bytes' },
  { title: 'Longest block of the event loop', expr: 'eventloop_lag_seconds', legend: '{{pod}}', unit: 's' },
];

const labels = { 'app.kubernetes.io/name': 'openstack-operator' };
const meta = (name: string) => ({ name, namespace: OPERATOR_NAMESPACE, labels });

/** For the Prometheus operator: where the series are, and the rules. */
export const monitors = (): object[] => [
  {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: meta('openstack-operator'),
    // `object` and `kind` are labels of ours; `namespace` is that of the object, not that of the operator's pod.
    spec: {
      selector: { matchLabels: labels },
      podMetricsEndpoints: [{ port: 'http', path: '/metrics', honorLabels: true }],
    },
  },
  {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: meta('openstack-operator'),
    spec: {
      groups: [
        {
          name: 'openstack-operator',
          rules: ALERTS.map(({ name, expr, for: after, severity, summary, description }) => ({
            alert: name,
            expr,
            for: after,
            labels: { severity },
            annotations: { summary, description },
          })),
        },
      ],
    },
  },
];

const WIDTH = 12;
const HEIGHT = 8;

/** For Grafana: two panels in a row. */
export const dashboard = (): object => ({
  title: 'openstack-operator',
  uid: 'openstack-operator',
  schemaVersion: 39,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
  panels: PANELS.map(({ title, expr, legend, unit }, index) => ({
    id: index + 1,
    title,
    type: 'timeseries',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own variable
    datasource: { type: 'prometheus', uid: '${datasource}' },
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { ...(unit && { unit }) }, overrides: [] },
    targets: [{ refId: 'A', expr, legendFormat: legend }],
  })),
});
