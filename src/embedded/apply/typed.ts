/**
 * Values with a type: validation, merging, comparing, removing (structured-merge-diff, package typed).
 * `undefined` is "not there" and `null` is an explicit null, which upstream keeps apart just so.
 */
import { elementText, FieldSet, fieldElement, keyElement, pathText, valueElement } from './fieldset.ts';
import {
  type Field,
  type ListType,
  type MapType,
  type Scalar,
  type TypeNode,
  typeOfField,
  untypedAtomic,
} from './types.ts';

export type Json = Record<string, unknown>;
type Path = readonly string[];

export const isMap = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);
const isScalar = (v: unknown): boolean => v !== null && v !== undefined && typeof v !== 'object';
const NOTHING: TypeNode = {};

type Shape = 'map' | 'scalar' | 'list';

/** Which shapes of the type the value leaves possible: one, or 'any' of several (a null fits all). */
function shapeOf(type: TypeNode, v: unknown): Shape | 'any' {
  if (isScalar(v) && type.scalar) return 'scalar';
  if (Array.isArray(v) && type.list) return 'list';
  if (isMap(v) && type.map) return 'map';
  const { map, scalar, list } = type;
  if (map) return scalar || list ? 'any' : 'map';
  return scalar && list ? 'any' : scalar ? 'scalar' : 'list';
}

/** Where several shapes are possible, upstream takes the first of this order. */
const settle = (type: TypeNode, shape: Shape | 'any'): Shape =>
  shape !== 'any' ? shape : type.map ? 'map' : type.scalar ? 'scalar' : 'list';

const isLeaf = (type: TypeNode, shape: Shape): boolean =>
  shape === 'scalar' || (shape === 'map' ? type.map!.atomic : (type.list?.kind ?? 'atomic') === 'atomic');

const isEmpty = (v: Json | unknown[] | undefined): boolean =>
  v === undefined || (Array.isArray(v) ? v.length === 0 : Object.keys(v).length === 0);
const asMap = (v: unknown): Json | undefined => (isMap(v) ? v : undefined);
const asList = (v: unknown): unknown[] | undefined => (Array.isArray(v) ? v : undefined);

export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isMap(a) || !isMap(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every(name => name in b && equal(a[name], b[name]));
}

/** What an item without a path element goes by inside a set; never written out. */
const INVALID = 'e:';

/** The path element of an item in a set or map list; throws what upstream says of items that have none. */
function elementOf(list: ListType, item: unknown): string {
  if (list.kind === 'set') {
    if (isMap(item)) throw new Error("associative list without keys has an element that's a map type");
    if (Array.isArray(item)) throw new Error('not supported: associative list with lists as elements');
    if (item === null) throw new Error("associative list without keys has an element that's an explicit null");
    return valueElement(item);
  }
  if (item === null) throw new Error('associative list with keys may not have a null element');
  if (!isMap(item)) throw new Error('associative list with keys may not have non-map elements');
  const found: [string, unknown][] = [];
  for (const name of list.keys) {
    const value = name in item ? item[name] : defaultOf(list.items.map?.fields.get(name));
    if (value !== undefined) found.push([name, value]);
  }
  if (found.length === 0) {
    const keys = `[${list.keys.map(k => JSON.stringify(k)).join(' ')}]`;
    throw new Error(
      `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(found);
}

const defaultOf = (field: Field | undefined): unknown => field?.default ?? undefined;

// Validation

/** Throws upstream's text for a value that does not fit its type. */
export function validate(value: unknown, type: TypeNode, allowDuplicates: boolean): void {
  fail([...problems(value, type, allowDuplicates, '')]);
}

function fail(texts: string[]): void {
  if (texts.length === 1) throw new Error(texts[0]);
  if (texts.length > 1) throw new Error(['errors:', ...texts.map(t => `  ${t}`)].join('\n'));
}

function* problems(v: unknown, type: TypeNode, allowDuplicates: boolean, path: string): Generator<string> {
  const at = path === '' ? '' : `${path}: `;
  const shape = settle(type, shapeOf(type, v));
  if (v === null) return;
  if (shape === 'scalar') {
    const wrong = scalarProblem(type.scalar!, v);
    if (wrong !== undefined) yield at + wrong;
  } else if (shape === 'map') {
    if (!isMap(v)) yield `${at}expected map, got &{${goPrint(v)}}`;
    else
      for (const name of Object.keys(v).sort()) {
        const inner = typeOfField(type.map!, name);
        if (inner !== undefined) yield* problems(v[name], inner, allowDuplicates, `${path}.${name}`);
        else return yield `${path}.${name}: field not declared in schema`;
      }
  } else if (!Array.isArray(v)) yield `${at}expected list, got &{${goPrint(v)}}`;
  else {
    const list = type.list!;
    const seen = new Set<string>();
    for (const [i, item] of v.entries()) {
      let element = `i:${i}`;
      if (list.kind !== 'atomic') {
        try {
          element = elementOf(list, item);
        } catch (error) {
          return yield `${at}element ${i}: ${(error as Error).message}`;
        }
        if (seen.has(element) && !allowDuplicates) yield `${at}duplicate entries for key ${elementText(element)}`;
        seen.add(element);
      }
      yield* problems(item, list.items, allowDuplicates, path + elementText(element));
    }
  }
}

function scalarProblem(scalar: Scalar, v: unknown): string | undefined {
  if (scalar === 'numeric' && typeof v !== 'number') return `expected numeric (int or float), got ${goType(v)}`;
  if (scalar === 'string' && typeof v !== 'string')
    return `expected string, got &value.valueUnstructured{Value:${goSyntax(v)}}`;
  if (scalar === 'boolean' && typeof v !== 'boolean') return `expected boolean, got &{${goPrint(v)}}`;
  if (scalar === 'untyped' && !isScalar(v)) return `expected any scalar, got &{${goPrint(v)}}`;
  return undefined;
}

/** Go's %v, %#v and %T of decoded JSON: these reach users in error messages. */
function goPrint(v: unknown): string {
  if (v === null) return '<nil>';
  if (Array.isArray(v)) return `[${v.map(goPrint).join(' ')}]`;
  if (!isMap(v)) return String(v);
  const names = Object.keys(v).sort();
  return `map[${names.map(name => `${name}:${goPrint(v[name])}`).join(' ')}]`;
}

function goSyntax(v: unknown): string {
  if (v === null) return 'interface {}(nil)';
  if (Array.isArray(v)) return `[]interface {}{${v.map(goSyntax).join(', ')}}`;
  if (!isMap(v)) return JSON.stringify(v);
  const names = Object.keys(v).sort();
  return `map[string]interface {}{${names.map(name => `${JSON.stringify(name)}:${goSyntax(v[name])}`).join(', ')}}`;
}

function goType(v: unknown): string {
  if (Array.isArray(v)) return '[]interface {}';
  if (isMap(v)) return 'map[string]interface {}';
  return typeof v === 'boolean'
    ? 'bool'
    : typeof v === 'number'
      ? Number.isInteger(v)
        ? 'int64'
        : 'float64'
      : 'string';
}

// Field sets

export function fieldsOf(value: unknown, type: TypeNode): FieldSet {
  const set = new FieldSet();
  collect(value, type, [], set);
  return set;
}

function collect(v: unknown, type: TypeNode, path: Path, set: FieldSet): void {
  const shape = settle(type, shapeOf(type, v));
  if (isLeaf(type, shape)) set.insert(path);
  else if (shape === 'map') {
    const map = type.map!;
    for (const [name, item] of Object.entries(asMap(v) ?? {})) {
      const below = [...path, fieldElement(name)];
      collect(item, typeOfField(map, name) ?? NOTHING, below, set);
      if (item === null || (isMap(item) && isEmpty(item)) || !map.fields.has(name)) set.insert(below);
    }
  } else {
    for (const [element, items] of grouped(asList(v) ?? [], type.list!)) {
      // Duplicates are owned as one thing.
      if (items.length === 1) collect(items[0], type.list!.items, [...path, element], set);
      set.insert([...path, element]);
    }
  }
}

/** Named fields are usually not members of a set when something below them is; removing needs them to be. */
export function withNamedFields(set: FieldSet, type: TypeNode | undefined): FieldSet {
  const out = new FieldSet();
  for (const [element, node] of set.nodes) {
    let inner: TypeNode | undefined;
    let isNamed = false;
    if (element.startsWith('f:') && type?.map) {
      inner = typeOfField(type.map, element.slice(2));
      isNamed = type.map.fields.has(element.slice(2));
    } else if (element.startsWith('k:')) inner = type?.list?.items;
    const children = node.children && withNamedFields(node.children, inner);
    out.nodes.set(element, { member: node.member || (isNamed && node.children !== undefined), children });
  }
  return out;
}

/** Ownership written under an older schema: what has become atomic is owned as a whole. */
export function reconcile(set: FieldSet, type: TypeNode): FieldSet {
  const changed = new FieldSet();
  findAtomic(set, type, false, [], changed);
  return changed.empty ? set : set.without(changed).union(changed);
}

function findAtomic(set: FieldSet | undefined, type: TypeNode, leaf: boolean, path: Path, out: FieldSet): void {
  const shape = settle(type, 'any');
  const atomic = shape === 'map' ? type.map?.atomic : type.list?.kind === 'atomic';
  if (shape === 'scalar' || (type.map !== undefined && isUntyped(type.map))) return;
  if (atomic && !leaf) {
    if (shape === 'list' || set !== undefined) out.insert(path);
    return;
  }
  for (const [element, node] of set?.nodes ?? []) {
    const inner = shape === 'list' ? type.list?.items : typeInMap(type.map!, element);
    if (inner) findAtomic(node.children, inner, node.member && !node.children, [...path, element], out);
  }
}

const typeInMap = (map: MapType, element: string): TypeNode | undefined =>
  element.startsWith('f:') ? typeOfField(map, element.slice(2)) : map.rest;
const isUntyped = (map: MapType): boolean =>
  map.fields.size === 0 && map.rest?.scalar === 'untyped' && map.rest !== untypedAtomic;

// Comparing

export interface Comparison {
  removed: FieldSet;
  modified: FieldSet;
  added: FieldSet;
}

interface Work extends Comparison {
  problems: string[];
}

export function compare(lhs: unknown, rhs: unknown, type: TypeNode): Comparison {
  const out: Work = { removed: new FieldSet(), modified: new FieldSet(), added: new FieldSet(), problems: [] };
  diff(lhs, rhs, type, [], out);
  fail(out.problems);
  return out;
}

function diff(lhs: unknown, rhs: unknown, type: TypeNode, path: Path, out: Work): void {
  const [l, r] = [shapeOf(type, lhs), shapeOf(type, rhs)];
  let leaf: boolean;
  if (rhs === undefined) leaf = diffAs(settle(type, l), lhs, rhs, type, path, out);
  else {
    if (lhs !== undefined && l !== r) diffAs(settle(type, l), lhs, rhs, type, path, out);
    leaf = diffAs(settle(type, r), lhs, rhs, type, path, out);
  }
  if (leaf) return;
  if (lhs === undefined) out.added.insert(path);
  else if (rhs === undefined) out.removed.insert(path);
}

/** true: the two were compared as one value. */
function diffAs(shape: Shape, lhs: unknown, rhs: unknown, type: TypeNode, path: Path, out: Work): boolean {
  if (!isLeaf(type, shape)) {
    const as = shape === 'map' ? asMap : asList;
    const [a, b] = [as(lhs), as(rhs)];
    if (!isEmpty(a) || !isEmpty(b)) {
      if (shape === 'map') diffFields((a ?? {}) as Json, (b ?? {}) as Json, type.map!, path, out);
      else diffItems((a ?? []) as unknown[], (b ?? []) as unknown[], type.list!, path, out);
      return false;
    }
  }
  if (lhs === undefined) out.added.insert(path);
  else if (rhs === undefined) out.removed.insert(path);
  else if (!equal(lhs, rhs)) out.modified.insert(path);
  return true;
}

function diffFields(lhs: Json, rhs: Json, map: MapType, path: Path, out: Work): void {
  for (const name of new Set([...Object.keys(lhs), ...Object.keys(rhs)]))
    diff(lhs[name], rhs[name], typeOfField(map, name) ?? NOTHING, [...path, fieldElement(name)], out);
}

function diffItems(lhs: unknown[], rhs: unknown[], list: ListType, path: Path, out: Work): void {
  const problem = (text: string): void => {
    out.problems.push(`${pathText(path)}: ${text}`);
  };
  const [a, b] = [grouped(lhs, list, problem), grouped(rhs, list, problem)];
  for (const element of new Set([...a.keys(), ...b.keys()])) {
    const [l, r] = [a.get(element) ?? [], b.get(element) ?? []];
    const below = [...path, element];
    // Duplicates count as one atomic thing; becoming or ceasing to be one is an addition or a removal.
    if (l.length < 2 && r.length < 2) diff(l[0], r[0], list.items, below, out);
    else if (l.length > 1 && r.length > 1) {
      if (!equal(l, r)) out.modified.insert(below);
    } else if (l.length > 1) {
      if (r.length > 0) diff(undefined, r[0], list.items, below, out);
      out.removed.insert(below);
    } else {
      if (l.length > 0) diff(l[0], undefined, list.items, below, out);
      out.added.insert(below);
    }
  }
}

/** Items by element; `problem` hears of those that have none, which the merging of odd old ownership can leave behind. */
function grouped(items: unknown[], list: ListType, problem?: (text: string) => void): Map<string, unknown[]> {
  const out = new Map<string, unknown[]>();
  for (const [i, item] of items.entries()) {
    let element = INVALID;
    try {
      element = elementOf(list, item);
    } catch (error) {
      problem?.(`element ${i}: ${(error as Error).message}`);
      if (problem) continue;
    }
    const group = out.get(element);
    if (group) group.push(item);
    else out.set(element, [item]);
  }
  return out;
}

// Merging: nothing is removed, and where both sides have a leaf, the right one wins.

export function merge(lhs: unknown, rhs: unknown, type: TypeNode): unknown {
  const shape = settle(type, shapeOf(type, rhs === undefined ? lhs : rhs));
  if (shape === 'map' && !type.map!.atomic) {
    const [a, b] = [asMap(lhs), asMap(rhs)];
    if (!isEmpty(a) || !isEmpty(b)) {
      const out: Json = {};
      for (const name of new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])) {
        const merged = merge(a?.[name], b?.[name], typeOfField(type.map!, name) ?? NOTHING);
        if (merged !== undefined) out[name] = merged;
      }
      return out;
    }
  } else if (shape === 'list' && type.list && type.list.kind !== 'atomic') {
    const [a, b] = [asList(lhs), asList(rhs)];
    if (!isEmpty(a) || !isEmpty(b)) return mergeItems(a ?? [], b ?? [], type.list);
  }
  return rhs === undefined ? lhs : rhs;
}

/**
 * The order of a merged list: items of the right side in their order, items only on the left stay near their old
 * neighbours. The two cursors and the queue of shared items are upstream's, whose results are defined by nothing else.
 */
function mergeItems(lhs: unknown[], rhs: unknown[], list: ListType): unknown[] {
  const out: unknown[] = [];
  const left = lhs.map(item => elementOf(list, item));
  const right = rhs.map(item => elementOf(list, item));
  const onRight = new Map(right.map((element, i) => [element, rhs[i]]));
  const onLeft = new Map<string, unknown>();
  // An item that is there twice is not merged with the new one.
  for (const [i, element] of left.entries()) onLeft.set(element, onLeft.has(element) ? null : lhs[i]);
  const shared = right.filter(element => onLeft.has(element));
  const done = new Set<string>();
  const take = (element: string): void => {
    done.add(element);
    out.push(merge(onLeft.get(element), onRight.get(element), list.items));
  };
  for (let l = 0, r = 0; l < left.length || r < right.length; ) {
    const [a, b] = [left[l], right[r]];
    if (a !== undefined && b !== undefined) {
      if (a === b) {
        take(a);
        l++;
        r++;
        shared.shift();
        continue;
      }
      if (onRight.has(a) && shared.length > 0 && shared[0] !== a) {
        l++;
        continue;
      }
    }
    if (a !== undefined) {
      if (!onRight.has(a)) {
        out.push(merge(lhs[l], undefined, list.items));
        l++;
        continue;
      }
      if (done.has(a)) l++;
    }
    if (b !== undefined) {
      take(b);
      r++;
      if (shared[0] === b) shared.shift();
    }
  }
  return out;
}

// Removing

/** What is left without the members of `set`; null where nothing is. */
export function remove(v: unknown, set: FieldSet, type: TypeNode): unknown {
  const shape = settle(type, shapeOf(type, v));
  if (shape === 'scalar') return v;
  if (shape === 'map') {
    if (!isMap(v) || isEmpty(v) || type.map!.atomic) return null;
    const out: Json = {};
    for (const [name, item] of Object.entries(v)) {
      const element = fieldElement(name);
      if (set.has(element)) continue;
      const below = set.under(element);
      out[name] = below ? remove(item, below, typeOfField(type.map!, name) ?? NOTHING) : item;
    }
    return isEmpty(out) ? null : out;
  }
  const list = type.list;
  if (!Array.isArray(v) || v.length === 0 || !list || list.kind === 'atomic') return null;
  const out: unknown[] = [];
  for (const item of v) {
    const [element = INVALID] = grouped([item], list).keys();
    if (set.has(element)) continue;
    const below = set.under(element);
    out.push(below ? remove(item, below, list.items) : item);
  }
  return out.length === 0 ? null : out;
}
