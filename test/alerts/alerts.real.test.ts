import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ALERTS, monitors, PANELS } from '../../src/operator/monitoring.ts';
import { promtool } from './promtool.ts';

/** The alert rules in Prometheus' own hands: each fires when it should, says what it should, and is silent otherwise. */

interface Case {
  /** Series and their samples, one a minute; `a+bxn` is promtool's own notation. */
  readonly series: Readonly<Record<string, string>>;
  /** When to look. */
  readonly at: string;
  /** Labels of each alert that fires; none when it must be silent. */
  readonly fires: readonly Readonly<Record<string, string>>[];
}

const ready = 'object_ready{namespace="openstack",kind="Keystone",object="keystone",pod="operator-1"}';
const leads = 'leader_election_master_status{name="openstack-operator",pod="operator-1"}';
const keystone = { namespace: 'openstack', kind: 'Keystone', object: 'keystone' };

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  OpenStackObjectNotReady: {
    'for long': { series: { [ready]: '1 1 0x30' }, at: '20m', fires: [keystone] },
    'for a while': { series: { [ready]: '1 1 0x10 1x30' }, at: '20m', fires: [] },
    'one of two replicas of the operator still shows an old value': {
      series: { [ready]: '0x30', [ready.replace('operator-1', 'operator-2')]: '1x30' },
      at: '20m',
      fires: [keystone],
    },
    'an object that is gone': { series: { [ready]: '0x5 stale' }, at: '25m', fires: [] },
  },
  OpenStackOperatorAway: {
    'nobody leads': { series: { [leads]: '0x30' }, at: '10m', fires: [{}] },
    'nobody is there': { series: { other: '1x30' }, at: '10m', fires: [{}] },
    'a hand-over': { series: { [leads]: '1x4 0x2 1x30' }, at: '9m', fires: [] },
  },
  OpenStackReconcileErrors: {
    'again and again': {
      series: { 'controller_runtime_reconcile_errors_total{controller="nova"}': '0+6x60' },
      at: '30m',
      fires: [{ controller: 'nova' }],
    },
    'now and then': {
      series: { 'controller_runtime_reconcile_errors_total{controller="nova"}': '0+1x60' },
      at: '30m',
      fires: [],
    },
  },
  OpenStackReconcileMistake: {
    'at once': {
      series: { 'controller_runtime_reconcile_panics_total{controller="glance"}': '0 0 0 1x30' },
      at: '5m',
      fires: [{ controller: 'glance' }],
    },
    'long ago': {
      series: { 'controller_runtime_reconcile_panics_total{controller="glance"}': '0 0 0 1x60' },
      at: '40m',
      fires: [],
    },
  },
  OpenStackPassHangs: {
    'ten minutes': {
      series: { 'workqueue_longest_running_processor_seconds{controller="nova"}': '0+60x30' },
      at: '12m',
      fires: [{ controller: 'nova' }],
    },
    'four minutes': {
      series: { 'workqueue_longest_running_processor_seconds{controller="nova"}': '0 60 120 180 240 0x30' },
      at: '12m',
      fires: [],
    },
  },
  OpenStackWatchFails: {
    'not at all': {
      series: { 'informer_failures{resource="pods"}': '0+1x30' },
      at: '20m',
      fires: [{ resource: 'pods' }],
    },
    'an API server that is restarted': {
      series: { 'informer_failures{resource="pods"}': '0 1 2 3 4 5 6 0x30' },
      at: '20m',
      fires: [],
    },
  },
  OpenStackRequestsRefused: {
    'a missing right': {
      series: {
        'rest_client_requests_total{resource="secrets",code="403",method="GET"}': '0+12x60',
        'rest_client_requests_total{resource="secrets",code="200",method="GET"}': '0+60x60',
      },
      at: '25m',
      fires: [{ resource: 'secrets', code: '403' }],
    },
    'conflicts and what is not there are no trouble': {
      series: {
        'rest_client_requests_total{resource="secrets",code="409",method="PATCH"}': '0+60x60',
        'rest_client_requests_total{resource="secrets",code="404",method="GET"}': '0+60x60',
      },
      at: '25m',
      fires: [],
    },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
const file = (name: string, content: object): string => {
  writeFileSync(join(folder, name), stringify(content));
  return join(folder, name);
};
const run = async (...args: string[]) => (await promisify(execFile)(program, args, { cwd: folder })).stdout;
const rules = (monitors()[1] as { spec: { groups: object } }).spec;
let program: string;

beforeAll(() => {
  program = promtool();
  file('rules.yaml', rules);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const filled = (text: string, labels: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '');

function testOf(name: string, { series, at, fires }: Case): object {
  const alert = ALERTS.find(each => each.name === name)!;
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: name,
        exp_alerts: fires.map(labels => ({
          exp_labels: { severity: alert.severity, ...labels },
          exp_annotations: { summary: filled(alert.summary, labels), description: filled(alert.description, labels) },
        })),
      },
    ],
  };
}
const tested = (name: string, one: Case): Promise<string> =>
  run('test', 'rules', file('test.yaml', { rule_files: ['rules.yaml'], tests: [testOf(name, one)] }));

describe('alert rules in promtool', () => {
  it('are rules', async () =>
    expect(await run('check', 'rules', 'rules.yaml')).toContain(`${ALERTS.length} rules found`));

  it('every one has a case in which it fires and one in which it does not', () => {
    expect(Object.keys(CASES).sort()).toEqual(ALERTS.map(alert => alert.name).sort());
    for (const cases of Object.values(CASES)) {
      expect(Object.values(cases).some(one => one.fires.length > 0)).toBe(true);
      expect(Object.values(cases).some(one => one.fires.length === 0)).toBe(true);
    }
  });

  for (const [name, cases] of Object.entries(CASES))
    it.each(Object.entries(cases))(`${name}: %s`, async (_what, one) => {
      expect(await tested(name, one)).toContain('SUCCESS');
    });

  it('would fail if a rule were wrong', async () => {
    const one = CASES.OpenStackPassHangs!['ten minutes']!;
    await expect(tested('OpenStackPassHangs', { ...one, fires: [] })).rejects.toThrow(/FAILED/);
  });

  it('every panel is an expression that Prometheus understands', async () => {
    const recorded = PANELS.map(({ expr }, index) => ({ record: `panel:number${index}`, expr }));
    file('panels.yaml', { groups: [{ name: 'panels', rules: recorded }] });
    expect(await run('check', 'rules', 'panels.yaml')).toContain(`${PANELS.length} rules found`);
    file('broken.yaml', { groups: [{ name: 'broken', rules: [{ record: 'a:b', expr: 'sum by (x (y)' }] }] });
    await expect(run('check', 'rules', 'broken.yaml')).rejects.toThrow();
  });
});
