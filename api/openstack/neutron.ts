import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { messageBus } from '../blocks/links.ts';
import { template } from '../blocks/pod.ts';
import { apiService, apiServiceRules } from '../blocks/service.ts';
import { openstack } from '../groups.ts';
import { kind } from '../kind.ts';
import { group, int, map, objectName, oneOf, text } from '../schema/helpers.ts';

export const Neutron = kind({
  in: openstack,
  kind: 'Neutron',
  plural: 'neutrons',
  shortNames: ['osnt'],
  description: 'The network service: networks, subnets, routers, ports, security groups, floating addresses.',
  columns: [
    replicasColumn(),
    { name: 'Mechanism', type: 'string', jsonPath: '.spec.mechanism', description: 'ML2 mechanism' },
    releaseColumn(),
  ],
  spec: () => ({
    ...apiService(),
    ...messageBus(),
    mechanism: oneOf(
      ['ovn', 'ovs'],
      'How networks are made: ovn (no agents), or ovs with L2, L3 and DHCP agents.',
    ).default('ovn'),
    ovnInstance: objectName('OVNNetwork object that mechanism ovn talks to.').default('ovn'),
    openvswitch: group(
      {
        datapath: oneOf(
          ['system', 'netdev'],
          'system uses the openvswitch kernel module of the node; netdev runs in user space, slower, where there is none.',
        ).default('system'),
        bridgeMappings: map(
          text('Bridge, e.g. br-ex.').min(1).max(15),
          'Bridge by physical network, e.g. physnet1: br-ex.',
          32,
        ).optional(),
        bridgePorts: map(
          text('Interface of the node, e.g. eth1.').min(1).max(15),
          'Interface that the operator plugs into a bridge, by bridge. The interface must not carry the node address.',
          32,
        ).optional(),
      },
      'The switch on the nodes under mechanism ovs. Under ovn it is that of the OVNNetwork.',
    ).prefault({}),
    mtu: int(68, 65_535, 'MTU of the physical networks; tenant networks get what the tunnel leaves.').optional(),
    dnsDomain: text('Domain of the names that guests get.').max(253).optional(),
    workersServiceTemplate: group(
      template(),
      'Periodic, maintenance and rpc workers beside the API, where they differ from it.',
    ).optional(),
    agentTemplates: group(
      {
        l2: group(template(), 'Open vSwitch agent on every compute and network node.').optional(),
        l3: group(template(), 'Router agent on network nodes.').optional(),
        dhcp: group(template(), 'DHCP agent on network nodes.').optional(),
        metadata: group(template(), 'Metadata agent on network nodes.').optional(),
      },
      'Agents of mechanism ovs, where they differ from the API.',
    ).optional(),
  }),
  rules: apiServiceRules(),
});
