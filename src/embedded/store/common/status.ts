import type { Status } from '../../../kube/object.ts';
import { type Resource, resourceName } from '../../../kube/resource.ts';
import type { Response } from '../../../kube/transport.ts';

/** A refusal on its way out of the request: thrown inside the Store, never out of it. */
export class Refusal extends Error {
  readonly response: Response;
  constructor(status: Status) {
    super(status.message);
    this.response = { status: status.code, headers: { 'content-type': 'application/json' }, body: status };
  }
}

type Details = NonNullable<Status['details']>;

export function failure(code: number, reason: string, message: string, details?: Details): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details ? { details } : {}),
    code,
  };
}

const refuse = (code: number, reason: string, message: string, details?: Details) =>
  new Refusal(failure(code, reason, message, details));

const about = (r: Pick<Resource, 'group' | 'plural'>, name: string): Details => ({
  ...(name === '' ? {} : { name }),
  ...(r.group === '' ? {} : { group: r.group }),
  kind: r.plural,
});

/** How Go's %q prints a string; the names and values that reach messages are plain ASCII. */
export const quote = (text: string): string => JSON.stringify(text);

export const badRequest = (message: string) => refuse(400, 'BadRequest', message);
export const notFound = (r: Pick<Resource, 'group' | 'plural'>, name: string) =>
  refuse(404, 'NotFound', `${resourceName(r)} ${quote(name)} not found`, about(r, name));
export const alreadyExists = (r: Resource, name: string) =>
  refuse(409, 'AlreadyExists', `${resourceName(r)} ${quote(name)} already exists`, about(r, name));
export const conflict = (r: Resource, name: string, why: string) =>
  refuse(409, 'Conflict', `Operation cannot be fulfilled on ${resourceName(r)} ${quote(name)}: ${why}`, about(r, name));
export const modified = (r: Resource, name: string) =>
  conflict(r, name, 'the object has been modified; please apply your changes to the latest version and try again');
export const forbidden = (r: Resource, name: string, why: string, causes?: Details['causes']) =>
  refuse(403, 'Forbidden', `${resourceName(r)} ${quote(name)} is forbidden: ${why}`, {
    ...about(r, name),
    ...(causes ? { causes } : {}),
  });
export const expired = (message: string) => refuse(410, 'Expired', message);
export const internal = (message: string) => refuse(500, '', message);
export const gone = (message: string) => failure(410, 'Expired', message);
export const methodNotAllowed = () =>
  refuse(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const noSuchPath = () => refuse(404, 'NotFound', 'the server could not find the requested resource', {});
/** Nobody serves the path: the answer is no Status but text. */
export class NoSuchGroup extends Error {}
export const tooLargeVersion = (asked: string, current: number) =>
  refuse(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
export const unsupportedMediaType = (types?: readonly string[]) =>
  types
    ? refuse(
        415,
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
      )
    : refuse(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});

/** One reason why an object is invalid, as k8s.io/apimachinery/pkg/util/validation/field prints it. */
export interface FieldError {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

const titles = {
  FieldValueRequired: 'Required value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueNotFound: 'Not found',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
} as const;
type FieldReason = keyof typeof titles;

function fieldError(reason: FieldReason, field: string, detail: string, value?: { shown: unknown }): FieldError {
  const shown = value === undefined ? '' : `: ${print(value.shown)}`;
  return { reason, field, message: `${titles[reason]}${shown}${detail === '' ? '' : `: ${detail}`}` };
}

/** Go prints simple values with %v, strings with %q and the rest as JSON (with `<`, `>` and `&` escaped). */
function print(value: unknown): string {
  if (value === undefined) return 'null';
  if (typeof value === 'string') return quote(value);
  return goJson(value);
}

export function goJson(value: unknown): string {
  return JSON.stringify(sortKeys(value)).replace(/[<>&]/g, c => `\\u00${c.charCodeAt(0).toString(16)}`);
}

/** Go prints maps sorted and structs in the order of their fields; a name in capitals or an apiVersion betrays a struct. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const struct = entries.some(([k]) => /^[A-Z][a-zA-Z]+$/.test(k) || k === 'apiVersion');
  const sorted = struct ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([k, v]) => [k, sortKeys(v)]));
}

export const required = (field: string, detail = '') => fieldError('FieldValueRequired', field, detail);
export const denied = (field: string, detail: string) => fieldError('FieldValueForbidden', field, detail);
export const invalidValue = (field: string, value: unknown, detail: string) =>
  fieldError('FieldValueInvalid', field, detail, { shown: value });
export const typeInvalid = (field: string, value: unknown, detail: string) =>
  fieldError('FieldValueTypeInvalid', field, detail, { shown: value });
export const duplicate = (field: string, value: unknown) =>
  fieldError('FieldValueDuplicate', field, '', { shown: value });
export const notFoundValue = (field: string, value: unknown) =>
  fieldError('FieldValueNotFound', field, '', { shown: value });
export const notSupported = (field: string, value: unknown, values: readonly unknown[]) =>
  fieldError('FieldValueNotSupported', field, `supported values: ${values.map(v => quote(String(v))).join(', ')}`, {
    shown: value,
  });
export const tooLong = (field: string, max: number, unit = 'bytes') =>
  fieldError('FieldValueTooLong', field, `may not be more than ${max} ${unit}`);
export const tooMany = (field: string, actual: number, max: number) =>
  fieldError('FieldValueTooMany', field, `must have at most ${max} items`, { shown: actual });
/** For a rule that names its own reason. Objects and lists are not shown. */
export const byReason = (
  reason: string,
  field: string,
  shown: { value: unknown } | undefined,
  detail: string,
): FieldError =>
  fieldError(
    (reason in titles ? reason : 'FieldValueInvalid') as FieldReason,
    field,
    detail,
    shown === undefined || reason === 'FieldValueRequired' || reason === 'FieldValueForbidden'
      ? undefined
      : { shown: shown.value },
  );

/** 422 with every error as a cause; equal messages are said once in the text. */
export function invalid(r: Resource, name: string, errors: readonly FieldError[]): Refusal {
  const kind = r.group === '' ? r.kind : `${r.kind}.${r.group}`;
  const texts = [...new Set(errors.map(e => `${e.field}: ${e.message}`))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return refuse(422, 'Invalid', `${kind} ${quote(name)} is invalid: ${text}`, {
    ...(name === '' ? {} : { name }),
    ...(r.group === '' ? {} : { group: r.group }),
    ...(r.kind === '' ? {} : { kind: r.kind }),
    causes: errors.map(e => ({ reason: e.reason, message: e.message, field: e.field })),
  });
}
