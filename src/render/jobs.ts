import type { NetworkPolicyPeer, NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';
import type { Call } from '../cloud/calls.ts';
import { MARK, markOf } from '../cloud/ownership.ts';
import type { BusAddress, IdentityAddress, Sql, SqlAddress } from '../cloud/ports.ts';
import { accountOf, alterUser, createDatabaseOnce, createUser, grantAll, scopeOf } from '../cloud/statements.ts';
import type { AnyObject } from '../kube/object.ts';
import { shortHash } from '../runtime/plan/canonical.ts';
import { keyedHash } from '../runtime/plan/keyed.ts';
import { HASH_KEY_SECRET } from '../runtime/plan/names.ts';
import { OPERATOR } from '../services/exposure/network.ts';
import { type ImageChoice, imageOf } from '../services/images.ts';
import { podLabels } from '../services/names.ts';
import { type PodBlock, podSpec } from '../services/pods/pod.ts';
import { optionFile } from '../world/quote/option-file.ts';
import { urlHost } from '../world/quote/url.ts';
import { ENSURE } from './ensure.ts';

/**
 * The calls of rows to MariaDB, RabbitMQ and Keystone as Jobs: what the operator did in the embedded world is what a
 * cluster without it has to do. There is no other list of databases, users and endpoints than the rows themselves.
 */

/** What does the work, by port. */
const TOOLS = {
  sql: { step: 'database', image: 'mariadb-server' },
  bus: { step: 'message-bus', image: 'rabbitmq' },
  identity: { step: 'identity', image: 'keystone' },
} as const;

const COMPONENT_LABEL = 'app.kubernetes.io/component';

/** The folder in which a Job finds what it has to do. */
const FOLDER = '/effects';

/**
 * `kubectl apply` knows no order, so each Job retries until what it needs exists: every one is safe to run twice
 * (rule 10). Pulling images and the first start of a database take minutes on a slow machine; half an hour is not slow.
 */
const PATIENCE_S = 1800;
const PAUSE_S = 5;
/** The last stop, also for a program that never gives up by itself: twice the patience and the longest of our Jobs. */
const DEADLINE_S = 2 * PATIENCE_S;
/** For pods that are lost. */
const LOST_PODS = 6;
export const RETRY = [
  'start=$(date +%s)',
  'until "$@"; do',
  `  if [ $(($(date +%s) - start)) -ge ${PATIENCE_S} ]; then echo "gave up after ${PATIENCE_S} s" >&2; exit 1; fi`,
  `  sleep ${PAUSE_S}`,
  'done',
].join('\n');

/** A Job of the operator's that does not count on what it needs being there. */
export function patient(job: AnyObject): AnyObject {
  const spec = job.spec as { template: { spec: { containers: { command?: readonly string[] }[] } } };
  const waiting = {
    ...spec,
    backoffLimit: LOST_PODS,
    activeDeadlineSeconds: DEADLINE_S,
    template: {
      ...spec.template,
      spec: {
        ...spec.template.spec,
        containers: spec.template.spec.containers.map(container => ({
          ...container,
          command: retried(container.command ?? []),
        })),
      },
    },
  };
  // A Job can't be changed. Its name here follows all of it: rendering again gives another Job instead of a refused update.
  const name = `${job.metadata.name.replace(/-[0-9a-f]{8}$/, '')}-${shortHash(waiting)}`;
  return { ...job, metadata: { ...job.metadata, name }, spec: waiting };
}

/** `dumb-init --single-child -- ...` stays in front: it forwards the signal that ends a pod. */
function retried(command: readonly string[]): string[] {
  const init = command[0] === 'dumb-init' ? command.indexOf('--') + 1 : 0;
  return [...command.slice(0, init), 'sh', '-c', RETRY, 'retry', ...command.slice(init)];
}

/**
 * A NetworkPolicy for a cluster without the operator: where it would be admitted, the Jobs that do its work are. Addresses
 * of nodes are those of the embedded cluster, so they are left out.
 */
export function policyForJobs(policy: AnyObject): AnyObject {
  const spec = policy.spec as NetworkPolicySpec;
  const jobs: NetworkPolicyPeer = {
    podSelector: {
      matchExpressions: [
        { key: COMPONENT_LABEL, operator: 'In', values: Object.values(TOOLS).map(({ step }) => step) },
      ],
    },
  };
  const isOperator = ({ podSelector }: NetworkPolicyPeer): boolean =>
    Object.values(podSelector?.matchLabels ?? {}).includes(OPERATOR);
  const ingress = spec.ingress?.flatMap(rule => {
    if (rule.from === undefined) return [rule];
    const from = rule.from.filter(peer => !peer.ipBlock).map(peer => (isOperator(peer) ? jobs : peer));
    // Kubernetes takes an empty list for everybody.
    return from.length > 0 ? [{ ...rule, from }] : [];
  });
  return { ...policy, spec: { ...spec, ...(ingress && { ingress }) } };
}

interface EffectJob {
  /** `Keystone keystone` */
  readonly by: string;
  /** A Secret and the Job that reads it. */
  readonly objects: readonly [AnyObject, AnyObject];
}

interface Surroundings {
  readonly namespace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Everything that is in the embedded cluster. */
  readonly objects: readonly AnyObject[];
}

/** What only somebody who stays can do at the right time; what a server keeps of it stands in its files. */
const OF_A_RUNNING_SERVER = ['ensureCertificate', 'ensureSecureTransport'];

/** One Job for each object and server that it asked something of. */
export function effectJobs(calls: readonly Call[], around: Surroundings): readonly EffectJob[] {
  const groups = new Map<string, Call[]>();
  for (const call of calls.filter(({ method }) => !OF_A_RUNNING_SERVER.includes(method))) {
    const key = `${call.by} ${call.port} ${call.port === 'sql' ? `${call.address.host}:${call.address.port}` : call.address.url}`;
    groups.set(key, [...(groups.get(key) ?? []), call]);
  }
  return [...groups.values()].map(group => ({ by: group[0]!.by, objects: jobOf([...group].sort(byOrder), around) }));
}

/** What others stand on comes first; else by name: rows run side by side, and who asked first must not show in a hash. */
const ORDER = ['ensureDatabase', 'ensureVhost', 'ensureProject', 'ensureRole', 'ensureDomain', 'ensureUser'];
const rankOf = ({ method }: Call): number => (ORDER.includes(method) ? ORDER.indexOf(method) : ORDER.length);
const textOf = ({ method, args }: Call): string => JSON.stringify([method, args]);
const byOrder = (a: Call, b: Call): number => rankOf(a) - rankOf(b) || (textOf(a) < textOf(b) ? -1 : 1);

function jobOf(calls: readonly Call[], around: Surroundings): readonly [AnyObject, AnyObject] {
  const { by, port, address } = calls[0] as Call;
  const [kind = '', object = ''] = by.split(' ');
  const { step, image } = TOOLS[port];
  const files = port === 'sql' ? sqlFiles(address, calls) : httpFiles(port, address, calls);
  const run =
    port === 'sql'
      ? ['sh', '-c', `exec mariadb --defaults-extra-file=${FOLDER}/client.cnf < ${FOLDER}/setup.sql`]
      : ['python3', `${FOLDER}/ensure.py`];
  const host = port === 'sql' ? address.host : new URL(address.url).hostname;
  const server = serverAt(host, around);
  const block = server.spec as PodBlock & ImageChoice;
  const labels = podLabels(kind, object, step);
  const name = `${object}-${step}-${hashOfFiles(files, around)}`;
  const process = {
    name: step,
    image: imageOf(image, block, around.env),
    argv: ['sh', '-c', RETRY, 'retry', ...run],
    user: NOBODY,
    userName: 'nobody',
    direct: true,
  };
  const config = { secret: name, hash: '', files: Object.keys(files).map(key => ({ key, path: `${FOLDER}/${key}` })) };
  const metadata = {
    name,
    namespace: around.namespace,
    labels: { ...labels, 'app.kubernetes.io/part-of': 'openstack' },
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true, data: encoded(files) },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: {
        backoffLimit: LOST_PODS,
        activeDeadlineSeconds: DEADLINE_S,
        template: {
          metadata: { labels },
          spec: { ...podSpec(block, process, config, labels), restartPolicy: 'Never' },
        },
      },
    },
  ];
}

/** The files hold passwords: with the key of the namespace, as the operator names what holds secrets. */
function hashOfFiles(files: Readonly<Record<string, string>>, { objects }: Surroundings): string {
  const secret = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === HASH_KEY_SECRET);
  const { key } = (secret?.data ?? {}) as { readonly key?: string };
  if (key === undefined) throw new Error(`no Secret ${HASH_KEY_SECRET} in the rendered cloud`);
  return keyedHash({ id: '', key: Buffer.from(key, 'base64').toString() }, files).slice(0, 8);
}

const encoded = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));

/** It reads one Secret and opens one connection: it need not be anybody. */
const NOBODY = 65534;

/** The object of ours that is the server, or stands for one outside: it knows image, release and where pods may run. */
function serverAt(host: string, { objects }: Surroundings): AnyObject {
  const found = objects.find(({ kind, metadata: { name }, spec }) => {
    const outside = (spec as { external?: { hostname?: string; managementURL?: string } } | undefined)?.external;
    if (outside) return outside.hostname === host || outside.managementURL?.includes(`//${host}`);
    const service = { MariaDB: name, RabbitMQ: name, Keystone: `${name}-api` }[kind];
    return service !== undefined && host.startsWith(`${service}.`);
  });
  if (found === undefined) throw new Error(`no object stands for the server ${host}`);
  return found;
}

function sqlFiles(at: SqlAddress, calls: readonly Call[]): Record<string, string> {
  const client = [
    '[client]',
    `host=${urlHost(at.host).replace(/^\[(.*)\]$/, '$1')}`,
    `port=${at.port}`,
    `user=${optionFile(at.user)}`,
    `password=${optionFile(at.password)}`,
    // As the operator connects: in plain unless there is a CA. Newer clients would insist on TLS.
    ...(at.ca === undefined ? ['skip-ssl'] : [`ssl-ca=${FOLDER}/ca.crt`, 'ssl-verify-server-cert']),
  ];
  const statements = calls.flatMap(({ method, args }): string[] => {
    if (method === 'ensureDatabase') {
      const [name, { owner }, users] = args as Parameters<Sql['ensureDatabase']>;
      return [createDatabaseOnce(name, markOf(owner, users))];
    }
    if (method !== 'ensureUser') throw new Error(`no statement stands for ${method}`);
    const [user, password, databases] = args as [string, string, readonly string[]];
    const grants = databases.map(database => grantAll(scopeOf(database), accountOf(user)));
    return [createUser(user, password), alterUser(user, password), ...grants];
  });
  return {
    'client.cnf': `${client.join('\n')}\n`,
    'setup.sql': `${statements.join(';\n')};\n`,
    ...(at.ca !== undefined && { 'ca.crt': at.ca }),
  };
}

function httpFiles(
  port: 'bus' | 'identity',
  at: BusAddress | IdentityAddress,
  calls: readonly Call[],
): Record<string, string> {
  const steps = calls.map(({ method, args }) => ({ method, what: whatOf(args[0]), args }));
  return { 'effects.json': `${JSON.stringify({ port, at, mark: MARK, steps }, null, 2)}\n`, 'ensure.py': ENSURE };
}

const whatOf = (first: unknown): string => (typeof first === 'string' ? first : (first as { name: string }).name);
