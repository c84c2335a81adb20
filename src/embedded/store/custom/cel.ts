import { Environment } from '@marcbachmann/cel-js';
import type { AnyObject } from '../../../kube/object.ts';
import { equal, isObject } from '../common/json.ts';
import { canonical, parseQuantity } from '../common/quantity.ts';
import { byReason, type FieldError, invalidValue } from '../common/status.ts';
import { counterpart } from './check.ts';
import type { Rule, Schema } from './schema.ts';

/**
 * x-kubernetes-validations with cel-js. Cost limits are not computed: the real API server is the judge of those.
 * Not supported: sets.*, two-variable comprehensions, and the equality of list maps regardless of order.
 */

type Program = (context: Record<string, unknown>) => unknown;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})
  .registerFunction('isQuantity(string): bool', (text: string) => holds(() => parseQuantity(text)))
  .registerFunction('quantity(string): dyn', (text: string) => canonical(text))
  .registerFunction('string.compareTo(string): int', (a: string, b: string) => BigInt(compareQuantities(a, b)))
  .registerFunction('string.isGreaterThan(string): bool', (a: string, b: string) => compareQuantities(a, b) > 0)
  .registerFunction('string.isLessThan(string): bool', (a: string, b: string) => compareQuantities(a, b) < 0)
  .registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => new RegExp(pattern).exec(text)?.[0] ?? '',
  )
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, to),
  )
  .registerFunction('isURL(string): bool', (text: string) => /^([a-zA-Z][a-zA-Z0-9+.-]*:\/\/|\/)/.test(text))
  .registerFunction('list.indexOf(dyn): int', (list: unknown[], item: unknown) => BigInt(list.indexOf(item)))
  .registerFunction('list.isSorted(): bool', (list: (string | bigint)[]) =>
    list.every((v, i) => i === 0 || list[i - 1]! <= v),
  );

const holds = (run: () => unknown): boolean => {
  try {
    run();
    return true;
  } catch {
    return false;
  }
};

function compareQuantities(a: string, b: string): number {
  const [left, right] = [parseQuantity(a).milli, parseQuantity(b).milli];
  return left < right ? -1 : left > right ? 1 : 0;
}

const programs = new Map<string, Program>();

function compile(text: string): Program {
  let program = programs.get(text);
  if (!program) {
    program = environment.parse(text) as Program;
    programs.set(text, program);
  }
  return program;
}

export function celErrors(object: AnyObject, schema: Schema, old: AnyObject | undefined): FieldError[] {
  return walk(object, schema, '', old, true);
}

const ruled = new WeakMap<Schema, boolean>();

/** Most nodes have no rule below them; walking those would be most of the time. */
function hasRules(schema: Schema): boolean {
  let known = ruled.get(schema);
  if (known === undefined) {
    const inner = [
      ...Object.values(schema.properties ?? {}),
      schema.items,
      isObject(schema.additionalProperties) ? (schema.additionalProperties as Schema) : undefined,
      ...(schema.allOf ?? []),
    ];
    known = (schema['x-kubernetes-validations']?.length ?? 0) > 0 || inner.some(s => s !== undefined && hasRules(s));
    ruled.set(schema, known);
  }
  return known;
}

function walk(value: unknown, schema: Schema, path: string, old: unknown, root = false): FieldError[] {
  if (value === null || value === undefined || !hasRules(schema)) return [];
  const errors = (schema['x-kubernetes-validations'] ?? []).flatMap(rule =>
    judge(rule, value, schema, path, old, root),
  );
  for (const part of schema.allOf ?? [])
    errors.push(...walk(value, { ...part, type: schema.type ?? 'object' }, path, old));
  if (Array.isArray(value) && schema.items) {
    value.forEach((item, i) => {
      errors.push(...walk(item, schema.items!, `${path}[${i}]`, counterpart(item, schema, old)));
    });
  } else if (isObject(value)) {
    const other = isObject(schema.additionalProperties) ? (schema.additionalProperties as Schema) : undefined;
    for (const key of Object.keys(value).sort()) {
      const own = schema.properties?.[key];
      const before = isObject(old) ? old[key] : undefined;
      if (own) errors.push(...walk(value[key], own, path === '' ? key : `${path}.${key}`, before));
      else if (other) errors.push(...walk(value[key], other, `${path}[${key}]`, before));
    }
  }
  return errors;
}

function judge(rule: Rule, value: unknown, schema: Schema, path: string, old: unknown, root: boolean): FieldError[] {
  const transition = /\boldSelf\b/.test(rule.rule);
  if (transition && old === undefined) return [];
  // Ratcheting: a rule that looks at the new value alone does not judge what stays as it was.
  if (!transition && old !== undefined && equal(value, old)) return [];
  const context = {
    self: toCel(value, schema, root),
    ...(old === undefined ? {} : { oldSelf: toCel(old, schema, root) }),
  };
  const where = path === '' ? '<nil>' : path;
  try {
    if (compile(rule.rule)(context) === true) return [];
  } catch (error) {
    return [
      invalidValue(
        where,
        schema.type ?? 'object',
        `${celMessage(error)} evaluating rule: ${rule.message ?? rule.rule}`,
      ),
    ];
  }
  const field = rule.fieldPath
    ? `${path}${rule.fieldPath.startsWith('.') || rule.fieldPath.startsWith('[') ? '' : '.'}${rule.fieldPath}`.replace(
        /^\./,
        '',
      )
    : where;
  const shown = schema.type === 'object' || schema.type === 'array' ? undefined : { value };
  return [byReason(rule.reason ?? 'FieldValueInvalid', field, shown, messageOf(rule, context))];
}

function messageOf(rule: Rule, context: Record<string, unknown>): string {
  if (rule.messageExpression) {
    try {
      const text = compile(rule.messageExpression)(context);
      if (typeof text === 'string' && text.trim() !== '' && !text.includes('\n')) return text;
    } catch {
      // As upstream: a message that cannot be made falls back to the plain one.
    }
  }
  return rule.message?.trim() ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`;
}

/** cel-js says `No such key: x` and then shows the place; cel-go says `no such key: x`. */
function celMessage(error: unknown): string {
  const line = (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/** Words and characters that a CEL field name cannot have are escaped, as upstream does. */
const RESERVED = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

function escapeName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/**
 * Numbers become what their schema says: CEL does not add an int to a double. Fields that the schema does not name are
 * not visible, except below x-kubernetes-preserve-unknown-fields, where upstream's equality compares them as they are.
 */
function toCel(value: unknown, schema: Schema | undefined, root = false): unknown {
  if (typeof value === 'number') {
    return schema?.type === 'number' || !Number.isInteger(value) ? value : BigInt(value);
  }
  if (typeof value === 'string') {
    if (schema?.format === 'date-time') return new Date(value);
    return value;
  }
  if (Array.isArray(value)) return value.map(item => toCel(item, schema?.items));
  if (!isObject(value)) return value;
  const other = isObject(schema?.additionalProperties) ? (schema.additionalProperties as Schema) : undefined;
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (root && (key === 'apiVersion' || key === 'kind')) out[key] = item;
    else if (root && key === 'metadata') {
      const { name, generateName } = item as { name?: string; generateName?: string };
      out.metadata = {
        ...(name === undefined ? {} : { name }),
        ...(generateName === undefined ? {} : { generateName }),
      };
    } else if (schema?.properties?.[key]) out[escapeName(key)] = toCel(item, schema.properties[key]);
    else if (other || schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true)
      out[key] = toCel(item, other);
  }
  return out;
}
