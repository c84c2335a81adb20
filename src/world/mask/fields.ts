import { MASK, maskShapes } from './shapes.ts';

type Hide = (text: string) => string;

/** Names whose value is a secret wherever it appears. `keySecret`-like references (names of Secrets) must survive. */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|^(auth_?)?token$|_token$|^authorization$|^cookie$|^(private|encryption|fernet|ssh)_?key|credential_?keys?$|[a-z]_(secret|key)$|^transport_url$|^connection$/i;

/** A reference to a Secret or a file. */
const REFERENCE = /(secrets?|name|ref|file|path|dir)$/i;
const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(name) && (!REFERENCE.test(name) || /_secret$/i.test(name));

/** Deep enough for an object in a field, shallow enough that a log line stays one. */
const DEPTH = 6;

/** What may be logged of a value: secrets masked, errors as plain data, no cycles. Pure. */
export function maskFields(value: unknown, hide: Hide = maskShapes, depth = DEPTH): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth === 0) return '...';
  if (value instanceof Error) return maskError(value, hide, depth);
  if (Array.isArray(value)) return value.map(item => maskFields(item, hide, depth - 1));
  return eachField(value, item => maskFields(item, hide, depth - 1));
}

/** The same of an object that is kept as it is otherwise, however deep. */
export function maskObject<T>(value: T, hide: Hide): T {
  if (typeof value === 'string') return hide(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(item => maskObject(item, hide)) as T;
  return eachField(value, item => maskObject(item, hide)) as T;
}

function eachField(value: object, mask: (item: unknown) => unknown): Record<string, unknown> {
  const isSecret = (value as { kind?: unknown }).kind === 'Secret';
  // A variable of a container, or a header.
  const named = (value as { name?: unknown }).name;
  const out: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    if (isSecret && (name === 'data' || name === 'stringData')) out[name] = maskValues(item);
    else if (typeof item === 'string' && item !== '' && (isSecretName(name) || isNamedSecret(name, named)))
      out[name] = MASK;
    else if (isSecretName(name) && (typeof item === 'number' || Array.isArray(item))) out[name] = MASK;
    else out[name] = mask(item);
  }
  return out;
}

const isNamedSecret = (field: string, named: unknown): boolean =>
  field === 'value' && typeof named === 'string' && isSecretName(named);

function maskError(error: Error, hide: Hide, depth: number): unknown {
  return {
    type: error.name,
    message: hide(error.message),
    ...(error.stack === undefined ? {} : { stack: hide(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: maskFields(error.cause, hide, depth - 1) }),
  };
}

/** The keys of a Secret are worth reading, its values never. */
const maskValues = (data: unknown): unknown =>
  typeof data === 'object' && data !== null ? Object.fromEntries(Object.keys(data).map(key => [key, MASK])) : MASK;
