import type { PodSpec, PodStatus } from 'kubernetes-types/core/v1.d.ts';
import type { NetworkPolicyIngressRule, NetworkPolicyPeer } from 'kubernetes-types/networking/v1.d.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { AnyKind } from '../../../api/schema/kind.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { NetworkPolicy, Pod, type Resource, StatefulSet } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { OWNER_NAMESPACE_LABEL } from '../../runtime/plan/names.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { DATABASE_FIELDS } from '../users.ts';

/*
 * Who may talk to whom, made from the links that kinds have as fields: an object that can name a database may connect to
 * one, so a new service is admitted where it belongs without a line here. Only what comes in is filtered. Policies add
 * up: a user admits more with one of his own.
 */

/** Ports of an object's pods, and who may come in by them. */
export interface Door {
  readonly ports: readonly number[];
  readonly from: 'everybody' | readonly Guest[];
}

/**
 * The operator; pods of kinds that can be linked by these fields; those of them that are on the network of their node,
 * and so have its address and no labels that a policy could see.
 */
type Guest = 'operator' | Link | { readonly nodesOf: Link };
type Link = keyof typeof LINKS;

/** Fields that make a kind a client of a backend. */
const LINKS = {
  database: DATABASE_FIELDS,
  cache: ['memcachedInstance', 'memcachedServers'],
  network: ['ovnInstance'],
} as const;

const KIND_LABEL = 'app.kubernetes.io/name';
/** What operators, and the Jobs that stand for one, are known by. */
export const OPERATOR = 'openstack-operator';
const INSTANCE_LABEL = 'app.kubernetes.io/instance';

const kindsWith = (link: Link): readonly AnyKind[] =>
  KINDS.filter(kind => LINKS[link].some(field => kind.specFields.includes(field)));
const labelOf = ({ kind }: AnyKind): string => kind.toLowerCase();

/** Clients that may have pods in a namespace of nodes: a plan must read them. */
export const clientsOnNodes = (link: Link): readonly AnyKind[] =>
  kindsWith(link).filter(kind => kind.specFields.includes('nodeNamespace'));

/** Where they have them, beside this namespace. */
function nodeNamespaces<O extends Managed>(cx: Cx<O>, link: Link): readonly string[] {
  const named = clientsOnNodes(link)
    .flatMap(kind => cx.wishes(kind))
    .map(({ spec }) => (spec as { readonly nodeNamespace?: string }).nodeNamespace ?? '');
  return [...new Set(named)].filter(name => name !== '' && name !== cx.namespace).sort();
}

const isNamespace = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });

/** Agents are the only clients of a network in a namespace of nodes, and open no connection to it. */
function clientsOf<O extends Managed>(cx: Cx<O>, link: Link): NetworkPolicyPeer[] {
  const values = kindsWith(link).map(labelOf).sort();
  const here = { podSelector: { matchExpressions: [{ key: KIND_LABEL, operator: 'In', values }] } };
  const elsewhere = link === 'network' ? [] : nodeNamespaces(cx, link);
  return [here, ...elsewhere.map(name => ({ namespaceSelector: isNamespace(name), ...here }))];
}

/** It makes databases, users and vhosts. */
const operatorOf = (env: Cx<Managed>['env']): NetworkPolicyPeer => ({
  namespaceSelector: isNamespace(env.POD_NAMESPACE ?? 'openstack-operator-system'),
  podSelector: { matchLabels: { [KIND_LABEL]: OPERATOR } },
});

/** From their pods, and not from Nodes: only nodes with such a pod get in, and it follows the pod. */
function nodesOf<O extends Managed>(cx: Cx<O>, link: Link): NetworkPolicyPeer[] {
  const pods = [
    ...kindsWith(link).flatMap(kind => cx.list(Pod, { [KIND_LABEL]: labelOf(kind) })),
    ...nodeNamespaces(cx, link).flatMap(namespace => podsAt(cx, namespace, clientsOnNodes(link))),
  ];
  return [...new Set(pods.flatMap(nodeAddresses))]
    .sort()
    .map(ip => ({ ipBlock: { cidr: `${ip}/${ip.includes(':') ? 128 : 32}` } }));
}

/**
 * Of objects of this namespace only: anybody may name any namespace. Pods do not say whose they are, what made them does.
 * Those of DaemonSets are agents, which open none of these connections.
 */
function podsAt<O extends Managed>(
  cx: Cx<O>,
  namespace: string,
  kinds: readonly AnyKind[],
): readonly DeepReadonly<AnyObject>[] {
  const there = cx.at(namespace);
  const isOurs = ({ metadata }: DeepReadonly<AnyObject>): boolean => {
    const maker = metadata.ownerReferences?.find(ref => ref.controller && ref.kind === StatefulSet.kind);
    const set = maker && there.get(StatefulSet, maker.name);
    return set?.metadata.uid === maker?.uid && set?.metadata.labels?.[OWNER_NAMESPACE_LABEL] === cx.namespace;
  };
  return kinds.flatMap(kind => there.list(Pod, { [KIND_LABEL]: labelOf(kind) })).filter(isOurs);
}

function nodeAddresses({ spec, status }: DeepReadonly<AnyObject>): readonly string[] {
  const { podIP, podIPs, phase } = (status ?? {}) as PodStatus;
  if (!(spec as PodSpec).hostNetwork || phase === 'Succeeded' || phase === 'Failed') return [];
  return podIPs?.map(({ ip }) => ip ?? '').filter(ip => ip !== '') ?? (podIP ? [podIP] : []);
}

function peersOf<O extends Managed>(cx: Cx<O>, guest: Guest): readonly NetworkPolicyPeer[] {
  if (guest === 'operator') return [operatorOf(cx.env)];
  return typeof guest === 'string' ? clientsOf(cx, guest) : nodesOf(cx, guest.nodesOf);
}

function rulesOf<O extends Managed>(cx: Cx<O>, { ports: numbers, from }: Door): NetworkPolicyIngressRule[] {
  if (numbers.length === 0) return [];
  const ports = [...numbers].sort((a, b) => a - b).map(port => ({ port, protocol: 'TCP' }));
  if (from === 'everybody') return [{ ports }];
  const peers = from.flatMap(guest => peersOf(cx, guest));
  // Kubernetes takes an empty list for everybody.
  return peers.length > 0 ? [{ ports, from: peers }] : [];
}

/** Pods of these objects admit nothing but this, and each other. */
export async function admit<O extends Managed>(
  cx: Cx<O>,
  name: string,
  instances: readonly string[],
  doors: readonly Door[],
  kind: string,
): Promise<void> {
  const chosen = {
    matchLabels: { [KIND_LABEL]: kind.toLowerCase() },
    matchExpressions: [{ key: INSTANCE_LABEL, operator: 'In', values: [...instances] }],
  };
  const ingress = [{ from: [{ podSelector: chosen }] }, ...doors.flatMap(door => rulesOf(cx, door))];
  await cx.apply(NetworkPolicy, {
    metadata: { name },
    spec: { podSelector: chosen, policyTypes: ['Ingress'], ingress },
  });
}

export const isolated = (object: DeepReadonly<Managed>): boolean =>
  (object.spec as { networkPolicy?: { enabled?: boolean } }).networkPolicy?.enabled === true;

/** NetworkPolicyReady of an object whose pods are all its own. */
export const networkPolicyRow = <O extends Managed>(
  doors: (cx: Cx<O>) => readonly Door[],
  /** Where doors look for who may come in. */
  reads: readonly Resource[] = [],
): Row<O, unknown> =>
  rowsOf<O>()('NetworkPolicyReady', {
    when: isolated,
    manages: [NetworkPolicy],
    reads,
    run: cx => {
      const { kind } = cx.object;
      return admit(cx, `${kind.toLowerCase()}-${cx.name}`, [cx.name], doors(cx), kind);
    },
  });

/** What every API does: a client proves by a token who it is, and hosts and ingresses have no labels. */
export const open = (ports: readonly number[]): Door => ({ ports, from: 'everybody' });
