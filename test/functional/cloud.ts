import { type Backends, createBackends } from '../../src/embedded/backends/backends.ts';
import { conditionsOf, type Hands, hands, install } from '../../src/embedded/cluster.ts';
import { type Pretenders, pretend } from '../../src/embedded/pretend/pretend.ts';
import { type Process, Sim } from '../../src/embedded/sim/sim.ts';
import type { SimTransport, TransportOptions } from '../../src/embedded/sim/transport.ts';
import { createStore, restoreStore, type Snapshot, type Store } from '../../src/embedded/store/store.ts';
import type { AnyObject, Condition } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { createOperator, type OperatorOptions } from '../../src/operator/operator.ts';
import type { Plan } from '../../src/runtime/plan/row.ts';
import { PLANS } from '../../src/services/list.ts';

export const NS = 'openstack';

export interface CloudOptions {
  readonly seed?: number;
  readonly plans?: readonly Plan<never>[];
  readonly operator?: Partial<OperatorOptions>;
  readonly faults?: TransportOptions;
  readonly from?: Snapshot;
}

/** A cluster, its pretenders and an operator on virtual time. Stories speak this vocabulary. */
export class Cloud {
  readonly sim: Sim;
  readonly store: Store;
  readonly hands: Hands;
  readonly backends: Backends;
  readonly #options: CloudOptions;
  #pretenders!: Pretenders;
  #operator: Process | undefined;
  transport!: SimTransport;
  failure: unknown;

  private constructor(options: CloudOptions) {
    this.#options = options;
    this.sim = new Sim(options.seed ?? 1);
    const { clock, random } = this.sim;
    this.store = options.from ? restoreStore(options.from, { clock, random }) : createStore({ clock, random });
    this.hands = hands(this.store);
    this.backends = createBackends({ resolve: (host, port) => this.#pretenders.resolve(host, port) });
  }

  static async start(options: CloudOptions = {}): Promise<Cloud> {
    const cloud = new Cloud(options);
    if (!options.from) install(cloud.store, NS);
    const process = cloud.sim.process('pretenders');
    cloud.#pretenders = pretend({
      transport: process.transport(cloud.store),
      clock: process.clock,
      random: process.random,
      programs: cloud.backends.programs,
    });
    await cloud.drive(cloud.#pretenders.start());
    cloud.startOperator();
    return cloud;
  }

  startOperator(): void {
    const process = this.sim.process('operator');
    this.#operator = process;
    this.transport = process.transport(this.store, this.#options.faults);
    const operator = createOperator({
      world: { cluster: this.transport, cloud: this.backends.cloud, clock: process.clock, random: process.random },
      plans: this.#options.plans ?? PLANS,
      ...this.#options.operator,
    });
    operator.manager.run(process.signal).catch(error => {
      if (!process.signal.aborted) this.failure = error;
    });
  }

  /** kill -9: memory is gone, what was sent may or may not have arrived. */
  crashOperator(): void {
    this.#operator?.crash();
    this.#operator = undefined;
  }

  /** Mutating requests of the operator so far, Leases and Events left out (rule 14). */
  writes(): readonly string[] {
    return this.sim.journal.filter(
      line => /operator\S* (PATCH|POST|PUT|DELETE) .* commit$/.test(line) && !/\/(events|leases)/.test(line),
    );
  }

  /** What is in the namespace, Events left out. */
  left(): readonly string[] {
    return this.store
      .objects()
      .filter(object => object.metadata.namespace === NS && object.kind !== 'Event')
      .map(object => `${object.kind} ${object.metadata.name}`)
      .sort();
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
