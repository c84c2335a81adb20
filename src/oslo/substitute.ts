import { groupId } from './model.ts';

/** A `$name`, `${name}` or `$group.name` inside a value. */
export interface Reference {
  /** As written, without `$` and braces. */
  readonly name: string;
  /** Offset of the `$` in the value. */
  readonly offset: number;
}

/**
 * string.Template with oslo's idpattern (cfg.py, ConfigOpts.Template). Python's IGNORECASE lets four more letters stand
 * for [a-z]: the dotless and dotted i, the long s and the Kelvin sign.
 */
const letter = 'A-Za-z\\u0130\\u0131\\u017f\\u212a';
const name = `[_${letter}][._${letter}0-9]*`;
const pattern = () => new RegExp(`\\$(?:(\\$)|(${name})|\\{(${name})\\}|)`, 'g');

/** oslo takes `\$` for `$$`, wherever it stands. */
const unescape$ = (value: string): string => value.replaceAll('\\$', '$$$$');

export function references(value: string): Reference[] {
  const found: Reference[] = [];
  // Same length, so that offsets stay those of the written value.
  for (const match of unescape$(value).matchAll(pattern())) {
    const written = match[2] ?? match[3];
    if (written !== undefined) found.push({ name: written, offset: match.index });
  }
  return found;
}

/** Says whether an option exists, and its text: undefined = no such option; an option without a value is ''. */
export type Resolve = (section: string, key: string) => string | undefined;

export type Substituted =
  | { readonly ok: string }
  | { readonly error: { readonly name: string; readonly message: string } };

/** References may lead to values with references; nobody writes chains this long, but a circle is infinite. */
const deepest = 16;

/**
 * What oslo gives the service. An unknown name is no harmless text: oslo then raises NoSuchOptError for the option that
 * holds the value, so the service dies when it reads it. A lone `$` and `${` without an end stay as they are.
 */
export function substitute(value: string, section: string, resolve: Resolve): Substituted {
  return expand(value, section, resolve, deepest);
}

function expand(value: string, section: string, resolve: Resolve, depth: number): Substituted {
  let failed: { name: string; message: string } | undefined;
  const text = unescape$(value).replace(pattern(), (whole, dollar?: string, plain?: string, braced?: string) => {
    if (dollar !== undefined) return '$';
    const written = plain ?? braced;
    if (written === undefined || failed) return whole;
    const target = locate(written, section, resolve);
    if (!target) {
      failed = { name: written, message: `$${written} names no option` };
      return whole;
    }
    if (depth === 0) {
      failed = { name: written, message: `$${written} leads to itself` };
      return whole;
    }
    const inner = expand(target.text, target.section, resolve, depth - 1);
    if ('error' in inner) failed = inner.error;
    return 'ok' in inner ? inner.ok : whole;
  });
  return failed ? { error: failed } : { ok: text };
}

/** `$group.name`, or the option of the same section, or the one in DEFAULT: StrSubWrapper in cfg.py. */
export function locate(
  written: string,
  section: string,
  resolve: Resolve,
): { section: string; text: string } | undefined {
  const dot = written.indexOf('.');
  const places: [string, string][] =
    dot >= 0
      ? [[written.slice(0, dot), written.slice(dot + 1)]]
      : groupId(section) === 'DEFAULT'
        ? [['DEFAULT', written]]
        : [
            [section, written],
            ['DEFAULT', written],
          ];
  for (const [group, key] of places) {
    const text = resolve(group, key);
    if (text !== undefined) return { section: group, text };
  }
  return undefined;
}
