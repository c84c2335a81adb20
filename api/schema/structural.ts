import * as z from 'zod';

/** A structural schema of apiextensions/v1: the part of it that we write. */
export interface StructuralSchema {
  description?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-validations'?: readonly { rule: string; message: string; fieldPath?: string; reason?: string }[];
}

/** The order that people read: what it is, what it may be, what is inside. */
const ORDER = [
  'description',
  'type',
  'format',
  'enum',
  'default',
  'pattern',
  'required',
  'properties',
  'additionalProperties',
  'items',
];

/** zod's OpenAPI output is nearly structural; the rest is fixed here. */
function fix(node: Record<string, unknown>): StructuralSchema {
  const out: Record<string, unknown> = { ...node };
  delete out.$schema;
  delete out.propertyNames;
  if (out.additionalProperties === false) delete out.additionalProperties;
  if (out.format === 'date-time') delete out.pattern;
  if (out['x-kubernetes-int-or-string'] === true) {
    delete out.anyOf;
    delete out.type;
  }
  if (out['x-kubernetes-preserve-unknown-fields'] === true) {
    delete out.additionalProperties;
    delete out.anyOf;
  }
  if (isObject(out.properties))
    out.properties = Object.fromEntries(
      Object.entries(out.properties).map(([key, value]) => [key, fix(asObject(value))]),
    );
  if (isObject(out.additionalProperties)) out.additionalProperties = fix(out.additionalProperties);
  if (isObject(out.items)) out.items = fix(out.items);
  const rank = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length - 4.5);
  return Object.fromEntries(Object.entries(out).sort(([a], [b]) => rank(a) - rank(b)));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function asObject(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`expected a schema, got ${JSON.stringify(value)}`);
  return value;
}

export function structural(schema: z.ZodType): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    cycles: 'throw',
    unrepresentable: 'throw',
  });
  return fix(asObject(json));
}
