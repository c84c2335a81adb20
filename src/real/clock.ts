import { randomBytes } from 'node:crypto';
import type { Clock, Random } from '../world/clock.ts';

/** setTimeout takes 32 bits and fires at once on more: longer waits are walked in legs. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  wall: () => Date.now(),
  timer(ms, run) {
    let handle: NodeJS.Timeout;
    const leg = (left: number) => {
      const next = Math.min(Math.max(left, 0), LONGEST_TIMEOUT);
      handle = setTimeout(() => (left > next ? leg(left - next) : run()), next);
    };
    leg(ms);
    return () => clearTimeout(handle);
  },
};

export const realRandom: Random = {
  // 48 bits: what a double can hold with room to spare.
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: length => new Uint8Array(randomBytes(length)),
};
