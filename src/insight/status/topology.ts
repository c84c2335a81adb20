import { PHASES, type Phase } from '../../../api/openstack/controlplane.ts';
import { orderOf, sectionOf } from '../view/order.ts';
import type { Live, View } from '../view/view.ts';
import { standsOn } from './standing.ts';
import { type Group, type State, stateOf } from './status.ts';

/** `Keystone/keystone`: a service within its cloud. */
export type ServiceId = string;
export const idOf = (object: Live): ServiceId => `${object.kind}/${object.metadata.name}`;

export interface TopologyNode {
  readonly id: ServiceId;
  /** Its place in the roll-out; absent for services that stand alone. */
  readonly phase?: Phase;
  /** Objects of ours below it: the cells and processes of Nova. */
  readonly parts: readonly { readonly kind: string; readonly name: string; readonly state: State }[];
}

export interface TopologyEdge {
  /** What must be ready first. */
  readonly from: ServiceId;
  readonly to: ServiceId;
  /** There is also a longer way from one to the other, so this line can be left out without loss. */
  readonly implied: boolean;
}

export interface Topology {
  /** Those that some service is in, in their order. */
  readonly phases: readonly Phase[];
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly TopologyEdge[];
}

/** Services and who waits for whom: by the control plane's edge table, or by the names in the specs of what stands alone. */
export function topologyOf(view: View, { top, services }: Group): Topology {
  const order = orderOf(services);
  const before = (object: Live): readonly Live[] =>
    top ? order.before(object) : standsOn(view, object).filter(other => services.includes(other));
  const reaches = (from: Live, to: Live, seen = new Set<Live>()): boolean => {
    if (seen.has(from)) return false;
    seen.add(from);
    return before(from).some(other => other === to || reaches(other, to, seen));
  };
  const edges = services.flatMap(to =>
    before(to).map(from => ({
      from: idOf(from),
      to: idOf(to),
      implied: before(to).some(other => other !== from && reaches(other, from)),
    })),
  );
  const nodes = services.map(object => nodeOf(view, object, top !== undefined));
  return { phases: PHASES.filter(phase => nodes.some(node => node.phase === phase)), nodes, edges };
}

function nodeOf(view: View, object: Live, inCloud: boolean): TopologyNode {
  const phase = inCloud ? sectionOf(object)?.phase : undefined;
  const parts = partsOf(view, object).map(part => ({
    kind: part.kind,
    name: part.metadata.name,
    state: stateOf(part),
  }));
  return { id: idOf(object), ...(phase && { phase }), parts };
}

const partsOf = (view: View, object: Live): readonly Live[] =>
  view.ours.filter(other => view.ownerOf(other) === object).flatMap(part => [part, ...partsOf(view, part)]);
