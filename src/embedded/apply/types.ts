/** A schema node: what decides how values of one place merge. A node may allow several shapes (untyped values do). */
export interface TypeNode {
  scalar?: Scalar;
  list?: ListType;
  map?: MapType;
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
  readonly fields: ReadonlyMap<string, { readonly type: TypeNode; readonly default?: unknown }>;
  /** The type of fields not named; absent: such fields are refused. */
  readonly rest?: TypeNode;
}

export function typeOfCrd(_openAPIV3Schema: unknown): TypeNode {
  throw new Error('not yet');
}

export function typeOfBuiltin(_apiVersion: string, _kind: string): TypeNode | undefined {
  throw new Error('not yet');
}
