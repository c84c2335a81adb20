import builtins from './builtins.json' with { type: 'json' };

/** A schema node: what decides how values of one place merge. A node may allow several shapes (untyped values do). */
export interface TypeNode {
  scalar?: Scalar;
  list?: ListType;
  map?: MapType;
  /** Root of a built-in kind: what an empty Go struct of it encodes to. A create is compared with this, not with nothing. */
  zero?: Readonly<Record<string, unknown>>;
}

export type Scalar = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ListType {
  /** `set` and `map` lists merge item by item; an `atomic` list has one owner. */
  readonly kind: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  readonly items: TypeNode;
}

export interface MapType {
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  /** The type of fields not named; absent: such fields are refused. */
  readonly rest?: TypeNode;
}

export interface Field {
  readonly type: TypeNode;
  /** Completes the key of a list item that leaves it out, such as `protocol: TCP` of ports. */
  readonly default?: unknown;
}

const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

/** Anything below is one value with one owner. */
export const untypedAtomic: TypeNode = { scalar: 'untyped' };
untypedAtomic.list = { kind: 'atomic', keys: [], items: untypedAtomic };
untypedAtomic.map = { atomic: true, fields: NO_FIELDS, rest: untypedAtomic };

/** Preserved unknown fields: objects merge field by field, lists are atomic. */
export const deduced: TypeNode = { scalar: 'untyped', list: { kind: 'atomic', keys: [], items: untypedAtomic } };
deduced.map = { atomic: false, fields: NO_FIELDS, rest: deduced };

export const typeOfField = (map: MapType, name: string): TypeNode | undefined => map.fields.get(name)?.type ?? map.rest;

// Built-in kinds: the notation of builtins.json is explained at `dump` in lab/tools/oracle/kinds.go.

type Ref = string | Shape;
interface Shape {
  u?: 1;
  l?: { i: Ref; k?: string[]; s?: 1 };
  m?: { f?: Record<string, Ref | [Ref, unknown]>; r?: Ref; a?: 1 };
}

const table = builtins as unknown as {
  kinds: Record<string, [string, Record<string, unknown>]>;
  types: Record<string, Shape>;
};

const named = new Map<string, TypeNode>([
  ['s', { scalar: 'string' }],
  ['n', { scalar: 'numeric' }],
  ['b', { scalar: 'boolean' }],
  ['u', { scalar: 'untyped' }],
  ['A', untypedAtomic],
  ['D', deduced],
]);

function resolve(ref: Ref): TypeNode {
  if (typeof ref !== 'string') return fill({}, ref);
  const known = named.get(ref);
  if (known !== undefined) return known;
  const node: TypeNode = {};
  named.set(ref, node); // before its fields: types may contain themselves
  return fill(node, table.types[ref]!);
}

function fill(node: TypeNode, shape: Shape): TypeNode {
  if (shape.u) node.scalar = 'untyped';
  if (shape.l) {
    const keys = shape.l.k ?? [];
    const kind = keys.length > 0 ? 'map' : shape.l.s ? 'set' : 'atomic';
    node.list = { kind, keys, items: resolve(shape.l.i) };
  }
  if (shape.m) {
    const fields = new Map<string, Field>();
    for (const [name, ref] of Object.entries(shape.m.f ?? {}))
      fields.set(name, Array.isArray(ref) ? { type: resolve(ref[0]), default: ref[1] } : { type: resolve(ref) });
    node.map = {
      atomic: shape.m.a === 1,
      fields,
      ...(shape.m.r === undefined ? {} : { rest: resolve(shape.m.r) }),
    };
  }
  return node;
}

const roots = new Map<string, TypeNode>();

/** undefined: a kind the table does not hold. */
export function typeOfBuiltin(apiVersion: string, kind: string): TypeNode | undefined {
  const key = `${apiVersion}/${kind}`;
  const known = roots.get(key);
  if (known !== undefined) return known;
  const row = table.kinds[key];
  if (row === undefined) return undefined;
  const root: TypeNode = { ...resolve(row[0]), zero: { apiVersion, kind, ...row[1] } };
  roots.set(key, root);
  return root;
}

// Custom kinds: the rules of kube-openapi's schemaconv, after the apiextensions server has put in TypeMeta and ObjectMeta.

/** The part of JSONSchemaProps that decides merging. */
export interface CrdSchema {
  type?: string;
  format?: string;
  properties?: Record<string, CrdSchema>;
  additionalProperties?: boolean | CrdSchema;
  items?: CrdSchema;
  default?: unknown;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
}

export function typeOfCrd(openAPIV3Schema: unknown): TypeNode {
  return convert({ ...(openAPIV3Schema as CrdSchema), 'x-kubernetes-embedded-resource': true }, false);
}

function convert(schema: CrdSchema, inherited: boolean): TypeNode {
  // Upstream hands the mark down to every descendant.
  const preserve = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type ?? '') {
    case 'object':
      return { map: convertMap(schema, preserve) };
    case 'array':
      return { list: convertList(schema, preserve) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: (schema.format ?? '') === '' || schema.format === 'byte' ? 'string' : 'untyped' };
    default:
      return { scalar: 'untyped', list: convertList(schema, preserve), map: convertMap(schema, preserve) };
  }
}

function convertMap(schema: CrdSchema, preserve: boolean): MapType {
  const fields = new Map<string, Field>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = convert(property, preserve);
    fields.set(name, property.default === undefined ? { type } : { type, default: property.default });
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    fields.set('apiVersion', { type: resolve('s') });
    fields.set('kind', { type: resolve('s') });
    fields.set('metadata', { type: resolve('meta.v1.ObjectMeta') });
  }
  const more = schema.additionalProperties;
  let rest: TypeNode | undefined;
  if (typeof more === 'object') rest = convert(more, preserve);
  else if (more === true || (more === undefined && (preserve || fields.size === 0))) rest = deduced;
  return { atomic: schema['x-kubernetes-map-type'] === 'atomic', fields, ...(rest === undefined ? {} : { rest }) };
}

function convertList(schema: CrdSchema, preserve: boolean): ListType {
  return {
    kind: schema['x-kubernetes-list-type'] ?? 'atomic',
    keys: schema['x-kubernetes-list-map-keys'] ?? [],
    items: schema.items === undefined ? untypedAtomic : convert(schema.items, preserve),
  };
}
