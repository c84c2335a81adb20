import { maskShapes } from '../../world/mask/shapes.ts';
import { type Live, namespaceOf, type View } from '../view/view.ts';
import type { Meaning } from './meanings.ts';

/** One step of a chain: what was looked at, and what it says. */
export interface Link {
  readonly what: string;
  readonly says: string;
}

/** What is found below an object of ours: the deepest thing that explains why pods do not do their work. */
export interface Finding {
  /** What must be mended; equal roots are one cause. */
  readonly root: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly reason: string;
  readonly what: string;
  readonly links: readonly Link[];
  /** What the last words mean, where they are known. */
  readonly meaning?: Meaning;
  readonly pod?: Live;
  readonly container?: string;
}

export const refOf = (object: Live) => ({
  kind: object.kind,
  namespace: namespaceOf(object),
  name: object.metadata.name,
});
export const since = (view: View, time: string | undefined): number => (time ? view.now - Date.parse(time) : 0);
export const oneLine = (text: string): string => maskShapes(text).replace(/\s+/g, ' ').trim();
