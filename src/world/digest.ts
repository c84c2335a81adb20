import { createHash } from 'node:crypto';

/** A key for what holds secrets: equal for equal values, and nobody reads a password in a heap dump from it. */
export const digestOf = (...values: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64url');
