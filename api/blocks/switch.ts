import type * as z from 'zod';
import { plainName } from '../schema/forms.ts';
import { cel, map, oneOf } from '../schema/helpers.ts';

/** Open vSwitch on the nodes, with OVN or with agents. */
export const datapath = () =>
  oneOf(
    ['system', 'netdev'],
    'system uses the openvswitch kernel module of the node; netdev runs in user space, slower, where there is none.',
  ).default('system');

/** Open vSwitch joins keys and values with colons and commas, and has no escape for them. */
const keyed = <T extends z.ZodType>(schema: T): T =>
  cel(schema, "self.all(k, k.matches('^[-.0-9A-Za-z_]+$'))", 'keys are letters, digits, dots, underscores, dashes');

export const bridges = () => ({
  bridgeMappings: keyed(
    map(plainName('Bridge, e.g. br-ex.', 15), 'Bridge by physical network, e.g. physnet1: br-ex.', 32),
  ).optional(),
  bridgePorts: keyed(
    map(
      plainName('Interface of the node, e.g. eth1.', 15),
      'Interface that the operator plugs into a bridge, by bridge. The interface must not carry the node address.',
      32,
    ),
  ).optional(),
});
