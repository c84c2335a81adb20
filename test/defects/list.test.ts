import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEFECTS } from './list.ts';

describe('planted defects (make defects proves that each is caught)', () => {
  it('there are at least 25, each with a name of its own', () => {
    expect(DEFECTS.length).toBeGreaterThanOrEqual(25);
    expect(new Set(DEFECTS.map(d => d.name)).size).toBe(DEFECTS.length);
  });

  for (const { name, file, find, replace, caughtBy } of DEFECTS)
    it(`${name}: its place is still in the code, and its test in the tests`, () => {
      expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2);
      expect(replace).not.toBe(find);
      const [test = '', pattern = ''] = caughtBy.split(' > ');
      expect(existsSync(test)).toBe(true);
      // The names of deeds are in the file of the deeds.
      const text = `${readFileSync(test, 'utf8')} ${readFileSync('test/chaos/deeds.ts', 'utf8')}`;
      expect(text.includes(pattern.replace(/ under .*/, ' under')), pattern).toBe(true);
    });
});
