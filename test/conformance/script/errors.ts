import { scribe } from '../script.ts';
import { apps, configMap, deployment, ns, pod } from './objects.ts';

const s = scribe('errors');
const N = 'default';

s.get('/nothing');
s.get('/api/v1/nothings');
s.get('/apis/nothing.example.com/v1/things');
s.get('/apis/apps/v9/deployments');
s.get(ns(N, 'configmaps', 'nobody'));
s.get(apps(N, 'deployments', 'nobody'));
s.get(apps(N, 'deployments', 'nobody/nothing'));
s.get(ns('nowhere', 'configmaps'));
s.post('/api/v1/configmaps', configMap('scopeless'));
s.post(ns(N, 'configmaps'), configMap('elsewhere', {}, { namespace: 'other' }));
s.post(ns(N, 'configmaps'), { ...configMap('kind', {}), kind: 'Secret' });
s.post(ns(N, 'configmaps'), { ...configMap('version'), apiVersion: 'v2' });
s.post(ns(N, 'configmaps'), { ...configMap('nokind'), kind: 'Nothing' });
s.post(ns(N, 'configmaps'), [1, 2]);
s.post(ns(N, 'configmaps'), configMap('version', {}, { resourceVersion: '5' }));
s.post(ns(N, 'configmaps', 'named'), configMap('named'));
s.put(ns(N, 'configmaps'), configMap('all'));
s.post(ns(N, 'configmaps'), configMap('a'.repeat(254)));
s.post(ns(N, 'configmaps'), configMap('labels', {}, { labels: { 'a/b/c': 'x' } }));
s.post(ns(N, 'configmaps'), configMap('value', {}, { labels: { a: 'x'.repeat(64) } }));
s.post(ns(N, 'configmaps'), configMap('note', {}, { annotations: { '': 'x' } }));
s.post(ns(N, 'configmaps'), configMap('final', {}, { finalizers: ['unqualified'] }));
s.post(
  ns(N, 'configmaps'),
  configMap(
    'two',
    {},
    { ownerReferences: ['a', 'b'].map(name => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true })) },
  ),
);
s.post(ns(N, 'configmaps'), { metadata: { name: 'data' }, data: 'text' });
s.post(ns(N, 'configmaps'), { metadata: { name: 'both' }, data: { a: '1' }, binaryData: { a: 'Yg==' } });
s.post(ns(N, 'configmaps'), { metadata: 'x' });
s.get(ns(N, 'configmaps'), { query: { labelSelector: 'a=b=c' } });
s.get(ns(N, 'configmaps'), { query: { labelSelector: '!!' } });
s.get(ns(N, 'configmaps'), { query: { fieldSelector: 'data.a=1' } });
s.get(ns(N, 'configmaps'), { query: { fieldSelector: 'nonsense' } });
s.get(ns(N, 'configmaps'), { query: { resourceVersion: 'banana' } });
s.del(ns(N, 'configmaps', 'nobody'));
s.del(ns(N, 'configmaps', 'nobody'), { propagationPolicy: 'Sideways' });
s.del('/api/v1/namespaces/nowhere');
s.merge(ns(N, 'configmaps', 'nobody'), { data: {} });
s.merge(ns(N, 'configmaps', 'nobody/status'), { data: {} });
s.post(ns(N, 'pods'), pod('bad', { restartPolicy: 'Sometimes' }));
s.post(
  ns(N, 'pods'),
  pod('two', {
    containers: [
      { name: 'c', image: 'x' },
      { name: 'c', image: 'y' },
    ],
  }),
);
s.post(ns(N, 'pods'), pod('port', { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 99999 }] }] }));
s.post(ns(N, 'pods'), pod('pull', { containers: [{ name: 'c', image: 'x', imagePullPolicy: 'Perhaps' }] }));
s.post(
  ns(N, 'pods'),
  pod('cpu', { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: 'lots' } } }] }),
);
s.post(
  ns(N, 'pods'),
  pod('more', { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }] }),
);
s.post(ns(N, 'pods'), pod('priority', { priorityClassName: 'nobody' }));
s.post(ns(N, 'pods'), pod('Name_', { containers: [{ name: 'C_', image: 'x' }] }));
s.post(ns(N, 'pods'), pod('env', { containers: [{ name: 'c', image: 'x', env: [{ name: '', value: 'x' }] }] }));
s.post(ns(N, 'pods'), pod('probe', { containers: [{ name: 'c', image: 'x', livenessProbe: { periodSeconds: 5 } }] }));
s.post(
  ns(N, 'pods'),
  pod('volume', {
    volumes: [
      { name: 'v', secret: {} },
      { name: 'v', emptyDir: {} },
    ],
  }),
);
s.post(apps(N, 'deployments'), deployment('lab', { selector: { matchLabels: { app: 'zzz' } } }));
s.post(apps(N, 'deployments'), deployment('sel', { selector: {} }));
s.post(apps(N, 'deployments'), deployment('str', { strategy: { type: 'Magic' } }));
s.post(
  apps(N, 'deployments'),
  deployment('restart', {
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] },
    },
  }),
);
s.post(ns(N, 'services'), { metadata: { name: 'type' }, spec: { type: 'Magic', ports: [{ port: 80 }] } });
s.post(ns(N, 'services'), { metadata: { name: 'ip' }, spec: { clusterIP: 'banana', ports: [{ port: 80 }] } });
s.post(ns(N, 'services'), { metadata: { name: 'proto' }, spec: { ports: [{ port: 80, protocol: 'XXX' }] } });

export const errors = s.steps;
