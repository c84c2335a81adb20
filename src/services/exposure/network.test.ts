import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { OWNER_NAMESPACE_LABEL } from '../../runtime/plan/names.ts';
import { admit, type Door, open } from './network.ts';

const [HOME, NODES] = ['openstack', 'openstack-nodes'];

const pod = (kind: string, spec: object, status: object) => ({ labels: kind.toLowerCase(), spec, status });
const PODS = [
  pod('Cinder', { hostNetwork: true }, { podIPs: [{ ip: '192.0.2.7' }, { ip: '2001:db8::7' }], podIP: '192.0.2.7' }),
  pod('Cinder', { hostNetwork: true }, { podIP: '192.0.2.5' }),
  // On the same node, ended, not yet placed, and with an address of its own.
  pod('Cinder', { hostNetwork: true }, { podIPs: [{ ip: '192.0.2.7' }] }),
  pod('Cinder', { hostNetwork: true }, { podIP: '192.0.2.9', phase: 'Succeeded' }),
  pod('Cinder', { hostNetwork: true }, {}),
  pod('Cinder', {}, { podIP: '10.0.0.1' }),
  // Computes are on their nodes too, and have no link to a database.
  pod('NovaCompute', { hostNetwork: true }, { podIP: '192.0.2.99' }),
];

interface Elsewhere {
  /** By kind: what its objects name in spec.nodeNamespace. */
  readonly named?: Readonly<Record<string, readonly (string | undefined)[]>>;
  readonly pods?: readonly object[];
  readonly sets?: readonly AnyObject[];
}

async function policyOf(
  doors: readonly Door[],
  pods = PODS,
  { named = {}, pods: there = [], sets = [] }: Elsewhere = {},
): Promise<NetworkPolicySpec> {
  let applied: NetworkPolicySpec | undefined;
  const listed =
    (all: readonly object[]) =>
    (_: unknown, labels: Record<string, string>): AnyObject[] =>
      (all as typeof PODS).filter(each => each.labels === labels['app.kubernetes.io/name']) as unknown as AnyObject[];
  const cx = {
    env: {},
    namespace: HOME,
    list: listed(pods),
    wishes: ({ kind }: Resource) => named[kind]?.map(nodeNamespace => ({ spec: { nodeNamespace } })) ?? [],
    at: (namespace: string) => {
      expect(namespace).toBe(NODES);
      return { list: listed(there), get: (_: unknown, name: string) => sets.find(set => set.metadata.name === name) };
    },
    apply: async (_: unknown, { spec }: { spec: NetworkPolicySpec }) => {
      applied = spec;
    },
  };
  await admit(cx as unknown as Cx<Managed>, 'mariadb-db', ['db'], doors, 'MariaDB');
  return applied!;
}
const blocks = ({ ingress = [] }: NetworkPolicySpec) =>
  ingress.flatMap(rule => rule.from ?? []).flatMap(peer => peer.ipBlock?.cidr ?? []);

describe('a NetworkPolicy', () => {
  it('admits clients on the network of a node by the addresses of their pods, and of no other node', async () => {
    const policy = await policyOf([{ ports: [3306], from: ['database', { nodesOf: 'database' }] }]);
    expect(blocks(policy)).toEqual(['192.0.2.5/32', '192.0.2.7/32', '2001:db8::7/128']);
    expect(blocks(await policyOf([{ ports: [3306], from: ['database'] }]))).toEqual([]);
  });

  it('admits clients in their namespace of nodes: pods by labels, those on the network of a node by address', async () => {
    const made = (name: string, uid = name) => ({
      metadata: {
        name: `${name}-0`,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }],
      },
    });
    const set = (name: string, home: string): AnyObject => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, uid: name, labels: { [OWNER_NAMESPACE_LABEL]: home } },
    });
    const onNode = (ip: string) => pod('Cinder', { hostNetwork: true }, { podIP: ip });
    const elsewhere: Elsewhere = {
      named: { Cinder: [undefined, NODES, HOME, ''], Nova: [NODES] },
      pods: [
        { ...onNode('192.0.2.20'), ...made('ours') },
        // Of another cloud, of nobody, of a set of that name which is gone, and with an address of its own.
        { ...onNode('192.0.2.21'), ...made('theirs') },
        { ...onNode('192.0.2.22'), metadata: { name: 'shell' } },
        { ...onNode('192.0.2.23'), ...made('ours', 'earlier') },
        { ...onNode('192.0.2.24'), ...made('gone') },
        { ...pod('Cinder', {}, { podIP: '10.0.0.9' }), ...made('ours') },
      ],
      sets: [set('ours', HOME), set('theirs', 'other')],
    };
    const doors: Door[] = [{ ports: [3306], from: ['database', { nodesOf: 'database' }] }];
    const policy = await policyOf(doors, [], elsewhere);
    expect(blocks(policy)).toEqual(['192.0.2.20/32']);
    const [here, there] = policy.ingress?.[1]?.from ?? [];
    expect(here).toEqual({ podSelector: { matchExpressions: [expect.objectContaining({ operator: 'In' })] } });
    expect(there).toEqual({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NODES } },
      podSelector: here?.podSelector,
    });
    expect(policy.ingress?.[1]?.from).toHaveLength(3);
    const without = await policyOf(doors, [], { ...elsewhere, named: { Cinder: [undefined, HOME] } });
    expect(without.ingress?.[1]?.from).toEqual([here]);
  });

  it('has no rule for a door for nobody: an empty list would be everybody', async () => {
    const { ingress = [] } = await policyOf([{ ports: [3306], from: [{ nodesOf: 'database' }] }], []);
    expect(ingress).toHaveLength(1);
    expect(ingress.filter(rule => !rule.from?.length)).toEqual([]);
    expect((await policyOf([open([])])).ingress).toHaveLength(1);
  });

  it('names everybody by naming nobody', async () => {
    const { ingress = [] } = await policyOf([open([9, 5])]);
    expect(ingress[1]).toEqual({ ports: [5, 9].map(port => ({ port, protocol: 'TCP' })) });
  });
});
