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

export interface Lookup {
  /** Whether the program registers options in such a section. */
  section(name: string): boolean;
  /** The text of an option; '' if it has no value, undefined if there is no such option. */
  option(section: string, key: string): string | undefined;
}

export type Substituted =
  | { readonly ok: string }
  | { readonly error: { readonly name: string; readonly message: string; readonly final?: boolean } };

/** References lead to values with references. Real files need two or three steps; a circle or a tree of them has no end. */
const deepest = 16;
const most = 10_000;

/**
 * What oslo gives the service. An unknown name is no harmless text: oslo then raises NoSuchOptError for the option that
 * holds the value, so the service dies when it reads it. A lone `$` and `${` without an end stay as they are.
 */
export function substitute(value: string, section: string, lookup: Lookup): Substituted {
  return expand(value, section, lookup, deepest, { left: most });
}

function expand(value: string, section: string, lookup: Lookup, depth: number, budget: { left: number }): Substituted {
  let failed: Substituted | undefined;
  const text = unescape$(value).replace(pattern(), (whole, dollar?: string, plain?: string, braced?: string) => {
    if (dollar !== undefined) return '$';
    const written = plain ?? braced;
    if (written === undefined || failed) return whole;
    const inner = follow(written, section, lookup, depth, budget);
    if ('error' in inner) failed = inner;
    return 'ok' in inner ? inner.ok : whole;
  });
  return failed ?? { ok: text };
}

/** StrSubWrapper in cfg.py: DEFAULT is asked also when the option of the section exists but can't be resolved itself. */
function follow(
  written: string,
  section: string,
  lookup: Lookup,
  depth: number,
  budget: { left: number },
): Substituted {
  // NoSuchGroupError and endless recursion end the search; only NoSuchOptError lets oslo look in DEFAULT.
  const final = written.includes('.') && !lookup.section(written.slice(0, written.indexOf('.')));
  let failed: Substituted = { error: { name: written, message: `$${written} names no option`, final } };
  for (const place of places(written, section)) {
    const text = lookup.option(place.section, place.key);
    if (text === undefined) continue;
    if (depth === 0 || budget.left-- <= 0) {
      return { error: { name: written, message: `$${written} leads to itself, or to too many others`, final: true } };
    }
    const inner = expand(text, place.section, lookup, depth - 1, budget);
    if ('ok' in inner || inner.error.final) return inner;
    failed = inner;
  }
  return failed;
}

/** Where oslo looks for a referenced option, first place first: `$group.name`, or the own section and then DEFAULT. */
export function places(written: string, section: string): { section: string; key: string }[] {
  const dot = written.indexOf('.');
  if (dot >= 0) return [{ section: written.slice(0, dot), key: written.slice(dot + 1) }];
  const own = { section, key: written };
  return section === 'DEFAULT' ? [own] : [own, { section: 'DEFAULT', key: written }];
}
