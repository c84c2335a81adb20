import { describe, expect, it } from 'vitest';
import { rbac } from './manifests.ts';
import { installedName, overlay } from './overlay.ts';
import { PLANS } from './plans.ts';
import type { Scope } from './scope.ts';
import { webhookConfiguration } from './webhook.ts';

interface Made {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
  subjects?: { name: string; namespace: string }[];
}
const scope = (namespaces: string[], kinds: string[] = []): Scope => ({ namespaces, kinds });
const madeFor = (given: Scope, webhook = false) =>
  overlay({ plans: PLANS, image: 'i', installed: { name: installedName(given), scope: given }, webhook });
const rolesOf = (given: Scope) => madeFor(given)['role.yaml'] as Made[];
const plurals = (roles: Made[], verb: string): string[] =>
  [
    ...new Set(
      roles.flatMap(({ rules = [] }) =>
        rules.filter(rule => rule.verbs.includes(verb)).flatMap(rule => rule.resources),
      ),
    ),
  ].sort();

describe('an operator for some namespaces', () => {
  const roles = rolesOf(scope(['a', 'b']));

  it('has a Role in each, and in the cluster only what has no namespace', () => {
    expect(roles.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata.namespace)).toEqual([
      'a',
      'b',
      'openstack-operator-system',
    ]);
    const cluster = roles.filter(({ kind }) => kind === 'ClusterRole');
    expect(plurals(cluster, 'list')).toEqual([
      'clusterissuers',
      'customresourcedefinitions',
      'ingressclasses',
      'storageclasses',
    ]);
    expect(
      cluster
        .flatMap(({ rules = [] }) => rules.flatMap(rule => rule.verbs))
        .filter(verb => !['get', 'list', 'watch'].includes(verb)),
    ).toEqual([]);
  });

  it('binds its own account, and its webhook is asked about these namespaces only', () => {
    const made = madeFor(scope(['a', 'b']), true);
    const bindings = Object.values(made)
      .flat()
      .filter(object => 'subjects' in object) as Made[];
    expect(bindings.length).toBeGreaterThan(4);
    for (const { subjects } of bindings)
      expect(subjects).toEqual([
        { kind: 'ServiceAccount', name: 'openstack-operator-a-b', namespace: 'openstack-operator-system' },
      ]);
    const selector = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] }] };
    const { webhooks } = webhookConfiguration(undefined, ['a', 'b']) as { webhooks: { namespaceSelector: object }[] };
    expect(webhooks.map(({ namespaceSelector }) => namespaceSelector)).toEqual([selector, selector]);
    const cluster = made['webhook.yaml']!.filter(object => (object as Made).kind === 'ClusterRole') as Made[];
    expect(plurals(cluster, 'list')).toEqual([]);
  });
});

describe('an operator for some kinds', () => {
  const roles = rolesOf(scope([], ['keystone']));

  it('writes these only, and reads of the others what it needs', () => {
    expect(plurals(roles, 'patch')).toContain('keystones');
    expect(plurals(roles, 'patch')).not.toContain('mariadbs');
    expect(plurals(roles, 'list')).toEqual(
      expect.arrayContaining(['mariadbs', 'memcacheds', 'openstackcontrolplanes']),
    );
    expect(plurals(roles, 'patch')).not.toContain('daemonsets');
    const all = rbac(PLANS) as Made[];
    for (const verb of ['create', 'delete', 'patch']) {
      expect(plurals(all, verb)).toEqual(expect.arrayContaining(plurals(roles, verb)));
      expect(plurals(roles, verb).length).toBeLessThan(plurals(all, verb).length);
    }
  });

  it('stands beside others: no object of two operators has the same name', () => {
    const names = (given: Scope) =>
      (Object.values(madeFor(given)).flat() as Made[])
        .filter(({ kind }) => !['Namespace', 'Kustomization'].includes(kind))
        .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    const [one, other, third] = [scope([], ['keystone']), scope([], ['glance']), scope(['a'], ['keystone'])].map(names);
    expect(one!.filter(name => other!.includes(name) || third!.includes(name))).toEqual([]);
    expect(installedName(scope(Array.from({ length: 20 }, (_, i) => `cloud-${i}`))).length).toBeLessThan(41);
  });
});
