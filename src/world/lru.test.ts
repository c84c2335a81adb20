import { describe, expect, it } from 'vitest';
import { Lru } from './lru.ts';

describe('a bounded map', () => {
  it('drops the least recently used entry', () => {
    const gone: number[] = [];
    const map = new Lru<string, number>(2, value => gone.push(value));
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([...map.keys()]).toEqual(['a', 'c']);
    expect([map.get('b'), map.size, gone]).toEqual([undefined, 2, [2]]);
  });

  it('does not tell of what was replaced or deleted', () => {
    const gone: number[] = [];
    const map = new Lru<string, number>(1, value => gone.push(value));
    map.set('a', 1);
    map.set('a', 2);
    map.delete('a');
    expect([map.size, gone]).toEqual([0, []]);
  });
});
