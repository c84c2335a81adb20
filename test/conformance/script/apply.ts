import { scribe } from '../script.ts';
import { widgets } from './crd.ts';
import { apps, batch, configMap, deployment, ns } from './objects.ts';

const s = scribe('apply');
const N = 'default';
const cm = (name: string, data: object = { a: '1' }, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});
const widget = (name: string, spec: object, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
});

s.apply(ns(N, 'configmaps', 'ap'), cm('ap'));
s.apply(ns(N, 'configmaps', 'ap'), cm('ap'));
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { a: '2', b: '1' }));
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { b: '1' }));
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { b: '2' }), { fieldManager: 'two' });
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { b: '2', c: '3' }), { fieldManager: 'two', force: 'true' });
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { b: '2' }));
s.merge(ns(N, 'configmaps', 'ap'), { data: { b: 'edited' } }, { fieldManager: 'editor' });
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { b: '2' }));
s.apply(
  ns(N, 'configmaps', 'ap'),
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ap' } },
  { fieldManager: 'two' },
);
s.add(undefined, {
  method: 'PATCH',
  path: ns(N, 'configmaps', 'ap'),
  contentType: 'application/apply-patch+yaml',
  body: cm('ap'),
});
s.apply(ns(N, 'configmaps', 'ap'), cm('other'));
s.apply(ns(N, 'configmaps', 'ap'), { ...cm('ap'), bogus: 1 });
s.apply(ns(N, 'configmaps', 'ap'), { ...cm('ap'), bogus: 1 }, { fieldValidation: 'Strict' });
s.apply(ns(N, 'configmaps', 'ap'), {
  ...cm('ap'),
  metadata: {
    name: 'ap',
    managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
  },
});
s.apply(ns('nowhere', 'configmaps', 'ap'), cm('ap'));
s.apply(ns(N, 'configmaps', 'Bad_Name'), cm('Bad_Name'));
s.apply(ns(N, 'configmaps', 'ap'), cm('ap', { b: 5 } as object));
s.apply(ns(N, 'configmaps', 'ap'), { ...cm('ap'), apiVersion: 'v2' });
s.apply(ns(N, 'configmaps', 'dry'), cm('dry'), { dryRun: 'All' });
s.get(ns(N, 'configmaps', 'dry'));
s.apply(apps(N, 'deployments', 'ap'), deployment('ap', { replicas: 2 }));
s.apply(apps(N, 'deployments', 'ap'), deployment('ap', { replicas: 2 }));
s.merge(apps(N, 'deployments', 'ap'), { spec: { replicas: 5 } }, { fieldManager: 'scaler' });
s.apply(apps(N, 'deployments', 'ap'), deployment('ap', { replicas: 2 }));
s.apply(apps(N, 'deployments', 'ap'), deployment('ap'));
s.apply(apps(N, 'deployments', 'ap'), deployment('ap', { selector: { matchLabels: { app: 'other' } } }), {
  force: 'true',
});
s.apply(
  apps(N, 'deployments', 'ap'),
  {
    ...deployment('ap'),
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'c', env: [{ name: 'A', value: '1' }] },
            { name: 'side', image: 'y:1' },
          ],
        },
      },
    },
  },
  { fieldManager: 'injector' },
);
s.apply(
  apps(N, 'deployments', 'ap'),
  deployment('ap', {
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'example.com/nginx:2', env: [{ name: 'B', value: '2' }] }] },
    },
  }),
);
s.apply(apps(N, 'deployments', 'ap/status'), {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'ap' },
  status: { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] },
});
s.apply(apps(N, 'deployments', 'ap'), deployment('ap', { replicas: 'x' }));
s.apply(apps(N, 'deployments', 'new'), {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'new' },
  spec: { replicas: 1 },
});
s.apply(apps(N, 'deployments', 'nobody/status'), {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'nobody' },
  status: { replicas: 1 },
});
s.apply(batch(N, 'jobs', 'ap'), {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'ap' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x:1' }] } } },
});
s.apply(batch(N, 'jobs', 'ap'), {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'ap' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x:1' }] } } },
});
s.apply(batch(N, 'jobs', 'ap'), {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'ap' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x:2' }] } } },
});
s.apply(ns(N, 'services', 'ap'), {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'ap' },
  spec: { selector: { app: 'a' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
});
s.apply(ns(N, 'services', 'ap'), {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'ap' },
  spec: { selector: { app: 'a' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
});
s.apply(ns(N, 'services', 'ap'), {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'ap' },
  spec: { selector: { app: 'a' }, ports: [{ name: 'http', port: 81 }] },
});
s.apply(ns(N, 'secrets', 'ap'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ap' }, stringData: { a: 'b' } });
s.apply(ns(N, 'secrets', 'ap'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ap' }, data: { a: 'Yg==' } });
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok', list: [{ name: 'x' }] }));
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok', list: [{ name: 'x' }] }));
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok', list: [{ name: 'y', value: 'z' }] }), { fieldManager: 'two' });
s.apply(`${widgets}/ap`, widget('ap', { name: 'no' }), { fieldManager: 'two' });
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok', size: 99 }));
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok', foo: 1 }), { fieldValidation: 'Strict' });
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok', foo: 1 }));
s.apply(
  `${widgets}/ap/status`,
  widget('ap', { name: 'zz' }, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
  { force: 'true' },
);
s.apply(
  `${widgets}/ap/status`,
  {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'ap' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  },
  { force: 'true' },
);
s.apply(
  `${widgets}/ap`,
  widget('ap', { name: 'ok', list: [{ name: 'x' }] }, { metadata: { name: 'ap', resourceVersion: '1' } }),
);
s.apply(
  `${widgets}/ap`,
  widget(
    'ap',
    { name: 'ok' },
    {
      metadata: {
        name: 'ap',
        finalizers: ['example.com/f'],
        labels: { a: 'b' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ap', uid: 'x' }],
      },
    },
  ),
);
s.apply(`${widgets}/ap`, widget('ap', { name: 'ok' }));
s.del(`${widgets}/ap`);
s.quiet({ method: 'POST', path: ns(N, 'configmaps'), body: configMap('taken') });
s.apply(ns(N, 'configmaps', 'taken'), cm('taken', { a: 'mine' }));
s.apply(ns(N, 'configmaps', 'taken'), cm('taken', { a: 'mine' }), { force: 'true' });

export const apply = s.steps;
