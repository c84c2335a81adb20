import { createHash } from 'node:crypto';

/** The value without absent fields and with sorted keys, so that equal intent has equal text. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== 'object') return value;
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) out[key] = canonical(field);
  }
  return out;
}

/**
 * Hash of intent. The prefix is part of the input: should the way of hashing ever change, it changes too,
 * and nothing else may, or every pod of every cloud would roll on an operator upgrade.
 */
export const hashOf = (...inputs: unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(['v1', ...inputs])))
    .digest('hex');

/** Short enough for a name, long enough that two inputs of one object do not meet (32 bits, few values). */
export const shortHash = (...inputs: unknown[]): string => hashOf(...inputs).slice(0, 8);

/** Deep equality of JSON values, blind to key order and to absent against undefined. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key of Object.keys(left)) if (!sameJson(left[key], right[key])) return false;
  for (const key of Object.keys(right)) if (left[key] === undefined && right[key] !== undefined) return false;
  return true;
}
