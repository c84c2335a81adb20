import type { Response } from '../../kube/transport.ts';
import type { Server } from '../store/common/call.ts';
import type { Json } from '../store/common/json.ts';
import type { Served } from '../store/common/resources.ts';
import { fieldsOf, type Type } from '../store/common/types.ts';

/** OpenAPI v3, as much as `kubectl explain`, `apply` and `create` read: kinds, their schemas, and that field validation is served. */
export function openapi(server: Server, parts: readonly string[]): Response | undefined {
  if (parts[0] !== 'v3') return undefined;
  const all = server.registry.all();
  const pathOf = (r: Served) => (r.group === '' ? `api/${r.version}` : `apis/${r.group}/${r.version}`);
  if (parts.length === 1) {
    const paths = Object.fromEntries(all.map(r => [pathOf(r), { serverRelativeURL: `/openapi/v3/${pathOf(r)}` }]));
    return { status: 200, headers: { 'content-type': 'application/json' }, body: { paths } };
  }
  const wanted = parts.slice(1).join('/');
  const resources = all.filter(r => pathOf(r) === wanted);
  if (resources.length === 0) return undefined;
  return { status: 200, headers: { 'content-type': 'application/json' }, body: document(wanted, resources) };
}

function document(path: string, resources: readonly Served[]): object {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, object> = {};
  for (const r of resources) {
    const gvk = { group: r.group, version: r.version, kind: r.kind };
    const ref = 'builtin' in r.is ? builtinSchema(r.is.builtin, schemas) : customSchema(r, schemas);
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    schemas[name] = { ...schemas[name], 'x-kubernetes-group-version-kind': [gvk] };
    const root = `/${path}${r.namespaced ? '/namespaces/{namespace}' : ''}/${r.plural}`;
    const parameters = ['dryRun', 'fieldManager', 'fieldValidation'].map(p => ({
      name: p,
      in: 'query',
      schema: { type: 'string', uniqueItems: true },
    }));
    const operation = (action: string) => ({
      parameters,
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': gvk,
      responses: { '200': { description: 'OK', content: { 'application/json': { schema: { $ref: ref } } } } },
    });
    paths[root] = { get: operation('list'), post: operation('post') };
    paths[`${root}/{name}`] = {
      get: operation('get'),
      put: operation('put'),
      patch: operation('patch'),
      delete: operation('delete'),
    };
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.37.1' }, paths, components: { schemas } };
}

/** Fills `schemas` with the struct and all it refers to; gives the reference. */
function builtinSchema(struct: string, schemas: Record<string, Json>): string {
  const name = struct.replaceAll('/', '.');
  if (!(name in schemas)) {
    const properties: Record<string, object> = {};
    schemas[name] = { type: 'object', properties };
    for (const [key, field] of fieldsOf(struct)) properties[key] = typeSchema(field.type, schemas);
  }
  return `#/components/schemas/${name}`;
}

function typeSchema(type: Type, schemas: Record<string, Json>): object {
  switch (type.is) {
    case 'pointer':
      return typeSchema(type.of, schemas);
    case 'list':
      return { type: 'array', items: typeSchema(type.of, schemas) };
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of, schemas) };
    case 'struct':
      return { allOf: [{ $ref: builtinSchema(type.name, schemas) }] };
    case 'scalar':
      return SCALARS[type.name] ?? { type: 'object' };
  }
}

const SCALARS: Record<string, object> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  int: { type: 'integer' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  Time: { type: 'string', format: 'date-time' },
  MicroTime: { type: 'string', format: 'date-time' },
  Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
};

function customSchema(r: Served, schemas: Record<string, Json>): string {
  const name = [...r.group.split('.').reverse(), r.version, r.kind].join('.');
  const schema = (r.is as { custom: { schema: Json } }).custom.schema;
  schemas[name] = {
    ...schema,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      ...(schema.properties as Json | undefined),
      metadata: { allOf: [{ $ref: builtinSchema('meta/v1.ObjectMeta', schemas) }] },
    },
  };
  return `#/components/schemas/${name}`;
}
