import * as z from 'zod';
import { replicasColumn } from '../blocks/columns.ts';
import { expose, fixedNodeNamespace, innerTls, lifecycle, nodeNamespace, storage } from '../blocks/common.ts';
import { pods, quorumReplicas, template } from '../blocks/pod.ts';
import { bridges, datapath } from '../blocks/switch.ts';
import { openstack } from '../schema/groups.ts';
import { flag, group, immutableField, int, map, oneOf, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const OVNNetwork = kind({
  in: openstack,
  kind: 'OVNNetwork',
  plural: 'ovnnetworks',
  shortNames: ['osovn'],
  description:
    'The network fabric of a cloud: OVN northbound and southbound databases, northd, and ovn-controller with Open vSwitch and the metadata agent on the nodes that run guests.',
  columns: [replicasColumn()],
  spec: () => ({
    ...quorumReplicas(),
    ...storage('1Gi'),
    datapath: datapath(),
    encapType: oneOf(['geneve', 'vxlan'], 'Tunnel between nodes.').default('geneve'),
    ...bridges(),
    gatewayNodeSelector: map(
      z.string().describe('Label value.'),
      'Labels of the nodes that connect tenant networks to the outside. Absent: nodes labelled openstack.k8s.io/gateway.',
      16,
    ).optional(),
    electionTimerMS: int(
      1000,
      600_000,
      'Raft election timer in milliseconds, of databases with three members; one alone holds no elections.',
    ).default(10_000),
    inactivityProbeMS: int(0, 600_000, 'Milliseconds after which a silent client is dropped; 0 never.').default(60_000),
    northd: group(template(), 'ovn-northd, where it differs from the rest.').optional(),
    controller: group(template(), 'ovn-controller and Open vSwitch, where they differ from the rest.').optional(),
    metadataAgent: group(
      {
        enabled: flag('false runs no metadata agent; guests then need a config drive.').default(true),
        ...template(),
      },
      'The agent that forwards metadata requests of guests to Nova.',
    ).prefault({}),
    ...expose(),
    ...innerTls(),
    ...pods('ovs-vsctl external-ids, one key=value per line,'),
    ...lifecycle(),
    ...nodeNamespace(),
  }),
  rules: [immutableField('storageClass', 'volumes do not move between classes'), fixedNodeNamespace()],
  status: () => ({
    northbound: text('Connection of the northbound database.').optional(),
    southbound: text('Connection of the southbound database.').optional(),
    chassis: int(0, 100_000, 'Nodes that run ovn-controller.').optional(),
  }),
});
