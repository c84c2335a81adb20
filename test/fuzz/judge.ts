import { KINDS } from '../../api/kinds.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { conditionsOf, hands, install } from '../../src/embedded/cluster.ts';
import { Sim } from '../../src/embedded/sim/sim.ts';
import { createStore, type Store } from '../../src/embedded/store/store.ts';
import { admit } from '../../src/insight/config/admission.ts';
import type { AnyObject, Status } from '../../src/kube/object.ts';
import { pathOf } from '../../src/kube/resource.ts';
import { authority, certManager } from '../functional/certificates.ts';
import { Cloud, NS, type Rest } from '../functional/cloud.ts';
import { deployed, GROUPS } from '../functional/samples.ts';
import { type Mutation, mutate } from './mutate.ts';

/**
 * What became of a changed sample. `unnamed`: it does not work and no message names the field. `crash`: an exception
 * that no row meant to throw. `loop`: the operator works on it without pause. `stuck`: the sample as it was before does
 * not become Ready again.
 */
export type Verdict = 'works' | 'refused' | 'reported' | 'unnamed' | 'crash' | 'loop' | 'stuck';

export interface Judged {
  readonly seed: number;
  readonly verdict: Verdict;
  readonly object: string;
  readonly path: string;
  readonly what: string;
  /** Of an unnamed one, a crash or a loop: what was said. */
  readonly said: string;
}

/**
 * Rows that one object may run in ten minutes at rest: retries come at growing intervals up to two minutes, so a pass of
 * some thirty rows runs about twenty times.
 */
const MOST_ROWS = 40 * 30;
const TEN_MINUTES = 600_000;
const HALF_AN_HOUR = 1_800_000;

const inNamespace = (object: AnyObject): AnyObject => ({ ...object, metadata: { ...object.metadata, namespace: NS } });
const kindOf = (object: AnyObject): AnyKind => KINDS.find(kind => kind.kind === object.kind)!;

/** An API server with the samples and nothing that works on them: most changes end at its validation. */
let door: Store | undefined;
function refusal(object: AnyObject): string | undefined {
  if (door === undefined) {
    const { clock, random } = new Sim(0);
    door = createStore({ clock, random });
    install(door, NS);
    for (const { object } of CASES) hands(door).apply(inNamespace(object));
  }
  const answer = door.handle(
    {
      method: 'PATCH',
      path: pathOf(kindOf(object), NS, object.metadata.name),
      query: { fieldManager: 'kubectl', force: 'true', fieldValidation: 'Strict', dryRun: 'All' },
      contentType: 'application/apply-patch+yaml',
      body: object,
    },
    'admin',
  );
  return answer.status < 300 ? undefined : ((answer.body as Status).message ?? `status ${answer.status}`);
}

/** One deployed group of samples, from which every case starts. */
const bases = new Map<string, Promise<Rest>>();
function baseOf(group: (typeof GROUPS)[number]): Promise<Rest> {
  const known = bases.get(group.name) ?? deployed(group).then(cloud => cloud.rest());
  bases.set(group.name, known);
  return known;
}

const CASES = GROUPS.flatMap(group => group.objects.map(object => ({ group, object })));

/** Names a reader would look for: the field itself, or the one that contains it. */
function names({ path }: Mutation, text: string): boolean {
  const segments = path
    .split('.')
    .map(segment => segment.replace('[]', ''))
    .filter(segment => segment !== '*');
  return segments.slice(-2).some(segment => text.includes(segment));
}

function messagesOf(cloud: Cloud): { text: string; crashed: string[]; ready: boolean } {
  const own = cloud.store
    .objects()
    .filter(object => object.metadata.namespace === NS && KINDS.some(kind => kind.kind === object.kind));
  const conditions = own.flatMap(object =>
    conditionsOf(object).map(condition => ({ ...condition, on: `${object.kind} ${object.metadata.name}` })),
  );
  const bad = conditions.filter(({ status, reason }) => status !== 'True' && reason !== 'Blocked');
  return {
    text: bad.map(({ on, type, reason, message }) => `${on} ${type} ${reason}: ${message}`).join('\n'),
    crashed: bad.filter(({ reason }) => reason === 'Error').map(({ on, type, message }) => `${on} ${type}: ${message}`),
    ready: conditions.every(({ type, status }) => type !== 'Ready' || status === 'True'),
  };
}

/** What of a case needs no operator: the schema, its rules and the webhook. */
interface Case {
  readonly group: (typeof GROUPS)[number];
  readonly mutation: Mutation;
  readonly end: (verdict: Verdict, said?: string) => Judged;
}

function caseOf(seed: number): Case & { readonly sample: AnyObject } {
  const { group, object } = CASES[seed % CASES.length]!;
  const mutation = mutate(seed, kindOf(object), inNamespace(object));
  const about = { seed, object: `${object.kind} ${object.metadata.name}`, path: mutation.path, what: mutation.what };
  return { group, mutation, sample: object, end: (verdict, said = '') => ({ ...about, verdict, said }) };
}

export const mutationOf = (seed: number): Mutation => caseOf(seed).mutation;

/** Whether it gets past admission; undefined: it does. */
export async function judgeAdmission(seed: number): Promise<Judged | undefined> {
  const { mutation, sample, end } = caseOf(seed);
  const refused = refusal(mutation.object);
  if (refused !== undefined) return names(mutation, refused) ? end('refused') : end('unnamed', refused);
  const review = { operation: 'UPDATE', object: mutation.object as never, oldObject: sample as never };
  const { refusals } = await admit(review, { list: async () => [] });
  if (refusals.length === 0) return undefined;
  return names(mutation, refusals.join()) ? end('refused') : end('unnamed', refusals.join('; '));
}

/** A cloud that runs the samples of a group, for one case after the other: to start one takes longer than a case. */
interface Running {
  readonly cloud: Cloud;
  /** Rows that the operator has run since this was last set. */
  rows: number;
  cases: number;
}

/** Its journal grows, and objects of earlier cases may slow it down. */
const CASES_PER_CLOUD = 100;
const running = new Map<string, Running>();

async function runningFor(group: (typeof GROUPS)[number], seed: number): Promise<Running> {
  const known = running.get(group.name);
  if (known && known.cases < CASES_PER_CLOUD) return known;
  known?.cloud.crashOperator();
  const counting = { rows: 0, cases: 0 };
  const cloud = await Cloud.start({
    ...certManager(authority('public')),
    from: await baseOf(group),
    seed: seed + 1000,
    operator: { onRow: () => void counting.rows++ },
  });
  const made = Object.assign(counting, { cloud });
  running.set(group.name, made);
  return made;
}

function refusedBy(cloud: Cloud, object: AnyObject): string | undefined {
  try {
    cloud.apply(object);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7386: from fields as they are to fields as they were. */
const patchTo = (is: Fields, was: Fields): Fields =>
  Object.fromEntries(
    [...new Set([...Object.keys(is), ...Object.keys(was)])].map(key => {
      const [now, before] = [is[key], was[key]];
      return [key, isFields(now) && isFields(before) ? patchTo(now, before) : (before ?? null)];
    }),
  );

/**
 * The samples as they were become Ready again. Patched and not applied: server-side apply keeps an empty list that the
 * applied text no longer has, because nobody owns it.
 */
async function recovers({ cloud }: Running, objects: readonly AnyObject[]): Promise<boolean> {
  for (const object of objects) {
    const [kind, { name }] = [kindOf(object), object.metadata];
    const spec = patchTo((cloud.get(kind, name)?.spec ?? {}) as Fields, (object.spec ?? {}) as Fields);
    cloud.hands.patch(kind, NS, name, { spec });
  }
  const current = (object: AnyObject): boolean => {
    const live = cloud.get(kindOf(object), object.metadata.name);
    const { observedGeneration } = (live?.status ?? {}) as { observedGeneration?: number };
    return observedGeneration === live?.metadata.generation;
  };
  return cloud.sim.within(HALF_AN_HOUR, () => objects.every(current) && messagesOf(cloud).ready);
}

/** Applies the changed sample to a cloud that runs the unchanged one, and takes the change back. */
export async function judge(seed: number): Promise<Judged> {
  const early = await judgeAdmission(seed);
  if (early !== undefined) return early;
  const { group, mutation, sample, end } = caseOf(seed);
  const at = await runningFor(group, seed);
  const { cloud } = at;
  at.cases++;
  let judged: Judged;
  try {
    // Rules that compare with status refuse what the server without an operator took.
    const refused = refusedBy(cloud, mutation.object);
    if (refused !== undefined) return names(mutation, refused) ? end('refused') : end('unnamed', refused);
    await cloud.sim.run(TEN_MINUTES);
    at.rows = 0;
    await cloud.sim.run(TEN_MINUTES);
    judged = verdictOf(at, group.objects.length, mutation, end);
    if (!(await recovers(at, [sample]))) judged = end('stuck', messagesOf(cloud).text);
  } catch (error) {
    judged = end(/Sim: not done/.test(String(error)) ? 'loop' : 'crash', String((error as Error).stack ?? error));
  }
  if (!['works', 'reported', 'unnamed'].includes(judged.verdict)) {
    cloud.crashOperator();
    running.delete(group.name);
  }
  return judged;
}

function verdictOf({ cloud, rows }: Running, objects: number, mutation: Mutation, end: Case['end']): Judged {
  if (cloud.failure) return end('crash', String(cloud.failure));
  const { text, crashed, ready } = messagesOf(cloud);
  if (crashed.length > 0) return end('crash', crashed.join('\n'));
  if (rows > MOST_ROWS * objects) return end('loop', `${rows} rows in ten minutes\n${text}`);
  if (ready) return end('works');
  return names(mutation, text) ? end('reported') : end('unnamed', text);
}
