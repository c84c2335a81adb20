import { differsOnlyByCase, problemOf } from './check.ts';
import { type Allowed, allowedIn, outline } from './dynamic.ts';
import { groupId } from './model.ts';
import { nearest } from './near.ts';
import { type Option, releases, type Schema, schemaOf } from './options.ts';
import { type Owned, owned, ownerOf } from './owned.ts';
import { type Assignment, assignments, type Document, parse } from './parse.ts';
import { places, references } from './substitute.ts';

export type Severity = 'error' | 'warning' | 'info';

export type Code =
  | 'syntax'
  | 'no-table'
  | 'unknown-section'
  | 'unknown-option'
  | 'renamed'
  | 'deprecated'
  | 'type'
  | 'range'
  | 'choice'
  | 'substitution'
  | 'repeated'
  | 'comment-in-value'
  | 'operator-owned'
  | 'plain-secret'
  /** Not about a text: a field that would give pods rights on the node. */
  | 'host-access';

/** Messages hold names and never values: a value may be a password. */
export interface Finding {
  readonly severity: Severity;
  readonly code: Code;
  readonly line: number;
  readonly column: number;
  readonly section?: string;
  readonly key?: string;
  readonly message: string;
  /** What to write instead: an option, a section, or `[section] option`. */
  readonly suggestion?: string;
}

export interface LintContext {
  /** 'nova', a generator file such as 'ml2_conf', or 'controlplane' for a text that reaches every service. */
  readonly service: string;
  readonly release: string;
  /** Where the text stands. In a Secret, secrets are at home; what the operator generated may hold its own options too. */
  readonly from?: 'spec' | 'secret' | 'generated';
  readonly owned?: readonly Owned[];
}

/** Everything worth saying about a text, in the order of its lines. */
export function lint(input: string | Document, context: LintContext): Finding[] {
  const parsed = typeof input === 'string' ? parse(input) : { ok: input };
  if ('error' in parsed) {
    const { line, column, message } = parsed.error;
    return [{ severity: 'error', code: 'syntax', line, column, message: `${message}${hint[message] ?? ''}` }];
  }
  const document = parsed.ok;
  const schema = schemaOf(context.service, context.release);
  const found = schema ? byTable(document, schema, context) : [noTable(context)];
  found.push(...traps(document, schema));
  return found.sort((a, b) => a.line - b.line || a.column - b.column);
}

const hint: Readonly<Record<string, string>> = {
  'Unexpected continuation line': ': a line that starts with a blank continues the value above it, and there is none',
  'Section must be started before assignment': ': start with [DEFAULT] or another section',
  "No ':' or '=' found in assignment": ': write key = value; a longer value goes on in lines that start with a blank',
};

function noTable({ service, release }: LintContext): Finding {
  const known = releases.join(', ');
  const message = `no option table for ${service} in ${release} (there are tables for ${known}): only the syntax was checked`;
  return { severity: 'info', code: 'no-table', line: 1, column: 1, message };
}

function byTable(document: Document, schema: Schema, context: LintContext): Finding[] {
  const found: Finding[] = [];
  const cache = new Map<string, Allowed | undefined>();
  const shape = outline(document);
  const allowed = (section: string): Allowed | undefined => {
    if (!cache.has(section)) cache.set(section, allowedIn(section, shape, schema));
    return cache.get(section);
  };
  const reported = new Set<string>();
  const heads = new Map<string, number>();
  for (const item of document.items) {
    if (item.kind === 'section' && !heads.has(item.name)) heads.set(item.name, item.line);
  }
  // Each suggestion looks at every name there is; after this many mistakes the text is no typing mistake.
  let suggestions = 50;
  const guess: Guess = make => (suggestions-- > 0 ? make() : undefined);
  for (const item of assignments(document)) {
    const { section, key } = item;
    const place = allowed(section);
    const renamed = schema.renamed(section, key);
    if (renamed) found.push(renameFinding(item, `[${renamed.section}] ${renamed.key}`));
    const option = renamed
      ? schema.option(renamed.section, renamed.key)
      : place !== 'anything' && place?.options.get(key);
    if (option) found.push(...aboutValue(item, option, name => allowed(name), schema));
    else if (place !== undefined && place !== 'anything') found.push(unknownOption(item, place.options, schema, guess));
    if (option && option.dep !== undefined && option.dep !== false) found.push(deprecated(item, option, schema));
    if (place === undefined && !renamed && !reported.has(section)) {
      reported.add(section);
      found.push(unknownSection(section, heads.get(section) ?? item.line, schema, guess));
    }
    found.push(...aboutOwner(item, option || undefined, context));
  }
  return found;
}

const place = ({ section, key, line, column }: Assignment) => ({ section, key, line, column });

function renameFinding(item: Assignment, now: string): Finding {
  const message = `${item.key} is a deprecated name of ${now}`;
  return { ...place(item), severity: 'warning', code: 'renamed', message, suggestion: now };
}

function deprecated(item: Assignment, option: Option, schema: Schema): Finding {
  const since = typeof option.dep === 'string' ? ` since ${option.dep}` : '';
  const next = schema.successor(option.section, option.name);
  const suggestion = next && `[${next.section}] ${next.key}`;
  const instead = suggestion ? `; use ${suggestion}` : '';
  const message = `${item.key} is deprecated for removal${since}: a later release will ignore it${instead}`;
  const common = { ...place(item), severity: 'warning', code: 'deprecated', message } as const;
  return suggestion ? { ...common, suggestion } : common;
}

type Guess = (make: () => string | undefined) => string | undefined;

function unknownSection(section: string, line: number, schema: Schema, guess: Guess): Finding {
  const suggestion = guess(() => nearest(section, schema.sections));
  const meant = suggestion ? `; did you mean [${suggestion}]?` : '';
  const message = `[${section}] is no section that ${schema.files.join(', ')} reads in ${schema.release}${meant}`;
  const common = { severity: 'error', code: 'unknown-section', line, column: 1, section, message } as const;
  return suggestion ? { ...common, suggestion } : common;
}

function unknownOption(item: Assignment, options: ReadonlyMap<string, Option>, schema: Schema, guess: Guess): Finding {
  const { section, key } = item;
  const suggestion = guess(() => {
    const elsewhere = schema.sections.filter(name => groupId(name) !== groupId(section) && schema.option(name, key));
    // The right word in the wrong section is likelier than a typing mistake, unless half the sections have that word.
    if (elsewhere.length > 0 && elsewhere.length <= 3) return `[${elsewhere[0]}] ${key}`;
    return nearest(key, options.keys());
  });
  const meant = suggestion ? `; did you mean ${suggestion}?` : '';
  const message = `[${section}] has no option ${key} in ${schema.release}, so it is ignored${meant}`;
  const common = { ...place(item), severity: 'error', code: 'unknown-option', message } as const;
  return suggestion ? { ...common, suggestion } : common;
}

function aboutValue(
  item: Assignment,
  option: Option,
  allowed: (section: string) => Allowed | undefined,
  schema: Schema,
): Finding[] {
  const at = { ...place(item), column: item.valueColumn };
  const used = references(item.value);
  const lost = used.filter(
    ({ name }) => !places(name, item.section).some(target => exists(target.section, target.key)),
  );
  function exists(section: string, key: string): boolean {
    // A group in a reference is compared with its case (StrSubWrapper), other than in a section's head.
    if (groupId(section) !== groupId(item.section) && !schema.sections.includes(section)) return false;
    const target = allowed(section);
    return target === 'anything' || target?.options.has(key) === true;
  }
  if (lost.length > 0) {
    const shown = option.secret ? 'the word behind a $' : lost.map(({ name }) => `$${name}`).join(', ');
    const message = `${shown} names no option: the service fails when it reads ${item.key}; write $$ for a dollar sign`;
    return [{ ...at, severity: 'error', code: 'substitution', message }];
  }
  // What a reference will give is known only where all layers are.
  if (used.length > 0) return [];
  const problem = problemOf(option, item.value.replaceAll(/\$\$|\\\$/g, '$'));
  if (!problem) return [];
  const tail = /\s[#;]/.test(item.value) ? ' (what follows a # or ; on the same line belongs to the value)' : '';
  const severity = problem.code === 'choice' && differsOnlyByCase(option, item.value) ? 'warning' : 'error';
  return [{ ...at, severity, code: problem.code, message: `${item.key} ${problem.message}${tail}` }];
}

function aboutOwner(item: Assignment, option: Option | undefined, context: LintContext): Finding[] {
  if (context.from === 'generated') return [];
  const owner = ownerOf(item.section, item.key, context.owned ?? owned);
  if (owner) {
    const message = `[${item.section}] ${item.key} is set by the operator; with this value ${owner.consequence}`;
    return [{ ...place(item), severity: 'warning', code: 'operator-owned', message }];
  }
  const secret =
    option?.secret ||
    /(^|_)(password|secret|secret_key)$/.test(item.key) ||
    /:\/\/[^/@\s:]*:[^/@\s]+@/.test(item.value);
  if (context.from === 'secret' || !secret || item.value === '') return [];
  const message = `${item.key} holds a secret in plain text: put it into a Secret and name that in customServiceConfigSecrets`;
  return [{ ...place(item), severity: 'info', code: 'plain-secret', message }];
}

/** What the format lets pass and nobody means. */
function traps(document: Document, schema: Schema | undefined): Finding[] {
  const found: Finding[] = [];
  const first = new Map<string, Assignment>();
  for (const item of assignments(document)) {
    const id = `${groupId(item.section)}\n${item.key}`;
    const earlier = first.get(id);
    first.set(id, item);
    const option = schema?.option(item.section, item.key);
    // Only a table distinguishes a repeated mistake from an option that may be repeated.
    if (earlier && option && !schema?.multi(item.section, item.key)) {
      const message = `${item.key} is set again: the value in line ${earlier.line} has no effect`;
      found.push({ ...place(item), severity: 'warning', code: 'repeated', message });
    }
    const inside = item.value.split('\n').findIndex((line, index) => index > 0 && /^[#;]/.test(line));
    if (inside > 0) {
      const message = `an indented comment is no comment: this line is part of the value of ${item.key}`;
      const line = item.line + inside;
      found.push({ ...place(item), line, column: 1, severity: 'warning', code: 'comment-in-value', message });
    }
  }
  return found;
}
