/** Small tools for plain JSON values. */

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Equal as JSON: the order of keys does not count, and an undefined field is an absent one. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  const left = a as Json;
  const right = b as Json;
  for (const key of Object.keys(left)) if (!equal(left[key], right[key])) return false;
  for (const key of Object.keys(right)) if (left[key] === undefined && right[key] !== undefined) return false;
  return true;
}

/** A copy that shares nothing: stored objects are frozen, and the argument may change afterwards. */
export function clone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone) as T;
  const out: Json = {};
  for (const key of Object.keys(value)) {
    const child = (value as Json)[key];
    if (child !== undefined) out[key] = clone(child);
  }
  return out as T;
}

/** The object at `key`, made when it is not there. */
export function child(parent: Json, key: string): Json {
  if (!isObject(parent[key])) parent[key] = {};
  return parent[key] as Json;
}

export const items = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export function without<T extends Json>(object: T, ...keys: string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([k]) => !keys.includes(k)));
}

/** Sets `key` unless it has a value. */
export function orElse(object: Json, key: string, value: unknown): void {
  if (object[key] === undefined || object[key] === null) object[key] = value;
}

/** How Go prints a map with %v. */
export function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(' ')}]`;
  if (!isObject(value)) return String(value);
  return `map[${Object.keys(value)
    .sort()
    .map(k => `${k}:${goMap(value[k])}`)
    .join(' ')}]`;
}
