/**
 * What a real deploy spent its time on, read from the audit log of its kube-apiserver and from nothing of ours: no file
 * of src/ is imported, so that a mistake there can't hide itself here.
 *
 *   npx tsx bench/gantt.ts <audit.log> [--namespace=openstack] [--cloud=NAME] [--operator=USER]
 *
 * Prints, as Markdown: the time from each step's last prerequisite to the request that made it (p95), a Gantt chart,
 * and the critical path. With level Metadata an object's last status write before the step counts as its prerequisite;
 * where the log has response bodies of statuses (level RequestResponse), the write that first says it is done.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One write that the API server carried out. */
export interface Write {
  /** Milliseconds since 1970. */
  readonly received: number;
  readonly answered: number;
  readonly user: string;
  /** `statefulsets/mariadb` */
  readonly object: string;
  readonly status: boolean;
  readonly created: boolean;
  readonly body?: Body | undefined;
}

interface Body {
  readonly metadata?: { readonly generation?: number };
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly readyReplicas?: number;
    readonly numberReady?: number;
    readonly desiredNumberScheduled?: number;
    readonly succeeded?: number;
  };
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly responseObject?: Body;
}

const WRITES = new Set(['create', 'patch', 'update']);

/** The writes in a namespace, in the order in which they were received. Lines that are cut off are left out. */
export function writesOf(log: string, namespace: string): Write[] {
  const found: Write[] = [];
  for (const line of log.split('\n')) {
    // Most lines are reads: parsing them all would take minutes.
    if (!line.includes('"stage":"ResponseComplete"') || !line.includes(`"namespace":"${namespace}"`)) continue;
    const event = parsed(line);
    const { resource, subresource, name } = event?.objectRef ?? {};
    const code = event?.responseStatus?.code ?? 0;
    if (!event || !WRITES.has(event.verb) || code >= 300 || !name || resource === 'events') continue;
    found.push({
      received: Date.parse(event.requestReceivedTimestamp),
      answered: Date.parse(event.stageTimestamp),
      user: event.user.username,
      object: `${resource}/${name}`,
      status: subresource === 'status',
      created: code === 201 && subresource === undefined,
      body: event.responseObject,
    });
  }
  return found.sort((a, b) => a.received - b.received);
}

function parsed(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line) as AuditEvent;
  } catch {
    return undefined;
  }
}

/**
 * What each step stands on, as the cloud's documents have it and not as the operator does: the first line that fits.
 * `*` stands for any text; what it stood for is `$1` on the right. A prerequisite that no write names is no prerequisite.
 */
const PREREQUISITES: readonly (readonly [step: string, after: readonly string[]])[] = [
  ['statefulsets/memcached', ['memcacheds/memcached']],
  ['statefulsets/mariadb', ['mariadbs/mariadb']],
  ['statefulsets/rabbitmq', ['rabbitmqs/rabbitmq']],
  ['statefulsets/ovn-*', ['ovnnetworks/ovn']],
  ['deployments/ovn-northd', ['ovnnetworks/ovn']],
  ['daemonsets/ovn-*', ['statefulsets/ovn-nb', 'statefulsets/ovn-sb', 'deployments/ovn-northd']],
  ['jobs/keystone-db-sync-*', ['mariadbs/mariadb']],
  ['jobs/keystone-bootstrap-*', ['jobs/keystone-db-sync-*']],
  ['deployments/keystone-api', ['jobs/keystone-bootstrap-*', 'memcacheds/memcached']],
  ['jobs/*-load-metadefs-*', ['jobs/$1-db-sync-*']],
  ['jobs/nova-cell0-map-*', ['jobs/nova-cell0-conductor-db-sync-*']],
  // Mappings are written to the API's tables, which come with those of cell0.
  ['jobs/nova-*-map-*', ['jobs/nova-$1-conductor-db-sync-*', 'jobs/nova-cell0-conductor-db-sync-*']],
  ['jobs/*-db-sync-*', ['mariadbs/mariadb']],
  ['deployments/placement-api', ['jobs/placement-db-sync-*', 'keystones/keystone']],
  ['statefulsets/glance-api', ['jobs/glance-db-sync-*', 'keystones/keystone']],
  ['*/neutron-*', ['jobs/neutron-db-sync-*', 'keystones/keystone', 'rabbitmqs/rabbitmq', 'ovnnetworks/ovn']],
  ['deployments/nova-*-novncproxy', ['mariadbs/mariadb']],
  ['statefulsets/nova-cell0-conductor', ['jobs/nova-cell0-conductor-db-sync-*', 'jobs/nova-*-map-*', ...neighbours()]],
  ['statefulsets/nova-*-conductor', ['jobs/nova-$1-conductor-db-sync-*', ...neighbours()]],
  ['statefulsets/nova-*-*', ['statefulsets/nova-$1-conductor', 'placements/placement']],
  ['daemonsets/nova-*-*', ['statefulsets/nova-$1-conductor', 'placements/placement']],
  // They read the cells at their start and never again: one that started before the last mapping would start twice.
  ['statefulsets/nova-*', ['jobs/nova-*-map-*', ...neighbours()]],
];

function neighbours(): string[] {
  return ['placements/placement', 'glances/glance', 'neutrons/neutron'];
}

const matcher = (pattern: string): RegExp => new RegExp(`^${pattern.split('*').map(escaped).join('([^/]*?)')}$`);
const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

/** Patterns of what must be done before this step may begin. */
export function prerequisitesOf(step: string): readonly string[] {
  for (const [pattern, after] of PREREQUISITES) {
    const match = matcher(pattern).exec(step);
    if (match) return after.map(text => text.replace('$1', match[1] ?? ''));
  }
  return [];
}

export interface Step {
  readonly name: string;
  /** Milliseconds since the cloud was asked for. */
  readonly start: number;
  readonly end: number;
  /** The last thing it stood on, and when that was done. */
  readonly after?: { readonly name: string; readonly at: number };
  /** When the config that its pods mount was there, if later: between the two lie calls to databases, bus and Keystone. */
  readonly configured?: number;
}

export interface Report {
  readonly cloud: string;
  readonly begun: string;
  readonly total: number;
  readonly steps: readonly Step[];
  /** From the last prerequisite to the request, of the steps that have one; its config counts as one. */
  readonly latency: Spread;
  /** The same from the last thing that somebody else did: calls to backends are in it. */
  readonly withCalls: Spread;
  readonly critical: readonly Step[];
  /** Whether ends are those that the objects tell, or the last writes to them. */
  readonly exact: boolean;
}

export interface Spread {
  readonly p95: number;
  readonly worst: number;
}

const spread = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b);
  return { p95: sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? 0, worst: sorted.at(-1) ?? 0 };
};

export interface Options {
  readonly operator: string;
  /** The OpenStackControlPlane; the newest unless given. */
  readonly cloud?: string | undefined;
}

const TOP = 'openstackcontrolplanes';
/** What takes time in a deploy. */
const STEP = /^(statefulsets|deployments|daemonsets|jobs)\//;

export function analyse(all: readonly Write[], { operator, cloud }: Options): Report {
  const asked = all.findLast(
    w => w.created && w.object.startsWith(`${TOP}/`) && (!cloud || w.object === `${TOP}/${cloud}`),
  );
  if (!asked) throw new Error(`the log has no creation of an OpenStackControlPlane${cloud ? ` ${cloud}` : ''}`);
  const later = all.filter(w => w.received >= asked.received);
  // The first edit by somebody else ends the deploy: what comes then is another story.
  const edit = later.find(w => w.object === asked.object && w !== asked && !w.status && w.user !== operator);
  const within = edit ? later.filter(w => w.received < edit.received) : later;
  const done = doneIn(within);
  const bodies = within.some(w => w.body);
  const over = done(asked.object, Number.POSITIVE_INFINITY) ?? within.at(-1)!.answered;

  const at = (time: number): number => time - asked.received;
  const made = within.filter(w => w.created && w.user === operator && STEP.test(w.object) && w.received <= over);
  const names = [...new Set(within.map(w => w.object))];
  const steps = made.map((write): Step => {
    const befores = prerequisitesOf(write.object)
      .flatMap(pattern => names.filter(name => matcher(pattern).test(name)))
      .map(name => ({ name, at: done(name, write.received) }))
      .filter((before): before is { name: string; at: number } => before.at !== undefined)
      .sort((a, b) => a.at - b.at);
    const last = befores.at(-1);
    const end = Math.min(done(write.object, over) ?? over, over);
    return {
      name: write.object,
      start: at(write.received),
      end: at(end),
      ...(last && { after: { name: last.name, at: at(last.at) } }),
      ...configuredAt(within, write, at),
    };
  });
  const waited = steps.flatMap(({ start, after, configured = 0 }) =>
    after ? [{ start, at: after.at, configured }] : [],
  );
  return {
    cloud: asked.object.slice(TOP.length + 1),
    begun: new Date(asked.received).toISOString(),
    total: at(over),
    steps,
    latency: spread(waited.map(step => step.start - Math.max(step.at, step.configured))),
    withCalls: spread(waited.map(step => step.start - step.at)),
    critical: criticalPath(steps),
    exact: bodies,
  };
}

/** The Secret `<object>-config-data-<hash>` or `<cell>-manage-config-data` of the longest name that fits the step's. */
function configuredAt(writes: readonly Write[], step: Write, at: (time: number) => number): Pick<Step, 'configured'> {
  const name = step.object.slice(step.object.indexOf('/') + 1);
  const own = writes
    .filter(w => w.created && w.answered <= step.received)
    .flatMap(w => {
      const config = /^secrets\/(.+?)(?:-manage)?-config-data(?:-[0-9a-f]+)?$/.exec(w.object)?.[1];
      return config !== undefined && `${name}-`.startsWith(`${config}-`)
        ? [{ size: config.length, at: w.answered }]
        : [];
    });
  const longest = Math.max(...own.map(c => c.size));
  const last = own.filter(c => c.size === longest).at(-1);
  return last ? { configured: at(last.at) } : {};
}

/** When an object was done, as known at a time: by its own word where the log has it, else its last status write. */
function doneIn(writes: readonly Write[]): (object: string, before: number) => number | undefined {
  const told = new Map<string, Write[]>();
  for (const write of writes)
    if (write.status || (write.created && !STEP.test(write.object)))
      told.set(write.object, [...(told.get(write.object) ?? []), write]);
  return (object, before) => {
    const known = (told.get(object) ?? []).filter(w => w.answered <= before);
    return (known.find(w => w.body && isDone(w.body)) ?? known.at(-1))?.answered;
  };
}

function isDone({ spec, status }: Body): boolean {
  if (!status) return false;
  const says = (type: string) => status.conditions?.some(c => c.type === type && c.status === 'True') ?? false;
  if (says('Ready') || says('Complete')) return true;
  if (status.desiredNumberScheduled !== undefined) return status.numberReady === status.desiredNumberScheduled;
  return status.readyReplicas !== undefined && status.readyReplicas === (spec?.replicas ?? 1);
}

/** From the step that ended last back along what each waited for. An object without pods leads to its own last step. */
function criticalPath(steps: readonly Step[]): Step[] {
  const path: Step[] = [];
  let step = steps.toSorted((a, b) => a.end - b.end).at(-1);
  while (step && !path.includes(step)) {
    path.unshift(step);
    const after: Step['after'] = step.after;
    step = after && (steps.find(s => s.name === after.name) ?? lastOf(steps, after));
  }
  return path;
}

/** `keystones/keystone` was done when the last of its workloads was, and its own proof. */
function lastOf(steps: readonly Step[], after: { readonly name: string; readonly at: number }): Step | undefined {
  const name = after.name.slice(after.name.indexOf('/') + 1);
  return steps
    .filter(s => s.name.slice(s.name.indexOf('/') + 1).startsWith(name) && s.start < after.at)
    .toSorted((a, b) => a.end - b.end)
    .at(-1);
}

const WIDTH = 60;
/** Waits to name: beyond these nothing is worth mending. */
const LONGEST = 10;
const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const told = ({ p95, worst }: Spread): string => `p95 ${Math.round(p95)} ms, worst ${Math.round(worst)} ms`;

export function markdown(report: Report): string {
  const { total, steps } = report;
  const place = (ms: number): number => Math.round((Math.max(0, ms) / total) * WIDTH);
  const width = Math.max(...steps.map(step => step.name.length));
  const critical = new Set(report.critical.map(step => step.name));
  const bars = steps.map(step => {
    const [from, to] = [place(step.start), Math.max(place(step.start) + 1, place(step.end))];
    const bar = ' '.repeat(from) + (critical.has(step.name) ? '#' : '=').repeat(to - from);
    return `${step.name.padEnd(width)} ${seconds(step.start).padStart(6)} ${seconds(step.end).padStart(6)} |${bar.padEnd(WIDTH)}|`;
  });
  const path = report.critical.map(step => {
    const gap = step.after ? `${Math.round(step.start - step.after.at)} ms after ${step.after.name}` : 'at once';
    return `| ${step.name} | ${seconds(step.start)} | ${seconds(step.end - step.start)} | ${gap} |`;
  });
  const waits = steps
    .flatMap(({ name, start, after, configured = 0 }) =>
      after ? [{ name, after, own: start - Math.max(after.at, configured), all: start - after.at }] : [],
    )
    .toSorted((a, b) => b.all - a.all)
    .slice(0, LONGEST)
    .map(wait => `| ${wait.name} | ${Math.round(wait.own)} | ${Math.round(wait.all)} | ${wait.after.name} |`);
  return [
    `OpenStackControlPlane ${report.cloud}, begun ${report.begun}: ${seconds(total)} s; ${steps.length} workloads and Jobs.`,
    `To the request that made a step, from its last prerequisite: ${told(report.latency)}; from the last thing that somebody else did, ` +
      `calls to databases, bus and Keystone included: ${told(report.withCalls)}.` +
      `${report.exact ? '' : ' By last status writes: the log has no bodies.'}`,
    '',
    '```',
    `${'seconds'.padEnd(width)} ${'from'.padStart(6)} ${'to'.padStart(6)}  # is on the critical path`,
    ...bars,
    '```',
    '',
    '| Critical path | begun (s) | took (s) | |',
    '|---|---|---|---|',
    ...path,
    '',
    '| Longest waits | ms | with calls | after |',
    '|---|---|---|---|',
    ...waits,
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path] = process.argv.slice(2).filter(arg => !arg.startsWith('--'));
  const option = (name: string): string | undefined =>
    process.argv.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  if (!path) throw new Error('which audit log?');
  const operator = option('operator') ?? 'system:serviceaccount:openstack-operator-system:openstack-operator';
  const writes = writesOf(readFileSync(path, 'utf8'), option('namespace') ?? 'openstack');
  console.log(markdown(analyse(writes, { operator, cloud: option('cloud') })));
}
