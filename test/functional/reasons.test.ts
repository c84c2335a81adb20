import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import { commandOf } from '../../src/embedded/controllers/program.ts';
import type { Store } from '../../src/embedded/store/store.ts';
import { REASONS } from '../../src/insight/why/reasons.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Job, Node, Secret, Service, StatefulSet, StorageClass } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import { secret } from './services.ts';
import { ours, slice, Trouble, withSlice } from './stories.ts';

/*
 * Every reason that a condition can carry is reached by a story that reads it. Most stand where their subject is
 * (bad-input, nova, glance ...); here are those of a cloud on its way, and of faults that are nobody's subject.
 */

/** Conditions that were written on the way, also those that did not last. */
function watchConditions() {
  const written: { kind: string; type: string; status: string; reason: string; message: string }[] = [];
  const wrap = (store: Store): Store => ({
    ...store,
    handle: (request, user = '') => {
      const answer = store.handle(request, user);
      if (user.startsWith('operator') && request.path.endsWith('/status') && answer.status === 200)
        for (const condition of conditionsOf(answer.body as AnyObject))
          written.push({ ...condition, kind: (answer.body as AnyObject).kind });
      return answer;
    },
  });
  const passes = (kind: string, type: string, reason: string, ...words: string[]): void => {
    const found = written.filter(c => c.kind === kind && c.type === type && c.reason === reason);
    expect(found, `${kind} ${type} ${reason}`).not.toEqual([]);
    const text = found.map(c => c.message).join('\n');
    for (const word of words) expect(text).toContain(word);
  };
  return { wrap, passes };
}

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };

async function deployMinimal(spec: object = {}) {
  const { wrap, passes } = watchConditions();
  const cloud = await Cloud.start({ wrap });
  const [node] = cloud.hands.list(Node, '');
  const labels = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };
  cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels } });
  cloud.apply({ ...minimal, spec: { ...minimal.spec, ...spec } });
  await cloud.ready(OpenStackControlPlane, 'minimal');
  return { cloud, passes };
}

describe('the minimal cloud on its way', { timeout: 300_000 }, () => {
  it('says at each step what it waits for, and in the end that it is there', async () => {
    const { cloud, passes } = await deployMinimal();
    passes('OpenStackControlPlane', 'Ready', 'Reconciling', 'MariaDBReady: MariaDB mariadb: StatefulSet', 'Cluster: ');
    passes('OpenStackControlPlane', 'MariaDBReady', 'NotReady', 'Waiting for MariaDB mariadb');
    passes('Keystone', 'ConfigReady', 'Blocked', 'Waiting for DatabaseReady');
    passes('Memcached', 'WorkloadsReady', 'Progressing', 'StatefulSet memcached', 'Cluster: start its pods');
    passes('Keystone', 'DatabaseSyncReady', 'JobRunning', 'Waiting for Job keystone-db-sync-');
    passes('NovaConductor', 'WorkloadsReady', 'CellsNotMapped', 'Secret nova-cell-mappings', 'Operator: map cell0');
    passes('OpenStackControlPlane', 'InputReady', 'Succeeded');
    expect(cloud.condition(OpenStackControlPlane, 'minimal')).toMatchObject({ reason: 'DeploymentReady', message: '' });
  });
});

describe('what a cluster does to a cloud', () => {
  it('a strict rollout says whose turn it is', async () => {
    const story = await Trouble.start();
    story.cloud.apply(slice({ rollout: 'strict' }));
    const words = ['Waiting for MariaDB mariadb', 'rollout is strict'];
    await story.waits(OpenStackControlPlane, 'slice', 'RabbitMQReady', 'InTurn', ...words);
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('no node fits', async () => {
    const story = await withSlice();
    story.cloud.apply(slice({ memcached: { nodeSelector: { disk: 'none-such' } } }));
    const words = [
      'StatefulSet memcached',
      "didn't match Pod's node affinity/selector",
      'User: add or label a node, or change nodeSelector',
    ];
    await story.tells(Memcached, 'memcached', 'WorkloadsReady', 'Unschedulable', ...words);
    await story.rests();
    story.cloud.apply(slice());
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('a container ends again and again: its last words', async () => {
    let ill = false;
    const story = await withSlice({
      programs: run =>
        ill && /memcached/.test(commandOf(run)) ? { after: 100, exit: 64, message: 'unknown option -z' } : undefined,
    });
    ill = true;
    story.cloud.apply(slice({ memcached: { memoryMB: 96 } }));
    const words = ['StatefulSet memcached', 'ended with 64: unknown option -z', 'User: read its last lines'];
    await story.tells(Memcached, 'memcached', 'WorkloadsReady', 'CrashLoop', ...words);
    ill = false;
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('a value of a user that the API server refuses', async () => {
    const story = await withSlice();
    story.cloud.apply(slice({ memcached: { extraMounts: [{ name: 'Not A Name', mountPath: '/x', emptyDir: {} }] } }));
    const words = ['StatefulSet', 'memcached', 'Not A Name', 'User: correct the field'];
    await story.tells(Memcached, 'memcached', 'WorkloadsReady', 'Rejected', ...words);
    await story.rests();
    story.cloud.apply(slice());
    await story.mends(OpenStackControlPlane, 'slice');
  });

  /** Answers of the API server to writes of one path, while they last. */
  function answers(path: string, status: number, reason: string, message: string) {
    const body = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code: status, reason, message };
    const state = { on: false };
    const intercept = (request: { method: string; path: string }) =>
      state.on && request.method !== 'GET' && request.path.endsWith(path) ? { status, body } : undefined;
    return { state, intercept };
  }

  it('a quota or policy forbids a write', async () => {
    const fault = answers('/services/memcached', 403, 'Forbidden', 'services "memcached" is forbidden: exceeded quota');
    const story = await withSlice({ faults: { intercept: fault.intercept } });
    fault.state.on = true;
    story.cloud.hands.remove(Service, NS, 'memcached');
    const words = ['exceeded quota', 'User: grant it, or raise the quota'];
    await story.tells(Memcached, 'memcached', 'ExposeReady', 'Forbidden', ...words);
    fault.state.on = false;
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('somebody writes at the same time, again and again', async () => {
    const fault = answers('/services/memcached', 409, 'Conflict', 'the object has been modified');
    const story = await withSlice({ faults: { intercept: fault.intercept } });
    fault.state.on = true;
    story.cloud.hands.remove(Service, NS, 'memcached');
    await story.tells(Memcached, 'memcached', 'ExposeReady', 'Conflict', 'Operator: try again');
    fault.state.on = false;
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('the API server fails in a way that nobody foresaw', async () => {
    const fault = answers('/services/memcached', 500, 'InternalError', 'etcdserver: mvcc: database space exceeded');
    const story = await withSlice({ faults: { intercept: fault.intercept } });
    fault.state.on = true;
    story.cloud.hands.remove(Service, NS, 'memcached');
    await story.tells(Memcached, 'memcached', 'ExposeReady', 'Error', 'database space exceeded', 'Operator: try again');
    fault.state.on = false;
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('an object that is held back from going', async () => {
    const story = await withSlice();
    const { cloud } = story;
    const hold = (finalizers: string[]) => cloud.hands.patch(Service, NS, 'memcached', { metadata: { finalizers } });
    hold(['example.org/hold']);
    cloud.hands.remove(Service, NS, 'memcached');
    const words = ['Service memcached is being deleted', 'Cluster: finish deleting it'];
    await story.waits(Memcached, 'memcached', 'ExposeReady', 'Terminating', ...words);
    await story.rests();
    hold([]);
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('a Service without an address', async () => {
    const bare = (store: Store): Store => ({
      ...store,
      handle: (request, user) => {
        const answer = store.handle(request, user);
        if (!/\/services\/ovn-nb$/.test(request.path) || answer.status >= 300) return answer;
        const body = answer.body as AnyObject & { spec: Record<string, unknown> };
        const { clusterIP: _, clusterIPs: __, ...spec } = body.spec;
        return { ...answer, body: { ...body, spec } };
      },
    });
    const story = await Trouble.start(undefined, { wrap: bare });
    story.cloud.apply(ours('OVNNetwork', 'ovn'));
    const words = ['Service ovn-nb has no address yet', 'Cluster: give it one'];
    await story.waits(OVNNetwork, 'ovn', 'ExposeReady', 'NoAddress', ...words);
  });

  it('no volume comes', async () => {
    const story = await Trouble.start();
    const { cloud } = story;
    const [fallback] = cloud.hands.list(StorageClass, '');
    cloud.hands.remove(StorageClass, '', fallback!.metadata.name);
    cloud.apply(ours('MariaDB', 'mariadb'));
    const words = ['StatefulSet mariadb', 'unbound', 'Cluster: bind its volume, which takes a default StorageClass'];
    await story.waits(MariaDB, 'mariadb', 'WorkloadsReady', 'VolumePending', ...words);
    await story.rests();
    cloud.hands.apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'late', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.org/disk',
    });
    await story.mends(MariaDB, 'mariadb');
  });

  it('a Secret that a pod starts from went away before it started', async () => {
    const { wrap, passes } = watchConditions();
    const story = await Trouble.start(undefined, { wrap });
    const { cloud } = story;
    const mine = secret('mine', { password: 'correct horse battery' });
    cloud.apply(mine, slice({ keystone: { adminPasswordSecret: 'mine' } }));
    const started = () => cloud.hands.list(Job, NS).some(job => job.metadata.name.startsWith('keystone-bootstrap'));
    await cloud.sim.until(started);
    cloud.hands.remove(Secret, NS, 'mine');
    await story.tells(Keystone, 'keystone', 'InputReady', 'SecretNotFound', 'Secret mine', 'spec.adminPasswordSecret');
    await cloud.sim.run(30_000);
    cloud.apply(mine);
    await story.mends(OpenStackControlPlane, 'slice');
    passes('Keystone', 'BootstrapReady', 'PodConfig', 'secret "mine" not found', 'Operator: make it');
  });

  it('a backend that does not answer', async () => {
    const story = await withSlice();
    const { cloud } = story;
    const pause = (value: string | null) =>
      cloud.hands.patch(MariaDB, NS, 'mariadb', { metadata: { annotations: { 'openstack.k8s.io/paused': value } } });
    pause('true');
    cloud.hands.remove(StatefulSet, NS, 'mariadb');
    const words = ['MariaDB at mariadb', 'does not answer', 'Operator: try again'];
    await story.tells(Keystone, 'keystone', 'DatabaseReady', 'Unreachable', ...words);
    pause(null);
    await story.mends(OpenStackControlPlane, 'slice');
  });
});

describe('cells that Nova can not have', () => {
  it('a cell with the name of a part of Nova', async () => {
    const story = await Trouble.start();
    story.cloud.apply(ours('Nova', 'nova', { cellTemplates: { cell0: {}, api: {} } }));
    const words = ['spec.cellTemplates.api has the name of a part of Nova', 'User: give the cell another name'];
    await story.tells(Nova, 'nova', 'InputReady', 'CellNameTaken', ...words);
    await story.rests();
  });

  it('hosts in cell0', async () => {
    const story = await Trouble.start();
    const computes = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
    story.cloud.apply(ours('Nova', 'nova', { cellTemplates: { cell0: computes, cell1: {} } }));
    const words = ['spec.cellTemplates.cell0.novaComputeTemplates is set', 'User: move them to another cell'];
    await story.tells(Nova, 'nova', 'InputReady', 'CellWithoutHosts', ...words);
    await story.rests();
  });
});

describe('the table of reasons and the stories', () => {
  /** A story reads a reason by `tells`, `waits` or `passes`, or by looking at the condition's field. */
  const READS = /\b(?:tells|waits|passes)\([^;]*;|\breason(?:: |\)\.toBe\(| === )'[A-Z]\w+'/g;
  const stories = readdirSync('test/functional', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => readFileSync(join('test/functional', name), 'utf8'));
  const read = new Set(stories.flatMap(text => [...text.matchAll(READS)].flatMap(match => words(match[0]))));

  it('are the same set: no reason without a story that reads it', () => {
    expect(Object.keys(REASONS).filter(reason => !read.has(reason))).toEqual([]);
  });
});

/** Quoted words that could be a reason. */
const words = (text: string): string[] => [...text.matchAll(/'([A-Z]\w+)'/g)].map(match => match[1]!);
