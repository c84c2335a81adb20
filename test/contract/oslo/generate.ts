import fc from 'fast-check';

/** White space on which Python and JavaScript disagree, line ends, quotes, everything that has a meaning in the format. */
const space = fc.constantFrom(' ', '\t', '  ', '', '\u00a0', '\u001c', '\u0085', '\ufeff', '\u2028', '\v', '\f');
const end = fc.constantFrom('\n', '\n', '\n', '\n', '\r\n', '\r', '\n\n', '\n \n');
const word = fc.oneof(
  fc.constantFrom(
    'debug',
    'a',
    'b.c',
    'key',
    'ключ',
    'x-y',
    '__proto__',
    'constructor',
    '[k',
    'k]',
    '#k',
    ';',
    '"',
    "'",
  ),
  fc.string({
    unit: fc.constantFrom('a', 'b', '=', ':', '[', ']', '#', ';', '"', "'", '$', '\\', ' ', 'é', '😀'),
    maxLength: 6,
  }),
);
const value = fc.oneof(
  word,
  fc.tuple(fc.constantFrom('"', "'", ''), word, fc.constantFrom('"', "'", '')).map(parts => parts.join('')),
  fc.constantFrom('true # not a comment', 'rabbit://u:p@h:5672/v;x', '$my_ip', '100%', '"', "''"),
);
const section = fc.oneof(
  fc.constantFrom('[DEFAULT]', '[default]', '[a]', '[A]', '[]', '[ ]', '[a', '[a]]', '[[a]', '[a] ', '[a] # no'),
  fc.tuple(fc.constant('['), word, fc.constantFrom(']', '', '] ')).map(parts => parts.join('')),
);
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(word, space, fc.constantFrom('=', ':', '= ', ' = '), space, value, space).map(p => p.join('')),
  },
  { weight: 3, arbitrary: section },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(' ', '\t', '    '), value).map(p => p.join('')) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('#', ';', '# ', ' #'), value).map(p => p.join('')) },
  { weight: 1, arbitrary: space },
  { weight: 1, arbitrary: word },
);

/** Files of a few lines, most of them starting with a section so that not all die on the first line. */
export const file: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('[DEFAULT]\n', '[a]\n', '', '# c\n[a]\n', '[A]\r\n'),
    fc.array(
      fc.tuple(line, end).map(parts => parts.join('')),
      { maxLength: 7 },
    ),
    fc.constantFrom('', '\n', 'last = 1', ' '),
  )
  .map(([head, lines, tail]) => head + lines.join('') + tail);

/** Well-formed files: valid lines only. */
export const goodFile: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom('[DEFAULT]\n', '[a]\n', '[A]\n', '[b]\n', '# comment\n', '\n', '; other\n'),
      fc
        .tuple(
          fc.constantFrom('x', 'y', 'old', 'm'),
          fc.constantFrom(' = ', '=', ': '),
          value,
          fc.constantFrom('', '\n  more', '\n\t"q"'),
        )
        .map(parts => `${parts.join('')}\n`),
    ),
    { maxLength: 12 },
  )
  .map(lines => `[DEFAULT]\n${lines.join('')}`);
