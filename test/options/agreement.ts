import type { Finding } from '../../src/oslo/lint.ts';
import { groupId } from '../../src/oslo/model.ts';
import { type Schema, schemaOf } from '../../src/oslo/options.ts';
import { assignments, parse } from '../../src/oslo/parse.ts';
import { type Excuse, excuses, heldUntold } from './excuses.ts';
import { judged, type Snippet } from './snippets.ts';

/** What validate.py says about a text: pairs of group and name. */
export interface Verdict {
  /** By oslo-config-validator. */
  readonly unknown: readonly (readonly [string, string])[];
  readonly deprecated: readonly (readonly [string, string])[];
  /** By the option itself, which the validator never asks. */
  readonly refused: readonly (readonly [string, string])[];
}

export interface Judged extends Snippet {
  readonly findings: readonly Finding[];
  readonly verdict: Verdict;
}

interface Named {
  readonly section: string;
  readonly key: string;
}
const textOf = ({ section, key }: Named): string => `[${section}] ${key}`;
const namedBy = (text: string): Named => {
  const [, section = '', key = ''] = /^\[(.*)\] (.*)$/.exec(text) ?? [];
  return { section, key };
};
const pairs = (all: readonly (readonly [string, string])[]): string[] =>
  all.map(([section, key]) => textOf({ section, key }));

/** Names that lint does not know: in a section that nobody reads, all of them. */
function unknownTo(found: readonly Finding[], text: string): Set<string> {
  const parsed = parse(text);
  if ('error' in parsed) throw new Error(`a snippet does not parse: ${text}`);
  const lost = new Set(found.filter(f => f.code === 'unknown-section').map(f => f.section));
  const options = found.filter(f => f.code === 'unknown-option').map(f => textOf(f as Named));
  return new Set([
    ...options,
    ...assignments(parsed.ok)
      .filter(a => lost.has(a.section))
      .map(textOf),
  ]);
}

export interface Agreement {
  readonly agreed: number;
  readonly excused: ReadonlyMap<Excuse, number>;
  readonly differences: readonly string[];
}

export function onNames(release: string, cases: readonly Judged[]): Agreement {
  const differences: string[] = [];
  const excused = new Map<Excuse, number>();
  let agreed = 0;
  for (const { service, text, findings, verdict } of cases) {
    const schema = schemaOf(service, release)!;
    const [mine, theirs] = [unknownTo(findings, text), new Set(pairs(verdict.unknown))];
    for (const name of new Set([...mine, ...theirs])) {
      if (mine.has(name) && theirs.has(name)) {
        agreed++;
        continue;
      }
      const only = mine.has(name) ? 'lint' : 'validator';
      const excuse = excuses.find(
        one => one.only === only && one.covers({ service, release, schema, ...namedBy(name) }),
      );
      if (excuse) excused.set(excuse, (excused.get(excuse) ?? 0) + 1);
      else differences.push(`${service}: ${name}: unknown to ${only} alone`);
    }
  }
  return { agreed, excused, differences };
}

export interface Values {
  /** By code: found by lint, and refused by the option. */
  readonly found: Readonly<Record<'type' | 'range' | 'choice', number>>;
  readonly refused: number;
  /** Refused, of a type that the tables do not describe. */
  readonly unjudged: number;
  readonly differences: readonly string[];
}

const isListed = (schema: Schema, section: string, key: string): boolean =>
  schema.option(section, key) !== undefined || schema.renamed(section, key) !== undefined;

export function onValues(release: string, cases: readonly Judged[]): Values {
  const differences: string[] = [];
  const found = { type: 0, range: 0, choice: 0 };
  let [refused, unjudged] = [0, 0];
  for (const { service, findings, verdict } of cases) {
    const schema = schemaOf(service, release)!;
    const wrong = new Set(pairs(verdict.refused));
    const lost = new Set(pairs(verdict.unknown));
    const said = new Map(findings.filter(f => f.code in found).map(f => [textOf(f as Named), f]));
    for (const [name, { code, message }] of said) {
      const { section, key } = namedBy(name);
      if (wrong.has(name)) found[code as keyof typeof found]++;
      // Where the name itself is excused, or registered by a plugin that nobody loads here, there is no option to ask.
      else if (!lost.has(name) && isListed(schema, section, key))
        differences.push(`${service}: ${name} ${message}: but its option takes the value`);
    }
    for (const name of wrong) {
      refused++;
      if (said.has(name)) continue;
      const { section, key } = namedBy(name);
      const now = schema.renamed(section, key);
      const option = now ? schema.option(now.section, now.key) : schema.option(section, key);
      const untold = heldUntold.has(`${option?.section}/${option?.name}`);
      if (option && judged(option) && !untold)
        differences.push(`${service}: ${name} (${option.t}): refused, and lint says nothing`);
      else unjudged++;
    }
  }
  return { found, refused, unjudged, differences };
}

/** Every name that the validator has, by service. */
export type Known = Readonly<Record<string, readonly (readonly [string, string])[]>>;

/** Every name in our tables against every name that the validator has, whatever some text holds. */
export function onTables(release: string, known: Known): Agreement {
  const differences: string[] = [];
  const excused = new Map<Excuse, number>();
  let agreed = 0;
  for (const [service, names] of Object.entries(known)) {
    const schema = schemaOf(service, release)!;
    const idOf = (section: string, key: string): string => textOf({ section: groupId(section), key });
    const theirs = new Map(names.map(([section, key]) => [idOf(section, key), { section, key }]));
    const mine = new Map(
      schema.sections.flatMap(section =>
        [...(schema.section(section)?.keys() ?? [])].map(key => [idOf(section, key), { section, key }] as const),
      ),
    );
    for (const [id, named] of new Map([...theirs, ...mine])) {
      if (mine.has(id) && theirs.has(id)) {
        agreed++;
        continue;
      }
      const only = mine.has(id) ? 'validator' : 'lint';
      const excuse = excuses.find(one => one.only === only && one.covers({ service, release, schema, ...named }));
      if (excuse) excused.set(excuse, (excused.get(excuse) ?? 0) + 1);
      else differences.push(`${service}: ${textOf(named)}: unknown to ${only} alone`);
    }
  }
  return { agreed, excused, differences };
}
