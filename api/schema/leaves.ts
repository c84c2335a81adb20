import type { StructuralSchema } from './structural.ts';

export interface Field {
  /** `external.port`, `stores[].name`, `cellTemplates.*.databaseInstance`. */
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly leaf: boolean;
  /** Must be there when its parent is. */
  readonly required: boolean;
}

/** Every field below a schema, parents first. A leaf is what a reader can read a value from. */
export function fields(schema: StructuralSchema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const below = inside(child, path);
    return [
      { path, schema: child, leaf: below.length === 0, required: schema.required?.includes(name) ?? false },
      ...below,
    ];
  });
}

function inside(schema: StructuralSchema, path: string): Field[] {
  if (schema.items !== undefined) return inside(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) return inside(schema.additionalProperties, `${path}.*`);
  return fields(schema, path);
}
