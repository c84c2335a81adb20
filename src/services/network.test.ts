import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../kube/object.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { admit, type Door, open } from './network.ts';

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

async function policyOf(doors: readonly Door[], pods = PODS): Promise<NetworkPolicySpec> {
  let applied: NetworkPolicySpec | undefined;
  const cx = {
    env: {},
    list: (_: unknown, labels: Record<string, string>) =>
      pods.filter(each => each.labels === labels['app.kubernetes.io/name']) as unknown as AnyObject[],
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
