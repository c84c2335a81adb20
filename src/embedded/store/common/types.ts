import { clone } from './json.ts';
import { canonical } from './quantity.ts';
import data from './types.json' with { type: 'json' };

/**
 * The built-in kinds as Go structs (types.json, generated from upstream): decoding a body means walking it with these,
 * which drops unknown fields, refuses wrong types in Go's words, and leaves zero values out as `omitempty` says.
 */
export type Type =
  | { readonly is: 'scalar'; readonly name: string }
  | { readonly is: 'pointer'; readonly of: Type }
  | { readonly is: 'list'; readonly of: Type }
  | { readonly is: 'map'; readonly of: Type }
  | { readonly is: 'struct'; readonly name: string };

export interface Field {
  readonly type: Type;
  readonly emit: 'omitempty' | 'omitzero' | 'keep';
  /** From the patchStrategy and patchMergeKey tags. */
  readonly patch: { readonly strategy: string; readonly key?: string } | undefined;
  /** x-kubernetes-list-type and x-kubernetes-map-type, with the keys of a list map. */
  readonly merge: { readonly kind: 'set' | 'map' | 'atomic'; readonly keys: readonly string[] } | undefined;
}

const raw = data as {
  kinds: Record<string, string>;
  atomicTypes: string[];
  types: Record<string, Record<string, string>>;
};
const structs = new Map<string, ReadonlyMap<string, Field>>();

/** `apps/v1`, `Deployment` to the struct's name; undefined when the kind is not in the table. */
export const structOf = (apiVersion: string, kind: string): string | undefined => raw.kinds[`${apiVersion}/${kind}`];

export function fieldsOf(struct: string): ReadonlyMap<string, Field> {
  let fields = structs.get(struct);
  if (!fields) {
    fields = new Map(Object.entries(raw.types[struct] ?? {}).map(([name, text]) => [name, parseField(text)]));
    structs.set(struct, fields);
  }
  return fields;
}

function parseField(text: string): Field {
  const [type, ...marks] = text.split(' ') as [string, ...string[]];
  const find = (prefix: string) => marks.find(m => m.startsWith(prefix))?.slice(prefix.length);
  const patch = find('patch=');
  const keys = find('map=');
  const kind = keys !== undefined ? 'map' : marks.find(m => m === 'set' || m === 'atomic');
  return {
    type: parseType(type),
    emit: marks.includes('keep') ? 'keep' : marks.includes('omitzero') ? 'omitzero' : 'omitempty',
    patch:
      patch === undefined
        ? undefined
        : { strategy: patch.split(':')[0]!, ...(patch.includes(':') ? { key: patch.split(':')[1]! } : {}) },
    merge: kind === undefined ? undefined : { kind: kind as 'set' | 'map' | 'atomic', keys: keys?.split(',') ?? [] },
  };
}

function parseType(text: string): Type {
  if (text.startsWith('*')) return { is: 'pointer', of: parseType(text.slice(1)) };
  if (text.startsWith('[]')) return { is: 'list', of: parseType(text.slice(2)) };
  if (text.startsWith('{}')) return { is: 'map', of: parseType(text.slice(2)) };
  return text.includes('.') ? { is: 'struct', name: text } : { is: 'scalar', name: text };
}

/** The body cannot be read as the kind at all: 400, with Go's text. */
export class DecodeError extends Error {}

/** A copy of `value` as the struct would print it; paths of unknown fields are added to `unknown`. */
export function decode(struct: string, value: unknown, unknown: string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DecodeError(
      `json: cannot unmarshal ${jsonName(value)} into Go value of type ${goType({ is: 'struct', name: struct })}`,
    );
  }
  return decodeStruct(struct, value as Record<string, unknown>, '', '', unknown);
}

function decodeStruct(struct: string, value: Record<string, unknown>, path: string, goPath: string, unknown: string[]) {
  const fields = fieldsOf(struct);
  for (const key of Object.keys(value)) if (!fields.has(key)) unknown.push(path === '' ? key : `${path}.${key}`);
  const out: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const raw = value[name];
    // Most fields of most objects are not there; their paths are not worth making.
    if ((raw === undefined || raw === null) && field.type.is !== 'struct') {
      if (!omitted(field, undefined)) out[name] = zero(field.type);
      continue;
    }
    const at = path === '' ? name : `${path}.${name}`;
    const goAt = goPath === '' ? name : `${goPath}.${name}`;
    const got = decodeValue(field.type, raw, at, { struct, path: goAt }, unknown);
    if (!omitted(field, got)) out[name] = got ?? zero(field.type);
  }
  return out;
}

function omitted(field: Field, value: unknown): boolean {
  if (field.emit === 'keep') return false;
  if (value === undefined) return field.emit === 'omitzero' || !isStructLike(field.type);
  if (field.emit === 'omitzero') return false;
  if (field.type.is === 'pointer' || field.type.is === 'struct') return false;
  if (value === '' || value === 0 || value === false) return true;
  return field.type.is !== 'scalar' && Object.keys(value as object).length === 0;
}

/** Go writes these even when they are empty: `omitempty` knows no empty struct. */
const isStructLike = (type: Type) =>
  type.is === 'scalar' && ['Time', 'MicroTime', 'Quantity', 'IntOrString'].includes(type.name);

function zero(type: Type): unknown {
  if (type.is !== 'scalar') return null;
  return (
    { string: '', bool: false, int32: 0, int64: 0, int: 0, float64: 0, Quantity: '0', IntOrString: 0 }[type.name] ??
    null
  );
}

interface At {
  readonly struct: string;
  readonly path: string;
}

/** undefined stands for nil and for absent: Go doesn't distinguish them either. */
function decodeValue(type: Type, value: unknown, path: string, at: At, unknown: string[]): unknown {
  if (type.is === 'struct') {
    if (value === undefined || value === null) return decodeStruct(type.name, {}, path, at.path, unknown);
    if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(value, type, at);
    return decodeStruct(type.name, value as Record<string, unknown>, path, at.path, unknown);
  }
  if (value === undefined || value === null) return undefined;
  if (type.is === 'pointer') return decodeValue(type.of, value, path, at, unknown);
  if (type.is === 'list') {
    if (!Array.isArray(value)) throw mismatch(value, type, at);
    return value.map((item, i) => decodeValue(type.of, item, `${path}[${i}]`, at, unknown) ?? zero(type.of));
  }
  if (type.is === 'map') {
    if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(value, type, at);
    const round = type.of.is === 'scalar' && type.of.name === 'Quantity';
    return Object.fromEntries(
      Object.entries(value).map(([k, v]) => {
        const got = decodeValue(type.of, v, `${path}.${k}`, at, unknown) ?? zero(type.of);
        return [k, round ? canonical(String(got)) : got];
      }),
    );
  }
  return decodeScalar(type.name, value, type, at);
}

function decodeScalar(name: string, value: unknown, type: Type, at: At): unknown {
  switch (name) {
    case 'string':
      if (typeof value !== 'string') throw mismatch(value, type, at);
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch(value, type, at);
      return value;
    case 'int32':
    case 'int64':
    case 'int':
      if (typeof value !== 'number') throw mismatch(value, type, at);
      if (!Number.isInteger(value) || (name === 'int32' && Math.abs(value) > 2 ** 31)) {
        throw mismatch(value, type, at, `number ${value}`);
      }
      return value;
    case 'float64':
      if (typeof value !== 'number') throw mismatch(value, type, at);
      return value;
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(value, type, at);
      return decodeBase64(value);
    case 'IntOrString':
      if (typeof value !== 'string' && typeof value !== 'number') throw mismatch(value, type, at);
      return value;
    case 'Quantity': {
      const text = String(value).trim();
      // Parsed for its refusal only: a lone quantity keeps the text it came with.
      canonical(text);
      return text;
    }
    case 'Time':
    case 'MicroTime':
      if (typeof value !== 'string') throw mismatch(value, { is: 'scalar', name: 'string' }, at);
      return decodeTime(value, name === 'MicroTime');
    default:
      return clone(value);
  }
}

function decodeBase64(value: string): string {
  const bad = /[^A-Za-z0-9+/=\r\n]/.exec(value);
  if (bad) throw new DecodeError(`illegal base64 data at input byte ${bad.index}`);
  const text = /[\r\n]/.test(value) ? value.replaceAll(/[\r\n]/g, '') : value;
  if (text.length % 4 !== 0)
    throw new DecodeError(`illegal base64 data at input byte ${text.length - (text.length % 4)}`);
  return text;
}

function decodeTime(value: string, micro: boolean): string {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(value);
  const millis = found ? Date.parse(value) : Number.NaN;
  if (!found || Number.isNaN(millis) || (micro && found[2]?.length !== 7)) {
    const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
    throw new DecodeError(`parsing time "${value}" as "${layout}": cannot parse ${badTimePart(value, found?.[2])}`);
  }
  const seconds = new Date(millis).toISOString().slice(0, 19);
  return micro ? `${seconds}${found[2]}Z` : `${seconds}Z`;
}

function badTimePart(value: string, fraction: string | undefined): string {
  if (fraction !== undefined) return `"${value.slice(19)}" as ".000000"`;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value) ? `"${value.slice(19)}" as ".000000"` : `"${value}" as "2006"`;
}

function mismatch(value: unknown, type: Type, at: At, shown = jsonName(value)): DecodeError {
  const struct = at.struct.slice(at.struct.lastIndexOf('.') + 1);
  return new DecodeError(
    `json: cannot unmarshal ${shown} into Go struct field ${struct}.${at.path} of type ${goType(type)}`,
  );
}

function jsonName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return (
    { string: 'string', number: 'number', boolean: 'bool', object: 'object' }[typeof value as 'string'] ?? 'object'
  );
}

function goType(type: Type): string {
  switch (type.is) {
    case 'pointer':
      return goType(type.of);
    case 'list':
      return `[]${goType(type.of)}`;
    case 'map':
      return `map[string]${goType(type.of)}`;
    case 'struct':
      return type.name.slice(type.name.lastIndexOf('/') + 1);
    case 'scalar':
      return (
        { bytes: '[]uint8', Quantity: 'resource.Quantity', IntOrString: 'intstr.IntOrString' }[type.name] ?? type.name
      );
  }
}
