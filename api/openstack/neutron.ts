import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { fixedNodeNamespace, nodeNamespace } from '../blocks/common.ts';
import { messageBus, messageBusRules } from '../blocks/links.ts';
import { template } from '../blocks/pod.ts';
import { apiService, apiServiceRules } from '../blocks/service.ts';
import { bridges, datapath } from '../blocks/switch.ts';
import { domain } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { group, int, objectName, oneOf } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

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
        datapath: datapath(),
        ...bridges(),
      },
      'The switch on the nodes under mechanism ovs. Under ovn it is that of the OVNNetwork.',
    ).prefault({}),
    mtu: int(68, 65_535, 'MTU of the physical networks; tenant networks get what the tunnel leaves.').optional(),
    dnsDomain: domain('Domain of the names that guests get.').optional(),
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
    ...nodeNamespace(),
  }),
  rules: [...apiServiceRules(), ...messageBusRules(), fixedNodeNamespace()],
});
