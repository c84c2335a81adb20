import { createHash } from 'node:crypto';
import type { KubeObject, OwnerReference, Status } from '../../kube/object.ts';
import { apiVersionOf, Event, pathOf, type Resource } from '../../kube/resource.ts';
import type { Request, Transport } from '../../kube/transport.ts';
import type { Clock, Random } from '../../world/clock.ts';
import type { WorkloadCondition } from './objects.ts';
import type { View } from './view.ts';

/** The server said no; the look is repeated later. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  /** The server's own words. */
  readonly says: string;
  constructor(status: number, request: string, says: string) {
    super(`${request}: ${status} ${says}`);
    this.status = status;
    this.says = says;
  }
}

export interface RemoveOptions {
  readonly grace?: number;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** How long a request of ours may take; a lost answer must not stop a controller for good. */
const PATIENCE = 10_000;

/** What every simulated controller writes with: an answer goes into the cache, an object that is gone is no error. */
export class Hands {
  readonly view: View;
  readonly clock: Clock;
  readonly random: Random;
  readonly #transport: Transport;
  readonly #told = new Set<string>();

  constructor(transport: Transport, view: View, clock: Clock, random: Random) {
    this.#transport = transport;
    this.view = view;
    this.clock = clock;
    this.random = random;
  }

  /** Now, as stored times are written. */
  time(): string {
    return `${new Date(this.clock.wall()).toISOString().slice(0, 19)}Z`;
  }

  /** Lower-case letters and digits without vowels, as the API server's name generator picks them. */
  suffix(length = 5): string {
    const letters = 'bcdfghjklmnpqrstvwxz2456789';
    return Array.from({ length }, () => letters[Math.floor(this.random.next() * letters.length)]).join('');
  }

  /** Undefined when an object of that name exists already. */
  async create<T extends KubeObject>(
    resource: Resource,
    object: Omit<T, 'apiVersion' | 'kind'>,
  ): Promise<T | undefined> {
    const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
    const path = pathOf(resource, object.metadata.namespace ?? '');
    return this.#write<T>(resource, { method: 'POST', path, body });
  }

  async update<T extends KubeObject>(resource: Resource, object: T, subresource?: string): Promise<T | undefined> {
    const path = pathOf(resource, object.metadata.namespace ?? '', object.metadata.name, subresource);
    return this.#write<T>(resource, { method: 'PUT', path, body: object });
  }

  /** Lays these fields over the status and writes only when that changes it; an undefined field goes away. */
  async setStatus<T extends KubeObject & { status?: object }>(
    resource: Resource,
    object: T,
    fields: NonNullable<T['status']>,
  ): Promise<void> {
    const status = { ...object.status, ...fields };
    if (canonical(status) !== canonical(object.status ?? {})) {
      await this.update(resource, { ...object, status }, 'status');
    }
  }

  async bind(pod: KubeObject, resource: Resource, node: string): Promise<void> {
    const { name, namespace = '' } = pod.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    await this.#send({ method: 'POST', path: pathOf(resource, namespace, name, 'binding'), body });
  }

  async remove(resource: Resource, object: KubeObject, options: RemoveOptions = {}): Promise<void> {
    const { name, namespace = '', uid } = object.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid },
      ...(options.grace !== undefined && { gracePeriodSeconds: options.grace }),
      ...(options.propagation && { propagationPolicy: options.propagation }),
    };
    const answer = await this.#send({ method: 'DELETE', path: pathOf(resource, namespace, name), body });
    const left = answer as Partial<KubeObject> | undefined;
    // The answer is the object when it stays for a while (grace, finalizers), else it or a Status with its details.
    if (left?.metadata?.deletionTimestamp !== undefined && options.grace !== 0)
      this.view.learn(resource, left as KubeObject);
    else if (left?.metadata?.finalizers === undefined) this.view.forget(resource, object);
  }

  /** Every object of the kind in the namespace, for kinds that the view does not hold. */
  async removeAll(resource: Resource, namespace: string): Promise<void> {
    await this.#send({ method: 'DELETE', path: pathOf(resource, namespace) });
  }

  /** True when the server holds no such object, or another one of that name: the view may be late, so this asks. */
  async isGone(resource: Resource, namespace: string, name: string, uid: string): Promise<boolean> {
    const held = (await this.#send({ method: 'GET', path: pathOf(resource, namespace, name) })) as
      | KubeObject
      | undefined;
    return held?.metadata?.uid !== uid;
  }

  /** Once per object and text: a controller at rest records nothing. */
  async event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, note: string): Promise<void> {
    const key = `${about.metadata.uid} ${reason} ${note}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const { name, namespace = 'default', uid } = about.metadata;
    const body = {
      apiVersion: apiVersionOf(Event),
      kind: Event.kind,
      metadata: { name: `${name}.${this.suffix(16)}`, namespace },
      eventTime: new Date(this.clock.wall()).toISOString().replace('Z', '000Z'),
      reportingController: 'pretend',
      reportingInstance: 'pretend-0',
      action: reason,
      reason,
      type,
      note: note.slice(0, 1024),
      regarding: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid },
    };
    await this.#send({ method: 'POST', path: pathOf(Event, namespace), body });
  }

  async #write<T extends KubeObject>(resource: Resource, request: Request): Promise<T | undefined> {
    const answer = (await this.#send(request)) as T | undefined;
    if (answer?.metadata?.uid !== undefined) this.view.learn(resource, answer);
    return answer;
  }

  /** The body of a good answer; undefined when the object is gone (404) or was there before us (409 AlreadyExists). */
  async #send(request: Request): Promise<unknown> {
    const answer = await this.#transport.send({ ...request, timeout: PATIENCE });
    if (answer.status < 300) return answer.body;
    const status = answer.body as Partial<Status> | undefined;
    if (answer.status === 404 || status?.reason === 'AlreadyExists') return undefined;
    throw new Refused(answer.status, `${request.method} ${request.path}`, status?.message ?? '');
  }
}

/** JSON with sorted keys and without undefined: equal text means equal meaning. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, v) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
}

/** A short name for a value, in letters that a label may hold. */
export const shortHash = (value: unknown) => createHash('sha256').update(canonical(value)).digest('hex').slice(0, 10);

export const ownerOf = (object: KubeObject): OwnerReference => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** Replaces the condition of that type; the transition time moves only with the status. */
export function withCondition(
  conditions: readonly WorkloadCondition[] | undefined,
  next: WorkloadCondition,
  now: string,
): WorkloadCondition[] {
  const old = conditions?.find(c => c.type === next.type);
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : now;
  const condition = { ...next, lastTransitionTime };
  return old ? conditions!.map(c => (c === old ? condition : c)) : [...(conditions ?? []), condition];
}
