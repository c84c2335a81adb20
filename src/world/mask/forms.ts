/**
 * How a value may be written where somebody looks for it. Base64 is not among them: it is found in the text, where any part
 * of what was encoded may be the secret (`matcher.ts`).
 */

const backslashed = (pattern: RegExp) => (text: string) => text.replace(pattern, '\\$&');
const MYSQL: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\x1a': '\\Z',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
};
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
/** Half a surrogate pair has no bytes. */
const url = (text: string): string => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
/** As Python's `quote(text, safe='')` and Go write it. */
const strictUrl = (text: string): string => url(text).replace(/[!'()*]/g, percent);

const ESCAPES: readonly ((text: string) => string)[] = [
  // SQL: by doubling, as the standard says; as mysql2 and the server's log do; and quote and backslash alone.
  text => text.replaceAll("'", "''"),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: MariaDB escapes these.
  text => text.replace(/[\0\b\t\n\r\x1a"'\\]/g, character => MYSQL[character] ?? character),
  backslashed(/['\\]/g),
  // my.cnf, and strings of most languages.
  backslashed(/["\\]/g),
  // oslo.config reads $$ as $; configparser %% as %.
  text => text.replaceAll('$', '$$$$'),
  text => text.replaceAll('%', '%%'),
  // A shell word.
  text => text.replaceAll("'", `'\\''`),
  url,
  strictUrl,
  text => strictUrl(text).replaceAll('%2F', '/'),
  text => strictUrl(text).replaceAll('%20', '+'),
  text => strictUrl(text).replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
  text => text.replace(/[&<>"']/g, character => HTML[character] ?? character),
];

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As Python's `json.dumps` and its `repr` of bytes write what is not ASCII. */
const asciiJson = (text: string): string =>
  json(text).replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Written the same in every language: nearly all values are, because we generate them. */
const NOTHING_TO_ESCAPE = /^[\w.~-]*$/;

/** Every form of a text, each once, itself first. */
export function formsOf(text: string): readonly string[] {
  if (NOTHING_TO_ESCAPE.test(text)) return [text];
  const escaped = [text, ...ESCAPES.map(written => written(text))];
  // A message inside a message: JSON in an annotation, in a log line.
  return [...new Set([...escaped, ...escaped.flatMap(form => [json(form), asciiJson(form), json(json(form))])])];
}
