import type { Cloud } from '../../../cloud/ports.ts';
import type { AnyObject, DeepReadonly } from '../../../kube/object.ts';
import { Namespace, type Resource } from '../../../kube/resource.ts';
import { cut } from '../../conditions.ts';
import type { Acts, Cx } from '../cx.ts';
import { keyedHash } from '../keyed.ts';
import type { Managed } from '../managed.ts';
import { assertReady } from '../ready.ts';
import type { Plan } from '../row.ts';
import type { Reads } from '../tracker.ts';
import { Unmet } from '../unmet.ts';
import { Copies } from './copies.ts';
import { Jobs } from './job.ts';
import { NodeNamespace } from './nodes.ts';
import { Ownership } from './ownership.ts';
import { Reading } from './reading.ts';
import { Rollout } from './rollout.ts';
import { type Shared, Walk } from './walk.ts';
import { Writing } from './writing.ts';

type InCluster =
  | keyof Acts
  | 'nodes'
  | 'places'
  | 'at'
  | 'astray'
  | 'wish'
  | 'wishes'
  | 'ready'
  | 'secret'
  | 'secretIfAny'
  | 'child'
  | 'readyChild'
  | 'job'
  | 'generate';

/** One walk over the rows of one object: what it read, wrote, reported and learned. */
export class Pass<O extends Managed> {
  readonly #object: DeepReadonly<O>;
  readonly #signal: AbortSignal;
  readonly #cloud: Cloud;
  readonly #walk: Walk;
  readonly #nodes: NodeNamespace;
  readonly #reading: Reading;
  readonly #writing: Writing;
  readonly #ownership: Ownership;
  readonly #copies: Copies;
  readonly #rollout: Rollout;
  readonly #jobs: Jobs;
  /** By row. */
  readonly notes = new Map<string, string>();

  constructor(shared: Shared, plan: Plan<O>, object: DeepReadonly<O>, reads: Reads, signal: AbortSignal) {
    this.#object = object;
    this.#signal = signal;
    const walk = new Walk(shared, plan, object as DeepReadonly<Managed>, reads, shared.client.withSignal(signal));
    const nodes = new NodeNamespace(walk);
    const reading = new Reading(walk);
    const writing = new Writing(walk, nodes, reading);
    const ownership = new Ownership(walk, reading, writing);
    const copies = new Copies(walk, nodes, reading, writing);
    this.#walk = walk;
    this.#nodes = nodes;
    this.#reading = reading;
    this.#writing = writing;
    this.#ownership = ownership;
    this.#copies = copies;
    this.#rollout = new Rollout(walk, copies, reading, writing);
    this.#jobs = new Jobs(walk, ownership, reading, writing);
    const cloud = shared.cloud.during?.({ signal, fence: shared.fence ?? (() => undefined) }) ?? shared.cloud;
    this.#cloud = cloud.asked?.(`${object.kind} ${object.metadata.name}`) ?? cloud;
  }

  get reported(): Record<string, unknown> {
    return this.#walk.reported;
  }

  get events(): Walk['events'] {
    return this.#walk.events;
  }

  get after(): number | undefined {
    return this.#walk.after;
  }

  /** Whether deleting the object leaves something that only an undo takes along. */
  get hasNodes(): boolean {
    return this.#walk.hasNodes;
  }

  again(ms: number): void {
    this.#walk.again(ms);
  }

  /** A namespace that is being deleted takes everything along, and nothing can be created in it any more. */
  async namespaceGoes(): Promise<boolean> {
    const { namespace = '' } = this.#object.metadata;
    const live = await this.#walk.client.get<AnyObject>(Namespace, { namespace: '', name: namespace });
    return live?.metadata.deletionTimestamp !== undefined;
  }

  /** Values of Secrets of its namespace leave no pass: all text is passed through here (rule 11). */
  mask(text: string): string {
    return this.#walk.shared.memory.known.mask(text, this.#object.metadata.namespace ?? '');
  }

  /** Text for people, as it is written to conditions and events. */
  text(text: string): string {
    const masked = cut(this.mask(text));
    return masked === '' ? masked : (this.#walk.shared.reword?.(masked) ?? masked);
  }

  /** Whether this object owns something that the row made. */
  made(row: string): boolean {
    return this.#reading.made(row);
  }

  /** What follows the prefix in the row marks of what this object owns. */
  marked(prefix: string): readonly string[] {
    return this.#reading.marked(prefix);
  }

  prune(row: string): Promise<void> {
    return this.#writing.prune(row);
  }

  tendCopies(complete: boolean): Promise<void> {
    return this.#copies.tendCopies(complete);
  }

  leaveNodes(): Promise<void> {
    return this.#copies.leaveNodes();
  }

  keptVersion(): Promise<string | undefined> {
    return this.#ownership.keptVersion();
  }

  keepVersion(version: string | null): Promise<void> {
    return this.#ownership.keepVersion(version);
  }

  cx(row: string): Cx<O> {
    return { ...this.#self(), ...this.#objects(row), ...this.#outside(row), ...this.#told(row), all };
  }

  /** The object itself and where it runs. */
  #self() {
    const object = this.#object;
    const { random, env, client } = this.#walk.shared;
    return {
      object,
      spec: object.spec as DeepReadonly<O['spec']>,
      status: (object.status ?? {}) as DeepReadonly<NonNullable<O['status']>>,
      name: object.metadata.name,
      namespace: object.metadata.namespace ?? '',
      signal: this.#signal,
      random,
      env,
      serverTime: () => client.serverTime(),
    };
  }

  /** Objects in Kubernetes. */
  #objects(row: string): Pick<Cx<O>, InCluster> {
    const home = this.#acts(row, this.#walk.home);
    const nodes = this.#acts(row, this.#walk.nodes);
    return {
      ...home,
      nodes,
      places: this.hasNodes ? [home, nodes] : [home],
      at: namespace => this.#acts(row, namespace),
      astray: (resource, name) => this.#rollout.astray(resource, name, this.#walk.nodes),
      wish: (resource, name) => this.#reading.wish(resource, name),
      wishes: resource => this.#reading.wishes(resource),
      ready: (kind, name, field) => this.#reading.ready(kind, name, field),
      secret: (name, keys, field) => this.#reading.secret(name, keys, field),
      secretIfAny: name => this.#reading.secretData(name),
      child: (kind, name, spec) => this.#writing.child(row, kind, name, spec),
      readyChild: async (kind, name, spec) => {
        const child = await this.#writing.child(row, kind, name, spec);
        assertReady(child);
        return child;
      },
      job: job => this.#jobs.run(row, job),
      generate: (name, make, options) => this.#writing.generate(row, name, make, options),
    };
  }

  /** Servers outside of it. */
  #outside(row: string): Pick<Cx<O>, 'cloud' | 'owner' | 'hash' | 'claim' | 'effect' | 'acted'> {
    const ownership = this.#ownership;
    return {
      cloud: this.#cloud,
      owner: part => ownership.owner(part),
      hash: async (...inputs) => keyedHash(await ownership.hashKey(), ...inputs),
      claim: (proof, part) => ownership.claim(proof, part),
      effect: (of = row) => ownership.effect(of),
      acted: () => ownership.acted(row),
    };
  }

  /** What the row tells of it. */
  #told(row: string): Pick<Cx<O>, 'event' | 'note' | 'report' | 'clear' | 'again'> {
    const { reported, events } = this.#walk;
    return {
      event: event => void events.push(event),
      note: text => void this.notes.set(row, text),
      report: status => void Object.assign(reported, status),
      clear: field => {
        if (!(field in reported)) reported[field] = undefined;
      },
      again: ms => this.again(ms),
    };
  }

  #acts(row: string, at: string): Acts {
    return {
      get: ((resource: Resource, name: string) => {
        this.#nodes.readable(at);
        return this.#reading.seen(resource, name, at);
      }) as Acts['get'],
      list: (resource, labels) => {
        this.#nodes.readable(at);
        return this.#reading.list(resource, labels, at);
      },
      live: async (resource, name) => {
        this.#nodes.readable(at);
        return this.#walk.client.get<AnyObject>(resource, this.#walk.ref(name, resource, at));
      },
      apply: (resource, body, options) => this.#writing.apply(row, resource, body, { ...options, at }),
      workload: (resource, body, earlier) =>
        this.#rollout.workload(
          row,
          resource,
          earlier && this.#rollout.runs(row, resource, earlier, at) ? earlier : body,
          at,
        ),
      keep: kept => this.#writing.keep(row, kept.kind, kept.metadata.name, at),
      remove: (resource, name) => this.#writing.remove(resource, name, at),
    };
  }
}

/** Settles all before it tells of the worst: no effect of a losing branch may outlive the pass. */
async function all<T extends readonly unknown[]>(
  promises: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const results = await Promise.allSettled(promises);
  const failures = results
    .filter(r => r.status === 'rejected')
    .map(r => (r as PromiseRejectedResult).reason as unknown);
  const worst =
    failures.find(e => !(e instanceof Unmet)) ??
    failures.find(e => e instanceof Unmet && e.outcome === 'stall') ??
    failures[0];
  if (failures.length > 0) throw worst;
  return results.map(r => (r as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
