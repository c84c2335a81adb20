import { clone, isObject, type Json } from '../common/json.ts';

/** A structural schema node as it stands in the CRD. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export const schemaFor = (schema: Schema | undefined, key: string): Schema | undefined => {
  const own = schema?.properties?.[key];
  if (own) return own;
  return isObject(schema?.additionalProperties) ? (schema.additionalProperties as Schema) : undefined;
};

/** Removes what the schema does not name, and says which paths went. Embedded resources keep their head. */
export function prune(value: unknown, schema: Schema | undefined, path: string, gone: string[]): void {
  if (Array.isArray(value)) {
    value.forEach((item, i) => {
      prune(item, schema?.items, `${path}[${i}]`, gone);
    });
    return;
  }
  if (!isObject(value) || schema === undefined) return;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const head = schema['x-kubernetes-embedded-resource'] === true ? ['apiVersion', 'kind', 'metadata'] : [];
  for (const key of Object.keys(value).sort()) {
    const at = path === '' ? key : `${path}.${key}`;
    const inner = schemaFor(schema, key);
    if (inner) prune(value[key], inner, at, gone);
    else if (!open && !head.includes(key)) {
      gone.push(at);
      delete value[key];
    }
  }
}

/** A null where none is allowed is as if it were absent; a default takes its place later. */
export function pruneNulls(value: unknown, schema: Schema | undefined): void {
  if (Array.isArray(value)) for (const item of value) pruneNulls(item, schema?.items);
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const inner = schemaFor(schema, key);
    if (value[key] === null && inner && !inner.nullable && inner.default === undefined) delete value[key];
    else pruneNulls(value[key], inner);
  }
}

export function setSchemaDefaults(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    value.forEach((item, i) => {
      if (item === null && schema.items && !schema.items.nullable) value[i] = clone(schema.items.default ?? null);
      setSchemaDefaults(value[i], schema.items);
    });
    return;
  }
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    if (inner.default === undefined) continue;
    if (!(key in value) || (value[key] === null && !inner.nullable)) value[key] = clone(inner.default);
  }
  for (const key of Object.keys(value as Json)) setSchemaDefaults(value[key], schemaFor(schema, key));
}
