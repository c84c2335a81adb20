import type { NetworkPolicyIngressRule, NetworkPolicyPeer } from 'kubernetes-types/networking/v1.d.ts';
import { KINDS } from '../../api/kinds.ts';
import type { DeepReadonly } from '../kube/object.ts';
import { NetworkPolicy } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../runtime/plan/row.ts';
import { DATABASE_FIELDS } from './users.ts';

/*
 * Who may talk to whom, made from the links that kinds have as fields: whoever can be linked to a database may connect to
 * one, so a new service is admitted where it belongs without a line here. Only what comes in is filtered. Policies add
 * up: a user admits more with one of his own.
 */

/** Ports of an object's pods, and who may come in by them. */
export interface Door {
  readonly ports: readonly number[];
  readonly from: 'everybody' | { readonly clients: keyof typeof LINKS } | 'operator';
}

/** Fields that make a kind a client of a backend. */
const LINKS = {
  database: DATABASE_FIELDS,
  cache: ['memcachedInstance', 'memcachedServers'],
} as const;

const KIND_LABEL = 'app.kubernetes.io/name';
const INSTANCE_LABEL = 'app.kubernetes.io/instance';

const clientsOf = (link: keyof typeof LINKS): NetworkPolicyPeer => ({
  podSelector: {
    matchExpressions: [
      {
        key: KIND_LABEL,
        operator: 'In',
        values: KINDS.filter(kind => LINKS[link].some(field => kind.specFields.includes(field)))
          .map(kind => kind.kind.toLowerCase())
          .sort(),
      },
    ],
  },
});

/** It makes databases and users, and asks each service whether it answers. */
const operatorOf = (env: Cx<Managed>['env']): NetworkPolicyPeer => ({
  namespaceSelector: {
    matchLabels: { 'kubernetes.io/metadata.name': env.POD_NAMESPACE ?? 'openstack-operator-system' },
  },
  podSelector: { matchLabels: { [KIND_LABEL]: 'openstack-operator' } },
});

function ruleOf(door: Door, env: Cx<Managed>['env']): NetworkPolicyIngressRule {
  const ports = [...door.ports].sort((a, b) => a - b).map(port => ({ port, protocol: 'TCP' }));
  if (door.from === 'everybody') return { ports };
  const operator = operatorOf(env);
  return { ports, from: door.from === 'operator' ? [operator] : [clientsOf(door.from.clients), operator] };
}

/** Pods of these objects admit nothing but this, and each other. */
export async function admit<O extends Managed>(
  cx: Cx<O>,
  name: string,
  instances: readonly string[],
  doors: readonly Door[],
  kind?: string,
): Promise<void> {
  const chosen = {
    ...(kind !== undefined && { matchLabels: { [KIND_LABEL]: kind.toLowerCase() } }),
    matchExpressions: [{ key: INSTANCE_LABEL, operator: 'In', values: [...instances] }],
  };
  const ingress = [
    { from: [{ podSelector: chosen }] },
    ...doors.filter(door => door.ports.length > 0).map(door => ruleOf(door, cx.env)),
  ];
  await cx.apply(NetworkPolicy, {
    metadata: { name },
    spec: { podSelector: chosen, policyTypes: ['Ingress'], ingress },
  });
}

export const isolated = (object: DeepReadonly<Managed>): boolean =>
  (object.spec as { networkPolicy?: { enabled?: boolean } }).networkPolicy?.enabled === true;

/** The row of an object whose pods are all its own. */
export const isolation = <O extends Managed>(doors: (cx: Cx<O>) => readonly Door[]): Row<O, unknown> =>
  rowsOf<O>()('NetworkPolicyReady', {
    when: isolated,
    run: cx => {
      const { kind } = cx.object;
      return admit(cx, `${kind.toLowerCase()}-${cx.name}`, [cx.name], doors(cx), kind);
    },
  });

/** What every API does: whoever comes proves by a token who he is, and hosts and ingresses have no labels. */
export const open = (ports: readonly number[]): Door => ({ ports, from: 'everybody' });
