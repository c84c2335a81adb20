import { describe, expect, it } from 'vitest';
import type { GaugeName } from '../runtime/metrics/metrics.ts';
import { prometheusMetrics } from '../runtime/metrics/prometheus.ts';
import { ALERTS, dashboard, monitors, PANELS } from './monitoring.ts';

const GAUGES: readonly GaugeName[] = [
  'workqueue_depth',
  'workqueue_unfinished_work_seconds',
  'workqueue_longest_running_processor_seconds',
  'informer_objects',
  'informer_failures',
  'watch_restarts',
  'eventloop_lag_seconds',
  'object_ready',
];

/** Names of series, and the labels that each may have. */
async function series(): Promise<ReadonlySet<string>> {
  const metrics = prometheusMetrics({ process: true });
  for (const name of GAUGES) metrics.gauge(name, () => []);
  const page = await metrics.render();
  const names = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    names.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map(end => name + end) : [name],
    ),
  );
}

/** Words of an expression that are neither functions, nor keywords, nor labels in braces or after `by`. */
const namesIn = (expr: string): readonly string[] =>
  [...expr.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, '').matchAll(/[a-z_][a-z0-9_]*(?!\w|\s*\()/gi)]
    .map(match => match[0])
    .filter(word => !['by', 'and', 'or', 'unless', 'sum', 'max', 'min'].includes(word));

describe('rules and panels', () => {
  it.each([...ALERTS.map(a => [a.name, a.expr]), ...PANELS.map(p => [p.title, p.expr])])(
    '%s asks for series that exist',
    async (_name, expr) => {
      const known = await series();
      const names = namesIn(expr);
      expect(names.length).toBeGreaterThan(0);
      expect(names.filter(name => !known.has(name))).toEqual([]);
    },
  );

  it('would notice a name that is none', async () => {
    expect(namesIn('sum by (x) (rate(no_such_total{a="b"}[5m])) > 0')).toEqual(['no_such_total']);
    expect((await series()).has('no_such_total')).toBe(false);
  });

  it('every alert says what to do, once', () => {
    expect(new Set(ALERTS.map(alert => alert.name)).size).toBe(ALERTS.length);
    for (const alert of ALERTS) expect(alert.description.length).toBeGreaterThan(10);
    expect(monitors()).toHaveLength(2);
    expect((dashboard() as { panels: unknown[] }).panels).toHaveLength(PANELS.length);
  });
});
