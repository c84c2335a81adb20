import { Unquotable } from '../world/quote/unquotable.ts';
import { isMulti, isTemplate, type Section, type Sections, type Setting } from './model.ts';
import { strip } from './python.ts';

/** A value that no oslo.config file can hold. The value itself is never in the message: it may be a password. */
export class Unwritable extends Unquotable {
  readonly section: string;
  readonly key: string;
  readonly problem: string;

  constructor(section: string, key: string, problem: string) {
    super(`[${section}] ${key} can't be written to an oslo.config file: ${problem}`);
    this.name = 'Unwritable';
    this.section = section;
    this.key = key;
    this.problem = problem;
  }
}

/**
 * The file for these sections: DEFAULT first, the others and all keys sorted by code unit, so equal input is equal text
 * (the text is hashed to decide what rolls). Sections without a key that is set are left out.
 */
export function write(sections: Sections): string {
  const blocks: string[] = [];
  for (const section of Object.keys(sections).sort(bySection)) {
    const body = writeSection(section, sections[section] ?? {});
    if (body.length > 0) blocks.push(`[${section}]\n${body.join('\n')}\n`);
  }
  return blocks.join('\n');
}

function bySection(a: string, b: string): number {
  if (a === b) return 0;
  if (a === 'DEFAULT') return -1;
  if (b === 'DEFAULT') return 1;
  return a < b ? -1 : 1;
}

function writeSection(section: string, options: Section): string[] {
  const body: string[] = [];
  for (const key of Object.keys(options).sort()) {
    const setting = options[key];
    if (setting === undefined) continue;
    checkNames(section, key);
    for (const text of rawValues(section, key, setting)) body.push(assignment(section, key, text));
  }
  return body;
}

function checkNames(section: string, key: string): void {
  if (section === '' || /[\r\n]/.test(section))
    throw new Unwritable(section, key, 'the section needs a name of one line');
  if (key === '' || strip(key) !== key || /^[[#;]|[=:\r\n]/.test(key)) {
    throw new Unwritable(
      section,
      key,
      "a key is one word without '=' and ':' that does not start with '[', '#' or ';'",
    );
  }
}

/** The texts as oslo's parser will read them back: escaped, without quotes, one per line of the file. */
export function rawValues(section: string, key: string, setting: Setting): string[] {
  if (isMulti(setting)) return setting.multi.map(item => doubleDollars(section, key, scalar(section, key, item)));
  if (isTemplate(setting)) return [setting.template];
  if (typeof setting === 'object') return [doubleDollars(section, key, list(section, key, setting))];
  return [doubleDollars(section, key, scalar(section, key, setting))];
}

function scalar(section: string, key: string, value: string | number | boolean): string {
  if (typeof value === 'number' && (!Number.isFinite(value) || Math.abs(value) >= 1e21)) {
    throw new Unwritable(section, key, 'the number is not finite, or too large for plain digits');
  }
  return String(value);
}

function list(section: string, key: string, items: readonly string[]): string {
  for (const item of items) {
    // oslo's List splits at every comma and strips; it has no escape.
    if (item === '' || item.includes(',') || strip(item) !== item) {
      throw new Unwritable(section, key, 'a list item is empty, holds a comma, or starts or ends with white space');
    }
  }
  return items.join(',');
}

function doubleDollars(section: string, key: string, text: string): string {
  // oslo turns `\$` into `$$` before it substitutes, so a backslash before a dollar is always lost.
  if (text.includes('\\$')) throw new Unwritable(section, key, "oslo.config drops the backslash of '\\$'");
  return text.replaceAll('$', '$$$$');
}

function assignment(section: string, key: string, text: string): string {
  if (text.includes('\r')) throw new Unwritable(section, key, 'it holds a carriage return, which ends a line');
  const [first = '', ...rest] = text.split('\n');
  for (const line of rest) {
    if (line === '' || strip(line) !== line) {
      const problem = 'after the first line, a line is empty or starts or ends with white space (a trailing newline?)';
      throw new Unwritable(section, key, problem);
    }
  }
  const quoted = strip(first) !== first || isQuoted(first) ? `"${first}"` : first;
  return [quoted === '' ? `${key} =` : `${key} = ${quoted}`, ...rest.map(line => `    ${line}`)].join('\n');
}

/** oslo strips one pair of equal quotes, and takes a lone quote for a pair. */
export function isQuoted(value: string): boolean {
  return (value.startsWith('"') || value.startsWith("'")) && value.at(0) === value.at(-1);
}
