import { describe, expect, it } from 'vitest';
import { functionsOf, longFunctions } from './functions.ts';

const long = (line: string, times = 61): string => Array.from({ length: times }, () => line).join('\n');

describe('functions of more than 60 lines', () => {
  it('are counted whatever their form, with what they hold', () => {
    const found = functionsOf(
      'x.ts',
      `function plain() {\n${long('call();')}\n}\nconst arrow = () => {\n${long('call();')}\n};\nclass A {\n  method() {\n${long('call();')}\n  }\n}`,
    );
    expect(found.map(({ name, lines }) => [name, lines])).toEqual([
      ['plain', 63],
      ['arrow', 63],
      ['method', 63],
    ]);
  });

  it('are not tables: one literal without statements', () => {
    expect(functionsOf('x.ts', `const table = (x: number) => ({\n${long('a: x,')}\n});`)).toEqual([]);
    expect(functionsOf('x.ts', `const code = () => ({\n${long('a() { go(); },')}\n});`).length).toBeGreaterThan(0);
  });

  it('do not exist', () => {
    expect(longFunctions()).toEqual([]);
  });
});
