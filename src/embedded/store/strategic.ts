import { clone, equal, isObject, type Json } from './json.ts';
import { badRequest } from './status.ts';
import { type Field, fieldsOf, type Type } from './types.ts';

/** Strategic merge patch for built-in kinds: lists with a merge key merge item by item. Directives: $patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList. */
export function strategicMerge(struct: string, target: Json, change: Json): Json {
  return merge({ is: 'struct', name: struct }, target, change) as Json;
}

function merge(type: Type | undefined, target: Json, change: Json): Json | undefined {
  if (change.$patch === 'delete') return undefined;
  if (change.$patch === 'replace') return strip(change);
  const out: Json = { ...target };
  if (Array.isArray(change.$retainKeys)) {
    for (const key of Object.keys(out)) if (!change.$retainKeys.includes(key)) delete out[key];
  }
  for (const [key, value] of Object.entries(change)) {
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const field = key.slice('$deleteFromPrimitiveList/'.length);
      if (Array.isArray(out[field])) out[field] = out[field].filter(v => !(value as unknown[]).some(d => equal(d, v)));
    }
    if (key.startsWith('$')) continue;
    const field = type?.is === 'struct' ? fieldsOf(type.name).get(key) : undefined;
    const inner = deref(field?.type ?? (type?.is === 'map' ? type.of : undefined));
    if (value === null) delete out[key];
    else if (isObject(value)) {
      const merged = merge(inner, isObject(out[key]) ? out[key] : {}, value);
      if (merged === undefined) delete out[key];
      else out[key] = merged;
    } else if (Array.isArray(value)) {
      out[key] = mergeList(field, Array.isArray(out[key]) ? out[key] : [], value, change[`$setElementOrder/${key}`]);
    } else out[key] = value;
  }
  return out;
}

function mergeList(
  field: Field | undefined,
  target: readonly unknown[],
  change: readonly unknown[],
  order: unknown,
): unknown[] {
  const strategy = field?.patch;
  if (strategy?.strategy !== 'merge' || change.some(c => isObject(c) && c.$patch === 'replace')) {
    return change
      .filter(c => !(isObject(c) && c.$patch === 'replace' && Object.keys(c).length === 1))
      .map(c => clone(c));
  }
  const key = strategy.key;
  if (key === undefined) return [...target, ...change.filter(c => !target.some(t => equal(t, c)))];
  const element = field!.type.is === 'list' ? deref(field!.type.of) : undefined;
  let out = target.map(t => clone(t)) as Json[];
  for (const item of change as Json[]) {
    if (item[key] === undefined)
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const at = out.findIndex(o => equal(o[key], item[key]));
    if (item.$patch === 'delete') out = out.filter(o => !equal(o[key], item[key]));
    else if (at >= 0) out[at] = merge(element, out[at]!, item)!;
    else out.push(strip(item));
  }
  if (Array.isArray(order)) {
    const place = (o: Json) => (order as Json[]).findIndex(k => equal(isObject(k) ? k[key] : k, o[key]));
    const listed = out.filter(o => place(o) >= 0).sort((a, b) => place(a) - place(b));
    out = [...listed, ...out.filter(o => place(o) < 0)];
  }
  return out;
}

const deref = (type: Type | undefined): Type | undefined => (type?.is === 'pointer' ? deref(type.of) : type);

const strip = (value: Json): Json =>
  Object.fromEntries(Object.entries(clone(value)).filter(([k]) => !k.startsWith('$')));
