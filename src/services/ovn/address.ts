import type { ObjectOf } from '../../../api/kind.ts';
import { OVNNetwork } from '../../../api/openstack/ovnnetwork.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { wait } from '../../runtime/plan/unmet.ts';

export type OVNObject = ObjectOf<typeof OVNNetwork>;

export const NB_PORT = 6641;
export const SB_PORT = 6642;

/** What a client of the fabric must know. */
export interface OvnLink {
  readonly northbound: string;
  readonly southbound: string;
  readonly encapType: 'geneve' | 'vxlan';
  /** Physical networks that some node is plugged into. */
  readonly physicalNetworks: readonly string[];
  readonly metadata: boolean;
}

/** Known before the databases run: the addresses are those of their Services. */
export function ovnLink<O extends Managed>(cx: Cx<O>, name: string, field: string): OvnLink {
  const found = cx.get(OVNNetwork, name);
  if (found === undefined)
    throw wait({
      reason: 'NotFound',
      what: `OVNNetwork ${name} does not exist`,
      who: 'User',
      next: `create it, or name another one in ${field}`,
    });
  const { northbound, southbound } = found.status ?? {};
  if (northbound === undefined || southbound === undefined)
    throw wait({
      reason: 'NotReady',
      what: `OVNNetwork ${name} has no addresses yet`,
      who: 'Operator',
      next: `see OVNNetwork ${name}`,
    });
  const { encapType, bridgeMappings = {}, metadataAgent } = found.spec;
  const physicalNetworks = Object.keys(bridgeMappings).sort();
  return { northbound, southbound, encapType, physicalNetworks, metadata: metadataAgent.enabled };
}
