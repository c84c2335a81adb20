export type Fields = Readonly<Record<string, unknown>>;

/** Text is a sentence in the past tense that names the kind of object; what varies goes into fields. */
export interface Log {
  debug(text: string, fields?: Fields): void;
  info(text: string, fields?: Fields): void;
  warn(text: string, fields?: Fields): void;
  error(text: string, fields?: Fields): void;
  /** The same log, these fields on every line. */
  child(fields: Fields): Log;
}

export const silent: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silent,
};

const MASK = '***';

/** Names whose value is a secret wherever it appears. `keySecret`-like references (names of Secrets) must survive. */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|^(auth_?)?token$|_token$|^authorization$|^cookie$|^(private|encryption|fernet|ssh)_?key|credential_?keys?$|^transport_url$|^connection$/i;

/**
 * `scheme://user:password@host`: the form in which database and bus passwords travel. Up to the last @ of the word: a
 * bus URL lists several hosts, each with its password, and a raw password may hold any character.
 */
const URL_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s"']*@/gi;

/** A line of an oslo or my.cnf file that sets a password. */
const CONF_PASSWORD = /^(\s*[\w.-]*(?:password|secret|token)\s*[=:]\s*)\S.*$/gim;

export const redactText = (text: string): string =>
  text.replace(URL_PASSWORD, `$1:${MASK}@`).replace(CONF_PASSWORD, `$1${MASK}`);

/** Deep enough for an object in a field, shallow enough that a log line stays one. */
const DEPTH = 6;

/** What may be logged of a value: secrets masked, errors as plain data, no cycles. Pure. */
export function redact(value: unknown, depth = DEPTH): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth === 0) return '...';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.map(item => redact(item, depth - 1));
  const isSecret = (value as { kind?: unknown }).kind === 'Secret';
  const out: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    if (isSecret && (name === 'data' || name === 'stringData')) out[name] = maskValues(item);
    else if (SECRET_NAME.test(name) && item !== undefined && item !== null && item !== '') out[name] = MASK;
    else out[name] = redact(item, depth - 1);
  }
  return out;
}

function redactError(error: Error, depth: number): unknown {
  return {
    type: error.name,
    message: redactText(error.message),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth - 1) }),
  };
}

/** The keys of a Secret are worth reading, its values never. */
const maskValues = (data: unknown): unknown =>
  typeof data === 'object' && data !== null ? Object.fromEntries(Object.keys(data).map(key => [key, MASK])) : MASK;
