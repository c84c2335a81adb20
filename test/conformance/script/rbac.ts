import { scribe } from '../script.ts';

const s = scribe('rbac');
const R = '/apis/rbac.authorization.k8s.io/v1';
const at = (plural: string, name = '') => `${R}/namespaces/default/${plural}${name && `/${name}`}`;
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];

s.post(at('roles'), { metadata: { name: 'reader' }, rules });
s.get(at('roles', 'reader'));
s.post(at('roles'), { metadata: { name: 'reader' }, rules });
s.post(at('roles'), { metadata: { name: 'no-verbs' }, rules: [{ apiGroups: [''], resources: ['pods'] }] });
s.post(at('roles'), { metadata: { name: 'empty' } });
s.post(at('roles'), { metadata: { name: 'urls' }, rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] });
s.post(at('roles'), { metadata: { name: 'no-resources' }, rules: [{ apiGroups: [''], verbs: ['get'] }] });
s.post(at('roles'), { metadata: { name: 'no-groups' }, rules: [{ resources: ['pods'], verbs: ['get'] }] });
s.merge(at('roles', 'reader'), {
  rules: [...rules, { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] }],
});
s.put(at('roles', 'reader'), { metadata: { name: 'reader', labels: { a: 'b' } }, rules });
s.put(at('roles', 'created-by-put'), { metadata: { name: 'created-by-put' }, rules });
s.get(at('roles'));
s.post(at('rolebindings'), {
  metadata: { name: 'bind' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
  subjects: [
    { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    { kind: 'User', name: 'alice' },
  ],
});
s.merge(at('rolebindings', 'bind'), { roleRef: { name: 'other' } });
s.merge(at('rolebindings', 'bind'), { subjects: null });
s.post(at('rolebindings'), { metadata: { name: 'bare' }, roleRef: { kind: 'Role', name: 'reader' } });
s.post(at('rolebindings'), {
  metadata: { name: 'nameless' },
  roleRef: { kind: 'Role', name: '' },
  subjects: [{ kind: 'User', name: '' }],
});
s.post(at('rolebindings'), {
  metadata: { name: 'odd' },
  roleRef: { kind: 'Secret', name: 'x' },
  subjects: [{ kind: 'Robot', name: 'x' }],
});
s.post(`${R}/clusterroles`, { metadata: { name: 'openstack:reader' }, rules });
s.post(`${R}/clusterroles`, {
  metadata: { name: 'sum' },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
});
s.post(`${R}/clusterroles`, {
  metadata: { name: 'health' },
  rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }],
});
s.merge(`${R}/clusterroles/openstack:reader`, { metadata: { labels: { a: 'b' } } });
s.get(`${R}/clusterroles`, { query: { labelSelector: 'a=b' } });
s.post(`${R}/clusterrolebindings`, {
  metadata: { name: 'all' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'openstack:reader' },
  subjects: [{ kind: 'Group', name: 'x' }],
});
s.post(`${R}/clusterrolebindings`, {
  metadata: { name: 'lost' },
  roleRef: { kind: 'ClusterRole', name: 'x' },
  subjects: [{ kind: 'ServiceAccount', name: 'x' }],
});
s.put(`${R}/clusterrolebindings/all`, {
  metadata: { name: 'all' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' },
});
s.get(`${R}/clusterrolebindings/all`);
s.del(`${R}/clusterrolebindings/all`);
s.del(`${R}/clusterroles/openstack:reader`);
s.get(`${R}/clusterroles/openstack:reader`);
s.del(at('roles', 'nobody'));
s.del(at('roles'), undefined, { labelSelector: 'a=b' });

export const rbac = s.steps;
