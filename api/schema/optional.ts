import * as z from 'zod';
import { flag, type ValidationRule } from './helpers.ts';

type AnySchema = z.core.$ZodType;

/** Metadata lives beside a schema, not in it: a rebuilt schema has to be given it again. */
function keepMeta<T extends AnySchema>(from: AnySchema, to: T): T {
  const meta = z.globalRegistry.get(from);
  if (meta !== undefined) z.globalRegistry.add(to, { ...z.globalRegistry.get(to), ...meta });
  return to;
}

/**
 * The same schema with every default taken out, at every depth: what had a default becomes optional.
 * A control plane may only pass on what its own user wrote (engine rule 4), so the API server must not write
 * anything into its sections.
 */
function withoutDefaults(schema: AnySchema): AnySchema {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'default':
    case 'prefault':
    case 'optional':
      return keepMeta(schema, z.optional(withoutDefaults(def.innerType)));
    case 'object': {
      const shape = Object.fromEntries(Object.entries(def.shape).map(([key, field]) => [key, withoutDefaults(field)]));
      return keepMeta(schema, z.core.clone(schema as z.core.$ZodObject, { ...def, shape }));
    }
    case 'array':
      return keepMeta(
        schema,
        z.core.clone(schema as z.core.$ZodArray, { ...def, element: withoutDefaults(def.element) }),
      );
    case 'record':
      return keepMeta(
        schema,
        z.core.clone(schema as z.core.$ZodRecord, { ...def, valueType: withoutDefaults(def.valueType) }),
      );
    default:
      return schema;
  }
}

/**
 * What a cloud decides once. A section that contradicted it would be a mistake (two releases, two regions), or repeat
 * a field that the cloud has for all; and the CRD must stay below the size of engine rule 23.
 */
const CLOUD_WIDE = [
  'release',
  'region',
  'images',
  'imageRegistry',
  'imagePullSecrets',
  'actions',
  'credentialRotation',
  'networkPolicy',
  'nodeNamespace',
] as const;
type CloudWide = (typeof CLOUD_WIDE)[number];

export type Section<Input> = { enabled: boolean } & Partial<Omit<Input, CloudWide>>;
export type SectionInput<Input> = { enabled?: boolean | undefined } & Partial<Omit<Input, CloudWide>>;

/**
 * A child's spec as a section of the control plane: all fields optional, none defaulted, plus `enabled`.
 * Immutable fields stay so, but only once the service is on: before that there is nothing to protect.
 */
export function section<Input extends object>(
  child: { readonly kind: string; readonly specSchema: z.ZodType<object, Input> },
  enabled: boolean,
  description: string,
): z.ZodType<Section<Input>, SectionInput<Input> | undefined> {
  const { shape } = withoutDefaults(child.specSchema) as z.ZodObject;
  const fields = Object.fromEntries(Object.entries(shape).filter(([name]) => !CLOUD_WIDE.some(wide => wide === name)));
  const rules = (child.specSchema.meta()?.['x-kubernetes-validations'] ?? []) as readonly ValidationRule[];
  const own = rules.filter(({ rule }) => !CLOUD_WIDE.some(wide => rule.includes(`self.${wide}`)));
  const guarded = own.map(r => (r.rule.includes('oldSelf') ? { ...r, rule: `!oldSelf.enabled || (${r.rule})` } : r));
  const schema = z
    .strictObject({ enabled: flag(`Whether the cloud has a ${child.kind}.`).default(enabled), ...fields })
    .describe(description)
    .meta(guarded.length > 0 ? { 'x-kubernetes-validations': guarded } : {})
    .prefault({});
  return schema as unknown as z.ZodType<Section<Input>, SectionInput<Input> | undefined>;
}
