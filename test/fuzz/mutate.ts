import type { AnyKind } from '../../api/schema/kind.ts';
import { type Field, fields } from '../../api/schema/leaves.ts';
import { type StructuralSchema, structural } from '../../api/schema/structural.ts';
import { hash, seededRandom } from '../../src/embedded/sim/random.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Random } from '../../src/world/clock.ts';

/** One changed field of one sample. */
export interface Mutation {
  readonly object: AnyObject;
  /** `external.port`; the names that a message must contain one of. */
  readonly path: string;
  readonly what: string;
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!;

const WORDS = [
  '',
  ' ',
  'nowhere',
  '-rf',
  '../../etc/passwd',
  "a'b",
  'a"b',
  '$(touch /tmp/x)',
  '`id`',
  'a\nb',
  'a\n',
  '100%',
  '$name',
  'a@b:c/d',
  'grün',
  '日本',
  '\u0000',
  'UPPER',
  'a.b',
  'x'.repeat(300),
];
const NUMBERS = [-1, 0, 1, 2, 3, 65_535, 65_536, 2 ** 31, 1e15, 0.5];
const INI = [
  '[DEFAULT',
  'debug',
  '= 1',
  '[DEFAULT]\ndebug = perhaps\n',
  '[a]\n b = c\n',
  '[DEFAULT]\ndebug = true\n',
  '\ttab',
];
const FORMS = ['99 99 * * *', '5x', '10Gi', '-1h', '1.2.3.4', '300.1.1.1', '10.0.0.0/33', 'https://', 'ftp://a/b', '0'];

/** Any value, of the right type or not. */
function valueFor(random: Random, { path, schema }: Field): unknown {
  const wrongType = [7, true, 'text', null, [], {}, ['a'], { a: 'b' }, 1.5];
  if (random.next() < 0.25) return pick(random, wrongType);
  if (schema.enum !== undefined) return random.next() < 0.4 ? pick(random, schema.enum) : pick(random, WORDS);
  if (/customServiceConfig$/.test(path)) return pick(random, [...INI, ...WORDS]);
  if (schema['x-kubernetes-int-or-string']) return pick(random, [...NUMBERS, ...FORMS, ...WORDS]);
  if (schema.type === 'integer' || schema.type === 'number') return pick(random, NUMBERS);
  if (schema.type === 'boolean') return pick(random, [true, false]);
  if (schema.type === 'array') return pick(random, [[], ['a', 'a'], [{}], [''], [random.next() < 0.5 ? 'a' : null]]);
  if (schema.type === 'string') return pick(random, [...WORDS, ...FORMS]);
  return pick(random, [{}, { a: 'b' }, { '': {} }, { 'UPPER name': {} }, { nowhere: {} }]);
}

/** Walks to the parent of a path, through the first key of a map and the first item of a list, and makes what is missing. */
function change(random: Random, spec: Record<string, unknown>, path: string, value: unknown): void {
  const segments = path.split('.');
  let at: Record<string, unknown> = spec;
  segments.forEach((segment, index) => {
    const list = segment.endsWith('[]');
    const name = segment.replace('[]', '');
    const key = name === '*' ? (Object.keys(at)[0] ?? pick(random, ['one', 'cell1'])) : name;
    if (index === segments.length - 1 && !list) {
      if (value === undefined) delete at[key];
      else at[key] = value;
      return;
    }
    const inner = at[key];
    if (list) {
      const items = Array.isArray(inner) && inner.length > 0 ? inner : [{}];
      at[key] = items;
      at = items[0] as Record<string, unknown>;
    } else {
      at[key] = typeof inner === 'object' && inner !== null ? inner : {};
      at = at[key] as Record<string, unknown>;
    }
  });
}

const schemas = new Map<AnyKind, readonly Field[]>();
function fieldsOf(kind: AnyKind): readonly Field[] {
  const known = schemas.get(kind) ?? fields(structural(kind.specSchema) as StructuralSchema);
  schemas.set(kind, known);
  return known;
}

/** The same seed, kind and sample give the same mutation. */
export function mutate(seed: number, kind: AnyKind, sample: AnyObject): Mutation {
  const random = seededRandom(hash(`${seed}/mutate`));
  const object = structuredClone(sample) as AnyObject & { spec?: Record<string, unknown> };
  const spec = (object.spec ?? {}) as Record<string, unknown>;
  object.spec = spec;
  const field = pick(random, fieldsOf(kind));
  const roll = random.next();
  if (roll < 0.05) {
    const path = `${field.path}x`;
    change(random, spec, path, 'text');
    return { object, path, what: 'a field that does not exist' };
  }
  if (roll < 0.1) {
    change(random, spec, field.path, undefined);
    return { object, path: field.path, what: 'removed' };
  }
  const value = valueFor(random, field);
  change(random, spec, field.path, value);
  return { object, path: field.path, what: JSON.stringify(value) };
}
