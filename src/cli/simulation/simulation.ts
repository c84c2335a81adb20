import { createBackends } from '../../embedded/backends/backends.ts';
import { type Believing, believing } from '../../embedded/backends/believing.ts';
import { type Hands, hands, install } from '../../embedded/cluster.ts';
import { type Pretenders, pretend } from '../../embedded/controllers/controllers.ts';
import type { Delays } from '../../embedded/controllers/kubelet.ts';
import type { Programs } from '../../embedded/controllers/program.ts';
import { takingAnything } from '../../embedded/foreign.ts';
import { Sim } from '../../embedded/sim/sim.ts';
import { createStore, restoreStore, type Snapshot, type Store } from '../../embedded/store/store.ts';
import { type Moment, momentsOf } from '../../insight/plan/rolling.ts';
import { nodeNamespaces } from '../../insight/view/view.ts';
import type { AnyObject } from '../../kube/object.ts';
import { Node, type Resource, resourceName } from '../../kube/resource.ts';
import type { Request } from '../../kube/transport.ts';
import { createOperator } from '../../operator/operator.ts';
import { PLANS } from '../../operator/plans.ts';
import { NODES_OF_LABEL } from '../../runtime/plan/names.ts';
import type { Plan } from '../../runtime/plan/row.ts';
import type { Random } from '../../world/clock.ts';
import { PLANNED } from '../input/resources.ts';
import { SLICE } from './slice.ts';

export interface SimulationOptions {
  readonly namespace: string;
  /** Objects of a cluster with their uids; else an empty cluster. */
  readonly from?: { readonly objects: readonly AnyObject[]; readonly at: number };
  /** Backends that record each call and report success, instead of simulated ones. */
  readonly believe?: boolean;
  readonly delays?: Partial<Delays>;
  /** What programs do, with recording backends; else they start at once. */
  readonly programs?: Programs;
  /** For passwords and keys; seeded unless given. */
  readonly random?: Random;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly seed?: number;
  /** All controllers unless given. */
  readonly plans?: readonly Plan<never>[];
  readonly maxEvents?: number;
  /** Longest way of a request in milliseconds. */
  readonly latency?: number;
}

/** A write of the operator, as it was sent. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: AnyObject;
}

export interface Simulation {
  readonly admin: Hands;
  readonly backends: Believing | undefined;
  /** Everything that happened to workloads, in order. */
  readonly moments: readonly Moment[];
  readonly writes: readonly Write[];
  objects(): readonly AnyObject[];
  now(): number;
  /** Until nothing but second looks is left. Throws Unsettled. */
  settle(): Promise<void>;
  run(seconds: number): Promise<void>;
}

/** A world that does not come to rest; names what is written again and again. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled';
  readonly again: readonly string[];
  constructor(again: readonly string[]) {
    super(`it does not come to rest: ${again.join(', ')} ${again.length === 1 ? 'is' : 'are'} written again and again`);
    this.again = again;
  }
}

/** A whole cloud takes about 30,000 events; what needs ten times as many goes round in circles. */
const MAX_EVENTS = 300_000;
const MAX_TIME_MS = 6 * 3_600_000;

/** The labels by which nodes become hypervisors and gateways: one node has them, as in a small cluster. */
const ROLES = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };

/** An embedded cluster and the real operator on virtual time: minutes of a cloud's life pass in seconds. */
export async function simulate(options: SimulationOptions): Promise<Simulation> {
  const { namespace, from } = options;
  const sim = new Sim(options.seed ?? 1, {
    maxEvents: options.maxEvents ?? MAX_EVENTS,
    maxTime: MAX_TIME_MS,
    ...(from && { epoch: from.at }),
  });
  const hasNodes = from?.objects.some(object => object.kind === 'Node') ?? false;
  const inner = from ? restored(from.objects, namespace, sim) : restoreStore(emptyCluster(namespace), sim);
  const writes: Write[] = [];
  const moments: Moment[] = [];
  const watching = momentsOf(() => sim.clock.now(), moments);
  for (const object of inner.objects()) watching(object, 'seen');
  const store: Store = {
    ...inner,
    handle(request, user) {
      const answer = inner.handle(request, user);
      if (request.method !== 'GET' && answer.status < 300 && request.query?.dryRun === undefined) {
        watching(answer.body as AnyObject, request.method === 'DELETE' ? 'deleted' : 'written');
        if (user?.startsWith('operator')) writes.push(writeOf(request));
      }
      return answer;
    },
  };
  const kubelet = sim.process('pretenders');
  let pretenders: Pretenders | undefined;
  const resolve = (host: string, port: number) => pretenders?.resolve(host, port) ?? [];
  const believed = options.believe ? believing(() => inner.objects() as AnyObject[]) : undefined;
  const fakes = believed ? undefined : createBackends({ resolve });
  pretenders = pretend({
    transport: kubelet.transport(store),
    clock: kubelet.clock,
    random: kubelet.random,
    programs: fakes?.programs ?? options.programs ?? (() => undefined),
    ...(hasNodes && { nodes: [] }),
    ...(options.delays && { delays: options.delays }),
  });
  let started = false;
  void pretenders.start().then(() => {
    started = true;
  });
  await sim.until(() => started);
  const admin = withNodeNamespaces(hands(store));
  for (const node of hasNodes ? [] : admin.list(Node).slice(0, from ? undefined : 1))
    admin.patch(Node, '', node.metadata.name, { metadata: { labels: ROLES } });
  const process = sim.process('operator');
  const operator = createOperator({
    world: {
      cluster: process.transport(store, options.latency === undefined ? {} : { latency: options.latency }),
      cloud: (believed ?? fakes!).cloud,
      clock: process.clock,
      random: options.random ?? process.random,
    },
    plans: options.plans ?? PLANS,
    env: options.env ?? {},
  });
  let failure: unknown;
  operator.manager.run(process.signal).catch(error => {
    failure = error;
  });
  const bounded = async (run: () => Promise<void>): Promise<void> => {
    const before = writes.length;
    try {
      await run();
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('Sim: not done'))
        throw new Unsettled(busiest(writes.slice(before)));
      throw error;
    }
    if (failure) throw failure;
  };
  return {
    admin,
    backends: believed,
    moments,
    writes,
    objects: () => inner.objects(),
    now: () => sim.clock.wall(),
    settle: () => bounded(() => sim.settle()),
    run: seconds => bounded(() => sim.run(seconds * 1000)),
  };
}

const nodeNamespace = (name: string, of: string): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { [NODES_OF_LABEL]: of } },
});

/** Somebody who applies an object that names a namespace for its nodes has made it: nothing else could be shown. */
const withNodeNamespaces = (admin: Hands): Hands => ({
  ...admin,
  apply: (object, manager) => {
    const { namespace = '' } = object.metadata;
    for (const name of nodeNamespaces([object], namespace)) admin.apply(nodeNamespace(name, namespace));
    return admin.apply(object, manager);
  },
});

function writeOf({ method, path, query = {}, body }: Request): Write {
  return { method, path, query, body: (body ?? {}) as AnyObject };
}

/** What was written most; status and Events would name everything. */
function busiest(writes: readonly Write[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of writes.filter(write => !/\/(events|leases)\b/.test(write.path)))
    counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([path, count]) => `${path.replace(/^.*\/namespaces\/[^/]+\//, '')} (${count} times)`);
}

/** Installing some thirty CustomResourceDefinitions takes longer than most plans: once is enough. */
const installed = new Map<string, Snapshot>();
function emptyCluster(namespace: string, foreign: readonly Resource[] = []): Snapshot {
  const key = [namespace, ...foreign.map(resourceName)].join(' ');
  const known = installed.get(key);
  if (known) return known;
  const store = createStore(new Sim(0));
  install(store, namespace);
  for (const resource of foreign) hands(store).apply(takingAnything(resource));
  const snapshot = store.snapshot();
  installed.set(key, snapshot);
  return snapshot;
}

/** Kinds of others that the cluster has, found by their objects. */
function foreignIn(objects: readonly AnyObject[]): readonly Resource[] {
  const groups = new Set(objects.map(({ apiVersion }) => apiVersion.replace(/\/.*/, '')));
  return PLANNED.filter(resource => resource.optional && groups.has(resource.group));
}

/** A cluster's objects under the CRDs of this program: a plan shows what this version would do. */
function restored(objects: readonly AnyObject[], namespace: string, sim: Sim): Store {
  const used = objects.map(object => Number(object.metadata.resourceVersion ?? 0)).filter(Number.isFinite);
  const kept = objects.filter(
    object => !['Event', 'CustomResourceDefinition', 'Namespace', 'Lease'].includes(object.kind),
  );
  const base = emptyCluster(namespace, foreignIn(kept));
  const store = restoreStore(
    {
      resourceVersion: Math.max(base.resourceVersion, ...used) + 1,
      objects: [...base.objects.filter(o => o.kind !== 'Node'), ...kept],
    },
    sim,
  );
  for (const name of nodeNamespaces(kept, namespace)) hands(store).apply(nodeNamespace(name, namespace));
  return store;
}

export async function embeddedCloud(
  objects: readonly AnyObject[] = [SLICE],
  namespace = 'openstack',
  /** Seconds of its time; else until nothing moves. */
  after?: number,
): Promise<{ readonly objects: readonly AnyObject[]; readonly now: number }> {
  const world = await simulate({ namespace });
  for (const object of objects) world.admin.apply(inNamespace(object, namespace));
  if (after === undefined) await world.settle();
  else await world.run(after);
  return { objects: world.objects(), now: world.now() };
}

export const inNamespace = (object: AnyObject, namespace: string): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
});
