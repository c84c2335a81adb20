import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { KINDS } from '../api/kinds.ts';
import { crdOf } from '../api/schema/crd.ts';
import { resourceNamed } from '../src/cli/input/resources.ts';
import { readObjects } from '../src/cli/input/yaml.ts';
import { embeddedCloud } from '../src/cli/simulation/simulation.ts';
import { type Client, createClient } from '../src/kube/client.ts';
import type { AnyObject } from '../src/kube/object.ts';
import { CustomResourceDefinition, Namespace, Pod, pathOf } from '../src/kube/resource.ts';
import { realClock } from '../src/real/clock.ts';
import { loadCredentials } from '../src/real/credentials.ts';
import { type Connection, connect } from '../src/real/transport.ts';
import { startApiServer } from '../test/conformance/apiserver.ts';
import { type Figure, figure } from './figures.ts';

/** Another build may be given, to compare with. */
const PROGRAM = process.env.BENCH_PROGRAM ?? 'dist/openstack-operator.js';
const NS = 'openstack';
const RUNS = 5;
/** What the cluster makes by itself, or what no command looks at. */
const LEFT_OUT = ['Namespace', 'CustomResourceDefinition', 'ServiceAccount', 'Event', 'Lease', 'ControllerRevision'];
/** Nobody else works under this name here, so that the audit log tells the requests of a command. */
const USER = 'pretender';

/**
 * `status`, `tree` and `why` on a whole cloud with so many pods, on a real kube-apiserver: from the start of the program
 * to its end, as somebody waits for it. The objects are those of an embedded cloud, its pods multiplied. `version`, which
 * asks nobody, is what the start of the program alone costs.
 */
export async function statusTime(pods: number): Promise<Figure[]> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: make build`);
  const server = await startApiServer();
  const connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }));
  try {
    const client = createClient(connection, realClock);
    for (const kind of KINDS) await client.create(CustomResourceDefinition, crdOf(kind) as unknown as AnyObject);
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
    for (const kind of KINDS) await served(client, kind);
    const { objects } = await embeddedCloud(readObjects('config/samples/controlplane_minimal.yaml'), NS);
    const count = await copy(client, connection, scaled(objects, pods));
    const where = ['-n', NS, '--kubeconfig', server.kubeconfig(USER)];
    const shown = podsShown(run(['status', ...where, '-o', 'json']).text);
    if (shown.wanted < pods || shown.ready !== shown.wanted)
      throw new Error(`status counts ${shown.ready} of ${shown.wanted} pods, not ${pods}`);
    const figures = [figure(`objects of that cloud, ${shown.wanted} pods among them`, count, '')];
    for (const [command, args] of [
      ['version', []],
      ['status', where],
      ['tree', where],
      ['why', where],
    ] as const) {
      const before = requestsOf(server.auditLog);
      const runs = Array.from({ length: RUNS }, () => run([command, ...args]));
      const requests = (requestsOf(server.auditLog) - before) / RUNS;
      const what = args.length > 0 ? `${command} on a cloud of ${pods} pods` : `${command}, without a cluster`;
      figures.push(figure(`${what}: median time of ${RUNS}`, median(runs.map(({ ms }) => ms)), 'ms'));
      figures.push(figure(`${what}: CPU of the program`, median(runs.map(({ cpu }) => cpu)), 'ms'));
      if (args.length > 0) figures.push(figure(`${what}: requests`, requests, ''));
    }
    return figures;
  } finally {
    await connection.close();
    await server.stop();
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

function podsShown(text: string): { wanted: number; ready: number } {
  const { clouds } = JSON.parse(text) as { clouds: { services: { pods: { wanted: number; ready: number } }[] }[] };
  const all = clouds.flatMap(cloud => cloud.services.map(service => service.pods));
  const sum = (of: (pods: (typeof all)[number]) => number): number => all.reduce((total, one) => total + of(one), 0);
  return { wanted: sum(one => one.wanted), ready: sum(one => one.ready) };
}

function requestsOf(auditLog: string): number {
  const lines = readFileSync(auditLog, 'utf8').split('\n');
  return lines.filter(line => line.includes(`"username":"${USER}"`)).length;
}

/** The shell says what its child used: Node does not. */
const SCRIPT = '"$0" "$@"; code=$?; times >&2; exit $code';

function run(args: readonly string[]): { ms: number; cpu: number; text: string } {
  const start = performance.now();
  const done = spawnSync('/bin/sh', ['-c', SCRIPT, process.execPath, PROGRAM, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const ms = performance.now() - start;
  // 1: it found something that is not ready, and that is an answer.
  if (done.status !== 0 && done.status !== 1) throw done.error ?? new Error(`${args[0]}: ${done.stderr}`);
  const used = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(done.stderr);
  if (!used) throw new Error(`${args[0]} failed: ${done.stderr}`);
  const [minutes, seconds, more, rest] = used.slice(1).map(Number) as [number, number, number, number];
  return { ms, cpu: (minutes + more) * 60_000 + (seconds + rest) * 1000, text: done.stdout };
}

async function served(client: Client, kind: (typeof KINDS)[number]): Promise<void> {
  for (let left = 100; ; left--) {
    try {
      await client.list(kind, { namespace: NS });
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

const isRunning = ({ kind, status }: AnyObject): boolean =>
  kind === 'Pod' && (status as { phase?: string } | undefined)?.phase === 'Running';

/** Every running pod again and again under its owner, until there are so many, and workloads that say so. */
function scaled(objects: readonly AnyObject[], pods: number): AnyObject[] {
  const running = objects.filter(isRunning);
  const more = Array.from({ length: Math.max(0, pods - running.length) }, (_, index): AnyObject => {
    const pod = running[index % running.length]!;
    return {
      ...pod,
      metadata: { ...pod.metadata, name: `${pod.metadata.name}-${index}`, uid: `${pod.metadata.uid}-${index}` },
    };
  });
  const byUid = new Map(objects.map(object => [object.metadata.uid, object]));
  const counts = new Map<AnyObject, number>();
  for (const pod of [...running, ...more]) {
    let owner: AnyObject | undefined = pod;
    for (;;) {
      owner = byUid.get(owner.metadata.ownerReferences?.find(ref => ref.controller)?.uid);
      if (!owner) break;
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  }
  return [...objects.filter(object => !LEFT_OUT.includes(object.kind)), ...more].map(object =>
    counted(object, counts.get(object)),
  );
}

function counted(object: AnyObject, pods: number | undefined): AnyObject {
  if (pods === undefined) return object;
  const { spec, status } = object as { spec?: object; status?: object };
  if (object.kind === 'DaemonSet') {
    const all = {
      desiredNumberScheduled: pods,
      currentNumberScheduled: pods,
      numberReady: pods,
      numberAvailable: pods,
    };
    return { ...object, status: { ...status, ...all, updatedNumberScheduled: pods } };
  }
  if (!['Deployment', 'StatefulSet', 'ReplicaSet'].includes(object.kind)) return object;
  const all = { replicas: pods, readyReplicas: pods, availableReplicas: pods };
  const updated = object.kind === 'ReplicaSet' ? {} : { updatedReplicas: pods };
  return { ...object, spec: { ...spec, replicas: pods }, status: { ...status, ...all, ...updated } };
}

/** A Job's selector is the server's to choose, by the uid that it gives. */
function unselected(object: AnyObject): AnyObject {
  if (object.kind !== 'Job') return object;
  const { selector: _selector, template, ...spec } = object.spec as { selector?: unknown; template: AnyObject };
  const labels = Object.entries(template.metadata.labels ?? {}).filter(
    ([name]) => !/(controller-uid|job-name)$/.test(name),
  );
  const metadata = { ...template.metadata, labels: Object.fromEntries(labels) };
  return { ...object, spec: { ...spec, template: { ...template, metadata } } };
}

/** Owners before what they own: their uids are new here. */
async function copy(client: Client, connection: Connection, objects: readonly AnyObject[]): Promise<number> {
  const uids = new Map<string, string>();
  const left = new Set(objects);
  const known = new Set(objects.map(object => object.metadata.uid));
  let count = 0;
  while (left.size > 0) {
    const ready = [...left].filter(({ metadata }) =>
      (metadata.ownerReferences ?? []).every(({ uid }) => uids.has(uid) || !known.has(uid)),
    );
    if (ready.length === 0) throw new Error('owners go round in circles');
    for (const object of ready) {
      left.delete(object);
      const { name, namespace, labels, annotations, ownerReferences } = object.metadata;
      const owners = ownerReferences?.flatMap(ref => (uids.has(ref.uid) ? [{ ...ref, uid: uids.get(ref.uid)! }] : []));
      const metadata = { name, namespace, labels, annotations, ...(owners && { ownerReferences: owners }) };
      const { status, metadata: _old, ...rest } = unselected(object);
      const resource = resourceNamed(object);
      const made = await client.create(resource, { ...rest, metadata } as AnyObject).catch((error: Error) => {
        // Made by the server itself: the configuration of its authority, the storage of another object.
        if (/already exists/.test(error.message)) return undefined;
        throw error;
      });
      if (made === undefined) continue;
      uids.set(object.metadata.uid ?? '', made.metadata.uid ?? '');
      if (namespace === NS) count++;
      if (status === undefined) continue;
      const path = pathOf(resource, namespace ?? '', name, 'status');
      const contentType = 'application/merge-patch+json';
      const answer = await connection.send({ method: 'PATCH', path, contentType, body: { status } });
      if (answer.status >= 300 && answer.status !== 404)
        throw new Error(`status of ${object.kind} ${name}: ${JSON.stringify(answer.body)}`);
    }
  }
  const found = (await client.list(Pod, { namespace: NS })).items.length;
  if (found < objects.filter(({ kind }) => kind === 'Pod').length) throw new Error(`only ${found} pods`);
  return count;
}
