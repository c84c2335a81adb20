import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Outdated } from '../links/credentials.ts';
import { cellsText, MAPPED_CELLS } from './secrets.ts';
import { CELL0, cellsOf, type NovaObject } from './spec.ts';

/** What pods know of the cells, and whether it still holds. */

type NovaCx = Cx<NovaObject>;

/** Secrets of the top of Nova, which its parts read. */
export const names = (cx: { readonly name: string }) => ({
  apiDatabase: `${cx.name}-api-database`,
  bus: `${cx.name}-message-bus`,
  keystone: `${cx.name}-keystone`,
  mappings: `${cx.name}-cell-mappings`,
  metadata: `${cx.name}-metadata-secret`,
});

/** Config with other cells than those. */
export function outdated(known: Readonly<Record<string, string>>): Outdated {
  const text = cellsText(known);
  return data => data[MAPPED_CELLS] !== undefined && data[MAPPED_CELLS] !== text;
}

/** The parts that read the list of cells at their start; those of another Nova have another list. */
export const remembers = (cx: NovaCx, { metadata: { labels } }: DeepReadonly<AnyObject>): boolean =>
  ['api', 'scheduler', 'metadata', `${CELL0}-conductor`].some(
    part => labels?.['app.kubernetes.io/instance'] === `${cx.name}-${part}`,
  );

/** Cells that are being taken out, of those that pods know. */
export const leaving = (cx: NovaCx, known: Readonly<Record<string, string>>): readonly string[] => {
  const asked = cellsOf(cx.spec).map(cell => cell.name);
  return Object.keys(known).filter(name => !asked.includes(name));
};
