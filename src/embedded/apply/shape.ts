/** The shapes of values and the identity of list items. */
import { keyElement, valueElement } from './fieldset.ts';
import type { Field, ListType, TypeNode } from './types.ts';

export type Json = Record<string, unknown>;

export const isMap = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);
export const isScalar = (v: unknown): boolean => v !== null && v !== undefined && typeof v !== 'object';

export type Shape = 'map' | 'scalar' | 'list';

/** Which shapes of the type the value leaves possible: one, or 'any' of several (a null fits all). */
export function shapeOf(type: TypeNode, v: unknown): Shape | 'any' {
  if (isScalar(v) && type.scalar) return 'scalar';
  if (Array.isArray(v) && type.list) return 'list';
  if (isMap(v) && type.map) return 'map';
  const { map, scalar, list } = type;
  if (map) return scalar || list ? 'any' : 'map';
  return scalar && list ? 'any' : scalar ? 'scalar' : 'list';
}

/** Where several shapes are possible, upstream takes the first of this order. */
export const settle = (type: TypeNode, shape: Shape | 'any'): Shape =>
  shape !== 'any' ? shape : type.map ? 'map' : type.scalar ? 'scalar' : 'list';

export const isLeaf = (type: TypeNode, shape: Shape): boolean =>
  shape === 'scalar' || (shape === 'map' ? type.map!.atomic : (type.list?.kind ?? 'atomic') === 'atomic');

export const isEmpty = (v: Json | unknown[] | undefined): boolean =>
  v === undefined || (Array.isArray(v) ? v.length === 0 : Object.keys(v).length === 0);
export const asMap = (v: unknown): Json | undefined => (isMap(v) ? v : undefined);
export const asList = (v: unknown): unknown[] | undefined => (Array.isArray(v) ? v : undefined);

export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isMap(a) || !isMap(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  for (const name of names) if (!(name in b) || !equal(a[name], b[name])) return false;
  return true;
}

/** What an item without a path element goes by inside a set; never written out. */
export const INVALID = 'e:';

/** The path element of an item in a set or map list; throws what upstream says of items that have none. */
export function elementOf(list: ListType, item: unknown): string {
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

/** Items by element; `problem` hears of those that have none, which the merging of odd old ownership can leave behind. */
export function grouped(items: unknown[], list: ListType, problem?: (text: string) => void): Map<string, unknown[]> {
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
