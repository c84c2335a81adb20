import { describe, expect, it } from 'vitest';
import { problemsOf, walks, walksOf } from './walks.ts';

describe('each hop of the walks is there and refers to the next', () => {
  for (const walk of walks()) it(walk.title, () => expect(problemsOf(walk)).toEqual([]));

  it('there are the three walks, and the hops of none are lost', () => {
    expect(walks().map(({ title, hops }) => [title, hops.filter(hop => !hop.aside).length])).toEqual([
      ['A config edit', 12],
      ['A new cell', 11],
      ['`why` of a failed Job', 4],
      ['At a terminal', 8],
    ]);
  });

  it('a name that is not there, and one that does not refer to the next, are told', () => {
    const [walk] = walksOf(
      [
        '## Wrong',
        '1. `src/runtime/plan/outcome.ts` `outcomeOf`: there',
        '2. `src/runtime/plan/outcome.ts` `nobody`: not there',
        '3. `src/runtime/plan/tracker.ts` `Tracker`: nobody before it knows it',
        '4. `src/runtime/plan/none.ts` `x`: no such file',
      ].join('\n'),
    );
    expect(problemsOf(walk!).map(line => line.replace(/^\S+ /, ''))).toEqual([
      'src/runtime/plan/outcome.ts does not export nobody',
      'outcomeOf in src/runtime/plan/outcome.ts does not refer to Tracker',
      'there is no src/runtime/plan/none.ts',
    ]);
  });
});
