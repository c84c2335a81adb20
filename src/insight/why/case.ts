import { RETRY_ANNOTATION } from '../../runtime/plan/names.ts';
import { type Live, namespaceOf, type Told, type View } from '../view/view.ts';
import type { Finding } from './finding.ts';
import type { Actor } from './reasons.ts';

/** What is known of a cause when its cure is looked up. */
export interface Case {
  readonly reason: string;
  readonly root: Finding['root'];
  /** The object of ours at which it shows. */
  readonly object: Live;
  /** The condition, what it says to people, and its cause as data, where there is one. */
  readonly type?: string;
  readonly message: string;
  readonly cause?: Told;
  readonly finding?: Finding;
}

export interface Cure {
  readonly who: Actor;
  readonly next: string;
  /** The next thing to type. */
  readonly command: string;
  /** To be typed when the cause is mended. */
  readonly afterwards: readonly string[];
}

export type Row = Partial<Omit<Cure, 'afterwards'>> & { afterwards?: readonly string[] };

export const kubectl = (object: Live): string =>
  namespaceOf(object) ? `kubectl -n ${namespaceOf(object)}` : 'kubectl';
export const at = (root: Finding['root']): string => (root.namespace ? `kubectl -n ${root.namespace}` : 'kubectl');
export const typed = (object: Live): string => `${object.kind.toLowerCase()} ${object.metadata.name}`;
export const podOf = (finding: Finding | undefined): string => finding?.pod?.metadata.name ?? '<pod>';

/** People edit the highest object: what is below it is written over from there. */
export function edit(view: View, object: Live, field = ''): string {
  let top = object;
  let section = '';
  for (let up = view.ownerOf(top); up; up = view.ownerOf(top)) {
    section = up.kind === 'OpenStackControlPlane' ? top.metadata.name : section;
    top = up;
  }
  const path = field.replace(/^spec\.?/, '');
  const where = ['spec', section, top === object || section === object.metadata.name ? path : '']
    .filter(Boolean)
    .join('.');
  return `${kubectl(top)} edit ${typed(top)}   # ${where}`;
}

export const annotate = (object: Live, annotation: string): string =>
  `${kubectl(object)} annotate ${typed(object)} --overwrite ${annotation}`;
export const retry = (object: Live): string => annotate(object, `${RETRY_ANNOTATION}="$(date +%s)"`);
/** Of what the operator knows of a cause, e.g. the `host` that does not answer. */
export const detail = (c: Case, name: string): string | undefined => c.cause?.details?.[name];
/** The words of another program, as far as it said any. */
export const saidIn = (c: Case): string => [c.finding?.what, detail(c, 'said')].filter(Boolean).join('\n');
/** The API server names the field of the object that was sent, which is as near as anybody comes to the user's. */
export const fieldOf = (c: Case): string =>
  detail(c, 'field') ?? /\b(spec\.[\w.[\]-]+\w)/.exec(detail(c, 'said') ?? '')?.[1] ?? '';
/** The pod may be in the node namespace. */
export const atPod = (c: Case): string => kubectl(c.finding?.pod ?? c.object);
export const logs = (c: Case, previous: boolean): string =>
  `${atPod(c)} logs ${podOf(c.finding)}${c.finding?.container ? ` -c ${c.finding.container}` : ''}${previous ? ' --previous' : ''}`;
