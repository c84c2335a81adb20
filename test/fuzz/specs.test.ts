import { describe, expect, it } from 'vitest';
import { judgeAdmission } from './judge.ts';

/** With clouds that run, and 100,000 of them: `make fuzz-specs`. */
const COUNT = 500;

describe('samples with one changed field, at admission', () => {
  it('are accepted, or refused by a message that names the field', async () => {
    const judged = await Promise.all(Array.from({ length: COUNT }, (_, seed) => judgeAdmission(seed)));
    const refused = judged.filter(each => each !== undefined);
    expect(refused.length).toBeGreaterThan(COUNT / 2);
    expect(refused.length).toBeLessThan(COUNT);
    const unnamed = refused.filter(({ verdict }) => verdict !== 'refused');
    const said = unnamed.map(({ seed, object, path, said }) => `seed ${seed}: ${object} ${path}: ${said}`);
    expect(unnamed.length / refused.length, said.join('\n')).toBeLessThan(0.05);
  }, 120_000);
});
