import { describe, expect, it } from 'vitest';
import { analyse, markdown, prerequisitesOf, writesOf } from './gantt.ts';

const OPERATOR = 'system:serviceaccount:openstack-operator-system:openstack-operator';
const T0 = Date.parse('2026-11-16T03:00:00.000Z');

interface Line {
  readonly at: number;
  readonly object: string;
  readonly user?: string;
  readonly code?: number;
  readonly verb?: string;
  readonly body?: object;
}

/** A line as kube-apiserver writes it; `keystones/keystone/status` is a subresource. */
function line({ at, object, user = OPERATOR, code = 200, verb = 'patch', body }: Line): string {
  const [resource, name, subresource] = object.split('/');
  const time = (ms: number) => new Date(T0 + ms).toISOString();
  return JSON.stringify({
    kind: 'Event',
    stage: 'ResponseComplete',
    verb,
    user: { username: user },
    objectRef: { resource, namespace: 'openstack', name, ...(subresource && { subresource }) },
    responseStatus: { metadata: {}, code },
    requestReceivedTimestamp: time(at),
    stageTimestamp: time(at + 5),
    ...(body && { responseObject: body }),
  });
}
const created = (at: number, object: string, user?: string): Line => ({ at, object, code: 201, ...(user && { user }) });
const JOBS = 'system:serviceaccount:kube-system:job-controller';
const SETS = 'system:serviceaccount:kube-system:statefulset-controller';

/** MariaDB, then Keystone's schema, then Keystone; memcached beside them. */
const deploy = (bodies: boolean): Line[] => {
  const body = (value: object) => (bodies ? { body: value } : {});
  const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
  return [
    created(0, 'openstackcontrolplanes/old', 'admin'),
    created(10_000, 'openstackcontrolplanes/cloud', 'admin'),
    created(10_100, 'mariadbs/mariadb'),
    created(10_110, 'memcacheds/memcached'),
    created(10_300, 'statefulsets/mariadb'),
    created(10_310, 'statefulsets/memcached'),
    {
      at: 12_000,
      object: 'statefulsets/memcached/status',
      user: SETS,
      verb: 'update',
      ...body({ spec: { replicas: 1 }, status: { readyReplicas: 1 } }),
    },
    { at: 12_050, object: 'memcacheds/memcached/status', ...body(ready('True')) },
    {
      at: 11_000,
      object: 'statefulsets/mariadb/status',
      user: SETS,
      verb: 'update',
      ...body({ spec: { replicas: 1 }, status: { readyReplicas: 0 } }),
    },
    {
      at: 20_000,
      object: 'statefulsets/mariadb/status',
      user: SETS,
      verb: 'update',
      ...body({ spec: { replicas: 1 }, status: { readyReplicas: 1 } }),
    },
    { at: 20_200, object: 'mariadbs/mariadb/status', ...body(ready('True')) },
    created(21_000, 'secrets/keystone-config-data-0123456789'),
    created(21_105, 'jobs/keystone-db-sync-12345678'),
    {
      at: 30_000,
      object: 'jobs/keystone-db-sync-12345678/status',
      user: JOBS,
      verb: 'update',
      ...body({ status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
    },
    created(30_055, 'jobs/keystone-bootstrap-12345678'),
    {
      at: 34_995,
      object: 'jobs/keystone-bootstrap-12345678/status',
      user: JOBS,
      verb: 'update',
      ...body({ status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
    },
    created(35_040, 'deployments/keystone-api'),
    {
      at: 44_995,
      object: 'deployments/keystone-api/status',
      user: SETS,
      verb: 'update',
      ...body({ spec: { replicas: 1 }, status: { readyReplicas: 1 } }),
    },
    { at: 45_995, object: 'openstackcontrolplanes/cloud/status', ...body(ready('True')) },
    // Another story begins.
    { at: 90_000, object: 'openstackcontrolplanes/cloud', user: 'admin' },
    created(91_000, 'deployments/later'),
    { at: 92_000, object: 'statefulsets/mariadb/status', user: SETS, verb: 'update' },
  ];
};
const log = (lines: readonly Line[]): string =>
  [
    ...lines.map(line),
    '{"stage":"ResponseComplete","namespace":"openstack" cut off',
    line({ at: 1, object: 'pods/x', verb: 'get' }),
  ].join('\n');

describe('a deploy, read from an audit log', () => {
  it('leaves out reads, refusals, other namespaces and lines that are cut off', () => {
    const text = [
      log([created(5, 'jobs/a')]),
      line({ at: 6, object: 'jobs/b', code: 409 }),
      line(created(7, 'jobs/c')).replace('"openstack"', '"elsewhere"'),
    ].join('\n');
    expect(writesOf(text, 'openstack').map(w => w.object)).toEqual(['jobs/a']);
  });

  it.each([true, false])('finds steps, latencies and the critical path (bodies: %s)', bodies => {
    const report = analyse(writesOf(log(deploy(bodies)), 'openstack'), { operator: OPERATOR });
    expect(report).toMatchObject({ cloud: 'cloud', total: 36_000, exact: bodies });
    expect(report.steps.map(s => s.name)).not.toContain('deployments/later');
    expect(report.steps.find(s => s.name === 'statefulsets/mariadb')).toMatchObject({ start: 300, end: 10_005 });
    const sync = report.steps.find(s => s.name === 'jobs/keystone-db-sync-12345678');
    expect(sync).toMatchObject({ after: { name: 'mariadbs/mariadb', at: 10_205 }, configured: 11_005 });
    // 195 and 195 ms for the first two, 100 after its config, 50, 40.
    expect(report.latency).toEqual({ p95: 195, worst: 195 });
    expect(report.withCalls).toEqual({ p95: 900, worst: 900 });
    expect(report.critical.map(s => s.name)).toEqual([
      'statefulsets/mariadb',
      'jobs/keystone-db-sync-12345678',
      'jobs/keystone-bootstrap-12345678',
      'deployments/keystone-api',
    ]);
  });

  it('prints a chart and a path', () => {
    const text = markdown(analyse(writesOf(log(deploy(true)), 'openstack'), { operator: OPERATOR }));
    expect(text).toContain('p95 195 ms');
    expect(text).toMatch(/statefulsets\/mariadb +0\.3 +10\.0 \| #+ +\|/);
    expect(text).toMatch(/statefulsets\/memcached +0\.3 +2\.0 \| =+ +\|/);
    expect(text).toContain('| jobs/keystone-db-sync-12345678 | 100 | 900 | mariadbs/mariadb |');
    expect(text).toContain('| deployments/keystone-api | 25.0 | 10.0 | 40 ms after jobs/keystone-bootstrap-12345678 |');
  });

  it('takes the cloud that it is asked for, and says when there is none', () => {
    const writes = writesOf(log(deploy(true)), 'openstack');
    expect(analyse(writes, { operator: OPERATOR, cloud: 'old' }).cloud).toBe('old');
    expect(() => analyse(writes, { operator: OPERATOR, cloud: 'none' })).toThrow(
      'no creation of an OpenStackControlPlane none',
    );
  });

  it('knows what the steps of a cell stand on', () => {
    expect(prerequisitesOf('jobs/nova-cell1-map-0123')).toContain('jobs/nova-cell1-conductor-db-sync-*');
    expect(prerequisitesOf('daemonsets/nova-cell1-libvirt')).toContain('statefulsets/nova-cell1-conductor');
    expect(prerequisitesOf('statefulsets/nova-api')).toContain('neutrons/neutron');
    expect(prerequisitesOf('deployments/somebody-elses')).toEqual([]);
  });
});
