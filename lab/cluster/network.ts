import { existsSync } from 'node:fs';
import { bash, must, run } from '../shell.ts';
import { BRIDGE, type LabNode, NETNS, node } from './layout.ts';

export const netnsPath = (name: string): string => `/run/netns/${name}`;

/**
 * One namespace with a bridge that has no port to the machine's own network: nothing in it can reach or be reached
 * from outside. The default route points at the bridge, so that Service addresses are routable and can be rewritten.
 */
export async function makeNetwork(nodes: readonly LabNode[]): Promise<void> {
  if (!existsSync(netnsPath(NETNS))) {
    // There is no dummy device on small kernels; one end of a pair in the bridge gives it a carrier.
    await bash(`
ip netns add ${NETNS}
ip -n ${NETNS} link set lo up
ip -n ${NETNS} link add ${BRIDGE} type bridge
ip -n ${NETNS} addr add ${node(1).ip}/24 dev ${BRIDGE}
ip -n ${NETNS} link set ${BRIDGE} up
ip -n ${NETNS} link add carrier0 type veth peer name carrier1
ip -n ${NETNS} link set carrier0 master ${BRIDGE}
ip -n ${NETNS} link set carrier0 up
ip -n ${NETNS} link set carrier1 up
ip -n ${NETNS} route add default dev ${BRIDGE}`);
    await forwarding(NETNS);
  }
  for (const each of nodes.slice(1)) {
    if (existsSync(netnsPath(each.netns))) continue;
    await bash(`
ip netns add ${each.netns}
ip -n ${each.netns} link set lo up
ip -n ${NETNS} link add ${each.name}-port type veth peer name eth0 netns ${each.netns}
ip -n ${each.netns} addr add ${each.ip}/24 dev eth0
ip -n ${each.netns} link set eth0 up
ip -n ${NETNS} link set ${each.name}-port master ${BRIDGE}
ip -n ${NETNS} link set ${each.name}-port up
ip -n ${each.netns} route add default via ${node(1).ip}`);
    await forwarding(each.netns);
  }
  for (const here of nodes) {
    for (const there of nodes) {
      if (here !== there) await must('ip', ['-n', here.netns, 'route', 'replace', there.podCidr, 'via', there.ip]);
    }
  }
}

async function forwarding(netns: string): Promise<void> {
  await must('nsenter', [`--net=${netnsPath(netns)}`, 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
  // Not on every kernel; without it a pod that calls a Service served by its own node fails.
  await run('nsenter', [`--net=${netnsPath(netns)}`, 'sysctl', '-qw', 'net.bridge.bridge-nf-call-iptables=1']);
}

export async function labNamespaces(): Promise<string[]> {
  const listed = await must('ip', ['netns', 'list']);
  return listed
    .split('\n')
    .map(line => line.split(' ')[0] ?? '')
    .filter(name => name === NETNS || name.startsWith(`${NETNS}-`));
}

export async function removeNetwork(): Promise<void> {
  for (const name of await labNamespaces()) await must('ip', ['netns', 'delete', name]);
}
