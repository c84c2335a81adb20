/** Objects that kubectl once applied from the client carry their last configuration in an annotation. */
import type { AnyObject } from '../../kube/object.ts';
import { Conflicts } from './conflicts.ts';
import { FieldSet, goJson } from './fieldset.ts';
import { compare, fieldsOf } from './typed.ts';
import type { TypeNode } from './types.ts';
import { validate } from './validate.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const lastApplied = (object: AnyObject): string | undefined =>
  object.metadata?.annotations?.[LAST_APPLIED] || undefined;

/** Runs an apply of kubectl's: what it owns by the annotation is no conflict, and the annotation follows the patch. */
export function applyAsKubectl(
  patch: AnyObject,
  live: AnyObject,
  type: TypeNode,
  run: (force: boolean) => AnyObject,
  force: boolean,
): AnyObject {
  let object: AnyObject;
  try {
    object = run(force);
  } catch (error) {
    if (!(error instanceof Conflicts)) throw error;
    const allowed = fieldsLastApplied(patch, live, type);
    if (allowed === undefined) throw error;
    const left = error.paths.filter(({ path }) => FieldSet.of(path).intersection(allowed).empty);
    if (left.length > 0) throw new Conflicts(left);
    object = run(true);
  }
  if (lastApplied(object) === undefined) return object;
  const { annotations: given, ...metadata } = patch.metadata;
  const { [LAST_APPLIED]: _, ...annotations } = texts(given);
  const config = { ...patch, metadata: given ? { ...metadata, annotations } : metadata };
  const all = { ...texts(object.metadata.annotations), [LAST_APPLIED]: `${goJson(sorted(config))}\n` };
  return { ...object, metadata: { ...object.metadata, annotations: all } };
}

/** Reading annotations turns an explicit null into ''. */
const texts = (map: Record<string, string | null> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(map ?? {}).map(([name, text]) => [name, text ?? '']));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}

/** Fields that still are as kubectl applied them from the client; undefined where the annotation says nothing. */
function fieldsLastApplied(patch: AnyObject, live: AnyObject, type: TypeNode): FieldSet | undefined {
  const text = lastApplied(live);
  if (text === undefined) return undefined;
  try {
    const last = JSON.parse(text) as AnyObject;
    if (last.apiVersion !== patch.apiVersion || last.kind !== patch.kind) return undefined;
    validate(last, type, false);
    validate(live, type, false);
    const { removed, modified, added } = compare(last, live, type);
    return fieldsOf(last, type).difference(modified).difference(added).difference(removed);
  } catch {
    return undefined;
  }
}
