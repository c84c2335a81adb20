import type { Request } from '../../kube/transport.ts';
import type { Call } from './common/call.ts';
import type { Registry } from './common/registry.ts';
import { NoSuchGroup, noSuchPath, notFound } from './common/status.ts';

/** `/api/v1/...` or `/apis/<group>/<version>/...` to a resource, or a Refusal with 404. */
export function route(registry: Registry, request: Request, now: () => number): Call {
  const parts = request.path
    .split('/')
    .filter(p => p !== '')
    .map(decodeURIComponent);
  const [group, version, rest] =
    parts[0] === 'api' ? ['', parts[1] ?? '', parts.slice(2)] : [parts[1] ?? '', parts[2] ?? '', parts.slice(3)];
  if ((parts[0] !== 'api' && parts[0] !== 'apis') || rest.length === 0) throw new NoSuchGroup();
  if (!registry.hasGroup(group)) throw new NoSuchGroup();
  const scoped = rest[0] === 'namespaces' && rest.length > 2 && registry.find(group, version, rest[2]!) !== undefined;
  const [plural = '', name = '', subresource = ''] = scoped ? rest.slice(2) : rest;
  const resource = registry.find(group, version, plural);
  if (!resource && registry.isCustomGroup(group)) throw new NoSuchGroup();
  if (!resource || (scoped && !resource.namespaced)) throw noSuchPath();
  const known: readonly string[] = resource.subresources;
  if (subresource !== '' && !known.includes(subresource)) {
    throw 'custom' in resource.is ? notFound(resource, name) : noSuchPath();
  }
  const namespace = scoped ? rest[1]! : '';
  return { resource, namespace, name, subresource, request, query: request.query ?? {}, warnings: [], now };
}
