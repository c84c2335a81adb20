import { expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { userRoles } from './user-roles.ts';

interface Role {
  metadata: { name: string; labels: Record<string, string> };
  rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
}
const roles = userRoles(KINDS) as Role[];
const may = (name: string, verb: string): string[] =>
  roles
    .find(role => role.metadata.name === `openstack-operator-${name}`)!
    .rules.filter(rule => rule.verbs.includes(verb))
    .flatMap(({ apiGroups: [group], resources }) => resources.map(resource => `${resource}.${group}`))
    .sort();
const all = KINDS.map(({ plural, group }) => `${plural}.${group}`).sort();

it('every kind is in each, and those who look may not write', () => {
  expect(may('view', 'get').filter(name => !name.includes('/'))).toEqual(all);
  expect(may('edit', 'create')).toEqual(all);
  expect(may('admin', 'deletecollection').filter(name => !name.includes('/'))).toEqual(all);
  const verbs = roles.map(({ rules }) => new Set(rules.flatMap(rule => rule.verbs)));
  expect([...verbs[0]!].sort()).toEqual(['get', 'list', 'watch']);
  // What runs is told by status, and only the operator and an admin may say so.
  expect(may('edit', 'patch').filter(name => name.includes('/'))).toEqual([]);
});

it('each goes into one role of Kubernetes, which hold each other', () => {
  expect(
    roles.map(({ metadata: { labels } }) => Object.keys(labels).filter(label => label.includes('aggregate'))),
  ).toEqual(['view', 'edit', 'admin'].map(name => [`rbac.authorization.k8s.io/aggregate-to-${name}`]));
});
