import { createHmac } from 'node:crypto';
import { canonical, shortHash } from './canonical.ts';

/*
 * Hashes over secrets. They stand where more people read than may read Secrets: in names of Jobs and Secrets, in annotations
 * and in status. A plain one is an oracle: who guesses a password can check the guess. So they are made with a key, which
 * is made once per namespace and kept.
 */

export interface HashKey {
  /** Public: which key a recorded hash was made with. */
  readonly id: string;
  readonly key: string;
}

export const keyedHash = ({ key }: HashKey, ...inputs: unknown[]): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(canonical(['v1', ...inputs])))
    .digest('hex');

/** As it stands in status. */
export const recordOf = ({ id }: HashKey, hash: string): string => `${id}.${hash}`;

/** What a Job is called by, and how its end is recorded. `former`: by an operator that had no key. */
export interface JobHash {
  readonly hash: string;
  readonly record: string;
  readonly former?: string;
}

/** Of inputs that hold no secret: as it always was. */
export function plainJob(...inputs: unknown[]): JobHash {
  const hash = shortHash(...inputs);
  return { hash, record: hash };
}

export function secretJob(key: HashKey, ...inputs: unknown[]): JobHash {
  const hash = keyedHash(key, ...inputs).slice(0, 8);
  return { hash, record: recordOf(key, hash), former: shortHash(...inputs) };
}

/** Whether a record was made with a key that is no longer there. */
export const isOfOther = (key: HashKey, record: string): boolean =>
  record.includes('.') && !record.startsWith(`${key.id}.`);
