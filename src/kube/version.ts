/**
 * Resource versions are decimal integers that may be compared within one resource (KEP-5504, stable since 1.35).
 * Some aggregated API servers still return other strings; those count as equal, so that code that waits for one
 * goes on instead of waiting for ever.
 */
export function compareResourceVersion(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  if (a === undefined || b === undefined || !isComparable(a) || !isComparable(b)) return 0;
  // Lengths first: versions may exceed 2^53, and without leading zeros the longer number is the greater.
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The server forbids leading zeros, except in "0", which only clients send ("any version will do"). */
const isComparable = (version: string): boolean => /^[1-9][0-9]*$/.test(version);

/** The newer of two; `b` when they cannot be compared, because it was heard last. */
export const newerResourceVersion = (a: string, b: string): string => (compareResourceVersion(a, b) === 1 ? a : b);
