import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../../src/oslo/check.ts';
import { layered } from '../../src/oslo/layers.ts';
import type { Shape } from '../../src/oslo/options.ts';
import { parse, values } from '../../src/oslo/parse.ts';
import { substitute } from '../../src/oslo/substitute.ts';
import { ours } from './oslo/compare.ts';
import { file, goodFile } from './oslo/generate.ts';
import { ask, type ParseAnswer, prepare, type Registered, recordedPath, version } from './oslo/oracle.ts';

/** Printed by every run, so that a failure can be run again: OSLO_SEED=... */
const seed = Number(process.env.OSLO_SEED ?? Date.now() % 1_000_000);
const count = Number(process.env.OSLO_CASES ?? 6000);
const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number): T[] => fc.sample(arbitrary, { seed, numRuns });

describe(`the real oslo.config ${version} (seed ${seed})`, () => {
  beforeAll(prepare, 300_000);

  it('reads every file as we do: sections, values, errors and their lines', () => {
    const texts = [...sample(file, count), ...sample(goodFile, count / 4)];
    const answers = ask<ParseAnswer>(texts.map(text => ({ kind: 'parse', text })));
    let failed = 0;
    for (const [index, text] of texts.entries()) {
      const answer = answers[index] as ParseAnswer;
      if ('error' in answer) failed++;
      expect({ text, ...ours(text, answer) }).toEqual({ text, ...answer });
    }
    console.log(`${texts.length} files compared, oslo refused ${failed} of them`);
    expect(failed).toBeGreaterThan(texts.length / 20);
    expect(failed).toBeLessThan(texts.length);
    if (process.env.OSLO_RECORD) record(texts, answers);
  }, 300_000);

  it('resolves $ references as we do, and fails where we say it fails', () => {
    const options: Registered[] = [
      ['DEFAULT', 'a', false, []],
      ['DEFAULT', 'b', false, []],
      ['DEFAULT', 'unset', false, []],
      ['g', 'a', false, []],
      ['g', 'q', false, []],
    ];
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are oslo's templates
    const piece = fc.constantFrom(
      ...[
        '$a',
        '$b',
        '${b}',
        '$g.q',
        '${g.q}',
        '$g.a',
        '$q',
        '$unset',
        '$$',
        '$',
        '\\$',
        '\\',
        '${',
        '}',
        '$nope',
        '$h.x',
        '.',
        'b',
      ],
      ...['$B', ' ', '$1', '$é', '{', '-', '$_', '$b.q'],
    );
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are oslo's templates
    const text = fc.array(piece, { maxLength: 4 }).map(parts => parts.join(''));
    const files = sample(
      fc.tuple(text, text, text, text).map(([a, b, ga, gq]) => `[DEFAULT]\na=${a}\nb=${b}\n[g]\na=${ga}\nq=${gq}\n`),
      600,
    );
    const places = [
      ['DEFAULT', 'a'],
      ['DEFAULT', 'b'],
      ['g', 'a'],
      ['g', 'q'],
    ] as const;
    const cases = files.flatMap(each => places.map(([section, key]) => ({ each, section, key })));
    const answers = ask<{ value?: string; error?: string }>(
      cases.map(({ each, section, key }) => ({ kind: 'substitute', text: each, options, section, key })),
    );
    for (const [index, { each, section, key }] of cases.entries()) {
      const parsed = parse(each);
      if ('error' in parsed) throw new Error('the generated file must parse');
      const set = values(parsed.ok);
      const known = new Set(options.map(([group, name]) => `${group}/${name}`));
      const result = substitute(set.get(section)?.get(key)?.at(-1) ?? '', section, {
        section: group => group === 'g',
        option: (group, name) =>
          known.has(`${group}/${name}`) ? (set.get(group)?.get(name)?.at(-1) ?? '') : undefined,
      });
      const answer = answers[index] ?? {};
      const expected = answer.error ? 'error' : answer.value;
      expect({ each, section, key, is: 'ok' in result ? result.ok : 'error' }).toEqual({
        each,
        section,
        key,
        is: expected,
      });
    }
  }, 300_000);

  it('accepts and refuses values of every type as we do', () => {
    const shapes: Shape[] = [
      { t: 'bool' },
      { t: 'int' },
      { t: 'int', min: 3, max: 100 },
      { t: 'int', choices: [256, 512] },
      { t: 'float' },
      { t: 'float', min: 0, max: 1.5 },
      { t: 'port' },
      { t: 'str', choices: ['none', 'host-model', ''] },
      { t: 'dict' },
      { t: 'uri' },
      { t: 'IP address value' },
      { t: 'host' },
      { t: 'hostdomain' },
    ];
    const fixed = [
      ...[
        '',
        ' ',
        'true',
        'True',
        'YES',
        'oN',
        '0',
        '1',
        '2',
        'off',
        'truee',
        '3',
        '100',
        '101',
        '-1',
        '+5',
        '1_0',
        '1__0',
        '_1',
        '1_',
      ],
      ...[
        '1.5',
        '1.',
        '.5',
        '.',
        '1e3',
        '1E-3',
        'e3',
        'inf',
        '-inf',
        'nan',
        'Infinity',
        '0x10',
        '1 0',
        '256',
        '512',
        '0256',
        '007',
      ],
      ...[
        '65535',
        '65536',
        'none',
        'None',
        'host-model',
        'a:b',
        'a:b,c:d',
        'a',
        'a,b',
        'a:b,c',
        'a:1,a:2',
        ':b',
        'a:',
        'a:b,,c:d',
        ',',
      ],
      ...[
        'http://h',
        'http://h:80/p',
        'http://',
        'http:/h',
        'h',
        'h:80',
        'redis://u:p@h/0',
        'http://[::1]:5000',
        'http://h/a b',
        '://h',
      ],
      ...[
        'http://h?x=y',
        'http://h#f',
        'HTTP://H',
        'a+b.c-d://x_y',
        'http://h/%20',
        'http://a@b@c',
        'http://h:port',
        'file:///x',
      ],
      ...[
        '1.2.3.4',
        '1.2.3',
        '1.2.3.256',
        '01.2.3.4',
        '::1',
        '::',
        '1::2::3',
        'fe80::1%eth0',
        '1:2:3:4:5:6:7:8',
        '1:2:3:4:5:6:7::',
      ],
      ...['::ffff:1.2.3.4', '1:2:3:4:5:6:7', 'g::1', '12345::', '1:2:3:4:5:6:1.2.3.4', ':::', ':1', '1:', '1.2.3.4.'],
      ...[
        'host',
        'host.',
        'host..',
        'a-b.example.org',
        '-a',
        'a-',
        'a_b',
        'a_b.c',
        'a.1',
        '1.a',
        'a'.repeat(63),
        'a'.repeat(64),
        'é.org',
      ],
    ];
    const random = sample(fc.string({ unit: fc.constantFrom(...'01259aefhtpx:/.@-_,+[]% '), maxLength: 9 }), 1500);
    const cases = shapes.flatMap(shape =>
      [...fixed, ...random].map(value => ({ kind: 'type' as const, shape, value })),
    );
    const answers = ask<{ ok: boolean }>(cases);
    const differences = cases.filter(({ shape, value }, index) => {
      const accepted = problemOf(shape, value) === undefined;
      return accepted !== answers[index]?.ok && !looser(shape, value, accepted);
    });
    expect(differences).toEqual([]);
    console.log(`${cases.length} values compared`);
  }, 300_000);

  it('takes the winner we take over several files, with MultiStr options and deprecated names', () => {
    const options: Registered[] = [
      ['DEFAULT', 'x', false, [['DEFAULT', 'old']]],
      ['DEFAULT', 'm', true, [['a', 'old']]],
      ['a', 'x', false, [['b', 'old']]],
      ['b', 'y', false, []],
    ];
    const naming = {
      multi: (section: string, key: string) => section === 'DEFAULT' && key === 'm',
      renamed: (section: string, key: string) => {
        if (key !== 'old') return undefined;
        if (section === 'DEFAULT') return { section: 'DEFAULT', key: 'x' };
        return section.toLowerCase() === 'a' ? { section: 'DEFAULT', key: 'm' } : { section: 'a', key: 'x' };
      },
    };
    // A `$` needs registered options; substitution has its own test.
    const texts = goodFile.map(text => text.replaceAll('$', ''));
    const sets = sample(fc.array(texts, { minLength: 1, maxLength: 4 }), 1500);
    const answers = ask<{ values: [string, string, string | string[] | null][] }>(
      sets.map(files => ({ kind: 'layers', files, options })),
    );
    for (const [index, files] of sets.entries()) {
      const result = layered(
        files.map((text, at) => {
          const parsed = parse(text);
          if ('error' in parsed) throw new Error('the generated file must parse');
          return { layer: 'service', file: String(at), document: parsed.ok };
        }),
        naming,
      );
      const got = options.map(([section, key, multi]) => {
        const found = result.effective(section, key);
        return [section, key, (multi ? found?.values : found?.value) ?? null];
      });
      expect({ files, got }).toEqual({ files, got: answers[index]?.values });
    }
  }, 300_000);
});

/** Where the tables know too little for oslo's verdict we say nothing; never the other way round. */
function looser(shape: Shape, value: string, accepted: boolean): boolean {
  return accepted && shape.t === 'dict' && /[={]/.test(value);
}

/** Small and varied: every error, and the first files of each shape of answer. */
function record(texts: readonly string[], answers: readonly ParseAnswer[]): void {
  const seen = new Map<string, number>();
  const kept = texts
    .map((text, index) => ({ text, answer: answers[index] as ParseAnswer }))
    .filter(({ answer }) => {
      const kind = 'error' in answer ? answer.error : `${Object.keys(answer.sections).length} sections`;
      const number = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, number);
      return number <= 12;
    });
  writeFileSync(recordedPath, `[\n${kept.map(each => JSON.stringify(each)).join(',\n')}\n]\n`);
}
