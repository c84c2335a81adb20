import { kindOf, SECTIONS, type SectionName, type SectionPlan } from '../../controlplane/sections.ts';
import { conditionsOf, type Live } from './view.ts';

/** How services of one cloud stand to each other in time: who waits for whom, who was ready when. */
export interface Order {
  /** The objects among these that one waits for, by the edge table of the control plane. */
  before(object: Live): readonly Live[];
  /** Milliseconds since 1970; undefined while it is not Ready. */
  readyAt(object: Live): number | undefined;
  /** When the last thing was there that it waits for. */
  startOf(object: Live): number;
}

/** What the edge table says of a child of a control plane; nothing of an object that only has such a name. */
export function sectionOf(object: Live): SectionPlan | undefined {
  const name = object.metadata.name as SectionName;
  return Object.hasOwn(SECTIONS, name) && kindOf(name).kind === object.kind ? SECTIONS[name] : undefined;
}

export function orderOf(children: readonly Live[]): Order {
  const ready = new Map<Live, number>();
  for (const child of children) {
    const condition = conditionsOf(child).find(c => c.type === 'Ready' && c.status === 'True');
    if (condition) ready.set(child, Date.parse(condition.lastTransitionTime ?? ''));
  }
  const before = (object: Live): readonly Live[] => {
    const after: readonly string[] = sectionOf(object)?.after ?? [];
    return children.filter(other => after.includes(other.metadata.name) && sectionOf(other) !== undefined);
  };
  return {
    before,
    readyAt: object => ready.get(object),
    startOf: object =>
      Math.max(
        Date.parse(object.metadata.creationTimestamp ?? ''),
        ...before(object).flatMap(other => ready.get(other) ?? []),
      ),
  };
}
