import type { StructuralSchema } from './structural.ts';

const TYPES = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

/** What a structural schema of ours may say. Anything else is a mistake of the generator, `oneOf` and `$ref` included. */
const ALLOWED = new Set([
  'description',
  'type',
  'format',
  'enum',
  'default',
  'nullable',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'properties',
  'additionalProperties',
  'items',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
]);

/** Violations of the rules that the API server applies to `openAPIV3Schema`, each with its path. */
export function lint(schema: StructuralSchema, path = ''): string[] {
  const at = path === '' ? '(root)' : path;
  const out: string[] = [];
  for (const key of Object.keys(schema)) if (!ALLOWED.has(key)) out.push(`${at}: ${key} is not structural`);

  const typeless =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.type === undefined ? !typeless : !TYPES.has(schema.type)) out.push(`${at}: type ${String(schema.type)}`);
  if (schema['x-kubernetes-int-or-string'] === true && schema.type !== undefined)
    out.push(`${at}: int-or-string has a type`);

  if (schema.properties !== undefined && schema.additionalProperties !== undefined)
    out.push(`${at}: properties and additionalProperties exclude each other`);
  if (typeof schema.additionalProperties === 'boolean') out.push(`${at}: additionalProperties is not a schema`);
  if (schema.type === 'array' && schema.items === undefined) out.push(`${at}: array without items`);
  for (const name of schema.required ?? [])
    if (schema.properties?.[name] === undefined) out.push(`${at}: requires ${name}, which it does not have`);

  out.push(...lintList(schema, at), ...lintRules(schema, at));
  for (const [name, child] of Object.entries(schema.properties ?? {})) out.push(...lint(child, `${path}.${name}`));
  if (schema.additionalProperties !== undefined) out.push(...lint(schema.additionalProperties, `${path}.*`));
  if (schema.items !== undefined) out.push(...lint(schema.items, `${path}[]`));
  return out;
}

function lintList(schema: StructuralSchema, at: string): string[] {
  const type = schema['x-kubernetes-list-type'];
  if (schema.type !== 'array') return type === undefined ? [] : [`${at}: list-type on something that is no list`];
  if (type === undefined) return [`${at}: say the list-type, also when it is atomic`];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (type !== 'map') return keys.length === 0 ? [] : [`${at}: keys on a list that is no map`];
  if (keys.length === 0) return [`${at}: a map list needs keys`];
  return keys.flatMap(key => {
    const field = schema.items?.properties?.[key];
    if (field === undefined) return [`${at}: key ${key} is no field of the item`];
    const present = schema.items?.required?.includes(key) === true || field.default !== undefined;
    return present ? [] : [`${at}: key ${key} is neither required nor defaulted`];
  });
}

function lintRules(schema: StructuralSchema, at: string): string[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(rule => [
    ...(rule.message.trim() === '' ? [`${at}: rule without a message`] : []),
    ...(rule.message.includes('\n') ? [`${at}: a message must be one line`] : []),
    // Unbounded collections make the API server estimate the worst and refuse the CRD.
    ...(/\b(all|exists|map|filter)\(/.test(rule.rule) && unbounded(schema)
      ? [`${at}: rule walks something unbounded`]
      : []),
  ]);
}

const unbounded = (schema: StructuralSchema) =>
  (schema.type === 'array' && schema.maxItems === undefined) ||
  (schema.additionalProperties !== undefined && schema.maxProperties === undefined);
