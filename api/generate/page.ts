import { apiVersionOf } from '../../src/kube/resource.ts';
import { CHILDREN, OpenStackControlPlane } from '../openstack/controlplane.ts';
import type { AnyKind } from '../schema/kind.ts';
import { type Field, fields } from '../schema/leaves.ts';
import { specWithNotes, statusWithNotes } from '../schema/planned.ts';
import type { StructuralSchema } from '../schema/structural.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text}\``;

function typeOf(schema: StructuralSchema): string {
  if (schema.enum !== undefined) return schema.enum.map(value => code(String(value))).join(', ');
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or text';
  if (schema['x-kubernetes-preserve-unknown-fields'] === true)
    return schema.type === undefined ? 'map or text' : 'any fields';
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.type === 'integer' && schema.minimum !== undefined) return `integer ${range(schema)}`;
  if (schema.type === 'string') return schema.format === 'date-time' ? 'time' : 'text';
  return schema.type ?? 'any';
}

function range(schema: StructuralSchema): string {
  const unbounded = schema.maximum === undefined || schema.maximum >= 2147483647;
  return unbounded ? `>= ${schema.minimum}` : `${schema.minimum}-${schema.maximum}`;
}

const row = ({ path, schema, required }: Field): string =>
  `| ${code(path)} | ${cell(typeOf(schema))} | ${required ? 'required' : defaultOf(schema)} | ${cell(schema.description ?? '')} |`;

function defaultOf(schema: StructuralSchema): string {
  if (schema.default === undefined) return '';
  return schema.type === 'object' ? '' : code(JSON.stringify(schema.default));
}

function table(list: readonly Field[]): string {
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...list.map(row)].join('\n');
}

/** Sections of the control plane repeat their child's page: a line with a link says more than four hundred rows. */
function withoutSections(kind: AnyKind, list: readonly Field[]): Field[] {
  if (kind !== OpenStackControlPlane) return [...list];
  return list
    .filter(({ path }) => {
      const [head, second, ...rest] = path.split('.');
      return (
        !(head !== undefined && head in CHILDREN) || second === undefined || (second === 'enabled' && rest.length === 0)
      );
    })
    .map(field => {
      const child = CHILDREN[field.path as keyof typeof CHILDREN] as AnyKind | undefined;
      if (child === undefined) return field;
      const description = `${field.schema.description} Fields of [${child.kind}](${child.singular}.md), none of them defaulted here.`;
      return { ...field, schema: { ...field.schema, description } };
    });
}

function rulesOf(schema: StructuralSchema, path: string): string[] {
  const here = (schema['x-kubernetes-validations'] ?? []).map(
    rule => `- ${path === '' ? '' : `${code(path)}: `}${rule.message}`,
  );
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    rulesOf(child, path === '' ? name : `${path}.${name}`),
  );
  return [...here, ...below];
}

export function kindPage(kind: AnyKind, sample: string | undefined): string {
  const spec = specWithNotes(kind);
  const status = statusWithNotes(kind);
  const rules = kind === OpenStackControlPlane ? rulesOf({ ...spec, properties: {} }, '') : rulesOf(spec, '');
  const nameRules = kind.nameRules.map(rule => `- ${rule.message}`);
  return [
    `# ${kind.kind}`,
    '',
    kind.description,
    '',
    `- apiVersion: ${code(apiVersionOf(kind))}`,
    `- on the command line: ${[kind.plural, kind.singular, ...kind.shortNames].map(code).join(', ')}`,
    '',
    ...(sample === undefined ? [] : ['## Example', '', '```yaml', sample.trimEnd(), '```', '']),
    '## spec',
    '',
    'Every field is optional; `required` means that it has to be there when its parent is.',
    '',
    table(withoutSections(kind, fields(spec))),
    '',
    ...(rules.length + nameRules.length === 0 ? [] : ['## Rules', '', ...nameRules, ...rules, '']),
    '## status',
    '',
    table(fields(status)),
    '',
  ].join('\n');
}

export function indexPage(kinds: readonly AnyKind[]): string {
  return [
    '# Kinds',
    '',
    '`kubectl get openstack` lists objects of all of them.',
    '',
    '| Kind | Group | What it is |',
    '|---|---|---|',
    ...kinds.map(k => `| [${k.kind}](${k.singular}.md) | ${code(apiVersionOf(k))} | ${cell(k.description)} |`),
    '',
  ].join('\n');
}
