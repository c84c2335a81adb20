import { groupId, isMulti, type Layer, layers, type Sections, type Source } from './model.ts';
import { assignments, type Document } from './parse.ts';
import { lines, strip } from './python.ts';
import { rawValues } from './write.ts';

/** One setter of options: generated sections, or the parsed text of a user. */
export interface LayerInput extends Source {
  readonly sections?: Sections;
  readonly document?: Document;
  /** Files are read in sorted order; texts of one file share it. Default: by layer, see fileOf. */
  readonly file?: string;
}

/** One assignment, as oslo's parser reads it (`$` not resolved), and who made it. */
export interface Occurrence {
  readonly section: string;
  readonly key: string;
  readonly value: string;
  readonly source: Source;
}

export interface Effective {
  /** Current name, also when somebody used a deprecated one. */
  readonly section: string;
  readonly key: string;
  readonly multi: boolean;
  /** The winner; of a MultiStr option all values, newline between them. */
  readonly value: string;
  readonly values: readonly string[];
  /** Who set the winner; of a MultiStr option the last who added to it. */
  readonly source: Source;
  /** All that count: one, or every part of a MultiStr option, in order. */
  readonly parts: readonly Occurrence[];
  /** What lost, lowest layer first. */
  readonly overrides: readonly Occurrence[];
}

export interface Layered {
  effective(section: string, key: string): Effective | undefined;
  /** Every option that somebody set, DEFAULT first, then by name. */
  readonly all: readonly Effective[];
}

/** What only an option table knows. Without it: MultiStr is what a table wrote as `multi(...)`, and nothing was renamed. */
export interface Naming {
  multi?(section: string, key: string): boolean;
  /** The current name of a deprecated one. */
  renamed?(section: string, key: string): { section: string; key: string } | undefined;
}

interface Ranked extends Occurrence {
  readonly file: number;
  readonly old: boolean;
}

/** Generated options are one file, users' texts the next, customServiceConfigSecrets the last (DESIGN.md 5). */
function fileOf(layer: Layer): string {
  if (layer === 'secret') return '03';
  return layers.indexOf(layer) < layers.indexOf('controlplane') ? '01' : '02';
}

/**
 * Merges the inputs, lowest layer first (inputs of one layer in the given order). oslo's rules: the last assignment wins,
 * MultiStr options accumulate, group names ignore case; and a deprecated name loses to the current one in the same file,
 * wherever it stands there, but wins from a later file (cfg.py, _Namespace._get_file_value).
 */
export function layered(inputs: readonly LayerInput[], naming: Naming = {}): Layered {
  const ordered = [...inputs].sort((a, b) => layers.indexOf(a.layer) - layers.indexOf(b.layer));
  const files = [...new Set(ordered.map(input => input.file ?? fileOf(input.layer)))].sort();
  const found = new Map<string, { multi: boolean; list: Ranked[] }>();
  for (const input of ordered) {
    const file = files.indexOf(input.file ?? fileOf(input.layer));
    for (const { occurrence, multi } of occurrences(input)) {
      const current = naming.renamed?.(occurrence.section, occurrence.key);
      const { section, key } = current ?? occurrence;
      const id = identity(section, key);
      const entry = found.get(id) ?? { multi: false, list: [] };
      entry.multi ||= multi || (naming.multi?.(section, key) ?? false);
      entry.list.push({ ...occurrence, file, old: current !== undefined });
      found.set(id, entry);
    }
  }
  const all = [...found.values()].map(({ multi, list }) => decide(list, multi, naming)).sort(byName);
  const index = new Map(all.map(option => [identity(option.section, option.key), option]));
  return { all, effective: (section, key) => index.get(identity(section, key)) };
}

const identity = (section: string, key: string): string => `${groupId(section)}\n${key}`;

function byName(a: Effective, b: Effective): number {
  const name = (option: Effective) => `${option.section === 'DEFAULT' ? '' : groupId(option.section)}\n${option.key}`;
  return name(a) < name(b) ? -1 : 1;
}

function occurrences(input: LayerInput): { occurrence: Occurrence; multi: boolean }[] {
  const { layer, object, field } = input;
  const source: Source = { layer, ...(object && { object }), ...(field && { field }) };
  const found: { occurrence: Occurrence; multi: boolean }[] = [];
  for (const [section, options] of Object.entries(input.sections ?? {})) {
    for (const [key, setting] of Object.entries(options)) {
      if (setting === undefined) continue;
      for (const value of rawValues(section, key, setting)) {
        found.push({ occurrence: { section, key, value, source }, multi: isMulti(setting) });
      }
    }
  }
  for (const { section, key, value, line, column } of input.document ? assignments(input.document) : []) {
    found.push({ occurrence: { section, key, value, source: { ...source, line, column } }, multi: false });
  }
  return found;
}

function decide(list: readonly Ranked[], multi: boolean, naming: Naming): Effective {
  const ranked = [...list].sort((a, b) => a.file - b.file || Number(b.old) - Number(a.old));
  // A MultiStr option accumulates over files, but in each file oslo takes the deprecated names as further sources.
  const winner = ranked.at(-1) as Ranked;
  const parts = multi ? ranked : [winner];
  const { section, key } = naming.renamed?.(winner.section, winner.key) ?? winner;
  return {
    section,
    key,
    multi,
    value: parts.map(part => part.value).join('\n'),
    values: parts.map(part => part.value),
    source: winner.source,
    parts: parts.map(plain),
    overrides: multi ? [] : ranked.slice(0, -1).map(plain),
  };
}

const plain = ({ section, key, value, source }: Ranked): Occurrence => ({ section, key, value, source });

export interface UserText {
  /** 'Keystone openstack/keystone' */
  readonly object: string;
  readonly field: string;
  readonly text: string;
}

/**
 * The `02-` file: every text verbatim, in the given order, each under a comment that names its object. Undefined when
 * nobody wrote anything, so that the key is absent. Texts must parse one by one: then so does the whole, because the
 * comment line ends an open value and no valid text starts with an option of somebody else's section.
 */
export function userText(texts: readonly UserText[]): string | undefined {
  const blocks = texts
    .filter(({ text }) => strip(text) !== '')
    .map(({ object, field, text }) => `${heading}${object} ${field}\n${/[\r\n]$/.test(text) ? text : `${text}\n`}`);
  return blocks.length > 0 ? blocks.join('') : undefined;
}

const heading = '## from ';

/** Whose line it is in a `02-` file, for tools that only have the Secret. */
export function originOf(file: string, line: number): { object: string; field: string; line: number } | undefined {
  const text = lines(file);
  for (let at = Math.min(line, text.length); at >= 1; at--) {
    const head = text[at - 1] ?? '';
    if (!head.startsWith(heading)) continue;
    const named = /^## from (.+) (\S+)$/.exec(head);
    if (named && line > at) return { object: named[1] ?? '', field: named[2] ?? '', line: line - at };
    return undefined;
  }
  return undefined;
}
