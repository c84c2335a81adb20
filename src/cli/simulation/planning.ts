import type { Effect } from '../../embedded/backends/believing.ts';
import type { Programs } from '../../embedded/controllers/program.ts';
import { type Change, compare } from '../../insight/plan/diff.ts';
import { type Moment, type Pair, precedes, type Step, stepsOf } from '../../insight/plan/rolling.ts';
import { warningsOf } from '../../insight/plan/warnings.ts';
import { viewOf } from '../../insight/view/view.ts';
import { type Why, why } from '../../insight/why/why.ts';
import type { AnyObject, ManagedFieldsEntry } from '../../kube/object.ts';
import { hashOf } from '../../runtime/plan/canonical.ts';
import { resourceNamed } from '../input/resources.ts';
import { inNamespace, type Simulation, type SimulationOptions, simulate, Unsettled, type Write } from './simulation.ts';

export interface Planned {
  /** What would happen without the edit: work under way, or what this version does differently. */
  readonly anyway: readonly Change[];
  readonly changes: readonly Change[];
  readonly steps: readonly Step[];
  /** What is done before what begins, however long each takes. */
  readonly order: readonly Pair[];
  readonly effects: readonly Effect[];
  readonly warnings: readonly string[];
  /** Where it ends when that is not Ready. */
  readonly why: Why;
  readonly unsettled?: readonly string[];
  /** What the operator sent last for each object that is new or changed. */
  readonly writes: readonly Write[];
}

/** Jobs take no time, so that a chain of them does not make what waits for it look later than it must be. */
const DELAYS = { pull: 0, start: 100, ready: 1_000, job: 100, stop: 100 };

/**
 * How long the pods of a workload take to be ready: a time of its own for each, once rising and once falling. What may
 * go at the same time then ends in another order in each of two runs, and only what must wait is late in both.
 */
const paced =
  (falling: boolean): Programs =>
  ({ pod, container }) => {
    if (pod.spec.restartPolicy === 'Never' || !pod.spec.containers.includes(container)) return undefined;
    const name = pod.metadata.generateName ?? pod.metadata.name.replace(/-\d+$/, '');
    const rank = Number.parseInt(hashOf(name).slice(0, 6), 16) % 60_000;
    return { serves: true, readyAfter: 10_000 + (falling ? 60_000 - rank : rank) };
  };

/** Other controllers than the operator's, and a nearer end, for tests of what never comes to rest. */
export type Rehearsed = Pick<SimulationOptions, 'plans' | 'maxEvents'>;

export interface PlanOptions extends Rehearsed {
  readonly namespace: string;
  readonly remove?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}
interface Cluster {
  readonly objects: readonly AnyObject[];
  readonly at: number;
}

/**
 * A plan is the operator itself, run on a copy of the objects: first as they are, until nothing moves, then with the
 * edit. What differs is what the edit does.
 */
export async function planned(live: Cluster, edit: readonly AnyObject[], options: PlanOptions): Promise<Planned> {
  const run = await rehearse(live, edit, options, false);
  const { before, after, world } = run;
  const other = run.unsettled ? run : await rehearse(live, edit, options, true);
  // What comes to rest with one order of events and not with another does not come to rest.
  const { unsettled } = other;
  const late = new Set(precedes(other.moments).map(pair => pair.join(' < ')));
  const order = precedes(run.moments).filter(pair => late.has(pair.join(' < ')));
  const was = live.objects.filter(object => object.kind !== 'Namespace');
  const changes = compare(before, after);
  const steps = stepsOf(run.moments, order);
  const effects = world.backends?.effects() ?? [];
  const view = viewOf(after, world.now());
  return {
    anyway: compare(was, before).filter(ours(was, before)),
    changes,
    steps,
    order,
    effects,
    warnings: warningsOf(viewOf(before, world.now()), view, changes, steps, effects),
    why: why(view),
    ...(unsettled && { unsettled }),
    writes: lastWrites(run.writes, changes),
  };
}

interface Rehearsal {
  readonly world: Simulation;
  readonly before: readonly AnyObject[];
  readonly after: readonly AnyObject[];
  readonly moments: readonly Moment[];
  readonly writes: readonly Write[];
  readonly unsettled?: readonly string[];
}

async function rehearse(
  live: Cluster,
  edit: readonly AnyObject[],
  options: PlanOptions,
  falling: boolean,
): Promise<Rehearsal> {
  const { namespace } = options;
  const targets = edit.map(object => inNamespace(object, namespace));
  const world = await simulate({
    namespace,
    from: { objects: handedOver(live.objects, targets), at: live.at },
    believe: true,
    delays: DELAYS,
    programs: paced(falling),
    // Other seeds than those of embedded worlds, which would give the uids of their objects again; another seed and a
    // slow network in the second run, so that races have another winner there.
    ...(falling ? { seed: 104_729, latency: 300 } : { seed: 7919 }),
    ...(options.env && { env: options.env }),
    ...(options.plans && { plans: options.plans }),
    ...(options.maxEvents && { maxEvents: options.maxEvents }),
  });
  let before = world.objects();
  let [moments, writes] = [0, 0];
  const end = (unsettled?: readonly string[]): Rehearsal => ({
    world,
    before,
    after: world.objects(),
    moments: world.moments.slice(moments),
    writes: world.writes.slice(writes),
    ...(unsettled && { unsettled }),
  });
  try {
    await world.settle();
    before = world.objects();
    [moments, writes] = [world.moments.length, world.writes.length];
    world.backends?.forget();
    for (const object of targets) {
      const { namespace: where = '', name } = object.metadata;
      if (options.remove) world.admin.remove(resourceNamed(object), where, name);
      else world.admin.apply(object);
    }
    await world.settle();
    return end();
  } catch (error) {
    if (error instanceof Unsettled) return end(error.again);
    throw error;
  }
}

/** What kubectl applied from the client's side is the user's all the same: a field that left the file leaves the object. */
function handedOver(objects: readonly AnyObject[], targets: readonly AnyObject[]): readonly AnyObject[] {
  const named = new Set(targets.map(o => `${o.kind} ${o.metadata.namespace}/${o.metadata.name}`));
  const taken = (entry: ManagedFieldsEntry): ManagedFieldsEntry =>
    entry.manager === 'kubectl-client-side-apply' ? { ...entry, manager: 'kubectl', operation: 'Apply' } : entry;
  return objects.map(object =>
    named.has(`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`)
      ? { ...object, metadata: { ...object.metadata, managedFields: object.metadata.managedFields?.map(taken) } }
      : object,
  );
}

/** The embedded cluster brings things of its own (CRDs, namespaces): only what the snapshot could have held counts. */
const ours =
  (live: readonly AnyObject[], now: readonly AnyObject[]) =>
  (change: Change): boolean => {
    const object = (change.action === 'delete' ? live : now).find(
      o =>
        o.kind === change.kind && o.metadata.name === change.name && (o.metadata.namespace ?? '') === change.namespace,
    );
    return (
      object?.metadata.namespace !== undefined && object.kind !== 'ServiceAccount' && change.name !== 'kube-root-ca.crt'
    );
  };

function lastWrites(writes: Simulation['writes'], changes: readonly Change[]): readonly Write[] {
  const last = new Map<string, Write>();
  for (const write of writes)
    if (write.method === 'PATCH' && !write.path.endsWith('/status') && write.body.kind)
      last.set(`${write.body.kind} ${write.body.metadata?.name}`, write);
  return changes
    .filter(change => change.action !== 'delete')
    .flatMap(change => last.get(`${change.kind} ${change.name}`) ?? []);
}
