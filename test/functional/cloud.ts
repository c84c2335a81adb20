import type { AnyKind } from '../../api/schema/kind.ts';
import { type BackendOptions, type Backends, createBackends } from '../../src/embedded/backends/backends.ts';
import { conditionsOf, type Hands, hands, install } from '../../src/embedded/cluster.ts';
import { type Pretenders, pretend } from '../../src/embedded/controllers/controllers.ts';
import type { Programs } from '../../src/embedded/controllers/program.ts';
import { type Process, Sim } from '../../src/embedded/sim/sim.ts';
import type { SimTransport, TransportOptions } from '../../src/embedded/sim/transport.ts';
import { createStore, restoreStore, type Snapshot, type Store } from '../../src/embedded/store/store.ts';
import type { AnyObject, Condition } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { createOperator, type OperatorOptions } from '../../src/operator/operator.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { HASH_KEY_SECRET, OWNER_SECRET } from '../../src/runtime/plan/names.ts';
import type { Plan } from '../../src/runtime/plan/row.ts';

export const NS = 'openstack';

export interface CloudOptions {
  readonly seed?: number;
  readonly plans?: readonly Plan<never>[];
  /** To install beside ours. */
  readonly kinds?: readonly AnyKind[];
  readonly operator?: Partial<OperatorOptions>;
  readonly faults?: TransportOptions;
  /** Asked before each call of a backend; what it throws is what the row gets. */
  readonly backendFaults?: BackendOptions['intercept'];
  /** What containers do, asked before the table of the backends: Jobs that fail, servers that never get ready. */
  readonly programs?: Programs;
  /** StatefulSets as from Kubernetes 1.37 on; else as before it, which takes pods more easily. */
  readonly setsCount?: boolean;
  /** Stands between all clients and the store: an oracle that looks at every request. */
  readonly wrap?: (store: Store) => Store;
  /** What an earlier run left. Take another seed than it had: the same one would give the same uids and passwords again. */
  readonly from?: Rest;
}

/** Options of every operator, for suites that run the stories of others. */
let everyOperator: Partial<OperatorOptions> = {};

/** Runs something in which each cloud that starts has an operator with these options. */
export async function withOperators<T>(options: Partial<OperatorOptions>, run: () => Promise<T>): Promise<T> {
  const before = everyOperator;
  everyOperator = options;
  try {
    return await run();
  } finally {
    everyOperator = before;
  }
}

/** A cloud without its processes: the store, the disks of its servers, and the time. */
export interface Rest {
  readonly at: number;
  readonly store: Snapshot;
  readonly disks: ReturnType<Backends['snapshot']>;
}

/** Installing some thirty CustomResourceDefinitions costs more than most stories: once per worker and set of kinds. */
const installed = new Map<string, Snapshot>();
function emptyCluster(kinds: readonly AnyKind[] = []): Snapshot {
  const key = kinds.map(kind => kind.kind).join();
  const known = installed.get(key);
  if (known) return known;
  const { clock, random } = new Sim(0);
  const store = createStore({ clock, random });
  install(store, NS, kinds);
  const snapshot = store.snapshot();
  installed.set(key, snapshot);
  return snapshot;
}

/** A cluster, its pretenders and an operator on virtual time. Stories speak this vocabulary. */
export class Cloud {
  readonly sim: Sim;
  readonly store: Store;
  readonly hands: Hands;
  readonly backends: Backends;
  readonly #options: CloudOptions;
  readonly #operator = everyOperator;
  #pretenders!: Pretenders;
  operator: Process | undefined;
  transport!: SimTransport;
  failure: unknown;

  private constructor(options: CloudOptions) {
    this.#options = options;
    this.sim = new Sim(options.seed ?? 1);
    const { clock, random } = this.sim;
    const store = restoreStore(options.from?.store ?? emptyCluster(options.kinds), { clock, random });
    this.store = options.wrap?.(store) ?? store;
    this.hands = hands(this.store, options.kinds);
    this.backends = createBackends({
      resolve: (host, port) => this.#pretenders.resolve(host, port),
      intercept: options.backendFaults,
    });
    if (options.from) this.backends.restore(options.from.disks);
  }

  static async start(options: CloudOptions = {}): Promise<Cloud> {
    const cloud = new Cloud(options);
    if (options.from) await cloud.sim.run(options.from.at);
    const process = cloud.sim.process('pretenders');
    cloud.#pretenders = pretend({
      transport: process.transport(cloud.store),
      clock: process.clock,
      random: process.random,
      programs: run => options.programs?.(run) ?? cloud.backends.programs(run),
      setsCount: options.setsCount,
    });
    await cloud.drive(cloud.#pretenders.start());
    cloud.startOperator();
    return cloud;
  }

  startOperator(): void {
    const process = this.sim.process('operator');
    this.operator = process;
    this.transport = process.transport(this.store, this.#options.faults);
    const operator = createOperator({
      world: { cluster: this.transport, cloud: this.backends.cloud, clock: process.clock, random: process.random },
      plans: this.#options.plans ?? PLANS,
      ...this.#operator,
      ...this.#options.operator,
    });
    operator.manager.run(process.signal).catch(error => {
      if (!process.signal.aborted) this.failure = error;
    });
  }

  /** The node and its kubelet fall silent. */
  failNode(name: string): void {
    this.#pretenders.failNode(name);
  }

  /** kill -9: memory is gone, what was sent may or may not have arrived. */
  crashOperator(): void {
    this.operator?.crash();
    this.operator = undefined;
  }

  /** What a power cut would leave. Stored objects are frozen, so they can be shared with the running store. */
  rest(): Rest {
    const list = this.store.handle({ method: 'GET', path: '/api/v1/namespaces' }).body as AnyObject;
    return {
      at: this.sim.clock.now(),
      store: { resourceVersion: Number(list.metadata.resourceVersion), objects: this.store.objects() },
      disks: this.backends.snapshot(),
    };
  }

  /** Mutating requests of the operator so far, Leases and Events left out (rule 14). */
  writes(): readonly string[] {
    return this.sim.journal.filter(
      line => /operator\S* (PATCH|POST|PUT|DELETE) .* commit$/.test(line) && !/\/(events|leases)/.test(line),
    );
  }

  /** What is in the namespace, Events left out. */
  left(): readonly string[] {
    return (
      this.store
        .objects()
        .filter(object => object.metadata.namespace === NS && object.kind !== 'Event')
        // The namespace's owner id outlives every cloud in it.
        .filter(object => ![OWNER_SECRET, HASH_KEY_SECRET].includes(object.metadata.name))
        .map(object => `${object.kind} ${object.metadata.name}`)
        .sort()
    );
  }

  apply(...objects: object[]): void {
    for (const object of objects) this.hands.apply(withNamespace(object as AnyObject));
  }

  get(resource: Resource, name: string): AnyObject | undefined {
    return this.hands.get(resource, NS, name);
  }

  condition(resource: Resource, name: string, type = 'Ready'): Condition | undefined {
    return conditionsOf(this.get(resource, name)).find(c => c.type === type);
  }

  /** Runs until nothing is left to do but to wait for time. */
  async settle(): Promise<void> {
    await this.sim.settle();
    if (this.failure) throw this.failure;
  }

  async ready(resource: Resource, name: string): Promise<void> {
    const done = (): boolean => {
      const object = this.get(resource, name);
      return (
        this.condition(resource, name)?.status === 'True' &&
        (object?.status as { observedGeneration?: number } | undefined)?.observedGeneration ===
          object?.metadata.generation
      );
    };
    const end = await this.sim.until(() => this.failure !== undefined || done());
    if (this.failure) throw this.failure;
    if (end !== 'done')
      throw new Error(
        `${resource.kind} ${name} did not become Ready: ${JSON.stringify(conditionsOf(this.get(resource, name)), null, 1)}`,
      );
  }

  async drive<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const watched = promise.finally(() => {
      settled = true;
    });
    watched.catch(() => undefined);
    await this.sim.until(() => settled);
    return watched;
  }
}

const withNamespace = (object: AnyObject): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, namespace: object.metadata.namespace ?? NS },
});
