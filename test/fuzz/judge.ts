import type { AnyKind } from '../../api/kind.ts';
import { KINDS } from '../../api/kinds.ts';
import { conditionsOf, hands, install } from '../../src/embedded/cluster.ts';
import { Sim } from '../../src/embedded/sim/sim.ts';
import { createStore, type Store } from '../../src/embedded/store/store.ts';
import { admit } from '../../src/insight/admission.ts';
import type { AnyObject, Status } from '../../src/kube/object.ts';
import { pathOf } from '../../src/kube/resource.ts';
import { authority, certManager } from '../functional/certificates.ts';
import { Cloud, NS, type Rest } from '../functional/cloud.ts';
import { deployed, GROUPS } from '../functional/samples.ts';
import { type Mutation, mutate } from './mutate.ts';

/**
 * What became of a changed sample. `unnamed`: it does not work and no message names the field. `crash`: an exception
 * that no row meant to throw. `loop`: the operator works on it without pause.
 */
export type Verdict = 'works' | 'refused' | 'reported' | 'unnamed' | 'crash' | 'loop';

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

/** Applies the changed sample to a cloud that runs the unchanged one. */
export async function judge(seed: number): Promise<Judged> {
  const early = await judgeAdmission(seed);
  if (early !== undefined) return early;
  const { group, mutation, end } = caseOf(seed);
  let rows = 0;
  const cloud = await Cloud.start({
    ...certManager(authority('public')),
    from: await baseOf(group),
    seed: seed + 1000,
    operator: { onRow: () => void rows++ },
  });
  try {
    cloud.apply(mutation.object);
    await cloud.sim.run(TEN_MINUTES);
    rows = 0;
    await cloud.sim.run(TEN_MINUTES);
    if (cloud.failure) return end('crash', String(cloud.failure));
    const { text, crashed, ready } = messagesOf(cloud);
    if (crashed.length > 0) return end('crash', crashed.join('\n'));
    if (rows > MOST_ROWS * group.objects.length) return end('loop', `${rows} rows in ten minutes\n${text}`);
    if (ready) return end('works');
    return names(mutation, text) ? end('reported') : end('unnamed', text);
  } catch (error) {
    return end(/Sim: not done/.test(String(error)) ? 'loop' : 'crash', String((error as Error).stack ?? error));
  } finally {
    cloud.crashOperator();
  }
}
