import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { deploy, deployMinimal, edit, removeDelete, removeRetain } from './deeds.ts';
import { reference, resume } from './search.ts';
import { sweep } from './sweep.ts';

/** All states with CHAOS=all, spread over processes; else a sample, so that the default run stays short. */
const ALL = process.env.CHAOS === 'all';
const PROCESSES = Number(process.env.CHAOS_PROCESSES ?? availableParallelism());
const [SLICE, MINIMAL] = ALL ? [1, 1] : [32, 450];
/** Every so many states; the first one is before anything was done. */
const SAMPLES = [
  [deploy, SLICE],
  [edit, SLICE],
  [removeRetain, SLICE],
  [removeDelete, SLICE],
  [deployMinimal, MINIMAL],
] as const;

describe('a restart from every state of the store ends where an undisturbed run ends', () => {
  for (const [deed, every] of SAMPLES)
    it(deed.name, { timeout: 3_600_000 }, async () => {
      const wanted = await reference(deed);
      if (ALL) {
        const { bad, tried } = await sweep(deed, wanted.moments.length, every, PROCESSES);
        expect(tried).toBe(wanted.moments.length);
        expect(bad).toEqual([]);
        return;
      }
      const bad: string[] = [];
      let tried = 0;
      for (const [index, moment] of wanted.moments.entries()) {
        if (index % every !== 0 || (every === MINIMAL && index === 0)) continue;
        tried++;
        // Another seed for each: other uids, passwords and orders than the run that made the state.
        const wrong = await resume(moment, wanted, 100 + index);
        if (wrong.length > 0) bad.push([`state ${index}, after ${moment.after}:`, ...wrong].join('\n'));
      }
      console.log(`${deed.name}: ${tried} of ${wanted.moments.length} states, ${bad.length} bad`);
      expect(bad).toEqual([]);
    });
});
