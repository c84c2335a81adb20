import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { Moment } from '../../src/insight/plan/rolling.ts';
import type { AnyObject, Condition } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';

/**
 * Where a story plays: the embedded world on virtual time, or the lab with real Kubernetes and real OpenStack. A story
 * that speaks only these words is told in both, and a difference between them is a fault of the embedded one.
 */
export interface Stage {
  readonly namespace: string;
  /** Server-side apply, as a person would. */
  apply(object: object): Promise<void>;
  get(resource: Resource, name: string): Promise<AnyObject | undefined>;
  list(resource: Resource): Promise<readonly AnyObject[]>;
  /** RFC 7386. */
  patch(resource: Resource, name: string, patch: object): Promise<void>;
  /** Asks for it; does not wait. */
  remove(resource: Resource, name: string): Promise<void>;
  /** Lets time pass. */
  pass(seconds: number): Promise<void>;
  /** SIGKILL to the process of the operator; somebody starts it again. */
  killOperator(): Promise<void>;
  /** Mutating requests of the operator so far, Leases and Events left out (rule 14). */
  writes(): readonly string[];
  /** Asks Keystone for a token: whether it gave one. Throws when nobody answers. */
  login(password: string): Promise<boolean>;
}

/** What commands see of a stage: all that `plan` reads, and what happens to workloads while somebody watches. */
export interface Eyes {
  /** Objects of the namespace and of the cluster, and the time of its clock. */
  look(): Promise<{ readonly objects: readonly AnyObject[]; readonly at: number }>;
  /** Notes what happens to workloads and Jobs from now on, in order; `stop` ends it. */
  watch(): Promise<{ readonly moments: readonly Moment[]; stop(): Promise<void> }>;
}

export const conditionOf = (object: AnyObject | undefined, type = 'Ready'): Condition | undefined =>
  conditionsOf(object).find(condition => condition.type === type);

export async function until(
  stage: Stage,
  what: string | (() => string),
  seconds: number,
  done: () => Promise<boolean>,
): Promise<void> {
  for (let waited = 0; !(await done()); waited++) {
    if (waited >= seconds) throw new Error(`not within ${seconds} s: ${typeof what === 'string' ? what : what()}`);
    await stage.pass(1);
  }
}

/** What the operator wrote in this time, in the middle of which it is killed; after a while in which it may still write. */
export async function writesAtRest(stage: Stage, seconds: number): Promise<readonly string[]> {
  await stage.pass(15);
  const before = stage.writes().length;
  await stage.pass(seconds / 2);
  await stage.killOperator();
  await stage.pass(seconds / 2);
  return stage.writes().slice(before);
}

/** Long enough for a machine that does other things as well. */
const READY_SECONDS = 900;

export async function ready(stage: Stage, resource: Resource, name: string): Promise<void> {
  let last: AnyObject | undefined;
  await until(
    stage,
    () => `${resource.kind} ${name} is Ready: ${conditionOf(last)?.message}`,
    READY_SECONDS,
    async () => {
      last = await stage.get(resource, name);
      const { observedGeneration } = (last?.status ?? {}) as { observedGeneration?: number };
      return observedGeneration === last?.metadata.generation && conditionOf(last)?.status === 'True';
    },
  );
}

export async function gone(stage: Stage, resource: Resource, name: string): Promise<void> {
  await stage.remove(resource, name);
  await until(
    stage,
    `${resource.kind} ${name} is gone`,
    READY_SECONDS,
    async () => (await stage.get(resource, name)) === undefined,
  );
}

export async function valueIn(stage: Stage, secret: string, key: string, resource: Resource): Promise<string> {
  const data = (await stage.get(resource, secret))?.data as Record<string, string> | undefined;
  if (data?.[key] === undefined) throw new Error(`Secret ${secret} has no key ${key}`);
  return Buffer.from(data[key], 'base64').toString('utf8');
}
