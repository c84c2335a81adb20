import { join } from 'node:path';
import { runPaths } from '../paths.ts';
import { run, until } from '../shell.ts';
import { needPackages, tool } from '../tools.ts';
import { alive, enter, startDaemon } from './host.ts';
import { type LabNode, SERVICE_CIDR } from './layout.ts';
import { rbac, roleRef, type Thing } from './objects.ts';

/** By this name the API server knows it (lab/cluster/pki.ts). */
const USER = 'system:kube-router';

const read = ['get', 'list', 'watch'];

export const policyRights: readonly Thing[] = [
  rbac('ClusterRole', USER, {
    rules: [
      { apiGroups: [''], resources: ['pods', 'namespaces', 'nodes'], verbs: read },
      { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: read },
    ],
  }),
  rbac('ClusterRoleBinding', USER, {
    roleRef: roleRef(USER),
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: USER }],
  }),
];

/** With the programs of Debian that it calls. */
export async function policyEngine(): Promise<string> {
  await needPackages(['ipset', 'iptables']);
  return tool('kube-router');
}

const FORWARD = 'KUBE-ROUTER-FORWARD';

/** On a node of the lab; the rules are in its network namespace and go with it. */
async function iptables(node: LabNode, ...args: string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  const [program, ...rest] = [...enter(node.name), 'iptables', '-w', ...args];
  return run(program!, rest);
}

/**
 * The network of pods is a bridge, whose packets pass the filter because `bridge-nf-call-iptables` is set in the lab's
 * namespaces (lab/cluster/network.ts). It stays until the lab goes: without policies it lets everything through.
 */
export async function startPolicies(nodes: readonly LabNode[]): Promise<void> {
  const program = await policyEngine();
  for (const node of nodes) {
    const name = `kube-router-${node.name}`;
    await startDaemon(node.name, name, [
      program,
      `--kubeconfig=${join(runPaths.kubeconfigs, 'kube-router.conf')}`,
      `--hostname-override=${node.name}`,
      `--service-cluster-ip-range=${SERVICE_CIDR}`,
      '--v=1',
    ]);
    await until(
      name,
      60,
      async () => (await iptables(node, '-n', '-L', FORWARD)).code === 0,
      () => alive(name),
    );
  }
}

/** Packets that no policy admitted, over all pods of these nodes, since the engine last wrote its rules. */
export async function packetsRefused(nodes: readonly LabNode[]): Promise<number> {
  let all = 0;
  for (const node of nodes) {
    const { stdout } = await iptables(node, '-n', '-v', '-x', '-L');
    for (const line of stdout.split('\n')) if (/\bREJECT\b/.test(line)) all += Number(line.trim().split(/\s+/)[0]);
  }
  return all;
}
