import type { StatusCause } from '../../../api/schema/kind.ts';
import type { Client } from '../../kube/client.ts';
import { ApiError } from '../../kube/errors.ts';
import { type Condition, type DeepReadonly, type KubeObject, refOfKey } from '../../kube/object.ts';
import { type Resource, resourceName } from '../../kube/resource.ts';
import { type Draft, mergeConditions, transitions } from '../conditions.ts';
import { PassTimeout, type Result } from '../controller.ts';
import type { Recorder } from '../events.ts';
import { sameJson } from '../plan/canonical.ts';
import { bounded, causeOf, causesOf } from '../plan/causes.ts';
import type { Managed } from '../plan/managed.ts';
import {
  FINALIZER,
  FINALIZER_MANAGER,
  NODE_OBJECTS,
  PAUSED_ANNOTATION,
  SKIP_UNDO_ANNOTATION,
  STATUS_MANAGER,
  UNDO_ANNOTATION,
  USERS,
} from '../plan/names.ts';
import { conditionFor, type Outcome, outcomeOf, readyFor } from '../plan/outcome.ts';
import { Pass } from '../plan/pass/pass.ts';
import type { Shared } from '../plan/pass/walk.ts';
import { conditionOf } from '../plan/ready.ts';
import type { Plan, Row, Version } from '../plan/row.ts';
import type { Tracker } from '../plan/tracker.ts';
import { type Cause, sentence, type Unmet } from '../plan/unmet.ts';
import { isEach, runEach, undoEach } from './each.ts';

export interface Engine extends Shared {
  readonly tracker: Tracker;
  readonly events: Recorder;
  /** Tells how each row ended, for metrics and for tests. */
  readonly onRow?: (kind: string, row: string, outcome: Outcome['is']) => void;
}

/** What no watch shows is looked at again after ten minutes, give or take a fifth (rule 13). */
const RECHECK_MS = 600_000;
/** After this long an undo that does not come to an end is reported as blocked (rule 17). */
const BLOCKED_AFTER_MS = 600_000;

/** The key under which an object's reads are tracked: one tracker serves all kinds. */
export const ownerKey = (kind: Resource, key: string): string => `${resourceName(kind)} ${key}`;

/** Brings one object a step nearer to what it asks for. Level-triggered: it never learns which event called it. */
export async function reconcile<O extends Managed>(
  shared: Engine,
  plan: Plan<O>,
  key: string,
  signal: AbortSignal,
): Promise<Result> {
  const engine = { ...shared, client: reporting(shared.client, signal) };
  const ref = refOfKey(key);
  const cached = engine.cache.for<O>(plan.kind).get(ref);
  if (cached === undefined) {
    engine.tracker.forget(ownerKey(plan.kind, key));
    return {};
  }
  const uid = cached.metadata.uid ?? '';
  // Acting on a view that misses our own last writes would repeat or undo them.
  const behind = engine.gate.behind(uid, resource =>
    engine.cache.has(resource) ? engine.cache.for(resource).resourceVersion : undefined,
  );
  if (behind) return { after: behind };

  const object = engine.lens ? engine.lens(cached) : cached;
  const reads = engine.tracker.begin(ownerKey(plan.kind, key));
  const pass = new Pass(engine, plan, object, reads, signal);
  try {
    if (cached.metadata.annotations?.[PAUSED_ANNOTATION] === 'true')
      return await pausedPass(engine, plan, cached, pass);
    if (cached.metadata.deletionTimestamp) return await deletingPass(engine, plan, cached, pass);
    if ((needsFinalizer(plan) || pass.hasNodes) && !cached.metadata.finalizers?.includes(FINALIZER)) {
      // In a write of its own, before the first effect that only an undo could take back.
      await addFinalizer(engine, plan, cached);
      return {};
    }
    // Past the lens: it looks at fields to refuse them, and carries none of them out.
    const guarded = plan.guard?.refuse(cached as DeepReadonly<Managed>, engine.env);
    if (plan.guard && guarded) return await refusedPass(engine, plan, object, pass, plan.guard.type, guarded);
    return await runningPass(engine, plan, object, pass);
  } finally {
    reads.done();
  }
}

/**
 * The client by which a pass tells what it found. One that was stopped tells nothing: its rows failed because of us. One
 * that took too long does, or nobody would ever hear of it.
 */
const reporting = (client: Client, signal: AbortSignal): Client => {
  const cut = new AbortController();
  signal.addEventListener('abort', () => signal.reason instanceof PassTimeout || cut.abort(signal.reason), {
    once: true,
  });
  if (signal.aborted && !(signal.reason instanceof PassTimeout)) cut.abort(signal.reason);
  return client.withSignal(cut.signal);
};

const needsFinalizer = (plan: Plan<never>): boolean =>
  plan.rows.some(row => (row.undo ?? row.each?.undo) !== undefined);

async function runningPass<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
): Promise<Result> {
  const refused = plan.version && (await refusalOf(plan.version, object as DeepReadonly<Managed>, pass));
  if (plan.version && refused) return refusedPass(engine, plan, object, pass, plan.version.type, refused);
  const outcomes = await runRows(engine, plan, object, pass);
  if (plan.version && isProved(plan, plan.version.proof, outcomes))
    Object.assign(pass.reported, plan.version.proved(object as DeepReadonly<Managed>));
  await writeStatus(engine, plan, object, pass, outcomes);
  await pass.tendCopies([...outcomes.values()].every(({ is }) => is === 'ok' || is === 'off'));
  return resultOf(engine, plan, pass, outcomes);
}

/** An object that runs nothing yet may find data that one of its name left behind: that has a version too. */
const refusalOf = async (
  version: Version,
  object: DeepReadonly<Managed>,
  pass: { keptVersion(): Promise<string | undefined> },
): Promise<Unmet | undefined> => {
  const running = version.running(object);
  return version.refuse(object, running === undefined ? await pass.keptVersion() : undefined);
};

function isProved(plan: Plan<never>, proof: string, outcomes: ReadonlyMap<string, Outcome>): boolean {
  const row = outcomes.get(proof);
  if (row && row.is !== 'off') return row.is === 'ok';
  return plan.rows.every(({ type, aside }) => aside || ['ok', 'off'].includes(outcomes.get(type)?.is ?? ''));
}

/** No row runs: what they made stays, and so does what they said of it. */
async function refusedPass<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
  type: string,
  refused: Unmet,
): Promise<Result> {
  const outcome = outcomeOf(refused);
  const said = conditionFor(type, outcome)!;
  const told = ['Ready', plan.version?.type, plan.guard?.type];
  const kept = (object.status?.conditions ?? []).filter(c => !told.includes(c.type));
  const outcomes = new Map([[type, outcome]]);
  const ready = readyFor([said], outcomes);
  engine.onRow?.(plan.kind.kind, type, outcome.is);
  const causes = [...causesOf(object, outcomes, [said]), ...keptCauses(object, told)];
  await putStatus(engine, plan, object, { ...object.status }, [ready, said, ...kept], causes, pass);
  return {};
}

/** Those of conditions that stay. */
const keptCauses = (
  object: DeepReadonly<Managed>,
  without: readonly (string | undefined)[],
): readonly DeepReadonly<StatusCause>[] => (object.status?.causes ?? []).filter(({ type }) => !without.includes(type));

/** Every row as soon as what it needs is there. */
async function runRows<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
): Promise<Map<string, Outcome>> {
  const started = new Map<Row<O, unknown>, Promise<Outcome>>();
  const start = (row: Row<O, unknown>): Promise<Outcome> => {
    const running = started.get(row) ?? runRow(object, pass, row, start);
    started.set(row, running);
    return running;
  };
  const outcomes = new Map<string, Outcome>();
  await Promise.all(
    plan.rows.map(async row => {
      const outcome = await start(row);
      engine.onRow?.(plan.kind.kind, row.type, outcome.is);
      outcomes.set(row.type, outcome);
    }),
  );
  // In plan order, whatever finished first.
  return new Map(plan.rows.map(row => [row.type, outcomes.get(row.type)!]));
}

async function runRow<O extends Managed>(
  object: DeepReadonly<O>,
  pass: Pass<O>,
  row: Row<O, unknown>,
  start: (row: Row<O, unknown>) => Promise<Outcome>,
): Promise<Outcome> {
  const needed: Record<string, unknown> = {};
  let blockedBy: string | undefined;
  for (const [name, need] of Object.entries(row.needs)) {
    const outcome = await start(need);
    if (outcome.is === 'ok') needed[name] = outcome.value;
    else if ('yields' in outcome && outcome.yields) needed[name] = outcome.yields.value;
    // The nearest cause, not the whole chain: `Waiting for DatabaseReady`.
    else if (outcome.is !== 'off') blockedBy ??= outcome.is === 'blocked' ? outcome.by : need.type;
  }
  try {
    if (row.when && !row.when(object)) {
      // The condition of an earlier pass is the mark that there is something to remove, and so is what it made: a status
      // may be lost, and pruned without `off` a child would go by its own policy.
      if (row.off && (conditionOf(object, row.type) || pass.made(row.type))) await row.off(pass.cx(row.type));
      await pass.prune(row.type);
      return { is: 'off' };
    }
    if (blockedBy) return { is: 'blocked', by: blockedBy };
    if (isEach(row)) return await runEach(object, pass, row, needed);
    const value = await row.run(pass.cx(row.type), needed as never);
    await pass.prune(row.type);
    return { is: 'ok', value };
  } catch (error) {
    return outcomeOf(error);
  }
}

async function pausedPass<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
): Promise<Result> {
  const kept = (object.status?.conditions ?? []).filter(c => c.type !== 'Paused');
  const cause: Cause = {
    reason: 'Annotated',
    what: 'Nothing below this object is written',
    who: 'User',
    next: `remove annotation ${PAUSED_ANNOTATION}`,
  };
  const paused: Draft = { type: 'Paused', status: 'True', reason: cause.reason, message: sentence(cause) };
  const causes = [...keptCauses(object, ['Paused']), causeOf(object, 'Paused', cause)];
  await putStatus(engine, plan, object, { ...object.status }, [...kept, paused], causes, pass);
  return {};
}

/** Takes back, row by row against the arrows, what the rows did outside of owned objects; then lets go. */
async function deletingPass<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
): Promise<Result> {
  if (!object.metadata.finalizers?.includes(FINALIZER)) return {};
  const skipped = (object.metadata.annotations?.[SKIP_UNDO_ANNOTATION] ?? '').split(',').map(name => name.trim());
  const leave = async (): Promise<Outcome> =>
    (skipped.includes(NODE_OBJECTS) ? Promise.resolve() : pass.leaveNodes()).then(
      () => ({ is: 'ok', value: undefined }) as const,
      outcomeOf,
    );
  const outcomes = new Map<string, Outcome>();
  // Everything in it goes whatever anybody wants, servers and credentials in any order: there is nothing to undo with.
  // What lies in another namespace does not go by itself.
  if (await pass.namespaceGoes()) {
    outcomes.set(NODE_OBJECTS, await leave());
    if (outcomes.get(NODE_OBJECTS)?.is !== 'ok') return holdDeletion(engine, plan, object, pass, outcomes);
    await dropFinalizer(engine, plan, object);
    return {};
  }
  const users = skipped.includes(USERS) ? [] : (plan.users?.(pass.cx(USERS)) ?? []);
  if (users.length > 0) {
    await putDeleting(engine, plan, object, pass, {
      reason: 'InUse',
      what: `${users.length === 1 ? 'An object uses' : `${users.length} objects use`} this ${plan.kind.kind}: ${listed(users)}`,
      who: 'User',
      next: `delete ${users.length === 1 ? 'it' : 'them'} first. Annotation ${SKIP_UNDO_ANNOTATION}=${USERS} deletes it without waiting, and under deletionPolicy Delete their data with it`,
    });
    return {};
  }
  for (const row of [...plan.rows].reverse()) {
    const dependents = plan.rows.filter(other => other.uses.includes(row) || Object.values(other.needs).includes(row));
    const holder = dependents.find(other => outcomes.get(other.type)?.is !== 'ok');
    let outcome: Outcome = { is: 'ok', value: undefined };
    if (holder) outcome = { is: 'blocked', by: holder.type };
    else if (isEach(row) && !skipped.includes(row.type)) outcome = await undoEach(object, pass, row);
    else if (row.undo && !skipped.includes(row.type))
      outcome = await row.undo(pass.cx(row.type)).then(() => ({ is: 'ok', value: undefined }) as const, outcomeOf);
    outcomes.set(row.type, outcome);
  }
  const isDone = (): boolean => [...outcomes.values()].every(({ is }) => is === 'ok');
  if (isDone()) outcomes.set(NODE_OBJECTS, await leave());
  if (isDone()) {
    const running = plan.version?.running(object as DeepReadonly<Managed>);
    if (running !== undefined)
      await pass.keepVersion(plan.version?.keepsData(object as DeepReadonly<Managed>) ? running : null);
    await dropFinalizer(engine, plan, object);
    return {};
  }
  return holdDeletion(engine, plan, object, pass, outcomes);
}

/** Says what the deletion waits for. */
async function holdDeletion<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<Result> {
  const open = [...outcomes].filter(([, outcome]) => outcome.is !== 'ok');
  const since = Date.parse(object.metadata.deletionTimestamp ?? '');
  const age = engine.client.serverTime() - since;
  const [holder, why] = open.find(([, outcome]) => outcome.is !== 'blocked') ?? open[0]!;
  const isBlocked = age > BLOCKED_AFTER_MS;
  const said = conditionFor(holder, why);
  const cause: Cause = ('cause' in why && why.cause) || {
    reason: said?.reason ?? 'Deleting',
    what: said?.message ?? '',
    who: 'Operator',
  };
  const giveUp = `mend it, or give it up with annotation ${SKIP_UNDO_ANNOTATION}=${holder}`;
  const shown = isBlocked ? { ...cause, who: 'User' as const, next: giveUp } : cause;
  const what = `${holder}: ${'key' in why && why.key !== undefined ? `${why.key}: ` : ''}${shown.what}`;
  const told = {
    ...shown,
    reason: isBlocked ? 'DeletionBlocked' : 'Deleting',
    what,
    root: cause.root ?? cause.reason,
  };
  await putDeleting(engine, plan, object, pass, told, holder);
  if (!isBlocked) pass.again(BLOCKED_AFTER_MS - age + 1000);
  return resultOf(engine, plan, pass, outcomes);
}

/** Ready alone tells of a deletion: what the other conditions say was so before it. */
async function putDeleting<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
  cause: Cause,
  condition?: string,
): Promise<void> {
  const ready: Draft = { type: 'Ready', status: 'False', reason: cause.reason, message: sentence(cause) };
  const others = (object.status?.conditions ?? []).filter(c => c.type !== 'Ready');
  const causes = [{ ...causeOf(object, 'Ready', cause), ...(condition !== undefined && { condition }) }];
  await putStatus(engine, plan, object, { ...object.status }, [ready, ...others], causes, pass);
}

const listed = (names: readonly string[]): string =>
  names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ');

/** The set of finalizers is merged by the server, so others' stay; the UID keeps us off a successor of that name. */
async function addFinalizer<O extends Managed>(engine: Engine, plan: Plan<O>, object: DeepReadonly<O>): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  const body = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    // Empty: nothing was done outside Kubernetes yet. An object without it is of an operator that did not record it.
    metadata: { name, namespace, uid, finalizers: [FINALIZER], annotations: { [UNDO_ANNOTATION]: undoMarks(object) } },
  };
  try {
    const written = await engine.client.apply<KubeObject>(plan.kind, body, { manager: FINALIZER_MANAGER, force: true });
    engine.gate.wrote(uid ?? '', plan.kind, written.metadata.resourceVersion);
  } catch (error) {
    // Nothing to hold any more.
    if (!(await replaced(engine, plan, object, error))) throw error;
  }
}

const undoMarks = (object: DeepReadonly<Managed>): string => object.metadata.annotations?.[UNDO_ANNOTATION] ?? '';

/**
 * Whether a write failed because the object is gone, or another one has its name. A conflict alone does not say so:
 * it is also what a busy server answers, and who takes that for the end never tries again.
 */
async function replaced<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 409)) return false;
  const { name, namespace = '', uid } = object.metadata;
  const live = await engine.client.get(plan.kind, { namespace, name });
  return live?.metadata.uid !== uid;
}

/** By JSON patch, which can only change what is there: an apply that comes late would bring the object back to life. */
async function dropFinalizer<O extends Managed>(engine: Engine, plan: Plan<O>, object: DeepReadonly<O>): Promise<void> {
  const { name, namespace = '', uid, finalizers = [] } = object.metadata;
  const rest = finalizers.filter(finalizer => finalizer !== FINALIZER);
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/finalizers', value: finalizers },
    { op: 'replace', path: '/metadata/finalizers', value: rest },
  ];
  try {
    await engine.client.patch(plan.kind, { namespace, name }, patch, { type: 'json' });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  engine.gate.forget(uid ?? '');
}

async function writeStatus<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  pass: Pass<O>,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<void> {
  const drafts = [...outcomes].flatMap(([type, outcome]) => conditionFor(type, outcome, pass.notes.get(type)) ?? []);
  const counts = drafts.filter(draft => !plan.rows.some(row => row.type === draft.type && row.aside));
  const ready = readyFor(counts, outcomes);
  const causes = causesOf(object, outcomes, counts);
  await putStatus(engine, plan, object, { ...object.status, ...pass.reported }, [ready, ...drafts], causes, pass);
  for (const { reason, note } of pass.events)
    engine.events.event(object, { type: 'Normal', reason, action: 'Reconcile', note: pass.text(note) });
}

/** One write per pass, and none when nothing differs. */
async function putStatus<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  object: DeepReadonly<O>,
  fields: Record<string, unknown>,
  drafts: readonly Draft[],
  causes: readonly DeepReadonly<StatusCause>[],
  pass: Pass<O>,
): Promise<void> {
  const generation = object.metadata.generation ?? 1;
  const masked = drafts.map(draft => ({ ...draft, message: pass.text(draft.message), observedGeneration: generation }));
  const before = object.status?.conditions ?? [];
  const conditions = mergeConditions(before, masked, new Date(engine.client.serverTime()));
  const told = bounded(causes, pass);
  const status = { ...fields, observedGeneration: generation, conditions, causes: told.length > 0 ? told : undefined };
  if (sameJson(status, object.status ?? {})) return;
  const { name, namespace, uid } = object.metadata;
  try {
    const written = await engine.client.apply<KubeObject>(
      plan.kind,
      { apiVersion: object.apiVersion, kind: object.kind, metadata: { name, namespace, uid }, status } as KubeObject,
      { manager: STATUS_MANAGER, force: true, subresource: 'status' },
    );
    engine.gate.wrote(uid ?? '', plan.kind, written.metadata.resourceVersion);
  } catch (error) {
    if (await replaced(engine, plan, object, error)) return;
    throw error;
  }
  tell(engine, object, before, conditions);
}

/** Events only on transitions: a condition that stays says nothing new. */
function tell(
  engine: Engine,
  object: DeepReadonly<Managed>,
  before: readonly DeepReadonly<Condition>[],
  now: readonly Condition[],
): void {
  for (const condition of transitions(before, now)) {
    if (condition.type === 'Ready' && condition.status === 'True')
      engine.events.event(object, {
        type: 'Normal',
        reason: condition.reason,
        action: 'Reconcile',
        note: 'Everything asked for is there and answers',
      });
    else if (condition.type === 'Ready' && condition.status === 'False' && condition.reason !== 'Reconciling')
      engine.events.event(object, {
        type: condition.reason === 'Deleting' ? 'Normal' : 'Warning',
        reason: condition.reason,
        action: 'Reconcile',
        note: condition.message,
      });
    else if (condition.type === 'Paused')
      engine.events.event(object, { type: 'Normal', reason: 'Paused', action: 'Reconcile', note: condition.message });
  }
}

function resultOf<O extends Managed>(
  engine: Engine,
  plan: Plan<O>,
  pass: Pass<O>,
  outcomes: ReadonlyMap<string, Outcome>,
): Result {
  const errors: unknown[] = [];
  for (const outcome of outcomes.values()) {
    if (outcome.is === 'error') errors.push(outcome.error);
    if ((outcome.is === 'wait' || outcome.is === 'stall') && outcome.after !== undefined) pass.again(outcome.after);
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1)
    throw new AggregateError(errors, errors.map(e => (e instanceof Error ? e.message : String(e))).join('; '));
  if (plan.external) pass.again(RECHECK_MS * (0.8 + 0.4 * engine.random.next()));
  // Second looks at what no watch shows: a simulation is at rest while only these are left.
  return pass.after === undefined ? {} : { after: pass.after, daemon: true };
}
