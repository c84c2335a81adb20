import { describe, expect, it } from 'vitest';
import { assignments, type Document, lookup, parse, values } from './parse.ts';

function read(text: string): Document {
  const parsed = parse(text);
  if ('error' in parsed) throw new Error(parsed.error.message);
  return parsed.ok;
}

describe('parse', () => {
  it('keeps order, comments and positions of the text', () => {
    const text = '# mine\n[DEFAULT]\ndebug = true\n\n[pci]\n; two\nalias : "x"\n  more\nalias=y';
    const document = read(text);
    expect(document.text).toBe(text);
    expect(document.items).toEqual([
      { kind: 'comment', text: 'mine', line: 1, column: 1 },
      { kind: 'section', name: 'DEFAULT', line: 2, column: 1 },
      {
        kind: 'assignment',
        section: 'DEFAULT',
        key: 'debug',
        value: 'true',
        line: 3,
        column: 1,
        valueColumn: 9,
        endLine: 3,
      },
      { kind: 'section', name: 'pci', line: 5, column: 1 },
      { kind: 'comment', text: 'two', line: 6, column: 1 },
      {
        kind: 'assignment',
        section: 'pci',
        key: 'alias',
        value: 'x\nmore',
        line: 7,
        column: 1,
        valueColumn: 10,
        endLine: 8,
      },
      { kind: 'assignment', section: 'pci', key: 'alias', value: 'y', line: 9, column: 1, valueColumn: 7, endLine: 9 },
    ]);
  });

  it('appends repeated keys and merges repeated sections', () => {
    const document = read('[a]\nk=1\n[b]\nk=x\n[a]\nk=2\nj=3\n');
    expect(values(document).get('a')).toEqual(
      new Map([
        ['k', ['1', '2']],
        ['j', ['3']],
      ]),
    );
    expect(lookup(document, 'A', 'k')?.value).toBe('2');
    expect(lookup(document, 'a', 'K')).toBeUndefined();
  });

  it('does not cut values at # and ;, nor at the second = or :', () => {
    const document = read('[DEFAULT]\ntransport_url = rabbit://u:p=;#@h:5672/v # x\n');
    expect(assignments(document)[0]?.value).toBe('rabbit://u:p=;#@h:5672/v # x');
  });

  it.each([
    ['debug = true\n', 1, 1, 'Section must be started before assignment'],
    ['[DEFAULT]\ndebug\n', 2, 1, "No ':' or '=' found in assignment"],
    ['[DEFAULT]\n= x\n', 2, 1, 'Key cannot be empty'],
    ['[DEFAULT]\n  x = 1\n', 2, 3, 'Unexpected continuation line'],
    ['[DEFAULT]\na = 1\n# c\n  more\n', 4, 3, 'Unexpected continuation line'],
    ['[DEFAULT\n', 1, 9, 'Invalid section (must end with ])'],
    ['[DEFAULT] # why\n', 1, 16, 'Invalid section (must end with ])'],
    ['\r\n\r[]\n', 3, 1, 'Empty section name'],
    ['\ufeff[DEFAULT]\n', 1, 1, "No ':' or '=' found in assignment"],
  ])('%j fails in line %i, column %i: %s', (text, line, column, message) => {
    expect(parse(text)).toEqual({ error: { line, column, message } });
  });

  it('reads a megabyte of blanks and of short lines in linear time', () => {
    const blanks = ' '.repeat(1_000_000);
    expect(assignments(read(`[a]\nk = v${blanks}\n`))[0]?.value).toBe('v');
    expect(
      values(read(`[a]\n${'k = v\n'.repeat(150_000)}`))
        .get('a')
        ?.get('k'),
    ).toHaveLength(150_000);
  });
});
