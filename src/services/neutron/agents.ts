import type { Neutron } from '../../../api/openstack/neutron.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import { DaemonSet } from '../../kube/resource.ts';
import type { Sections } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import type { ConfigFile } from '../config/config.ts';
import { fieldOf } from '../env.ts';
import { busSections, logging } from '../links/sections.ts';
import { POWERLESS, SWITCH } from '../ovn/chassis.ts';
import { ovsdbScript, scriptArgv, switchScript, VSWITCHD_CTL } from '../ovn/scripts.ts';
import {
  COMPUTE_LABEL,
  GATEWAY_LABEL,
  HOST_NETWORK,
  has,
  hostDevice,
  hostFolder,
  OVS_RUN,
  onNodes,
} from '../pods/node.ts';
import { askedBy } from '../pods/pod.ts';
import type { Workload } from '../pods/workload.ts';
import type { ConfigInput } from '../standard/table.ts';
import { isOvs, STATE } from './config.ts';

/** Agents of mechanism ovs: on nodes, over the bus, without a way into the database (openstack-facts 9). */

type Spec = SpecOf<typeof Neutron>;
type Input = Pick<
  ConfigInput<Spec, { readonly agents: readonly ConfigFile[]; readonly ca?: string }>,
  'spec' | 'bus' | 'input'
>;

const SOCKET = `unix:${OVS_RUN}/db.sock`;

const onNode: Workload<Spec> = {
  as: DaemonSet,
  argv: [],
  when: isOvs,
  onNode: true,
  direct: true,
  // Where guests are, and where their networks meet the outside.
  pod: { ...HOST_NETWORK, affinity: onNodes([has(COMPUTE_LABEL)], [has(GATEWAY_LABEL)]) },
  graceSeconds: 60,
};

const OVS_FOLDERS = [hostFolder('run-openvswitch', OVS_RUN), hostFolder('etc-openvswitch', '/etc/openvswitch')];

/** Part of the data path: replaced by people only. */
const ovs: Workload<Spec> = {
  ...onNode,
  bare: true,
  byHand: true,
  volumes: () => OVS_FOLDERS,
  requests: { cpu: '10m', memory: '32Mi' },
};

/** Flows and namespaces outlive an agent, so a restart of it is no harm; its children (dnsmasq, haproxy) come again. */
const agent = (name: string, template: 'l2' | 'l3' | 'dhcp' | 'metadata'): Workload<Spec> => ({
  ...onNode,
  argv: [`neutron-${name}`],
  image: `neutron-${name}`,
  template: `agentTemplates.${template}`,
  bare: 'but-for-users',
  // Privileged, or the kubelet refuses Bidirectional: others must see the namespaces that it makes.
  security: { runAsUser: 0, privileged: true },
  env: () => [fieldOf('OS_DEFAULT__HOST', 'spec.nodeName'), fieldOf('OS_OVS__LOCAL_IP', 'status.hostIP')],
  volumes: () => [
    OVS_FOLDERS[0]!,
    hostFolder('run-netns', '/run/netns', { mountPropagation: 'Bidirectional' }),
    hostFolder('neutron', STATE),
  ],
  requests: { cpu: '20m', memory: '256Mi' },
  ...(template !== 'l2' && { nodes: GATEWAY_LABEL, pod: HOST_NETWORK }),
});

export const agents = {
  ovsdb: {
    ...ovs,
    argv: scriptArgv('ovsdb'),
    image: 'openvswitch-db-server',
    security: POWERLESS,
    files: [ovsdbScript()],
  },
  vswitchd: {
    ...ovs,
    argv: scriptArgv('vswitchd'),
    image: 'openvswitch-vswitchd',
    security: SWITCH,
    volumes: () => [...OVS_FOLDERS, hostDevice('dev-net-tun', '/dev/net/tun')],
    ...askedBy('ovs-appctl', '-t', VSWITCHD_CTL, 'version'),
  },
  l2: agent('openvswitch-agent', 'l2'),
  l3: agent('l3-agent', 'l3'),
  dhcp: agent('dhcp-agent', 'dhcp'),
  'metadata-agent': agent('metadata-agent', 'metadata'),
} satisfies Record<string, Workload<Spec>>;

const OWN: Readonly<Record<string, (spec: Input['spec']) => Sections>> = {
  l2: ({ openvswitch: { bridgeMappings, datapath } }) => ({
    ovs: {
      datapath_type: datapath,
      bridge_mappings:
        bridgeMappings &&
        Object.entries(bridgeMappings)
          .sort()
          .map(pair => pair.join(':')),
    },
    agent: { tunnel_types: ['vxlan'], l2_population: true, arp_responder: true, extensions: ['qos'] },
    securitygroup: { firewall_driver: 'openvswitch', enable_security_group: true },
  }),
  l3: () => ({ DEFAULT: { interface_driver: 'openvswitch', agent_mode: 'legacy' } }),
  // Networks without a router get metadata from here.
  dhcp: () => ({ DEFAULT: { interface_driver: 'openvswitch', enable_isolated_metadata: true } }),
  'metadata-agent': () => ({}),
};

/** What an agent reads beside the user's text. */
export function agentFiles({ spec, bus, input }: Input, component: string): readonly ConfigFile[] {
  if (component === 'vswitchd') return [switchScript(spec.openvswitch)];
  const own = OWN[component]?.(spec);
  if (own === undefined || bus === undefined) return [];
  const { DEFAULT: more, ovs: bridges, ...sections } = own;
  const { DEFAULT: link, ...messaging } = busSections(bus);
  const key = `01-neutron-${component}.conf`;
  const text = write({
    DEFAULT: { ...logging.DEFAULT, ...link, state_path: STATE, ...more },
    ...messaging,
    oslo_concurrency: { lock_path: `${STATE}/lock` },
    ...(component !== 'metadata-agent' && { ovs: { ovsdb_connection: SOCKET, ...bridges } }),
    ...sections,
  });
  const conf = { key, path: `/etc/neutron/neutron.conf.d/${key}`, text };
  return component === 'metadata-agent' ? [conf, ...input.agents] : [conf];
}
