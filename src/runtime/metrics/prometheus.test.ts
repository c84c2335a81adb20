import { describe, expect, it } from 'vitest';
import { prometheusMetrics } from './prometheus.ts';

describe('prometheusMetrics', () => {
  it('has every result of a controller at zero from the start', async () => {
    const metrics = prometheusMetrics({ process: false });
    metrics.controller('keystone');
    const page = await metrics.render();
    for (const result of ['success', 'error', 'requeue', 'requeue_after'])
      expect(page).toContain(`controller_runtime_reconcile_total{controller="keystone",result="${result}"} 0`);
    for (const name of ['reconcile_errors', 'terminal_reconcile_errors', 'reconcile_panics', 'reconcile_timeouts'])
      expect(page).toContain(`controller_runtime_${name}_total{controller="keystone"} 0`);
  });

  it('counts what it is told, in seconds', async () => {
    const metrics = prometheusMetrics({ process: false });
    const controller = metrics.controller('nova');
    controller.reconciled('error', 1500);
    controller.workers(4);
    controller.active(1);
    metrics.queue('nova').waited(20);
    metrics.leading('lease', true);
    metrics.step('nova', 'DatabaseReady', 'ok');
    metrics.apply('Secret', 'noop');
    metrics.stale('secrets', 'skipped');
    metrics.event('created');
    const info = { verb: 'apply', resource: 'secrets', subresource: undefined } as const;
    metrics.request({ ...info, status: 200, ms: 30, attempt: 1 });
    metrics.request({ ...info, status: undefined, ms: 30, attempt: 2 });
    const page = await metrics.render();
    for (const line of [
      'controller_runtime_reconcile_errors_total{controller="nova"} 1',
      'controller_runtime_reconcile_time_seconds_sum{controller="nova"} 1.5',
      'controller_runtime_max_concurrent_reconciles{controller="nova"} 4',
      'controller_runtime_active_workers{controller="nova"} 1',
      'workqueue_queue_duration_seconds_sum{name="nova",controller="nova"} 0.02',
      'leader_election_master_status{name="lease"} 1',
      'step_total{controller="nova",step="DatabaseReady",outcome="ok"} 1',
      'apply_total{kind="Secret",result="noop"} 1',
      'stale_cache_skips_total{kind="secrets",how="skipped"} 1',
      'events_total{result="created"} 1',
      'rest_client_requests_total{code="200",method="apply",resource="secrets"} 1',
      'rest_client_requests_total{code="<error>",method="apply",resource="secrets"} 1',
      'rest_client_request_retries_total{verb="apply",resource="secrets"} 1',
    ])
      expect(page.split('\n')).toContain(line);
  });

  it('reads gauges when asked, from every source, and forgets what is gone', async () => {
    const metrics = prometheusMetrics({ process: false });
    let depth = [{ labels: { name: 'a', controller: 'a', priority: '0' }, value: 3 }];
    metrics.gauge('workqueue_depth', () => depth);
    metrics.gauge('workqueue_depth', () => [{ labels: { name: 'b', controller: 'b', priority: '0' }, value: 1 }]);
    expect(await metrics.render()).toContain('workqueue_depth{name="a",controller="a",priority="0"} 3');
    depth = [];
    const page = await metrics.render();
    expect(page).not.toContain('name="a"');
    expect(page).toContain('workqueue_depth{name="b",controller="b",priority="0"} 1');
  });
});
