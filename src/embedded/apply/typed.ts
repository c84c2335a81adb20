/**
 * Values with a type: comparing, merging, removing (structured-merge-diff, package typed).
 * `undefined` is "not there" and `null` is an explicit null, which upstream keeps apart just so.
 */
import { FieldSet, fieldElement, pathText } from './fieldset.ts';
import {
  asList,
  asMap,
  elementOf,
  equal,
  grouped,
  INVALID,
  isEmpty,
  isLeaf,
  isMap,
  type Json,
  type Shape,
  settle,
  shapeOf,
} from './shape.ts';
import { type ListType, type MapType, type TypeNode, typeOfField, untypedAtomic } from './types.ts';
import { fail } from './validate.ts';

type Path = readonly string[];
const NOTHING: TypeNode = {};

// Field sets

export const fieldsOf = (value: unknown, type: TypeNode): FieldSet => below(value, type) ?? new FieldSet();

/** The fields below a value; undefined for a leaf, which is owned as a whole. */
function below(v: unknown, type: TypeNode): FieldSet | undefined {
  const shape = settle(type, shapeOf(type, v));
  if (isLeaf(type, shape)) return undefined;
  const set = new FieldSet();
  if (shape === 'map') {
    const map = type.map!;
    for (const [name, item] of Object.entries(asMap(v) ?? {})) {
      const fields = below(item, typeOfField(map, name) ?? NOTHING);
      const whole = fields === undefined || item === null || (isMap(item) && isEmpty(item)) || !map.fields.has(name);
      set.put(fieldElement(name), whole, fields);
    }
  } else {
    for (const [element, items] of grouped(asList(v) ?? [], type.list!)) {
      // Duplicates are owned as one thing.
      set.put(element, true, items.length === 1 ? below(items[0], type.list!.items) : undefined);
    }
  }
  return set;
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

type Change = keyof Comparison;

/** Where two values are compared. Sets are made on the way up from a difference: most places have none. */
interface Place extends Partial<Comparison> {
  readonly up: Place | undefined;
  readonly element: string;
}

/** The set of what has changed in this way below the place. */
function setAt(place: Place, change: Change): FieldSet {
  let set = place[change];
  if (set === undefined) {
    set = new FieldSet();
    place[change] = set;
    if (place.up) nodeIn(setAt(place.up, change), place.element).children = set;
  }
  return set;
}

function nodeIn(set: FieldSet, element: string) {
  let node = set.nodes.get(element);
  if (node === undefined) {
    node = { member: false, children: undefined };
    set.nodes.set(element, node);
  }
  return node;
}

function mark(place: Place, change: Change): void {
  if (place.up) nodeIn(setAt(place.up, change), place.element).member = true;
}

const pathOf = (place: Place): string[] => (place.up ? [...pathOf(place.up), place.element] : []);

export function compare(lhs: unknown, rhs: unknown, type: TypeNode): Comparison {
  const root: Place = { up: undefined, element: '' };
  const problems: string[] = [];
  diff(lhs, rhs, type, root, problems);
  fail(problems);
  const { removed = new FieldSet(), modified = new FieldSet(), added = new FieldSet() } = root;
  return { removed, modified, added };
}

function diff(lhs: unknown, rhs: unknown, type: TypeNode, at: Place, problems: string[]): void {
  const [l, r] = [shapeOf(type, lhs), shapeOf(type, rhs)];
  let leaf: boolean;
  if (rhs === undefined) leaf = diffAs(settle(type, l), lhs, rhs, type, at, problems);
  else {
    if (lhs !== undefined && l !== r) diffAs(settle(type, l), lhs, rhs, type, at, problems);
    leaf = diffAs(settle(type, r), lhs, rhs, type, at, problems);
  }
  if (leaf) return;
  if (lhs === undefined) mark(at, 'added');
  else if (rhs === undefined) mark(at, 'removed');
}

/** true: the two were compared as one value. */
function diffAs(shape: Shape, lhs: unknown, rhs: unknown, type: TypeNode, at: Place, problems: string[]): boolean {
  if (!isLeaf(type, shape)) {
    const as = shape === 'map' ? asMap : asList;
    const [a, b] = [as(lhs), as(rhs)];
    if (!isEmpty(a) || !isEmpty(b)) {
      if (shape === 'map') diffFields((a ?? {}) as Json, (b ?? {}) as Json, type.map!, at, problems);
      else diffItems((a ?? []) as unknown[], (b ?? []) as unknown[], type.list!, at, problems);
      return false;
    }
  }
  if (lhs === undefined) mark(at, 'added');
  else if (rhs === undefined) mark(at, 'removed');
  else if (!equal(lhs, rhs)) mark(at, 'modified');
  return true;
}

function diffFields(lhs: Json, rhs: Json, map: MapType, at: Place, problems: string[]): void {
  const visit = (name: string): void =>
    diff(lhs[name], rhs[name], typeOfField(map, name) ?? NOTHING, { up: at, element: fieldElement(name) }, problems);
  for (const name of Object.keys(lhs)) visit(name);
  for (const name of Object.keys(rhs)) if (!Object.hasOwn(lhs, name)) visit(name);
}

function diffItems(lhs: unknown[], rhs: unknown[], list: ListType, at: Place, problems: string[]): void {
  const problem = (text: string): void => {
    problems.push(`${pathText(pathOf(at))}: ${text}`);
  };
  const [a, b] = [grouped(lhs, list, problem), grouped(rhs, list, problem)];
  for (const element of new Set([...a.keys(), ...b.keys()])) {
    const [l, r] = [a.get(element) ?? [], b.get(element) ?? []];
    const inner: Place = { up: at, element };
    // Duplicates count as one atomic thing; becoming or ceasing to be one is an addition or a removal.
    if (l.length < 2 && r.length < 2) diff(l[0], r[0], list.items, inner, problems);
    else if (l.length > 1 && r.length > 1) {
      if (!equal(l, r)) mark(inner, 'modified');
    } else if (l.length > 1) {
      if (r.length > 0) diff(undefined, r[0], list.items, inner, problems);
      mark(inner, 'removed');
    } else {
      if (l.length > 0) diff(l[0], undefined, list.items, inner, problems);
      mark(inner, 'added');
    }
  }
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
  // An item that occurs twice is not merged with the new one.
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
