import { existsSync } from 'node:fs';
import { bash, must, run } from '../shell.ts';
import {
  BRIDGE,
  EXTERNAL_PORT,
  FLOATING_CIDR,
  type LabNode,
  NETNS,
  node,
  OUTSIDE,
  OUTSIDE_IP,
  SITE,
} from './layout.ts';

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
  await makeOutside();
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

/**
 * The world beyond the cloud: a host on the far end of the wire that node n1 gives to its external bridge. Open
 * vSwitch in user space takes frames as they are, so senders must not leave checksums to the hardware.
 * A second wire makes it the router between floating addresses and the cluster, as a site's would be: a test
 * from the cluster's network reaches guests, and guests reach published APIs.
 */
async function makeOutside(): Promise<void> {
  if (existsSync(netnsPath(OUTSIDE))) return;
  const plain = 'tx off sg off tso off gso off';
  await bash(`
ip netns add ${OUTSIDE}
ip -n ${OUTSIDE} link set lo up
ip -n ${NETNS} link add ${EXTERNAL_PORT} type veth peer name eth0 netns ${OUTSIDE}
ip -n ${OUTSIDE} addr add ${OUTSIDE_IP}/24 dev eth0
ip -n ${OUTSIDE} link set eth0 up
ip -n ${NETNS} link set ${EXTERNAL_PORT} up
ip -n ${NETNS} link add out0 type veth peer name in0 netns ${OUTSIDE}
ip -n ${NETNS} addr add ${SITE.cluster}/30 dev out0
ip -n ${OUTSIDE} addr add ${SITE.outside}/30 dev in0
ip -n ${NETNS} link set out0 up
ip -n ${OUTSIDE} link set in0 up
ip -n ${NETNS} route add ${FLOATING_CIDR} via ${SITE.outside}
ip -n ${OUTSIDE} route add default via ${SITE.cluster}
nsenter --net=${netnsPath(OUTSIDE)} ethtool -K eth0 ${plain} >/dev/null
nsenter --net=${netnsPath(NETNS)} ethtool -K ${EXTERNAL_PORT} ${plain} >/dev/null`);
  await forwarding(OUTSIDE);
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
