import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonical, hashOf, sameJson, shortHash } from './canonical.ts';

/** The same value with its keys in another order, and absent fields written as undefined. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries([...entries.map(([key, field]) => [key, shuffled(field)]), ['~absent', undefined]]);
}

const json = fc.jsonValue({ maxDepth: 4 }).filter(value => !JSON.stringify(value).includes('__proto__'));

describe('canonical', () => {
  it('equal intent has equal text and hash, whatever the order of keys', () => {
    fc.assert(
      fc.property(json, value => {
        expect(JSON.stringify(canonical(shuffled(value)))).toBe(JSON.stringify(canonical(value)));
        expect(hashOf(shuffled(value))).toBe(hashOf(value));
        expect(sameJson(shuffled(value), value)).toBe(true);
        expect(sameJson(value, shuffled(value))).toBe(true);
      }),
    );
  });

  it('sameJson is equality of canonical text', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(sameJson(a, b)).toBe(JSON.stringify(canonical(a)) === JSON.stringify(canonical(b)));
      }),
    );
  });

  it('the order of a list is part of it', () => {
    expect(sameJson([1, 2], [2, 1])).toBe(false);
    expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]));
  });

  it('inputs are told apart: one list of two is not two lists', () => {
    expect(hashOf('a', 'b')).not.toBe(hashOf(['a', 'b']));
    expect(hashOf('ab')).not.toBe(hashOf('a', 'b'));
  });

  it('never changes: every pod of every cloud would roll (rule 22)', () => {
    expect(shortHash('image', ['argv'], [1])).toBe('daaa4f11');
    expect(hashOf({ b: 1, a: [true, null] })).toBe('be32dcf99b30c8cd05f4f7802bf2bed46e0a1229e9dfaeb813bc94ed891ce4dc');
  });
});
