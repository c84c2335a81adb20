import { clone, equal, goMap, isObject, type Json } from './common/json.ts';
import { internal } from './common/status.ts';
import { type Field, fieldsOf, type Type } from './common/types.ts';

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
    if (item[key] === undefined) throw internal(`map: ${goMap(item)} does not contain declared merge key: ${key}`);
    const at = out.findIndex(o => equal(o[key], item[key]));
    if (item.$patch === 'delete') out = out.filter(o => !equal(o[key], item[key]));
    else if (at >= 0) out[at] = merge(element, out[at]!, item)!;
    else out.push(strip(item));
  }
  const ids = (list: readonly unknown[]) => list.map(i => (isObject(i) ? i[key] : i));
  return ordered(out, key, ids(Array.isArray(order) ? order : change), ids(target));
}

/** Items of the patch in its order, the others in theirs; between the two, the order that the server had. */
function ordered(list: readonly Json[], key: string, patch: readonly unknown[], server: readonly unknown[]): Json[] {
  const at = (order: readonly unknown[], item: Json) => order.findIndex(id => equal(id, item[key]));
  const sorted = (order: readonly unknown[], part: Json[]) => part.sort((a, b) => at(order, a) - at(order, b));
  const named = sorted(
    patch,
    list.filter(i => at(patch, i) >= 0),
  );
  const others = sorted(
    server,
    list.filter(i => at(patch, i) < 0),
  );
  const out: Json[] = [];
  while (named.length > 0 && others.length > 0) {
    const [left, right] = [at(server, named[0]!), at(server, others[0]!)];
    out.push(left < 0 || right < 0 || left < right ? named.shift()! : others.shift()!);
  }
  return [...out, ...named, ...others];
}

const deref = (type: Type | undefined): Type | undefined => (type?.is === 'pointer' ? deref(type.of) : type);

const strip = (value: Json): Json =>
  Object.fromEntries(Object.entries(clone(value)).filter(([k]) => !k.startsWith('$')));
