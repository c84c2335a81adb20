import type { Request, Response } from '../../kube/transport.ts';
import type { Server } from '../store/common/call.ts';
import type { Served } from '../store/common/resources.ts';
import { openapi } from './openapi.ts';

const VERSION = {
  major: '1',
  minor: '37',
  gitVersion: 'v1.37.1',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: 'embedded',
};
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const json = (body: unknown, type = 'application/json'): Response => ({
  status: 200,
  headers: { 'content-type': type },
  body,
});

/** Everything that is no resource: health, version, discovery in both forms, OpenAPI v3. */
export function discovery(server: Server, request: Request): Response | undefined {
  if (request.method !== 'GET') return undefined;
  const parts = request.path.split('/').filter(p => p !== '');
  const [root, group, version] = parts;
  if (root === 'healthz' || root === 'livez' || root === 'readyz') {
    return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'ok' };
  }
  if (root === 'version') return json(VERSION);
  if (root === 'openapi') return openapi(server, parts.slice(1));
  const all = server.registry.all();
  if ((root === 'api' || root === 'apis') && parts.length === 1) {
    const core = root === 'api';
    const groups = groupsOf(all.filter(r => (r.group === '') === core));
    if (/as=APIGroupDiscoveryList/.test(request.accept ?? '')) return json(aggregated(groups), AGGREGATED);
    if (core) return json({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });
    return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) });
  }
  if (root === 'apis' && parts.length === 2) {
    const found = groupsOf(all.filter(r => r.group === group))[0];
    return found && json({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(found) });
  }
  const named =
    root === 'api' && parts.length === 2
      ? { group: '', version: group! }
      : root === 'apis' && parts.length === 3
        ? { group: group!, version: version! }
        : undefined;
  const resources = named && all.filter(r => r.group === named.group && r.version === named.version);
  if (!named || !resources || resources.length === 0) return undefined;
  const groupVersion = named.group === '' ? named.version : `${named.group}/${named.version}`;
  return json({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: resources.flatMap(resourcesOf) });
}

interface Group {
  readonly name: string;
  readonly versions: Map<string, Served[]>;
}

function groupsOf(resources: readonly Served[]): Group[] {
  const groups = new Map<string, Group>();
  for (const r of resources) {
    const group = groups.get(r.group) ?? { name: r.group, versions: new Map() };
    groups.set(r.group, group);
    group.versions.set(r.version, [...(group.versions.get(r.version) ?? []), r]);
  }
  return [...groups.values()];
}

function groupOf(group: Group) {
  const versions = [...group.versions.keys()].map(version => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

function resourcesOf(r: Served): object[] {
  const main = {
    name: r.plural,
    singularName: r.singular,
    namespaced: r.namespaced,
    kind: r.kind,
    verbs: VERBS,
    ...(r.shortNames.length > 0 ? { shortNames: r.shortNames } : {}),
    ...(r.categories.length > 0 ? { categories: r.categories } : {}),
  };
  return [
    main,
    ...r.subresources.map(s => ({
      name: `${r.plural}/${s}`,
      singularName: '',
      namespaced: r.namespaced,
      ...subresourceKind(r, s),
      verbs: ['get', 'patch', 'update'],
    })),
  ];
}

const subresourceKind = (r: Served, name: string) =>
  name === 'scale' ? { group: 'autoscaling', version: 'v1', kind: 'Scale' } : { kind: r.kind };

function aggregated(groups: readonly Group[]) {
  const kindOf = (r: Served) => ({ group: r.group, version: r.version, kind: r.kind });
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(group => ({
      metadata: { name: group.name },
      versions: [...group.versions].map(([version, resources]) => ({
        version,
        freshness: 'Current',
        resources: resources.map(r => ({
          resource: r.plural,
          responseKind: kindOf(r),
          scope: r.namespaced ? 'Namespaced' : 'Cluster',
          singularResource: r.singular,
          verbs: VERBS,
          shortNames: r.shortNames,
          categories: r.categories,
          subresources: r.subresources.map(s => ({
            subresource: s,
            responseKind: s === 'scale' ? { group: 'autoscaling', version: 'v1', kind: 'Scale' } : kindOf(r),
            verbs: ['get', 'patch', 'update'],
          })),
        })),
      })),
    })),
  };
}
