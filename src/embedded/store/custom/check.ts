import { equal, isObject } from '../common/json.ts';
import {
  type FieldError,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../common/status.ts';
import { formatHolds } from './formats.ts';
import { type Schema, schemaFor } from './schema.ts';

/** k8s.io/kube-openapi/pkg/validation with its messages. `old` is the value at this path before an update, where it is known. */
export function schemaErrors(value: unknown, schema: Schema | undefined, path: string, old?: unknown): FieldError[] {
  if (schema === undefined || (old !== undefined && equal(value, old))) return [];
  if (value === null && schema.nullable) return [];
  const wanted = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  const got = typeName(value);
  if (wanted.length > 0 && !wanted.some(w => w === got || (w === 'number' && got === 'integer'))) {
    if (got === 'number' && schema.format === 'int32') {
      const text = `Checked value must be of type integer with format int32 in ${path}`;
      return [
        typeInvalid(path, 'float64', `${path} in body must be of type int32: "float64"`),
        invalidValue('<nil>', '', text),
      ];
    }
    const error = typeInvalid(path, got, `${path} in body must be of type ${wanted.join(',')}: "${got}"`);
    return got === 'number'
      ? [error, invalidValue('<nil>', '', `Checked value must be of type integer (default format) in ${path}`)]
      : [error];
  }
  const errors = [...ofEnum(value, schema, path), ...composed(value, schema, path)];
  if (typeof value === 'string') errors.push(...ofString(value, schema, path));
  else if (typeof value === 'number') errors.push(...ofNumber(value, schema, path));
  else if (Array.isArray(value)) errors.push(...ofArray(value, schema, path, old));
  else if (isObject(value)) errors.push(...ofObject(value, schema, path, old));
  return errors;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function ofEnum(value: unknown, schema: Schema, path: string): FieldError[] {
  if (!schema.enum || schema.enum.some(e => equal(e, value))) return [];
  return [
    notSupported(
      path,
      value,
      schema.enum.map(e => (typeof e === 'string' ? e : JSON.stringify(e))),
    ),
  ];
}

const patterns = new Map<string, RegExp>();

/** Go's regular expressions have no look-around, so every pattern a CRD may hold is one of ours too, but for a few escapes. */
function compiled(pattern: string): RegExp {
  let found = patterns.get(pattern);
  if (!found) {
    found = new RegExp(
      pattern.replaceAll('\\z', '$').replaceAll('\\A', '^').replaceAll('(?i)', ''),
      pattern.includes('(?i)') ? 'iu' : 'u',
    );
    patterns.set(pattern, found);
  }
  return found;
}

function ofString(value: string, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) errors.push(tooLong(path, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(invalidValue(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern !== undefined && !compiled(schema.pattern).test(value)) {
    errors.push(invalidValue(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  if (schema.format !== undefined && !formatHolds(schema.format, value)) {
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`));
  }
  return errors;
}

function ofNumber(value: number, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const bad = (text: string) => errors.push(invalidValue(path, value, `${path} in body should be ${text}`));
  const { minimum, maximum, multipleOf } = schema;
  if (schema.format === 'int32' && Math.abs(value) >= 2 ** 31) {
    errors.push(invalidValue('<nil>', '', `Checked value must be of type integer with format int32 in ${path}`));
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    bad(`greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    bad(`less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) bad(`a multiple of ${multipleOf}`);
  return errors;
}

function ofArray(value: readonly unknown[], schema: Schema, path: string, old: unknown): FieldError[] {
  const errors: FieldError[] = [];
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) {
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) errors.push(tooMany(path, value.length, maxItems));
  if (schema.uniqueItems && new Set(value.map(v => JSON.stringify(v))).size < value.length) {
    errors.push(invalidValue(path, '', `${path} in body shouldn't contain duplicates`));
  }
  value.forEach((item, i) => {
    errors.push(...schemaErrors(item, schema.items, `${path}[${i}]`, counterpart(item, schema, old)));
  });
  return errors;
}

/** Items of a list map are recognised by their keys; those of other lists are not. */
export function counterpart(item: unknown, schema: Schema, old: unknown): unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(old) || !isObject(item)) return undefined;
  return old.find(o => isObject(o) && keys.every(k => equal(o[k], item[k])));
}

function ofObject(value: Record<string, unknown>, schema: Schema, path: string, old: unknown): FieldError[] {
  const errors: FieldError[] = [];
  const size = Object.keys(value).length;
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    errors.push(invalidValue(path, size, `${path} in body should have at least ${schema.minProperties} properties`));
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties)
    errors.push(tooMany(path, size, schema.maxProperties));
  for (const key of Object.keys(value).sort()) {
    const before = isObject(old) ? old[key] : undefined;
    errors.push(...schemaErrors(value[key], schemaFor(schema, key), path === '' ? key : `${path}.${key}`, before));
  }
  for (const key of schema.required ?? [])
    if (!(key in value)) errors.push(required(path === '' ? key : `${path}.${key}`));
  return errors;
}

/** allOf, anyOf, oneOf and not. Their own verdict has no path; the errors of the nearest miss come with it. */
function composed(value: unknown, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const say = (text: string) => errors.push(invalidValue('<nil>', '', `"${path}" must ${text}`));
  const tries = (list: readonly Schema[]) => list.map(s => schemaErrors(value, s, path));
  if (schema.anyOf) {
    const results = tries(schema.anyOf);
    if (!results.some(r => r.length === 0)) {
      say('validate at least one schema (anyOf)');
      errors.push(...(results[0] ?? []));
    }
  }
  if (schema.oneOf) {
    const results = tries(schema.oneOf);
    const good = results.filter(r => r.length === 0).length;
    if (good === 0) {
      say('validate one and only one schema (oneOf). Found none valid');
      errors.push(...(results[0] ?? []));
    } else if (good > 1) say(`validate one and only one schema (oneOf). Found ${good} valid alternatives`);
  }
  if (schema.allOf) {
    const bad = tries(schema.allOf).filter(r => r.length > 0);
    if (bad.length > 0) {
      const none = bad.length === schema.allOf.length ? '. None validated' : '';
      errors.push(...bad.flat());
      say(`validate all the schemas (allOf)${none}`);
    }
  }
  if (schema.not && schemaErrors(value, schema.not, path).length === 0) say('not validate the schema (not)');
  return errors;
}
