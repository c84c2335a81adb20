import { KINDS } from '../../../api/kinds.ts';
import { type Hide, hiderOf, masking, saidSafely } from '../../insight/view/hide.ts';
import { LOG_API } from '../../insight/view/masked.ts';
import { around, nodeNamespaces, type View, viewOf } from '../../insight/view/view.ts';
import { ApiError, createClient } from '../../kube/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  Event,
  Job,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolumeClaim,
  Pod,
  pathOf,
  ReplicaSet,
  type Resource,
  resourceName,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
} from '../../kube/resource.ts';
import { NoAnswer, type Transport } from '../../kube/transport.ts';
import { realClock } from '../../real/clock.ts';
import { loadCredentials } from '../../real/credentials.ts';
import { connect } from '../../real/transport.ts';
import { readObjects, UsageError } from '../input/yaml.ts';
import { createSecretMemory, type SecretMemory } from './secrets.ts';

export interface SourceFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A folder or file of objects. */
  readonly from?: string;
  /** true, or a file with what to apply there. */
  readonly embedded?: true | string;
  readonly after?: string;
}

export interface Snapshot {
  readonly view: View;
  /** undefined: all. */
  readonly namespace: string | undefined;
  readonly where: string;
  /** What could not be read, and what the answer therefore lacks. */
  readonly notes: readonly string[];
  /** Takes values of Secrets out of a text. */
  readonly hide: Hide;
  /** To ask the cluster more; undefined where there is none. */
  readonly transport?: Transport;
  /** The end of a container's log; undefined where the source has none. */
  logs(pod: { namespace: string; name: string }, container: string, options?: LogOptions): Promise<string | undefined>;
}

export interface LogOptions {
  readonly previous?: boolean;
  readonly lines?: number;
  /** From this time on, as a log line carries it; all lines then. */
  readonly since?: string;
  /** Each line begins with its time. */
  readonly timestamps?: boolean;
}

/**
 * How much of a cluster a question needs: what workloads say of themselves, their pods too, all that explains a cloud
 * without the data of Secrets, the same with it (`config`), or all that a plan needs. Our own kinds are in each.
 */
export type Depth = 'workloads' | 'pods' | 'look' | 'config' | 'whole';

const WORKLOADS: readonly Resource[] = [Deployment, StatefulSet, DaemonSet, Job];
const PODS: readonly Resource[] = [...WORKLOADS, ReplicaSet, Pod];
const LOOK: readonly Resource[] = [
  ...PODS,
  ...[Service, PersistentVolumeClaim, Event, ConfigMap, NetworkPolicy],
  ...[Node, StorageClass, Namespace],
];

/** Where objects come from, for more than one look. */
export interface Source {
  /** Whether a second look may see something else. */
  readonly live: boolean;
  /** `namespace`: instead of the one that the flags name. */
  read(depth: Depth, namespace?: string): Promise<Snapshot>;
}

export const readSource = async (flags: SourceFlags, depth: Depth): Promise<Snapshot> =>
  (await openSource(flags)).read(depth);

export async function openSource(flags: SourceFlags): Promise<Source> {
  const given = [flags.from, flags.embedded, flags.kubeconfig].filter(flag => flag !== undefined);
  if (given.length > 1) throw new UsageError('--from, --embedded and --kubeconfig exclude each other: give one');
  if (flags.allNamespaces && flags.namespace) throw new UsageError('-n and -A exclude each other: give one');
  if (flags.from !== undefined) return fromFolder(flags, flags.from);
  if (flags.embedded !== undefined) return fromEmbedded(flags, flags.embedded);
  return fromCluster(flags);
}

const noLogs = async (): Promise<undefined> => undefined;

export function within(objects: readonly AnyObject[], namespace: string | undefined): AnyObject[] {
  if (namespace === undefined) return [...objects];
  const places = [namespace, ...nodeNamespaces(objects, namespace)];
  return around(objects, namespace).filter(
    ({ metadata, kind }) => kind !== 'Namespace' || places.includes(metadata.name),
  );
}

function fromFolder(flags: SourceFlags, path: string): Source {
  const objects = readObjects(path);
  const times = objects.flatMap(object => timesOf(object)).filter(time => !Number.isNaN(time));
  const logs: Snapshot['logs'] = async (pod, container) => {
    const kept = objects.find(
      o =>
        o.apiVersion === LOG_API &&
        o.metadata.name === `${pod.name}.${container}` &&
        o.metadata.namespace === pod.namespace,
    );
    return typeof kept?.text === 'string' ? kept.text : undefined;
  };
  const now = times.length > 0 ? Math.max(...times) : 0;
  return {
    live: false,
    read: async (_depth, namespace = flags.namespace) => snapshotOf(objects, now, namespace, path, logs),
  };
}

/** Of objects that are all there. */
export const snapshotOf = (
  objects: readonly AnyObject[],
  now: number,
  namespace: string | undefined,
  where: string,
  logs: Snapshot['logs'] = noLogs,
): Snapshot => {
  const hide = hiderOf(objects);
  return {
    view: viewOf(safely(within(objects, namespace), hide), now),
    namespace,
    where,
    notes: [],
    hide,
    logs: maskedLogs(logs, hide),
  };
};

/** Nobody who reads a snapshot sees what programs printed of its Secrets. */
const safely = (objects: readonly AnyObject[], hide: Hide): AnyObject[] =>
  objects.map(object => saidSafely(object, hide));

const maskedLogs =
  (logs: Snapshot['logs'], hide: Hide): Snapshot['logs'] =>
  async (...question) => {
    const text = await logs(...question);
    return text === undefined ? undefined : masking(hide)(text);
  };

/** The last moment that the objects speak of is the moment at which they were taken. */
function timesOf(object: AnyObject): number[] {
  const { conditions = [] } = (object.status ?? {}) as { conditions?: { lastTransitionTime?: string }[] };
  const { eventTime, lastTimestamp } = object as { eventTime?: string; lastTimestamp?: string };
  return [object.metadata.creationTimestamp, eventTime, lastTimestamp, ...conditions.map(c => c.lastTransitionTime)]
    .filter(text => text !== undefined && text !== null)
    .map(text => Date.parse(text));
}

async function fromEmbedded(flags: SourceFlags, given: true | string): Promise<Source> {
  const { embeddedCloud } = await import('../simulation/simulation.ts');
  const after = flags.after === undefined ? undefined : Number(flags.after);
  if (after !== undefined && !(after >= 0)) throw new UsageError('--after must be a number of seconds');
  const where = flags.namespace ?? 'openstack';
  const world = await embeddedCloud(given === true ? undefined : readObjects(given), where, after);
  return {
    live: false,
    read: async (_depth, namespace = flags.allNamespaces ? undefined : where) =>
      snapshotOf(world.objects, world.now, namespace, 'the embedded world'),
  };
}

async function fromCluster(flags: SourceFlags): Promise<Source> {
  const credentials = loadCredentials({ kubeconfig: flags.kubeconfig, context: flags.context, env: process.env });
  const transport = connect(credentials);
  const own = flags.allNamespaces ? undefined : (flags.namespace ?? credentials.namespace);
  const memory = createSecretMemory();
  const memoryOf = (namespace: string | undefined) => (namespace === own ? memory : undefined);
  return {
    live: true,
    read: (depth, namespace = own) => readCluster(transport, namespace, depth, credentials.source, memoryOf(namespace)),
  };
}

/** Beside our own kinds and Secrets. */
async function resourcesFor(depth: Depth): Promise<readonly Resource[]> {
  if (depth === 'workloads') return WORKLOADS;
  if (depth === 'pods') return PODS;
  if (depth !== 'whole') return LOOK;
  const known = new Set([...LOOK, ...KINDS, Secret].map(resourceName));
  return [
    ...LOOK,
    ...(await import('../input/resources.ts')).PLANNED.filter(resource => !known.has(resourceName(resource))),
  ];
}

/**
 * Everything at once; what may not be read is a note, unless nothing of ours can be. With a memory the content of Secrets
 * is read only when it changed, and only in namespaces that hold something of ours.
 */
export async function readCluster(
  transport: Transport,
  namespace: string | undefined,
  depth: Depth,
  where: string,
  memory?: SecretMemory,
): Promise<Snapshot> {
  const client = createClient(transport, realClock);
  const notes: string[] = [];
  const absent = new Set<Resource>();
  const denied: { readonly resource: Resource; readonly note: string }[] = [];
  const listIn = async (
    resource: Resource,
    within: string,
    metadataOnly: boolean,
  ): Promise<AnyObject[] | undefined> => {
    const scope = resource.namespaced ? within : '';
    try {
      return (await client.list(resource, { namespace: scope, metadataOnly })).items;
    } catch (error) {
      if (error instanceof NoAnswer)
        throw new Error(
          `no answer from the API server (${where}): ${error.message}. Is the cluster up, and is this its kubeconfig?`,
        );
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) absent.add(resource);
      else if (error.status === 401) throw new Error(`the API server does not know you (${where}): log in again`);
      else if (error.status === 403 && (resource !== Secret || depth !== 'pods'))
        denied.push({
          resource,
          note: `no permission to list ${resourceName(resource)}${scope ? ` in ${scope}` : ''}: ask for verb list on it`,
        });
      else if (error.status !== 403) notes.push(`could not list ${resourceName(resource)}: ${error.message}`);
      return undefined;
    }
  };
  const listOwn = async (kind: Resource): Promise<AnyObject[]> => (await listIn(kind, namespace ?? '', false)) ?? [];
  const own = Promise.all(KINDS.map(listOwn));
  /** The namespace, and where its objects have their pods of nodes. */
  const spread = async (): Promise<readonly string[]> =>
    namespace === undefined ? [''] : [namespace, ...nodeNamespaces((await own).flat(), namespace)];
  const list = async (resource: Resource): Promise<AnyObject[]> => {
    const places = resource.namespaced ? await spread() : [''];
    return (await Promise.all(places.map(place => listIn(resource, place, false)))).flatMap(found => found ?? []);
  };
  let hide: Hide = text => text;
  const secrets = async (): Promise<readonly AnyObject[]> => {
    let all: readonly AnyObject[];
    if (memory && depth !== 'whole') {
      const reader = {
        names: (within: string) => listIn(Secret, within, true),
        whole: (within: string) => listIn(Secret, within, false),
      };
      const homes = async () => (await own).flat().flatMap(object => object.metadata.namespace ?? []);
      const places = namespace === undefined ? await homes() : await spread();
      all = await memory.look(reader, [...new Set(places)].sort());
      hide = memory.hide;
    } else {
      all = await list(Secret);
      hide = hiderOf(all);
    }
    return depth === 'look' || depth === 'pods' ? all.map(({ data: _data, ...rest }) => rest as AnyObject) : all;
  };
  // For `pods` they only say what must be hidden: who may not read them gets what looks like a secret hidden all the same.
  const needsSecrets = depth !== 'workloads';
  const rest = resourcesFor(depth).then(resources => Promise.all(resources.map(list)));
  const found = (await Promise.all([own, rest, ...(needsSecrets ? [secrets()] : [])])).flat(2);
  const lacking = KINDS.filter(kind => absent.has(kind));
  if (lacking.length === KINDS.length)
    throw new Error(
      `the CRDs of openstack-operator are not in this cluster (${where}): install them with make install`,
    );
  const closed = KINDS.flatMap(kind => denied.find(({ resource }) => resource === kind)?.note ?? []);
  if (closed.length === KINDS.length) throw new Error(`${closed[0]} (and on ${closed.length - 1} more of our kinds)`);
  // Answers come in any order.
  notes.push(...denied.map(({ note }) => note).sort());
  if (lacking.length > 0)
    notes.push(
      `the cluster's CRDs are older than this program: it has no ${lacking.map(({ kind }) => kind).join(', ')}`,
    );
  const objects = safely(within(found, namespace), hide);
  return {
    view: viewOf(objects, client.serverTime()),
    namespace,
    where,
    notes: [...new Set(notes)],
    hide,
    transport,
    logs: maskedLogs(async (pod, container, { previous = false, lines = 10, since, timestamps = false } = {}) => {
      const path = pathOf(Pod, pod.namespace, pod.name, 'log');
      const query = {
        container,
        ...(since === undefined ? { tailLines: String(lines) } : { sinceTime: since }),
        ...(previous && { previous: 'true' }),
        ...(timestamps && { timestamps: 'true' }),
      };
      const answer = await transport.send({ method: 'GET', path, query, accept: '*/*' });
      return answer.status === 200 && typeof answer.body === 'string' ? answer.body : undefined;
    }, hide),
  };
}
