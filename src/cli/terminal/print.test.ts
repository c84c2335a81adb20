import { describe, expect, it } from 'vitest';
import { paperOf, table, wrapped } from './print.ts';

const plain = { width: undefined, paint: (_style: string, text: string) => text };

describe('tables', () => {
  it('every column as wide as it needs, nothing cut without a terminal', () => {
    expect(table(plain, ['A', 'LONG', 'TEXT'], [['abc', 'x', 'some words'.repeat(30)]])).toBe(
      `A    LONG  TEXT\nabc  x     ${'some words'.repeat(30)}`,
    );
  });
  it('the last column is cut at the edge of the terminal', () => {
    const lines = table({ ...plain, width: 30 }, ['A', 'TEXT'], [['abc', 'w'.repeat(80)]]).split('\n');
    expect(lines[1]).toHaveLength(30);
    expect(lines[1]).toMatch(/w…$/);
  });
  it('colour on a terminal only, and not against NO_COLOR', () => {
    expect(paperOf({ isTTY: true, columns: 80 }, {}).paint('red', 'x')).toBe('\x1b[31mx\x1b[39m');
    expect(paperOf({ isTTY: true, columns: 80 }, { NO_COLOR: '1' }).paint('red', 'x')).toBe('x');
    expect(paperOf({ isTTY: false }, {}).paint('red', 'x')).toBe('x');
    expect(paperOf({ isTTY: true, columns: 80 }, {}).width).toBe(80);
    expect(paperOf({}, {}).width).toBeUndefined();
  });
  it('wraps under the beginning of the text', () => {
    expect(wrapped({ ...plain, width: 40 }, '- ', 'one two three four five six seven eight nine')).toBe(
      '- one two three four five six seven\n  eight nine',
    );
  });
});
