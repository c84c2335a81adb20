import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMulti, multi, type Sections, type Setting, template } from './model.ts';
import { parse, values } from './parse.ts';
import { substitute } from './substitute.ts';
import { rawValues, Unwritable, write } from './write.ts';

describe('write', () => {
  it('puts DEFAULT first, sorts the rest, and leaves out what is not set', () => {
    const sections: Sections = {
      token: { provider: 'fernet', expiration: 3600 },
      Zeta: {},
      cache: { enabled: true, backend: undefined },
      DEFAULT: { use_stderr: true, debug: false },
      pci: { alias: multi('{"name":"a"}', '{"name":"b"}') },
      ml2: { mechanism_drivers: ['ovn', 'sriovnicswitch'], extension_drivers: [] },
    };
    expect(write(sections)).toBe(
      [
        '[DEFAULT]\ndebug = false\nuse_stderr = true\n',
        '[cache]\nenabled = true\n',
        '[ml2]\nextension_drivers =\nmechanism_drivers = ovn,sriovnicswitch\n',
        '[pci]\nalias = {"name":"a"}\nalias = {"name":"b"}\n',
        '[token]\nexpiration = 3600\nprovider = fernet\n',
      ].join('\n'),
    );
  });

  it('is the same text whatever the order of the input', () => {
    const a = write({ b: { x: 1, a: 2 }, a: { k: 'v' } });
    expect(write({ a: { k: 'v' }, b: { a: 2, x: 1 } })).toBe(a);
  });

  it.each([
    ['a$b', 'k = a$$b'],
    ['  padded ', 'k = "  padded "'],
    ['"quoted"', 'k = ""quoted""'],
    ["'", 'k = "\'"'],
    ['two\nlines', 'k = two\n    lines'],
    ['', 'k ='],
    ['a;b#c', 'k = a;b#c'],
  ])('writes %j so that oslo reads it back', (value, line) => {
    expect(write({ s: { k: value } })).toBe(`[s]\n${line}\n`);
  });

  it('leaves the dollars of a template to oslo', () => {
    expect(write({ vnc: { server_listen: template('$my_ip') } })).toBe('[vnc]\nserver_listen = $my_ip\n');
  });

  it.each<[string, Setting]>([
    ['a trailing newline', 'secret\n'],
    ['an empty line inside', 'a\n\nb'],
    ['an indented line', 'a\n b'],
    ['a carriage return', 'a\rb'],
    ['a backslash before a dollar', 'a\\$b'],
    ['a comma in a list item', ['a,b']],
    ['an empty list item', ['']],
    ['not a number', Number.NaN],
    ['too many digits', 1e21],
  ])('refuses %s, which no file can hold, without showing the value', (_, value) => {
    expect(() => write({ database: { connection: value } })).toThrow(Unwritable);
    expect(() => write({ database: { connection: value } })).toThrow(/^\[database\] connection can't be written/);
    expect(() => write({ database: { connection: 'hunter2\n' } })).not.toThrow(/hunter2/);
  });

  it.each(['', ' k', 'a=b', 'a:b', '[k', '#k', ';k', 'a\nb'])('refuses the key %j', key => {
    expect(() => write({ s: { [key]: 'v' } })).toThrow(Unwritable);
  });

  it('round trip: what is written is read back, value by value', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab$"\' #;=:[]{}\t\n\\,%é\u00a0\u001c\ufeff'), maxLength: 8 });
    const scalar = fc.oneof(text, fc.string({ unit: 'binary', maxLength: 6 }), fc.integer(), fc.boolean());
    const setting: fc.Arbitrary<Setting | undefined> = fc.oneof(
      scalar,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.array(scalar, { maxLength: 3 }).map(items => multi(...items)),
      fc.array(fc.constantFrom('a', 'b:c', 'd e'), { maxLength: 3 }),
      fc.constant(undefined),
    );
    const name = fc.string({ unit: fc.constantFrom(...'abCD_-. é'), minLength: 1, maxLength: 5 });
    const sections = fc.dictionary(
      fc.oneof(name, fc.constant('DEFAULT')),
      fc.dictionary(name, setting, { maxKeys: 4 }),
      {
        maxKeys: 4,
      },
    );
    let written = 0;
    fc.assert(
      fc.property(sections, input => {
        let file: string;
        try {
          file = write(input);
        } catch (error) {
          expect(error).toBeInstanceOf(Unwritable);
          return;
        }
        written++;
        const parsed = parse(file);
        if ('error' in parsed) throw new Error(`${parsed.error.message} in ${file}`);
        const read = values(parsed.ok);
        for (const [section, options] of Object.entries(input)) {
          for (const [key, value] of Object.entries(options)) {
            const found = read.get(section)?.get(key);
            if (value === undefined || (isMulti(value) && value.multi.length === 0)) expect(found).toBeUndefined();
            else expect(found).toEqual(rawValues(section, key, value));
          }
        }
        const expected = Object.values(input).flatMap(options =>
          Object.values(options).flatMap<unknown>(value =>
            value === undefined ? [] : isMulti(value) ? value.multi : [value],
          ),
        );
        expect([...read.values()].flatMap(options => [...options.values()].flat())).toHaveLength(expected.length);
      }),
      { numRuns: 600 },
    );
    expect(written).toBeGreaterThan(60);
  });

  it('round trip through substitution: the service sees the string that the table gave', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab$${}._ '), maxLength: 10 });
    fc.assert(
      fc.property(text, value => {
        const raw = rawValues('s', 'k', value)[0] ?? '';
        expect(substitute(raw, 's', { section: () => true, option: () => 'wrong' })).toEqual({ ok: value });
      }),
    );
  });
});
