import type { AnyObject } from '../../../kube/object.ts';
import { isObject, without } from '../common/json.ts';
import type { CustomVersion } from '../common/resources.ts';
import { duplicate, type FieldError, invalidValue } from '../common/status.ts';
import { celErrors } from './cel.ts';
import { schemaErrors } from './check.ts';
import type { Schema } from './schema.ts';

export const customCreateErrors = (version: CustomVersion, object: AnyObject): FieldError[] =>
  errorsOf(version, object, undefined);

/** Ratcheting: what an update leaves as it was is not judged again. */
export const customUpdateErrors = (version: CustomVersion, next: AnyObject, existing: AnyObject): FieldError[] =>
  errorsOf(version, next, existing);

/** Errors after which upstream does not evaluate rules, for they assume values of the right type and a bounded size. */
const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function errorsOf(version: CustomVersion, object: AnyObject, old: AnyObject | undefined): FieldError[] {
  const schema = version.schema as Schema;
  const errors = schemaErrors(
    without(object, 'apiVersion', 'kind', 'metadata'),
    schema,
    '',
    old && without(old, 'apiVersion', 'kind', 'metadata'),
  );
  errors.push(...listErrors(object, schema, ''));
  if (errors.some(e => blocking.has(e.reason))) {
    const text =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    return [...errors, invalidValue('<nil>', null, text)];
  }
  return [...errors, ...celErrors(object, schema, old)];
}

/** Sets hold each value once, list maps each key once. */
function listErrors(value: unknown, schema: Schema | undefined, path: string): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const kind = schema['x-kubernetes-list-type'];
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    const seen = new Set<string>();
    return value.flatMap((item, i) => {
      const errors = listErrors(item, schema.items, `${path}[${i}]`);
      if (kind !== 'set' && kind !== 'map') return errors;
      const id = kind === 'set' ? item : Object.fromEntries(keys.map(k => [k, isObject(item) ? item[k] : undefined]));
      const text = JSON.stringify(id);
      if (seen.has(text)) errors.push(duplicate(`${path}[${i}]`, id));
      seen.add(text);
      return errors;
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const own = schema.properties?.[key];
    const other = isObject(schema.additionalProperties) ? (schema.additionalProperties as Schema) : undefined;
    return listErrors(item, own ?? other, own ? (path === '' ? key : `${path}.${key}`) : `${path}[${key}]`);
  });
}
