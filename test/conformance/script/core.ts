import { scribe } from '../script.ts';
import { configMap, ns, pod } from './objects.ts';

const s = scribe('core');
const N = 'core';

s.post('/api/v1/namespaces', { metadata: { name: N, labels: { team: 'x' } } });
s.get(`/api/v1/namespaces/${N}`);
s.post('/api/v1/namespaces', { metadata: { name: N } });
s.post('/api/v1/namespaces', { metadata: { name: 'Bad_Name' } });
s.del('/api/v1/namespaces/default');

s.post(ns(N, 'configmaps'), configMap('one'));
s.post(ns(N, 'configmaps'), configMap('one'));
s.post(ns(N, 'configmaps'), { metadata: { generateName: 'many-' }, data: {} });
s.post(ns(N, 'configmaps'), { metadata: {} });
s.post(ns(N, 'configmaps'), configMap('bad/name'));
s.post(ns(N, 'configmaps'), configMap('keys', { 'a b': '1' }));
s.post(ns(N, 'configmaps'), configMap('frozen'));
s.merge(ns(N, 'configmaps', 'frozen'), { immutable: true });
s.merge(ns(N, 'configmaps', 'frozen'), { data: { a: '2' } });
s.merge(ns(N, 'configmaps', 'frozen'), { immutable: null });
s.merge(ns(N, 'configmaps', 'frozen'), { metadata: { labels: { x: 'y' } } });
s.put(ns(N, 'configmaps', 'one'), configMap('one', { b: '2' }));
s.put(ns(N, 'configmaps', 'one'), configMap('one', { b: '2' }));
s.put(ns(N, 'configmaps', 'nobody'), configMap('nobody'));
s.put(ns(N, 'configmaps', 'one'), configMap('two'));
s.get(ns(N, 'configmaps'), { query: { limit: '1' } }, 'page one');
s.using(m => ({
  method: 'GET',
  path: ns(N, 'configmaps'),
  query: { limit: '1', continue: String((m.of('page one').metadata as unknown as Record<string, string>).continue) },
}));
s.get(ns(N, 'configmaps'), { query: { labelSelector: 'x=y' } });
s.get(ns(N, 'configmaps'), { query: { labelSelector: 'x in (y,z),!w' } });
s.get(ns(N, 'configmaps'), { query: { labelSelector: 'x notin (y)', fieldSelector: 'metadata.name=one' } });
s.get(ns(N, 'configmaps'), { query: { fieldSelector: 'metadata.name!=one' } });
s.get(ns(N, 'configmaps', 'one'), { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' });
s.get(ns(N, 'configmaps'), { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' });

s.post(ns(N, 'secrets'), {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'word' },
  stringData: { a: 'secret' },
  data: { b: 'Yg==' },
});
s.merge(ns(N, 'secrets', 'word'), { stringData: { a: 'other', c: 'new' } });
s.post(ns(N, 'secrets'), { metadata: { name: 'broken' }, data: { a: '***' } });
s.merge(ns(N, 'secrets', 'word'), { type: 'example.com/other' });
s.merge(ns(N, 'secrets', 'word'), { immutable: true });
s.merge(ns(N, 'secrets', 'word'), { stringData: { a: 'third' } });
s.get(ns(N, 'secrets'), { query: { fieldSelector: 'type=Opaque' } });
s.del(ns(N, 'secrets', 'word'));
s.get(ns(N, 'secrets', 'word'));

s.post(ns(N, 'services'), { metadata: { name: 'web' }, spec: { selector: { app: 'a' }, ports: [{ port: 80 }] } });
s.post(ns(N, 'services'), {
  metadata: { name: 'headless' },
  spec: {
    clusterIP: 'None',
    selector: { app: 'a' },
    ports: [
      { name: 'a', port: 80, targetPort: 'http' },
      { name: 'b', port: 81 },
    ],
    publishNotReadyAddresses: true,
  },
});
s.post(ns(N, 'services'), { metadata: { name: 'node' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
s.post(ns(N, 'services'), { metadata: { name: 'lb' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
s.post(ns(N, 'services'), { metadata: { name: 'far' }, spec: { type: 'ExternalName', externalName: 'example.com' } });
s.post(ns(N, 'services'), { metadata: { name: 'noports' }, spec: {} });
s.post(ns(N, 'services'), { metadata: { name: 'dup' }, spec: { ports: [{ port: 80 }, { port: 81 }] } });
s.post(ns(N, 'services'), { metadata: { name: '1web' }, spec: { ports: [{ port: 80 }] } });
s.merge(ns(N, 'services', 'web'), { spec: { clusterIP: '10.96.77.77' } });
s.merge(ns(N, 'services', 'web'), { spec: { ports: [{ port: 99999 }] } });
s.merge(ns(N, 'services', 'web'), { spec: { selector: { app: 'b' } } });
s.merge(ns(N, 'services', 'web/status'), { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } });

s.post(ns(N, 'persistentvolumeclaims'), {
  metadata: { name: 'disk' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
});
s.merge(ns(N, 'persistentvolumeclaims', 'disk'), { spec: { storageClassName: 'fast' } });
s.merge(ns(N, 'persistentvolumeclaims', 'disk'), { spec: { accessModes: ['ReadWriteMany'] } });
s.merge(ns(N, 'persistentvolumeclaims', 'disk/status'), { status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
s.post(ns(N, 'persistentvolumeclaims'), { metadata: { name: 'nosize' }, spec: { accessModes: ['ReadWriteOnce'] } });
s.del(ns(N, 'persistentvolumeclaims', 'disk'));
s.merge(ns(N, 'persistentvolumeclaims', 'disk'), { metadata: { finalizers: null } });
s.get(ns(N, 'persistentvolumeclaims', 'disk'));

s.post(
  ns(N, 'pods'),
  pod('p', {
    containers: [
      {
        name: 'c',
        image: 'nginx',
        resources: { limits: { cpu: '0.5', memory: '1024Mi' } },
        ports: [{ containerPort: 80 }],
        readinessProbe: { httpGet: { port: 80 } },
      },
    ],
    volumes: [{ name: 'v', secret: { secretName: 'word' } }, { name: 'e' }],
    serviceAccountName: 'default',
  }),
);
s.post(ns(N, 'pods'), pod('empty', { containers: [] }));
s.post(ns(N, 'pods'), pod('noimage', { containers: [{ name: 'c' }] }));
s.post(
  ns(N, 'pods'),
  pod('nomount', { containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] }),
);
s.merge(ns(N, 'pods', 'p'), { spec: { nodeName: 'n1' } });
s.post(ns(N, 'pods'), pod('q', { nodeName: 'n1', terminationGracePeriodSeconds: 5 }, { labels: { app: 'a' } }));
s.merge(ns(N, 'pods', 'q/status'), {
  status: { phase: 'Running', podIP: '192.0.2.9', conditions: [{ type: 'Ready', status: 'True' }] },
});
s.get(ns(N, 'pods'), { query: { fieldSelector: 'spec.nodeName=n1' } });
s.get('/api/v1/pods', { query: { labelSelector: 'app=a', fieldSelector: `metadata.namespace=${N}` } });
s.merge(ns(N, 'pods', 'q'), { spec: { containers: [{ name: 'c', image: 'example.com/nginx:1.3' }] } });
s.merge(ns(N, 'pods', 'q'), { spec: { hostname: 'other' } });
s.del(ns(N, 'pods', 'q'));
s.get(ns(N, 'pods', 'q'));
s.del(ns(N, 'pods', 'q'), { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 });
s.get(ns(N, 'pods', 'q'));
s.del(ns(N, 'pods', 'p'));

s.post(ns(N, 'serviceaccounts'), { metadata: { name: 'robot' } });
s.del(ns(N, 'serviceaccounts', 'robot'));
s.post('/api/v1/nodes', { metadata: { name: 'n1', labels: { zone: 'a' } } });
s.merge('/api/v1/nodes/n1/status', {
  status: {
    capacity: { cpu: '2', memory: '4Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'fine' }],
  },
});
s.post('/apis/events.k8s.io/v1/namespaces/core/events', {
  metadata: { name: 'e.1' },
  eventTime: '2026-01-05T08:00:00.000000Z',
  reportingController: 'example.com/x',
  reportingInstance: 'x-1',
  action: 'Create',
  reason: 'Made',
  note: 'made it',
  type: 'Normal',
  regarding: { kind: 'Pod', namespace: N, name: 'p', uid: '1' },
});
s.get('/apis/events.k8s.io/v1/namespaces/core/events/e.1');
s.get(ns(N, 'events', 'e.1'));
s.get(ns(N, 'events'), { query: { fieldSelector: 'involvedObject.name=p,involvedObject.kind=Pod' } });
s.post('/apis/coordination.k8s.io/v1/namespaces/core/leases', {
  metadata: { name: 'lead' },
  spec: {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-05T08:00:00.000000Z',
    renewTime: '2026-01-05T08:00:00.000000Z',
    leaseTransitions: 0,
  },
});
s.using(m => ({
  method: 'PUT',
  path: '/apis/coordination.k8s.io/v1/namespaces/core/leases/lead',
  body: {
    ...m.of('/apis/coordination.k8s.io/v1/namespaces/core/leases'),
    spec: { holderIdentity: 'b', leaseDurationSeconds: 15, renewTime: '2026-01-05T08:00:10.000000Z' },
  },
}));
s.post('/apis/coordination.k8s.io/v1/namespaces/core/leases', {
  metadata: { name: 'late' },
  spec: { renewTime: '2026-01-05T08:00:00Z' },
});
s.post('/apis/coordination.k8s.io/v1/namespaces/core/leases', {
  metadata: { name: 'minus' },
  spec: { leaseDurationSeconds: -1 },
});
s.post('/apis/policy/v1/namespaces/core/poddisruptionbudgets', {
  metadata: { name: 'pdb' },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } },
});
s.post('/apis/policy/v1/namespaces/core/poddisruptionbudgets', {
  metadata: { name: 'pdb2' },
  spec: { maxUnavailable: 1, minAvailable: 1, selector: {} },
});
s.post('/apis/storage.k8s.io/v1/storageclasses', {
  metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'example.com/fast',
});
s.post(ns(N, 'persistentvolumeclaims'), {
  metadata: { name: 'auto' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
s.del('/apis/storage.k8s.io/v1/storageclasses/fast');
s.post('/apis/networking.k8s.io/v1/namespaces/core/networkpolicies', {
  metadata: { name: 'np' },
  spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
});
s.post('/apis/networking.k8s.io/v1/namespaces/core/ingresses', {
  metadata: { name: 'in' },
  spec: {
    rules: [
      {
        host: 'a.example.com',
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
        },
      },
    ],
  },
});

s.post(ns(N, 'configmaps'), configMap('held', {}, { finalizers: ['example.com/hold'] }));
s.del(ns(N, 'configmaps', 'held'), { propagationPolicy: 'Foreground' });
s.merge(ns(N, 'configmaps', 'held'), { metadata: { finalizers: ['example.com/hold', 'example.com/new'] } });
s.merge(ns(N, 'configmaps', 'held'), { metadata: { finalizers: ['example.com/hold'] } });
s.merge(ns(N, 'configmaps', 'held'), { metadata: { finalizers: [] } });
s.get(ns(N, 'configmaps', 'held'));
s.post(
  ns(N, 'configmaps'),
  configMap(
    'owned',
    {},
    {
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: 'x', controller: true, blockOwnerDeletion: true },
      ],
    },
  ),
);
s.post(
  ns(N, 'configmaps'),
  configMap('owned2', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'one' }] }),
);
s.del(ns(N, 'configmaps', 'one'), undefined, { propagationPolicy: 'Orphan' });
s.using(() => ({
  method: 'DELETE',
  path: ns(N, 'configmaps', 'owned'),
  body: { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } },
}));
s.using(() => ({
  method: 'DELETE',
  path: ns(N, 'configmaps', 'owned'),
  body: { preconditions: { resourceVersion: '1' } },
}));
s.using(m => ({
  method: 'DELETE',
  path: ns(N, 'configmaps', 'frozen'),
  body: { preconditions: { uid: m.of(ns(N, 'configmaps', 'frozen')).metadata.uid } },
}));
s.del(ns(N, 'configmaps'), undefined, { labelSelector: 'none=such' });
s.post(ns(N, 'configmaps'), configMap('rehearsal'), { dryRun: 'All' });
s.get(ns(N, 'configmaps', 'rehearsal'));
s.del(`/api/v1/namespaces/${N}`);
s.get(`/api/v1/namespaces/${N}`);
s.post(ns(N, 'configmaps'), configMap('late'));
s.post(ns('nowhere', 'configmaps'), configMap('lost'));

export const core = s.steps;
