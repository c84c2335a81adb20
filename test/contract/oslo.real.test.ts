import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../../src/oslo/check.ts';
import { layered } from '../../src/oslo/layers.ts';
import { lint } from '../../src/oslo/lint.ts';
import { type PackedTable, releases, type Shape, schemaOf } from '../../src/oslo/options.ts';
import { assignments, parse, values } from '../../src/oslo/parse.ts';
import { substitute } from '../../src/oslo/substitute.ts';
import { ours } from './oslo/compare.ts';
import { file, goodFile } from './oslo/generate.ts';
import { ask, type Case, type ParseAnswer, prepare, type Registered, recordedPath, version } from './oslo/oracle.ts';

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
  it.each(releases)(
    'oslo-config-validator with the tables of %s finds the unknown names that lint finds',
    release => {
      const services = ['nova', 'keystone', 'placement', 'heat', 'l3_agent'];
      const cases: Case[] = services.map(name => ({ kind: 'data', name, data: generatorData(release, name) }));
      const texts = services.flatMap(name =>
        sample(snippet(release, name), 200 / services.length).map(text => ({ name, text })),
      );
      const answers = ask<{ unknown?: [string, string][] }>([
        ...cases,
        ...texts.map(each => ({ kind: 'validate' as const, ...each })),
      ]).slice(cases.length);
      let unknown = 0;
      for (const [index, { name, text }] of texts.entries()) {
        const theirs = (answers[index]?.unknown ?? []).map(([section, key]) => `${section}/${key}`);
        unknown += theirs.length;
        expect({ text, found: unknownNames(text, name, release) }).toEqual({
          text,
          found: [...new Set(theirs)].sort(),
        });
      }
      console.log(`${release}: ${texts.length} snippets, ${unknown} unknown names, none missed, none too many`);
      expect(unknown).toBeGreaterThan(100);
    },
    300_000,
  );

  it.each(releases)(
    'lint finds wrong values that the validator passes, with the tables of %s',
    release => {
      const wrong: Record<string, string> = { bool: 'perhaps', int: 'seven', float: '1,5', port: '65536' };
      const service = 'nova';
      const schema = schemaOf(service, release);
      const options = (schema?.sections ?? []).flatMap(section => [...(schema?.section(section)?.values() ?? [])]);
      const planted = options.filter(option => option.choices || option.t in wrong);
      const texts = planted.map(
        ({ section, name, t, choices }) => `[${section}]\n${name} = ${choices ? '~' : wrong[t]}\n`,
      );
      const answers = ask<{ unknown?: string[][] }>([
        { kind: 'data', name: service, data: generatorData(release, service) },
        ...texts.map(text => ({ kind: 'validate' as const, text, name: service })),
      ]).slice(1);
      const passed = answers.filter(answer => answer.unknown?.length === 0).length;
      const missed = texts.filter(
        text => !lint(text, { service, release }).some(({ code }) => ['type', 'range', 'choice'].includes(code)),
      );
      console.log(
        `${release}: ${texts.length} wrong values planted, the validator passes ${passed}, lint ${missed.length}`,
      );
      expect(missed).toEqual([]);
      expect(texts.length).toBeGreaterThan(300);
    },
    300_000,
  );
});

const packedTable = (release: string): PackedTable =>
  JSON.parse(readFileSync(new URL(`../../src/oslo/options/${release}.json`, import.meta.url), 'utf8'));

/** Our table in the form that oslo-config-generator prints, made from the file and not from the code under test. */
function generatorData(release: string, file: string): object {
  const { groups, renamed } = packedTable(release).files[file] ?? { groups: {}, renamed: {} };
  const names = (text: string) => text.split(' ').map(pair => ({ name: pair.split('=')[0], dest: pair.split('=')[0] }));
  const options = Object.entries(groups).map(([group, text]) => [group, { opts: names(text) }]);
  const old = Object.entries(renamed).map(([group, text]) => [group, names(text)]);
  return { options: Object.fromEntries(options), deprecated_options: Object.fromEntries(old) };
}

/** Known options, the same with a typing mistake, in a wrong section, and old names. */
function snippet(release: string, file: string): fc.Arbitrary<string> {
  const { groups, renamed } = packedTable(release).files[file] ?? { groups: {}, renamed: {} };
  // Sections where we know more than the sample file: keystoneauth plug-ins.
  const sections = Object.keys(groups).filter(
    name => !/auth_type|auth_url/.test(groups[name] ?? '') && name !== 'oslo_limit',
  );
  const names = (text: string | undefined) => (text?.split(' ') ?? []).map(pair => pair.split('=')[0] ?? '');
  const line = fc.constantFrom(...sections).chain(section =>
    fc
      .tuple(
        fc.constantFrom(...names(groups[section]), ...names(renamed[section])),
        fc.nat(9),
        fc.constantFrom(...sections),
      )
      .map(([name, mistake, other]) => {
        if (mistake === 0) return `[${section}]\n${name}x = 1\n`;
        if (mistake === 1) return `[${other}]\n${name} = 1\n`;
        if (mistake === 2) return `[${section}x]\n${name} = 1\n`;
        if (mistake === 3) return `[${section}]\n${name.replaceAll('_', '-')} = 1\n`;
        return `[${section}]\n${name} = 1\n`;
      }),
  );
  return fc.array(line, { minLength: 1, maxLength: 8 }).map(lines => lines.join(''));
}

function unknownNames(text: string, service: string, release: string): string[] {
  const findings = lint(text, { service, release });
  const parsed = parse(text);
  if ('error' in parsed) throw new Error('the generated file must parse');
  const sections = new Set(findings.filter(each => each.code === 'unknown-section').map(each => each.section));
  const inside = assignments(parsed.ok).filter(each => sections.has(each.section));
  const options = findings.filter(each => each.code === 'unknown-option');
  return [...new Set([...inside, ...options].map(each => `${each.section}/${each.key}`))].sort();
}

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
