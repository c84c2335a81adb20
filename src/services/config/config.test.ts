import { describe, expect, it } from 'vitest';
import { startProblem } from './config.ts';

describe('a start description of the user', () => {
  it.each([
    ['{"command": "x"}', undefined],
    ['', 'line 1, column 1: not valid JSON'],
    ['{\n"command": "x",\n', 'line 3, column 1: not valid JSON'],
    ['{"command": "x"\n"config_files": []}', 'line 2, column 1: not valid JSON'],
    ['null', 'command is missing'],
    ['{"command": ["x"]}', 'command is missing'],
    ['{"command": ""}', 'command is missing'],
  ])('%j: %s', (text, expected) => {
    if (expected === undefined) expect(startProblem(text)).toBeUndefined();
    else expect(startProblem(text)).toContain(expected);
  });
});
