import * as z from 'zod';

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired';
}

export const rule = (cel: string, message: string, extra: Partial<ValidationRule> = {}): ValidationRule => ({
  rule: cel,
  message,
  ...extra,
});

/** Adds CEL to a schema. zod does not evaluate it: the API server is the judge, the Store an early one. */
export function withRules<T extends z.ZodType>(schema: T, rules: readonly ValidationRule[]): T {
  if (rules.length === 0) return schema;
  const earlier = (schema.meta()?.['x-kubernetes-validations'] ?? []) as readonly ValidationRule[];
  return schema.meta({ 'x-kubernetes-validations': [...earlier, ...rules] });
}

export const cel = <T extends z.ZodType>(schema: T, expression: string, message: string): T =>
  withRules(schema, [rule(expression, message)]);

/** For a field that is always there (required or defaulted): a rule on the field itself sees every update. */
export const immutable = <T extends z.ZodType>(schema: T, why: string): T =>
  withRules(schema, [rule('self == oldSelf', `can't change after creation: ${why}`)]);

/**
 * For an optional field: a rule on the field is skipped when it appears or disappears, so the guard sits on the
 * parent and compares presence too (engine rule 25).
 */
export const immutableField = (field: string, why: string): ValidationRule =>
  rule(
    `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    `${field} can't be set, changed or removed after creation: ${why}`,
    { fieldPath: `.${field}` },
  );

/** For a field with a default, also where a section of the control plane leaves it out: absent means the default. */
export const fixedField = (field: string, absent: string, why: string): ValidationRule => {
  const value = (self: string): string => `(has(${self}.${field}) ? ${self}.${field} : '${absent}')`;
  return rule(`${value('self')} == ${value('oldSelf')}`, `${field} can't change after creation: ${why}`, {
    fieldPath: `.${field}`,
  });
};

/** The value of an optional field may change; its presence may not. */
export const fixedPresence = (field: string, why: string): ValidationRule =>
  rule(`has(self.${field}) == has(oldSelf.${field})`, `${field} can't be added or removed after creation: ${why}`, {
    fieldPath: `.${field}`,
  });

/** At most one of these optional fields. */
export const atMostOneOf = (...fields: string[]): ValidationRule =>
  rule(
    `[${fields.map(f => `has(self.${f})`).join(', ')}].filter(x, x).size() <= 1`,
    `set at most one of ${fields.join(', ')}`,
  );

export const text = (description: string) => z.string().describe(description);

/** Bounded, because CEL cost estimation assumes the worst for what has no bound. */
export const int = (min: number, max: number, description: string) =>
  z.int().min(min).max(max).meta({ format: 'int32' }).describe(description);

export const flag = (description: string) => z.boolean().describe(description);

export const oneOf = <const V extends readonly [string, ...string[]]>(values: V, description: string) =>
  z.enum(values).describe(description);

/** A little wider than DNS-1123 (it lets `a..b` pass), because it stands some hundred times in the largest CRD. */
const DNS_SUBDOMAIN = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;

/** The name of an object in the same namespace; references across namespaces do not exist (engine rule 5). */
export const objectName = (description: string) =>
  z.string().min(1).max(253).regex(DNS_SUBDOMAIN).describe(description);

const QUANTITY = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

/** A Kubernetes quantity: `500m`, `2Gi`, or a bare integer. */
export const quantity = (description: string) =>
  z
    .union([z.int(), z.string().max(64).regex(QUANTITY)])
    .meta({ 'x-kubernetes-int-or-string': true, pattern: QUANTITY.source })
    .describe(description);

/** The size of a volume. A string only, so that code that adds it to a claim has one type to handle. */
export const size = (description: string) =>
  z
    .string()
    .max(32)
    .regex(/^[0-9]+(\.[0-9]+)?([KMGTPE]i?)?$/)
    .describe(description);

/** A count, or text of a given form, e.g. a percentage. */
export const intOrString = (pattern: RegExp, description: string) =>
  z
    .union([z.int(), z.string().max(64).regex(pattern)])
    .meta({ 'x-kubernetes-int-or-string': true, pattern: pattern.source })
    .describe(description);

/** An object whose fields belong to another API: kept as it is, validated by its consumer. */
export const open = (description: string) =>
  z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true }).describe(description);

/** Text in one seed and a map in another; the schema leaves the type open and the reader parses. */
export const textOrMap = (description: string) =>
  z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .meta({ 'x-kubernetes-preserve-unknown-fields': true })
    .describe(description);

export const map = <V extends z.ZodType>(value: V, description: string, maxProperties = 256) =>
  z.record(z.string(), value).meta({ maxProperties }).describe(description);

/** A list that is replaced as a whole; stated, because silence means the same and hides the decision. */
export const list = <T extends z.ZodType>(item: T, description: string, maxItems = 64) =>
  z.array(item).max(maxItems).meta({ 'x-kubernetes-list-type': 'atomic' }).describe(description);

/** A list merged by key, so that two managers may own different entries. The keys must be required in the item. */
export function listMap<T extends z.ZodType<Record<string, unknown>>>(
  item: T,
  keys: readonly [string, ...string[]],
  description: string,
  maxItems = 64,
) {
  const keyOf = (entry: Record<string, unknown>) => JSON.stringify(keys.map(key => entry[key]));
  return z
    .array(item)
    .max(maxItems)
    .refine(
      entries => new Set(entries.map(keyOf)).size === entries.length,
      `has two entries with the same ${keys.join(', ')}`,
    )
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys })
    .describe(description);
}

/** An optional object that the API server creates when absent, so that defaults inside it apply. */
export const group = <Shape extends z.ZodRawShape>(shape: Shape, description: string) =>
  z.strictObject(shape).describe(description);
