import type { Container, EnvVar, PodSpec, Probe } from 'kubernetes-types/core/v1.d.ts';
import type { Release } from '../../../api/blocks/common.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { DaemonSet, Deployment, PodDisruptionBudget, type Resource, StatefulSet } from '../../kube/resource.ts';
import type { Acts, Body, Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { wait } from '../../runtime/plan/unmet.ts';
import type { Config, ConfigFile } from '../config/config.ts';
import { type IMAGES, imageOf } from '../images.ts';
import { type Place, partOf, podLabels, workloadName } from '../names.ts';
import { has, onNodes } from './node.ts';
import { overrideOf, type Peer, peersOf, withoutService } from './override.ts';
import { type PodBlock, type Process, type ProcessVolume, podTemplate, type Requests, UNTIL_HEARD } from './pod.ts';
import { claimTemplate } from './storage.ts';
import { type Asked, type Uwsgi, uwsgiArgv, uwsgiFiles, uwsgiLoaded, uwsgiProbes } from './uwsgi.ts';

/** One kind of pods of a service: a line of its table. `S` is the spec of the service's kind. */
export interface Workload<S> {
  /**
   * Deployment, unless its processes are known by their host names in the database or on the bus: then StatefulSet,
   * or each restart leaves a dead row behind (openstack-facts 1.2).
   */
  readonly as?: Resource;
  readonly argv: readonly string[];
  /** Kolla's name of its image, where it is not the service's. */
  readonly image?: string;
  /** Field of the spec whose settings win over the object's for these pods, or an entry of a list in it. */
  readonly template?: (keyof S & string) | `${keyof S & string}.${string}`;
  /** Number of pods where it does not follow spec.replicas. */
  readonly replicas?: number;
  readonly when?: (spec: DeepReadonly<S>) => boolean;
  /** Exposed by a Service `<object>-<component>`. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Each pod gets a name that others can call, behind a headless Service `<object>-<component>-members`. */
  readonly members?: boolean;
  readonly startup?: Probe;
  readonly readiness?: Probe;
  readonly liveness?: Probe;
  readonly env?: (place: Place, spec: DeepReadonly<S>) => readonly EnvVar[];
  readonly volumes?: (place: Place, spec: DeepReadonly<S>) => readonly ProcessVolume[];
  readonly scratch?: readonly string[];
  readonly fileMounts?: readonly string[];
  /** Where each pod mounts a volume of its own, which outlives it. */
  readonly data?: string;
  readonly security?: Process['security'] | ((spec: DeepReadonly<S>) => Process['security']);
  /** Started without Kolla also under its profile. */
  readonly direct?: boolean;
  readonly requests?: Requests;
  readonly drain?: Process['drain'];
  readonly graceSeconds?: number;
  /** Fields of the pod itself, e.g. hostNetwork. */
  readonly pod?: Partial<PodSpec>;
  /** Files that only these pods read, beside the service's config. */
  readonly files?: readonly ConfigFile[];
  /**
   * Reads its own files only: an edit of the service's config leaves its pods alone. `but-for-users`: the user's text
   * still reaches it; what it is spared is the service's own config and the logins in it.
   */
  readonly bare?: boolean | 'but-for-users';
  /** A server: the same with the certificate of its object. */
  readonly overTls?: () => Workload<S>;
  /** An API: the same, which also answers under a path. */
  readonly under?: (path: string) => Workload<S>;
  /** Has rights on its node, which PodSecurity `baseline` refuses: its pods live in spec.nodeNamespace. */
  readonly onNode?: boolean | ((spec: DeepReadonly<S>) => boolean);
  /** DaemonSet: the label of the nodes it runs on, whatever its value. */
  readonly nodes?: string;
  /** DaemonSet: the object's own nodeSelector is about these pods, as it has no others. */
  readonly placed?: boolean;
  /** DaemonSet: pods are replaced by people only, because guests or traffic depend on them. */
  readonly byHand?: boolean;
}

/** An API under uwsgi. */
export function uwsgi<S>(app: Uwsgi & Asked, more: Partial<Workload<S>> = {}): Workload<S> {
  return {
    overTls: () => uwsgi({ ...app, tls: true }, more),
    under: path => uwsgi({ ...app, under: path }, more),
    argv: uwsgiArgv(app.service),
    files: uwsgiFiles(app),
    ports: { api: app.port },
    ...uwsgiProbes(app),
    graceSeconds: 90,
    drain: { seconds: UNTIL_HEARD, until: uwsgiLoaded(app) },
    requests: { cpu: '50m', memory: '256Mi' },
    ...more,
  };
}

/** A process that talks over the bus and is known there by its host name. */
export const daemon = <S>(argv: string | readonly string[], more: Partial<Workload<S>> = {}): Workload<S> => ({
  as: StatefulSet,
  argv: typeof argv === 'string' ? [argv] : argv,
  graceSeconds: 90,
  requests: { cpu: '20m', memory: '192Mi' },
  ...more,
});

/** What workloads read of a spec, whatever its kind. */
export interface PodsSpec extends PodBlock {
  readonly release: Release;
  readonly replicas: number;
  readonly image?: string;
  readonly images?: Readonly<Record<string, string>>;
  readonly imageRegistry?: string;
}
type Template = Partial<Omit<PodsSpec, 'podProfile' | 'release' | (typeof IMAGES)[number]>>;

interface Owner {
  readonly name: string;
  readonly image: string;
  readonly user: number;
}

const specOf = <O extends Managed>(cx: Cx<O>): PodsSpec => cx.spec as unknown as PodsSpec;
const templateOf = <O extends Managed, S>(cx: Cx<O>, workload: Workload<S>): Template =>
  (workload.template && partOf<Template>(cx.spec, workload.template)) || {};

/** Settings of pods that a template may set for its own. */
export const BLOCK = [
  'resources',
  'nodeSelector',
  'tolerations',
  'topologySpread',
  'priorityClassName',
  'extraMounts',
] as const satisfies readonly (keyof PodBlock)[];

const PLACE: readonly string[] = ['nodeSelector', 'topologySpread'];

/** The pod settings of a workload: its template's, else the object's. */
export function blockOf<O extends Managed, S>(cx: Cx<O>, workload: Workload<S>): PodBlock {
  const [spec, template] = [specOf(cx), templateOf(cx, workload)];
  // Where the pods of nodes run is a matter of the nodes; the object's own selector is about all the others.
  const fields = workload.as === DaemonSet && !workload.placed ? BLOCK.filter(field => !PLACE.includes(field)) : BLOCK;
  const inherited = Object.fromEntries(fields.map(field => [field, spec[field]]));
  const set = BLOCK.map(field => [field, template[field] ?? inherited[field]]).filter(
    ([, value]) => value !== undefined,
  );
  const { podProfile, imagePullSecrets } = spec;
  return { podProfile, ...(imagePullSecrets && { imagePullSecrets }), ...Object.fromEntries(set) };
}

export const replicasOf = <O extends Managed, S>(cx: Cx<O>, workload: Workload<S>): number =>
  templateOf(cx, workload).replicas ?? workload.replicas ?? specOf(cx).replicas;

export function processOf<O extends Managed, S>(
  cx: Cx<O>,
  owner: Owner,
  component: string,
  workload: Workload<S>,
  /** Mounts that all processes of the object have. */
  more: readonly ProcessVolume[] = [],
): Process {
  const volumes = [...(workload.volumes?.(cx, cx.spec as DeepReadonly<S>) ?? []), ...more];
  const { release, images, imageRegistry, image } = specOf(cx);
  const name = workload.image ?? owner.image;
  // The object's own image is that of its main container; another one needs its template or the map.
  const own = templateOf(cx, workload).image ?? (name === owner.image ? image : undefined);
  const { security: rights } = workload;
  const security = typeof rights === 'function' ? rights(cx.spec as DeepReadonly<S>) : rights;
  return {
    name: `${owner.name}-${component}`,
    image: imageOf(name, { release, images, imageRegistry, image: own }, cx.env),
    user: owner.user,
    userName: owner.name,
    argv: workload.argv,
    ...(workload.ports && { ports: workload.ports }),
    ...(workload.startup && { startup: workload.startup }),
    ...(workload.readiness && { readiness: workload.readiness }),
    ...(workload.liveness && { liveness: workload.liveness }),
    ...(workload.env && { env: workload.env(cx, cx.spec as DeepReadonly<S>) }),
    ...((workload.volumes || volumes.length > 0) && { volumes }),
    ...(workload.scratch && { scratch: workload.scratch }),
    ...(workload.fileMounts && { fileMounts: workload.fileMounts }),
    ...(workload.data && { mounts: [{ name: 'data', mountPath: workload.data }] }),
    ...(security && { security }),
    ...(workload.direct && { direct: true }),
    ...(workload.requests && { requests: workload.requests }),
    ...(workload.drain && { drain: workload.drain }),
  };
}

/** The namespace of its pods. */
export function homeOf<O extends Managed, S>(cx: Cx<O>, { onNode = false }: Workload<S>): Acts {
  const wanted = typeof onNode === 'function' ? onNode(cx.spec as DeepReadonly<S>) : onNode;
  return wanted ? cx.nodes : cx;
}

/** A node that is drained takes one pod at a time. One alone gets none: it could never be moved (openstack-facts 27). */
export async function budget(
  cx: Pick<Acts, 'apply'>,
  name: string,
  matchLabels: Readonly<Record<string, string>>,
  replicas: number,
): Promise<void> {
  if (replicas < 2) return;
  await cx.apply(PodDisruptionBudget, { metadata: { name }, spec: { maxUnavailable: 1, selector: { matchLabels } } });
}

/** The pods of one component, and all that they are made from. */
export interface Pods<S> {
  readonly component: string;
  /** Where it does not follow from the component. */
  readonly name?: string;
  readonly workload: Workload<S>;
  readonly process: Process | readonly Process[];
  readonly config: Config;
  /** All kinds of pods that the object has. */
  readonly peers: readonly Peer[];
  readonly initContainers?: readonly Container[];
  /** As an earlier version made them: kept where pods run so, until they are replaced for another reason. */
  readonly earlier?: Process;
}

export const nameOf = <O extends Managed>(
  cx: Cx<O>,
  { component, name }: Pick<Pods<never>, 'component' | 'name'>,
): string => name ?? workloadName(cx.name, component);

interface Counts {
  readonly wanted: number;
  readonly ready: number;
}

/** All at once; the numbers of their pods. */
export async function runPods<O extends Managed, S>(cx: Cx<O>, pods: readonly Pods<S>[]): Promise<Counts> {
  const counts = await cx.all(pods.map(each => runWorkload(cx, each)));
  const sum = (of: keyof Counts) => counts.reduce((total, count) => total + count[of], 0);
  return { wanted: sum('wanted'), ready: sum('ready') };
}

/** Applies it, and waits until its pods run what it says. */
export async function runWorkload<O extends Managed, S>(cx: Cx<O>, pods: Pods<S>): Promise<Counts> {
  const { component, workload, earlier } = pods;
  const resource = workload.as ?? Deployment;
  const name = nameOf(cx, pods);
  const labels = podLabels(cx.object.kind, cx.name, component);
  const replicas = replicasOf(cx, workload);
  const unserved = workload.ports ? undefined : overrideOf(cx, 'service', workload.template);
  if (unserved?.template !== undefined) throw withoutService(unserved);
  const home = homeOf(cx, workload);
  if (resource !== DaemonSet) await budget(home, name, labels, replicas);
  const live = await home.workload(
    resource,
    bodyOf(cx, pods),
    earlier && bodyOf(cx, { ...pods, process: earlier, initContainers: [] }),
  );
  const status = live.status as { readyReplicas?: number; numberReady?: number; desiredNumberScheduled?: number };
  if (workload.nodes && status.desiredNumberScheduled === 0)
    throw wait({
      reason: 'NoNodes',
      label: workload.nodes,
      what: `${live.kind} ${name} finds no node with label ${workload.nodes}`,
      who: 'User',
      next: `label one: kubectl label node <name> ${workload.nodes}=`,
    });
  return {
    wanted: resource === DaemonSet ? (status.desiredNumberScheduled ?? 0) : replicas,
    ready: status.readyReplicas ?? status.numberReady ?? 0,
  };
}

function bodyOf<O extends Managed, S>(cx: Cx<O>, pods: Pods<S>): Body {
  const { component, workload, process, config, peers, initContainers } = pods;
  const resource = workload.as ?? Deployment;
  const name = nameOf(cx, pods);
  const labels = podLabels(cx.object.kind, cx.name, component);
  const override = overrideOf(cx, 'podTemplate', workload.template);
  return {
    metadata: { name },
    spec: {
      ...(resource !== DaemonSet && { replicas: replicasOf(cx, workload) }),
      ...(resource === StatefulSet && { serviceName: `${name}-members`, podManagementPolicy: 'Parallel' }),
      ...(workload.byHand && { updateStrategy: { type: 'OnDelete' } }),
      revisionHistoryLimit: 3,
      selector: { matchLabels: labels },
      template: podTemplate(blockOf(cx, workload), process, config, labels, {
        ...(workload.graceSeconds !== undefined && { graceSeconds: workload.graceSeconds }),
        pod: { ...(workload.nodes && { affinity: onNodes([has(workload.nodes)]) }), ...workload.pod },
        ...(initContainers && { initContainers }),
        ...(override && { override, peers: peersOf(override, peers) }),
      }),
      ...(workload.data && { volumeClaimTemplates: [claimTemplate(cx, labels)] }),
    },
  };
}
