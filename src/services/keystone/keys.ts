import type { Random } from '../../world/clock.ts';
import { nextTime } from '../schedule.ts';

/** A key repository: file name to key. `0` is staged, the highest signs, the rest only verify. */
export type Keys = Readonly<Record<string, string>>;

/** URL-safe base64 of 32 bytes, as keystone-manage makes them. */
const newKey = (random: Random): string => `${Buffer.from(random.bytes(32)).toString('base64url')}=`;

export const firstKeys = (random: Random): Record<'0' | '1', string> => ({ '0': newKey(random), '1': newKey(random) });

/**
 * What keystone-manage fernet_rotate does: the staged key becomes the one that signs, a new one is staged, the oldest
 * go. Every pod knew the new signing key before, as the staged one, so nothing need restart and no order is needed.
 */
export function rotate(keys: Keys, maxActive: number, random: Random): Keys {
  const numbers = Object.keys(keys)
    .map(Number)
    .filter(n => n > 0)
    .sort((a, b) => a - b);
  const highest = numbers.at(-1) ?? 0;
  const all = [...numbers, highest + 1];
  const kept = all.slice(Math.max(0, all.length - (maxActive - 1)));
  const staged = keys['0'] ?? newKey(random);
  return Object.fromEntries([
    ['0', newKey(random)],
    ...kept.map(n => [String(n), n === highest + 1 ? staged : keys[String(n)]]),
  ]) as Keys;
}

/** A key must reach every pod as the staged one before it signs; the kubelet may take a minute, we allow five. */
export const SPREAD_MS = 300_000;

/** When the next rotation is due after the last one, in milliseconds; undefined when the schedule never fires again. */
export function nextRotation(schedule: string, last: number): number | undefined {
  const next = nextTime(schedule, last);
  return next === undefined ? undefined : Math.max(next, last + SPREAD_MS);
}
