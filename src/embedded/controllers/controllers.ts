import type { KubeObject } from '../../kube/object.ts';
import {
  ConfigMap,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  type Resource,
  resourceName,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
} from '../../kube/resource.ts';
import type { Transport } from '../../kube/transport.ts';
import { type Clock, type Random, sleep } from '../../world/clock.ts';
import { claim } from './claim.ts';
import { collect, emptyNamespace } from './collector.ts';
import { daemonSet } from './daemonset.ts';
import { deployment } from './deployment.ts';
import { Hands } from './hands.ts';
import { job } from './job.ts';
import { type Delays, Kubelet } from './kubelet.ts';
import { type Again, Loop } from './loop.ts';
import { ensureNodes, type NodePlan, nodeLook } from './nodes.ts';
import type { PodObject, WorkloadCondition } from './objects.ts';
import type { Programs } from './program.ts';
import { replicaSet } from './replicaset.ts';
import { resolve } from './resolve.ts';
import { ControllerRevision, statefulSet } from './statefulset.ts';
import { View } from './view.ts';

export interface PretendOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly programs: Programs;
  /** Made at the start unless they exist; three plain ones unless given. */
  readonly nodes?: readonly NodePlan[];
  /** Milliseconds. */
  readonly delays?: Partial<Delays>;
  /** Parallel sets count who is away before they take the next pod, as from Kubernetes 1.37 on; else as before it. */
  readonly setsCount?: boolean;
}

export interface Pretenders {
  /** Resolves when every kind has been listed and the nodes and the default StorageClass exist. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** All processes of the pod die at once (137); the kubelet starts them again. */
  kill(namespace: string, pod: string): void;
  /** The node and its kubelet fall silent: pods on it are not ready, and deleted ones stay until it heals. */
  failNode(name: string): void;
  healNode(name: string): void;
  /** The ready pods behind a host name, as the cluster's network sees it: Service, pod of a headless Service, or IP. */
  resolve(host: string, port: number): readonly PodObject[];
}

/** About what a small cluster takes when images are near. */
const DELAYS: Delays = { pull: 2_000, start: 500, ready: 1_000, job: 2_000, stop: 1_000 };
/** Milliseconds until the nodes are tried again when the server did not answer. */
const AGAIN = 1_000;
const NODES = ['node-0', 'node-1', 'node-2'].map(name => ({ name }));

const extra = (group: string, version: string, kind: string, plural: string): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced: true,
});

/** Besides the kinds that have a look of their own: what may own, be owned, be mounted or fill a namespace. */
const OTHERS = [
  CustomResourceDefinition,
  StorageClass,
  Secret,
  ConfigMap,
  Service,
  ServiceAccount,
  CronJob,
  PodDisruptionBudget,
  ControllerRevision,
  extra('rbac.authorization.k8s.io', 'v1', 'Role', 'roles'),
  extra('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings'),
  extra('networking.k8s.io', 'v1', 'Ingress', 'ingresses'),
  extra('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
];

interface Crd extends KubeObject {
  spec: {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: { name: string; served: boolean; storage: boolean }[];
  };
  status?: { conditions?: WorkloadCondition[] };
}

const isServed = (crd: Crd) =>
  crd.status?.conditions?.some(c => c.type === 'Established' && c.status === 'True') ?? false;

function resourceOfCrd({ spec }: Crd): Resource | undefined {
  const version = (spec.versions.find(v => v.storage && v.served) ?? spec.versions.find(v => v.served))?.name;
  const { kind, plural } = spec.names;
  return version === undefined
    ? undefined
    : { group: spec.group, version, kind, plural, namespaced: spec.scope === 'Namespaced' };
}

/** Simulated workload controllers and kubelet: ordinary clients of whatever API server is behind the transport. */
export function pretend(options: PretendOptions): Pretenders {
  const { transport, clock, random } = options;
  const nodes = options.nodes ?? NODES;
  const view: View = new View(transport, clock, changed);
  const hands = new Hands(transport, view, clock, random);
  const kubelet = new Kubelet(hands, options.programs, { ...DELAYS, ...options.delays });

  const row = <T extends KubeObject>(resource: Resource, look: (object: T) => Promise<Again>) =>
    [resourceName(resource), { resource, look: look as (object: KubeObject) => Promise<Again> }] as const;
  const looks = new Map([
    row(Deployment, d => deployment(hands, d as never)),
    row(ReplicaSet, s => replicaSet(hands, s as never)),
    row(StatefulSet, s => statefulSet(hands, s as never, options.setsCount)),
    row(DaemonSet, s => daemonSet(hands, s as never)),
    row(Job, j => job(hands, j as never)),
    row(PersistentVolumeClaim, c => claim(hands, c as never)),
    row(Namespace, n => emptyNamespace(hands, n)),
    row(Node, n => nodeLook(hands, nodes, n as never, kubelet.isSilent(n.metadata.name))),
    row(Pod, (p: PodObject) => kubelet.look(p)),
  ]);
  const resources = new Map<string, Resource>(OTHERS.map(r => [resourceName(r), r]));
  for (const { resource } of looks.values()) resources.set(resourceName(resource), resource);

  const loop: Loop = new Loop(clock, async key => {
    const [what, kind, namespace, name] = key.split('|') as [string, string, string, string];
    const resource = resources.get(kind);
    const object = resource && view.get(resource, namespace, name);
    if (resource === undefined || object === undefined) return undefined;
    return what === 'gc' ? collect(hands, resource, object) : looks.get(kind)?.look(object);
  });
  const say = (what: 'look' | 'gc', resource: Resource, o: KubeObject) =>
    loop.add([what, resourceName(resource), o.metadata.namespace ?? '', o.metadata.name].join('|'));
  const sayAll = (resource: Resource, which: (o: KubeObject) => boolean = () => true, namespace?: string) => {
    for (const o of view.list(resource, namespace)) if (which(o)) say('look', resource, o);
  };

  const sayOwnedBy = (kind: Resource) => {
    for (const r of resources.values()) {
      for (const o of view.list(r)) {
        if (o.metadata.ownerReferences?.some(ref => view.resourceOf(ref) === kind)) say('gc', r, o);
      }
    }
  };

  function changed(resource: Resource, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const object = (after ?? before)!;
    if (after && looks.has(resourceName(resource))) say('look', resource, after);
    ownersOf(object, before);
    garbage(resource, before, after);
    const { namespace } = object.metadata;
    const home = namespace === undefined ? undefined : view.get(Namespace, '', namespace);
    if (home?.metadata.deletionTimestamp !== undefined && !(before && after)) say('look', Namespace, home);
    neighbours(resource, object, after);
  }

  function ownersOf(object: KubeObject, before: KubeObject | undefined): void {
    for (const ref of [...(object.metadata.ownerReferences ?? []), ...(before?.metadata.ownerReferences ?? [])]) {
      const kind = view.resourceOf(ref);
      const owner = kind && view.get(kind, kind.namespaced ? (object.metadata.namespace ?? '') : '', ref.name);
      if (kind && owner && looks.has(resourceName(kind))) say('look', kind, owner);
      if (kind && owner?.metadata.deletionTimestamp !== undefined) say('gc', kind, owner);
    }
  }

  function garbage(resource: Resource, before: KubeObject | undefined, after: KubeObject | undefined): void {
    if (after === undefined) for (const d of view.dependents(before!)) say('gc', d.resource, d.object);
    else {
      const dying = before?.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined;
      const owners = (o: KubeObject | undefined) => o?.metadata.ownerReferences?.map(r => r.uid).join();
      if (dying) for (const d of view.dependents(after)) say('gc', d.resource, d.object);
      if (dying || owners(before) !== owners(after)) say('gc', resource, after);
    }
  }

  /** Those who wait for something of this kind. */
  function neighbours(resource: Resource, object: KubeObject, after: KubeObject | undefined): void {
    const { namespace } = object.metadata;
    const pending = (p: KubeObject) => ((p as PodObject).status?.phase ?? 'Pending') === 'Pending';
    if (resource === Secret || resource === ConfigMap || resource === PersistentVolumeClaim)
      sayAll(Pod, pending, namespace);
    if (resource === Node) {
      sayAll(
        Pod,
        p => (p as PodObject).spec.nodeName === undefined || (p as PodObject).spec.nodeName === object.metadata.name,
      );
      sayAll(DaemonSet);
    }
    if (resource === StorageClass) sayAll(PersistentVolumeClaim);
    if (resource === ReplicaSet || resource === Pod) {
      const set = (object.metadata.ownerReferences ?? []).find(o => o.kind === 'ReplicaSet');
      const held = set && view.get(ReplicaSet, namespace ?? '', set.name);
      // Recreate waits for the last pod of an old set.
      if (held) ownersOf(held, undefined);
    }
    if (resource === Pod && after === undefined) {
      kubelet.forget(object);
      sayAll(PersistentVolumeClaim, c => c.metadata.deletionTimestamp !== undefined, namespace);
    }
    if (resource === CustomResourceDefinition) {
      const kind = resourceOfCrd(object as Crd);
      if (kind === undefined) return;
      resources.set(resourceName(kind), kind);
      if (after === undefined) view.unfollow(kind);
      // An owner that came and went before the first list was never seen to go.
      else if (isServed(after as Crd)) void view.follow(kind).then(() => sayOwnedBy(kind));
    }
  }

  const touch = (name: string) => {
    const node = view.get(Node, '', name);
    if (node === undefined) throw new Error(`no node ${name}`);
    say('look', Node, node);
    sayAll(Pod, p => (p as PodObject).spec.nodeName === name);
  };
  return {
    async start() {
      await Promise.all([...resources.values()].map(r => view.follow(r)));
      await Promise.all(view.list<Crd>(CustomResourceDefinition).flatMap(c => view.followed(resourceOfCrd(c))));
      loop.start();
      while (!(await ensureNodes(hands, nodes))) await sleep(clock, AGAIN, undefined, { label: 'nodes again' });
    },
    async stop() {
      loop.stop();
      view.stop();
    },
    kill(namespace, name) {
      const pod = view.get<PodObject>(Pod, namespace, name);
      if (pod === undefined) throw new Error(`no pod ${namespace}/${name}`);
      kubelet.kill(pod);
      say('look', Pod, pod);
    },
    failNode(name) {
      kubelet.silence(name);
      touch(name);
    },
    healNode(name) {
      kubelet.heal(name);
      touch(name);
    },
    resolve: (host, port) => resolve(view, host, port),
  };
}
