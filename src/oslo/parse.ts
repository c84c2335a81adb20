import { groupId } from './model.ts';
import { isPythonSpace, lines, lstrip, rstrip, strip } from './python.ts';
import { isQuoted } from './write.ts';

/** Where something stands in the text; both count from 1, columns in UTF-16 units as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Assignment extends Position {
  readonly kind: 'assignment';
  readonly section: string;
  readonly key: string;
  /** As oslo reads it: quotes of the first line gone, continuation lines joined by newlines, `$` not yet resolved. */
  readonly value: string;
  /** Where the value starts on the first line, inside its quotes if it had some. */
  readonly valueColumn: number;
  /** Last line of the value. */
  readonly endLine: number;
}

export interface SectionHead extends Position {
  readonly kind: 'section';
  readonly name: string;
}

export interface Comment extends Position {
  readonly kind: 'comment';
  readonly text: string;
}

export type Item = Assignment | SectionHead | Comment;

export interface Document {
  /** Verbatim: what reaches the container. */
  readonly text: string;
  /** In the order of the text. */
  readonly items: readonly Item[];
}

/** oslo's own words (oslo_config/iniparser.py and cfg.py), so that a search for the message finds its documentation. */
export type Problem =
  | "No ':' or '=' found in assignment"
  | 'Key cannot be empty'
  | 'Unexpected continuation line'
  | 'Invalid section (must end with ])'
  | 'Empty section name'
  | 'Section must be started before assignment';

export interface ParseError extends Position {
  readonly message: Problem;
}

export type Parsed = { readonly ok: Document } | { readonly error: ParseError };

interface Open {
  section: string;
  key: string;
  values: string[];
  at: Position;
  valueColumn: number;
  endLine: number;
}

/**
 * The rules of oslo_config/iniparser.py, and no more tolerance than it has: what this accepts the service accepts,
 * with the same sections and values (test/contract/oslo.real.test.ts compares them).
 */
export function parse(text: string): Parsed {
  const items: Item[] = [];
  let section: string | undefined;
  let open: Open | undefined;
  let number = 0;

  const flush = () => {
    if (open) items.push(assignment(open));
    open = undefined;
  };
  const fail = (message: Problem, column: number): Parsed => ({ error: { line: number, column, message } });

  for (const full of lines(text)) {
    number++;
    const line = rstrip(full);
    if (line === '') {
      flush();
      continue;
    }
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (!open) return fail('Unexpected continuation line', 1 + indent(line));
      open.values.push(lstrip(line));
      open.endLine = number;
      continue;
    }
    flush();
    if (line.startsWith('[')) {
      if (!line.endsWith(']')) return fail('Invalid section (must end with ])', line.length + 1);
      if (line.length <= 2) return fail('Empty section name', 1);
      section = line.slice(1, -1);
      items.push({ kind: 'section', name: section, line: number, column: 1 });
    } else if (line.startsWith('#') || line.startsWith(';')) {
      items.push({ kind: 'comment', text: lstrip(line.slice(1)), line: number, column: 1 });
    } else {
      const split = line.search(/[:=]/);
      if (split < 0) return fail("No ':' or '=' found in assignment", 1 + indent(line));
      const key = strip(line.slice(0, split));
      if (key === '') return fail('Key cannot be empty', split + 1);
      // oslo notices when the assignment ends, whatever follows; the key is where the user must look.
      if (section === undefined) return fail('Section must be started before assignment', 1 + indent(line));
      const rest = line.slice(split + 1);
      const written = strip(rest);
      const quoted = isQuoted(written);
      open = {
        section,
        key,
        values: [quoted ? written.slice(1, -1) : written],
        at: { line: number, column: 1 + indent(line) },
        valueColumn: split + 2 + indent(rest) + (quoted ? 1 : 0),
        endLine: number,
      };
    }
  }
  flush();
  return { ok: { text, items } };
}

function assignment(open: Open): Assignment {
  const { section, key, valueColumn, endLine } = open;
  return { kind: 'assignment', section, key, value: open.values.join('\n'), ...open.at, valueColumn, endLine };
}

function indent(text: string): number {
  let count = 0;
  while (count < text.length && isPythonSpace(text.charCodeAt(count))) count++;
  return count;
}

export function assignments(document: Document): Assignment[] {
  return document.items.filter(item => item.kind === 'assignment');
}

/** oslo's view of one file: section -> key -> every value in order. Section names as written. */
export function values(document: Document): Map<string, Map<string, string[]>> {
  const found = new Map<string, Map<string, string[]>>();
  for (const item of document.items) {
    if (item.kind === 'section' && !found.has(item.name)) found.set(item.name, new Map());
    if (item.kind !== 'assignment') continue;
    const section = found.get(item.section);
    const list = section?.get(item.key);
    if (list) list.push(item.value);
    else section?.set(item.key, [item.value]);
  }
  return found;
}

/** What oslo gives a service that asks for a single-valued option in this file: the last assignment. */
export function lookup(document: Document, section: string, key: string): Assignment | undefined {
  return assignments(document).findLast(item => groupId(item.section) === groupId(section) && item.key === key);
}
