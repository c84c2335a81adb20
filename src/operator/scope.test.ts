import { describe, expect, it } from 'vitest';
import { clashOf, leaseName, type Scope, scopeAnnotations } from './scope.ts';

const scope = (kinds: string[] = [], namespaces: string[] = []): Scope => ({ kinds, namespaces });

describe('the name of the Lease', () => {
  it.each<[Scope, string]>([
    [scope(), 'openstack-operator'],
    [scope(['mariadb', 'keystone', 'keystone']), 'openstack-operator-keystone-mariadb'],
    [scope([], ['cloud-b', 'cloud-a']), 'openstack-operator.cloud-a.cloud-b'],
    [scope(['keystone'], ['cloud-a']), 'openstack-operator-keystone.cloud-a'],
  ])('%j is %s', (given, name) => expect(leaseName(given)).toBe(name));

  it('is no longer than a name may be, and other for other scopes', () => {
    const many = (prefix: string) =>
      scope(
        [],
        Array.from({ length: 40 }, (_, index) => `${prefix}-${index}`),
      );
    expect(leaseName(many('cloud')).length).toBeLessThan(254);
    expect(leaseName(many('cloud'))).not.toBe(leaseName(many('other')));
    expect(leaseName(many('cloud'))).toBe(
      leaseName({ ...many('cloud'), namespaces: [...many('cloud').namespaces].reverse() }),
    );
  });
});

describe('two operators', () => {
  const many = scope(
    [],
    Array.from({ length: 40 }, (_, index) => `cloud-with-a-name-${index}`),
  );
  it.each<[string, Scope, Scope, string | undefined]>([
    ['everything and everything of one kind', scope(), scope(['keystone']), 'keystone in all namespaces'],
    ['everything and one namespace', scope(), scope([], ['a']), 'all kinds in a'],
    ['two namespaces that share one', scope([], ['a', 'b']), scope([], ['b', 'c']), 'all kinds in b'],
    ['kinds of one, namespaces of the other', scope(['keystone']), scope([], ['a']), 'keystone in a'],
    ['other namespaces', scope([], ['a']), scope([], ['b']), undefined],
    ['other kinds', scope(['keystone']), scope(['glance']), undefined],
    ['the same kinds elsewhere', scope(['keystone'], ['a']), scope(['keystone'], ['b']), undefined],
    [
      'more namespaces than a name can hold',
      many,
      scope([], ['cloud-with-a-name-39']),
      'all kinds in cloud-with-a-name-39',
    ],
  ])('%s', (_what, one, other, shared) => {
    for (const [own, held] of [
      [one, other],
      [other, one],
    ] as const) {
      const why = clashOf(own, { name: leaseName(held), annotations: scopeAnnotations(held) });
      if (shared === undefined) expect(why).toBeUndefined();
      else expect(why).toContain(`the same objects: ${shared}; give one of the two other --namespaces or --kinds`);
      // Of an earlier version, or with an annotation that somebody broke; a name that was cut says nothing.
      if (held !== many)
        expect(clashOf(own, { name: leaseName(held), annotations: { 'openstack.k8s.io/operator-scope': '{' } })).toBe(
          why,
        );
    }
  });

  it('Leases of others are none of our business', () => {
    expect(clashOf(scope(), { name: 'kube-scheduler' })).toBeUndefined();
    expect(clashOf(scope(), { name: 'openstack-operators' })).toBeUndefined();
  });
});
