import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';

/** NetworkPolicies as a network that honours them would read them: whether a connection may come in. */

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

/** Where a connection comes from: a pod, or the network of a node, which has an address and no labels. */
export type From = { readonly pod: Labels; readonly namespace: string } | { readonly host: string };

export function matches(selector: Selector, labels: Labels): boolean {
  const plain = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    plain &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`operator ${operator} is not written here`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** Of the namespace that the target is in, which is `here`. */
export function admits(
  policies: readonly NetworkPolicySpec[],
  target: Labels,
  port: number,
  from: From,
  here: string,
): boolean {
  const about = policies.filter(policy => matches(policy.podSelector as Selector, target));
  if (about.length === 0) return true;
  return about
    .flatMap(policy => policy.ingress ?? [])
    .filter(rule => rule.ports === undefined || rule.ports.some(open => open.port === port))
    .some(
      rule =>
        // Nobody named is everybody, in Kubernetes.
        rule.from === undefined ||
        rule.from.length === 0 ||
        rule.from.some(peer => {
          if ('host' in from) return peer.ipBlock?.cidr === `${from.host}/32`;
          if (peer.ipBlock) return false;
          const namespace = peer.namespaceSelector
            ? matches(peer.namespaceSelector as Selector, { 'kubernetes.io/metadata.name': from.namespace })
            : from.namespace === here;
          return namespace && matches((peer.podSelector ?? {}) as Selector, from.pod);
        }),
    );
}
