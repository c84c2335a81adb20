import { map, oneOf, text } from '../schema/helpers.ts';

/** Open vSwitch on the nodes, whoever drives it. */
export const datapath = () =>
  oneOf(
    ['system', 'netdev'],
    'system uses the openvswitch kernel module of the node; netdev runs in user space, slower, where there is none.',
  ).default('system');

export const bridges = () => ({
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
});
