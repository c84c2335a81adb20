import { scribe } from '../script.ts';
import { widgets } from './crd.ts';
import { apps, configMap, deployment, ns } from './objects.ts';

const s = scribe('patch');
const N = 'default';
const c = ns(N, 'configmaps', 'pt');
const d = apps(N, 'deployments', 'pt');
const w = `${widgets}/pt`;

s.quiet({ method: 'POST', path: ns(N, 'configmaps'), body: configMap('pt') });
s.quiet({ method: 'POST', path: apps(N, 'deployments'), body: deployment('pt') });
s.quiet({
  method: 'POST',
  path: widgets,
  body: {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'pt' },
    spec: { name: 'ok', list: [{ name: 'x' }] },
  },
});
s.merge(c, { data: { b: '2' } });
s.merge(c, { data: { a: null } });
s.merge(c, {});
s.merge(c, { metadata: { labels: { x: 'y' }, annotations: { 'example.com/a': 'b' } } });
s.merge(c, { metadata: { labels: { 'bad key!': 'y' } } });
s.merge(c, { metadata: { labels: { x: 'bad value!' } } });
s.merge(c, { metadata: { name: 'other' } });
s.merge(c, { metadata: { uid: '00000000-0000-0000-0000-000000000000' } });
s.merge(c, { metadata: { resourceVersion: '1' }, data: { z: '1' } });
s.merge(c, { data: { n: 5 } });
s.merge(c, { nonsense: true });
s.merge(c, { nonsense: true }, { fieldValidation: 'Strict' });
s.json(c, [{ op: 'add', path: '/data/j', value: '1' }]);
s.json(c, [
  { op: 'replace', path: '/data/j', value: '2' },
  { op: 'test', path: '/data/j', value: '2' },
]);
s.json(c, [
  { op: 'test', path: '/data/j', value: 'nope' },
  { op: 'remove', path: '/data/j' },
]);
s.json(c, [{ op: 'remove', path: '/data/none' }]);
s.json(c, [{ op: 'move', from: '/data/j', path: '/data/k' }]);
s.json(c, [{ op: 'copy', from: '/data/k', path: '/data/l' }]);
s.json(c, { op: 'add' });
s.json(c, [{ op: 'add', path: '/nothing/here', value: 1 }]);
s.json(c, [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] }]);
s.json(c, [{ op: 'remove', path: '/metadata/finalizers/0' }]);
s.strategic(d, { spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', value: '1' }] }] } } } });
s.strategic(d, { spec: { template: { spec: { containers: [{ name: 'side', image: 'y:1' }] } } } });
s.strategic(d, {
  spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', $patch: 'delete' }] }] } } },
});
s.strategic(d, { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } });
s.strategic(d, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } });
s.strategic(d, {
  spec: { template: { spec: { $setElementOrder: undefined, volumes: [{ name: 'v', emptyDir: {} }] } } },
});
s.strategic(d, { metadata: { finalizers: ['example.com/a'] } });
s.strategic(d, { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } });
s.strategic(d, { spec: { template: { spec: { containers: [{ image: 'nameless' }] } } } });
s.strategic(d, { spec: { replicas: 'x' } });
s.strategic(w, { spec: { size: 1 } });
s.merge(d, { spec: { replicas: 2 } }, { dryRun: 'All' });
s.get(d);
s.merge(w, { spec: { list: [{ name: 'y' }] } });
s.merge(w, { spec: null });
s.merge(w, { spec: { size: 77 } });
s.json(w, [{ op: 'replace', path: '/spec/size', value: 4 }]);
s.json(`${w}/status`, [{ op: 'add', path: '/status', value: { a: 1 } }]);
s.json(`${w}/status`, [{ op: 'replace', path: '/spec/size', value: 5 }]);
s.merge(`${widgets}/nobody`, { spec: {} });
s.merge(`${w}/nothing`, { spec: {} });
s.add(undefined, { method: 'PATCH', path: c, contentType: 'text/plain', body: {} });
s.add(undefined, { method: 'PATCH', path: ns(N, 'configmaps'), contentType: 'application/merge-patch+json', body: {} });
s.using(m => ({
  method: 'PATCH',
  path: c,
  contentType: 'application/merge-patch+json',
  body: { metadata: { resourceVersion: m.of(c).metadata.resourceVersion }, data: { last: '1' } },
}));

export const patch = s.steps;
