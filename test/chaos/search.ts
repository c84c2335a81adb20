import type { AnyObject } from '../../src/kube/object.ts';
import { canonical } from '../../src/runtime/plan/canonical.ts';
import { Cloud, type CloudOptions, NS, type Rest } from '../functional/cloud.ts';
import { Audit, GENERATED } from './audit.ts';

/** One thing that a user does to a cloud. */
export interface Deed {
  readonly name: string;
  /** Where the deed begins; undefined is an empty cluster. Made once per worker. */
  before(): Promise<Rest | undefined>;
  act(cloud: Cloud): void;
  /** Somebody else's controllers in the cluster. */
  readonly beside?: CloudOptions['wrap'];
}

export interface Moment extends Rest {
  /** The write that made this state. */
  readonly after: string;
  /** How often each object had come into being by then. */
  readonly created: ReadonlyMap<string, number>;
}

export interface Reference {
  readonly deed: Deed;
  readonly moments: readonly Moment[];
  readonly end: readonly string[];
  readonly created: ReadonlyMap<string, number>;
  /** Mutating requests of the operator. */
  readonly writes: number;
}

/** Long enough for every second look at a backend (10 minutes, give or take a fifth) to come by. */
const REST = process.env.CHAOS === 'all' ? 3_600_000 : 900_000;

const references = new Map<string, Promise<Reference>>();

/** One undisturbed run, shared by all that compares itself to it. */
export function reference(deed: Deed): Promise<Reference> {
  const known = references.get(deed.name) ?? moments(deed);
  references.set(deed.name, known);
  return known;
}

/**
 * Every distinct state of the store during one undisturbed run of a deed. After a crash the operator's memory is gone,
 * so "after a commit" and "after its answer" are the same, and starting from each of these states is every crash there can be.
 */
async function moments(deed: Deed): Promise<Reference> {
  const found: Moment[] = [];
  const audit = new Audit();
  const cloud = await Cloud.start({ seed: 2, from: await deed.before(), wrap: seenBy(audit, deed) });
  let seen = cloud.sim.journal.length;
  deed.act(cloud);
  const take = (after: string): void =>
    void found.push({ ...cloud.rest(), after: after.replace(/^\d+ /, ''), created: audit.created() });
  take(deed.name);
  const end = await cloud.sim.until(() => {
    const news = cloud.sim.journal.slice(seen);
    seen = cloud.sim.journal.length;
    const write = news.find(line => /(PATCH|POST|PUT|DELETE) .* commit$/.test(line) && !/\/(events|leases)/.test(line));
    if (write) take(write);
    return false;
  });
  if (end !== 'quiet' || cloud.failure) throw new Error(`${deed.name} did not come to rest: ${cloud.failure ?? ''}`);
  // An oracle that sees nothing finds nothing.
  if (audit.operatorWrites().length === 0) throw new Error(`${deed.name}: the operator wrote nothing`);
  if (audit.violations.length > 0) throw new Error(audit.violations.join('\n'));
  return {
    deed,
    moments: found,
    end: endState(cloud),
    created: audit.created(),
    writes: audit.operatorWrites().length,
  };
}

const seenBy =
  (audit: Audit, deed: Deed): CloudOptions['wrap'] =>
  store =>
    audit.wrap(deed.beside?.(store) ?? store);

/** A new operator, and a new kubelet, from that moment on: where does it end? */
export async function resume(moment: Moment, wanted: Reference, seed: number): Promise<string[]> {
  const audit = new Audit();
  const cloud = await Cloud.start({ seed, from: moment, wrap: seenBy(audit, wanted.deed) });
  return judge(cloud, audit, wanted, moment.created);
}

/** The same deed with things going wrong. `meddle` gets the cloud right after the deed. */
export async function disturbed(
  deed: Deed,
  options: CloudOptions,
  meddle: (cloud: Cloud, audit: Audit) => Promise<void> | void = () => undefined,
): Promise<string[]> {
  const audit = new Audit();
  const cloud = await Cloud.start({ ...options, from: await deed.before(), wrap: seenBy(audit, deed) });
  const wanted = await reference(deed);
  deed.act(cloud);
  await meddle(cloud, audit);
  return judge(cloud, audit, wanted);
}

/** Oracles: O1 end state, O2 creations, O3 no write at rest, O8 safety (./audit.ts). Empty is good. */
export async function judge(
  cloud: Cloud,
  audit: Audit,
  wanted: Pick<Reference, 'end'> & Partial<Reference>,
  before: ReadonlyMap<string, number> = new Map(),
): Promise<string[]> {
  try {
    await cloud.settle();
  } catch (error) {
    return [`did not come to rest: ${error instanceof Error ? error.message.slice(0, 3000) : error}`];
  }
  const end = endState(cloud);
  const bad = wanted.end.filter(line => !end.includes(line)).map(line => `O1 - ${line}`);
  bad.push(...end.filter(line => !wanted.end.includes(line)).map(line => `O1 + ${line}`));
  const made = audit.created();
  for (const path of wanted.created ? new Set([...made.keys(), ...wanted.created.keys()]) : []) {
    const times = (made.get(path) ?? 0) + (before.get(path) ?? 0);
    const right = wanted.created?.get(path) ?? 0;
    if (times !== right) bad.push(`O2 ${path} came into being ${times} times, not ${right}`);
  }
  const rested = audit.operatorWrites().length;
  await cloud.sim.run(REST);
  for (const { method, path } of audit.operatorWrites().slice(rested)) bad.push(`O3 ${method} ${path} at rest`);
  if (cloud.failure) bad.push(`the operator ended: ${cloud.failure}`);
  return [...bad, ...audit.violations.map(violation => `O8 ${violation}`)];
}

const VOLATILE = new Set(['Event', 'Pod', 'ReplicaSet', 'ControllerRevision', 'Lease']);
/** All that is there, without what differs between two good runs: uids, times, versions, passwords and their hashes. */
export function endState(cloud: Cloud): string[] {
  const objects = cloud.store.objects().filter(o => o.metadata.namespace === NS && !VOLATILE.has(o.kind));
  // Chance; what is made from it is compared with its values named instead of shown.
  const known = new Map(
    objects
      .filter(o => o.kind === 'Secret' && GENERATED.test(o.metadata.name))
      .flatMap(o => Object.entries(decoded(o)).map(([key, value]) => [value, `<${o.metadata.name} ${key}>`] as const))
      .filter(([value]) => value.length > 20),
  );
  const backends = Object.values(cloud.backends.disks.sql).flatMap(server => [
    `sql users ${Object.keys(server.users).sort()}`,
    ...Object.entries(server.databases).map(([name, db]) => `sql database ${name} ${JSON.stringify(db.schemas)}`),
    ...Object.entries(server.databases).flatMap(([, db]) =>
      db.keystone
        ? [`keystone ${Object.keys(db.keystone.users).sort()} ${db.keystone.services.map(s => s.type).sort()}`]
        : [],
    ),
  ]);
  return [...objects.map(object => describe(object, known)), ...backends].sort();
}

function describe(object: AnyObject, known: ReadonlyMap<string, string>): string {
  const { name, labels, annotations, ownerReferences, finalizers, generation } = object.metadata;
  const owners = ownerReferences?.map(ref => `${ref.kind}/${ref.name}`);
  const ours = object.apiVersion.includes('openstack');
  const status = object.status as { conditions?: { type: string; status: string; reason: string }[] } | undefined;
  const state = ours ? status : status?.conditions?.map(c => `${c.type}=${c.status}/${c.reason}`).sort();
  const content = contentOf(object, known);
  return masked(
    JSON.stringify(
      canonical([object.kind, name, labels, annotations, owners, finalizers, ours && generation, content, state]),
    ),
  );
}

function contentOf(object: AnyObject, known: ReadonlyMap<string, string>): unknown {
  if (object.kind === 'Secret') {
    if (GENERATED.test(object.metadata.name)) return Object.keys(decoded(object)).sort();
    let text = JSON.stringify(canonical(decoded(object)));
    for (const [value, placeholder] of known) text = text.replaceAll(value, placeholder);
    return text;
  }
  if (object.kind !== 'Service') return object.spec ?? null;
  const { clusterIP, clusterIPs: _all, ...spec } = object.spec as Record<string, unknown>;
  return { ...spec, headless: clusterIP === 'None' };
}

const decoded = (secret: AnyObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries((secret.data ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );

/** Certificates and keys are chance; hashes stand at the end of names, in annotations and at the end of lines; uids and times anywhere. */
const masked = (text: string): string =>
  text
    .replace(/-----BEGIN (.*?)-----.*?-----END \1-----/g, 'PEM')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    // Services get their addresses in the order in which they come.
    .replace(/\b10\.96\.\d+\.\d+\b/g, 'ADDRESS')
    // With the id of its key before it, where it is over secrets.
    .replace(/(?<=[-" ])([0-9a-f]{6}\.)?[0-9a-f]{8,64}(?=\\*["n])/g, 'HASH');
