import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { execute } from '../../src/cli/program.ts';
import { seededRandom } from '../../src/embedded/sim/random.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Job, Node } from '../../src/kube/resource.ts';
import { loginBy } from '../e2e/login.ts';
import { Cloud, NS } from './cloud.ts';
import { effectPrograms } from './effects.ts';
import { admits } from './policies.ts';
import { keystoneOf, passwordIn, sqlOf } from './services.ts';

/** `render --as jobs --reveal | kubectl apply` on a cluster that knows neither our kinds' controller nor the order of things. */

const folder = mkdtempSync(join(tmpdir(), 'jobs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function rendered(...args: string[]): Promise<AnyObject[]> {
  let [out, err] = ['', ''];
  const paper = { width: 100, paint: (_style: string, text: string) => text };
  const code = await execute('kubectl openstack', ['render', ...args, '--reveal', '-o', 'json'], {
    out: text => {
      out += text;
    },
    err: text => {
      err += text;
    },
    paper,
    repaints: false,
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return (JSON.parse(out) as { items: AnyObject[] }).items;
}

const textsOf = (secret: AnyObject): string[] =>
  Object.values((secret.data ?? {}) as Record<string, string>).map(value => Buffer.from(value, 'base64').toString());

/** A cluster without an operator, to which everything is applied in an order of chance. */
async function applied(items: readonly AnyObject[], seed: number): Promise<Cloud> {
  const passwords = items.filter(item => item.kind === 'Secret').flatMap(textsOf);
  const cloud: Cloud = await Cloud.start({
    seed,
    programs: effectPrograms(
      () => cloud.backends.cloud,
      () => passwords,
    ),
  });
  cloud.crashOperator();
  const [node] = cloud.hands.list(Node);
  const roles = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };
  cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels: roles } });
  const random = seededRandom(seed);
  const left = [...items];
  while (left.length > 0) {
    const [item] = left.splice(Math.floor(random.next() * left.length), 1);
    cloud.apply(item!);
    await cloud.sim.run(Math.floor(random.next() * 3_000));
  }
  await cloud.settle();
  return cloud;
}

const stateOf = (job: AnyObject): string => {
  const { conditions = [] } = (job.status ?? {}) as { conditions?: { type: string; status: string }[] };
  const ended = conditions.find(c => ['Complete', 'Failed'].includes(c.type) && c.status === 'True');
  return `${job.metadata.name.replace(/-[0-9a-f]{8}$/, '')} ${ended?.type ?? 'runs'}`;
};
const jobsOf = (cloud: Cloud): string[] => cloud.hands.list(Job, NS).map(stateOf).sort();

describe('render --as jobs', { timeout: 120_000 }, () => {
  let slice: AnyObject[];
  beforeAll(async () => {
    slice = await rendered('-f', 'config/samples/controlplane_slice.yaml', '--as', 'jobs');
  }, 120_000);

  it.each([1, 2, 3])('makes a cloud that serves a token without an operator, in any order (seed %i)', async seed => {
    const cloud = await applied(slice, seed);
    expect(cloud.writes()).toEqual([]);
    expect(jobsOf(cloud)).toEqual([
      'keystone-bootstrap Complete',
      'keystone-database Complete',
      'keystone-db-sync Complete',
      'keystone-identity Complete',
    ]);
    const login = (password: string) => loginBy(cloud.backends.cloud, NS, password, call => cloud.drive(call));
    expect(await login(passwordIn(cloud, 'keystone-admin'))).toBe(true);
    expect(await login('not this one')).toBe(false);
    expect(keystoneOf(cloud).projects).toContain('service');
  });

  it('does what it did not know before when it is applied again, and nothing twice', async () => {
    const cloud = await applied(slice, 4);
    const before = cloud.backends.snapshot();
    for (const item of slice) cloud.apply(item);
    for (const job of cloud.hands.list(Job, NS)) cloud.hands.remove(Job, NS, job.metadata.name);
    await cloud.settle();
    for (const item of slice) cloud.apply(item);
    await cloud.settle();
    expect(jobsOf(cloud).filter(job => !job.endsWith('Complete'))).toEqual([]);
    expect(cloud.backends.snapshot()).toEqual(before);
  });

  const whole = ['-f', 'config/samples/controlplane_minimal.yaml', '--as', 'jobs'];
  const keeping = (name: string, items: readonly AnyObject[]): readonly string[] => {
    const earlier = join(folder, name);
    writeFileSync(earlier, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    return ['--keep', earlier];
  };

  it('brings a whole cloud: databases, bus, users, catalog, cells; and all of it again from an earlier output', async () => {
    const items = await rendered(...whole);
    // The names of Jobs and of copies of config end in a hash of what they are made from.
    const names = (of: readonly AnyObject[]) =>
      [...new Set(of.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/-[0-9a-f]{8,10}$/, '')}`))].sort();
    expect(names(await rendered(...whole, ...keeping('whole.json', items)))).toEqual(names(items));
    const cloud = await applied(items, 5);
    expect(jobsOf(cloud).filter(job => !job.endsWith('Complete'))).toEqual([]);
    const { users, services } = keystoneOf(cloud);
    expect(services.map(s => s.type).sort()).toEqual(['compute', 'identity', 'image', 'network', 'placement']);
    expect(Object.keys(users).sort()).toEqual(['admin', 'glance', 'neutron', 'nova', 'placement']);
    const { databases } = sqlOf(cloud);
    expect(Object.keys(databases.nova_api?.cells ?? {}).sort()).toEqual(['cell0', 'cell1']);
    expect(Object.values(databases).filter(d => d.schemas.length === 0)).toEqual([]);
  });

  it('has policies that admit these Jobs where the operator would be admitted', async () => {
    const cloud = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & {
      spec: object;
    };
    const file = join(folder, 'policies.json');
    writeFileSync(file, JSON.stringify({ ...cloud, spec: { ...cloud.spec, networkPolicy: { enabled: true } } }));
    const items = await rendered('-f', file, '--as', 'jobs');
    const policies = items.filter(item => item.kind === 'NetworkPolicy').map(item => item.spec as NetworkPolicySpec);
    expect(policies.length).toBeGreaterThan(10);
    expect(JSON.stringify(policies)).not.toContain('openstack-operator');
    const podOf = (item: AnyObject) =>
      (item.spec as { template: { metadata: { labels: Record<string, string> } } }).template.metadata.labels;
    const server = (name: string) =>
      podOf(items.find(item => item.kind === 'StatefulSet' && item.metadata.name === name)!);
    const [bus, database] = [server('rabbitmq'), server('mariadb')];
    const jobs = items.filter(item => item.kind === 'Job').map(podOf);
    const steps = new Map<string, number>();
    for (const pod of jobs) {
      const step = pod['app.kubernetes.io/component'] ?? '';
      const from = { pod, namespace: NS };
      if (step === 'message-bus') expect(admits(policies, bus, 15672, from, NS), JSON.stringify(pod)).toBe(true);
      if (step === 'database') expect(admits(policies, database, 3306, from, NS), JSON.stringify(pod)).toBe(true);
      steps.set(step, (steps.get(step) ?? 0) + 1);
    }
    expect([steps.get('message-bus'), steps.get('database')].every(count => (count ?? 0) > 1)).toBe(true);
    expect(admits(policies, bus, 15672, { pod: { app: 'shell' }, namespace: NS }, NS)).toBe(false);
  });

  it('holds passwords in Secrets only, and only images that the cloud itself uses', () => {
    const secrets = slice.filter(item => item.kind === 'Secret');
    const rest = JSON.stringify(slice.filter(item => item.kind !== 'Secret'));
    const values = secrets.filter(s => /-(admin|root|database)$/.test(s.metadata.name)).flatMap(textsOf);
    expect(values.filter(v => v.length > 20).length).toBeGreaterThan(3);
    for (const value of values.filter(v => v.length > 20)) expect(rest).not.toContain(value);
    const images = (kinds: readonly string[]) =>
      new Set(
        slice
          .filter(item => kinds.includes(item.kind))
          .flatMap(item => [...JSON.stringify(item).matchAll(/"image":"([^"]+)"/g)].map(m => m[1]!)),
      );
    const workloads = images(['Deployment', 'StatefulSet']);
    for (const image of images(['Job'])) expect(workloads).toContain(image);
  });

  it('keeps passwords and keys of an earlier output, and makes the rest from them', async () => {
    const file = 'config/samples/controlplane_slice.yaml';
    const again = await rendered('-f', file, '--as', 'jobs', ...keeping('slice.json', slice));
    const byName = (items: readonly AnyObject[]) =>
      Object.fromEntries(items.map(({ kind, metadata, data, spec }) => [`${kind} ${metadata.name}`, { data, spec }]));
    expect(byName(again)).toEqual(byName(slice));
    expect(again).toHaveLength(slice.length);
  });

  it('renders one service by its name', async () => {
    const items = await rendered(
      '-f',
      'config/samples/controlplane_slice.yaml',
      '--as',
      'jobs',
      '--service',
      'keystone',
    );
    expect(
      items
        .filter(i => i.kind === 'Job')
        .map(stateOf)
        .sort(),
    ).toEqual(jobNames('database', 'db-sync', 'bootstrap', 'identity'));
    expect(items.map(i => i.metadata.name)).toContain('keystone-admin');
    expect(items.map(i => i.metadata.name)).not.toContain('mariadb');
  });
  const jobNames = (...steps: string[]) => steps.map(step => `keystone-${step} runs`).sort();
});
