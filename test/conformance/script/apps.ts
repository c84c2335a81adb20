import { scribe } from '../script.ts';
import { apps as at, deployment, template } from './objects.ts';

const s = scribe('apps');
const N = 'default';

s.post(at(N, 'deployments'), deployment('web', { replicas: 2 }));
s.post(at(N, 'deployments'), deployment('web'));
s.get(at(N, 'deployments', 'web'));
s.merge(at(N, 'deployments', 'web'), { spec: { replicas: 3 } });
s.merge(at(N, 'deployments', 'web'), { metadata: { annotations: { a: 'b' } } });
s.merge(at(N, 'deployments', 'web'), { metadata: { labels: { a: 'b' } } });
s.merge(at(N, 'deployments', 'web'), { spec: { selector: { matchLabels: { app: 'b' } } } });
s.merge(at(N, 'deployments', 'web'), { spec: { template: { metadata: { labels: { app: 'z' } } } } });
s.merge(at(N, 'deployments', 'web'), {
  spec: { template: { spec: { containers: [{ name: 'c', image: 'example.com/nginx:1.3' }] } } },
});
s.merge(at(N, 'deployments', 'web/status'), {
  status: { replicas: 3, readyReplicas: 3, observedGeneration: 3, conditions: [{ type: 'Available', status: 'True' }] },
});
s.merge(at(N, 'deployments', 'web/status'), { spec: { replicas: 7 } });
s.merge(at(N, 'deployments', 'web'), { status: { replicas: 9 } });
s.merge(at(N, 'deployments', 'web'), { spec: { strategy: { type: 'Recreate' } } });
s.merge(at(N, 'deployments', 'web'), { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } });
s.post(at(N, 'deployments'), { metadata: { name: 'noselector' }, spec: { template: template() } });
s.post(at(N, 'deployments'), { metadata: { name: 'nothing' }, spec: {} });
s.post(at(N, 'deployments'), deployment('minus', { replicas: -1 }));
s.post(at(N, 'deployments'), deployment('text', { replicas: 'two' }));
s.post(at(N, 'deployments'), {
  ...deployment('typo'),
  spec: {
    ...deployment('typo').spec,
    replica: 1,
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'x:1', imge: 'y' }] } },
  },
});
s.post(
  at(N, 'deployments'),
  { ...deployment('typo2'), spec: { ...deployment('typo').spec, replica: 1 } },
  { fieldValidation: 'Strict' },
);
s.post(
  at(N, 'deployments'),
  { ...deployment('typo3'), spec: { ...deployment('typo').spec, replica: 1 } },
  { fieldValidation: 'Ignore' },
);
s.get(at(N, 'deployments', 'web/scale'));
s.merge(at(N, 'deployments', 'web/scale'), { spec: { replicas: 5 } });
s.get(at(N, 'deployments', 'web'));
s.post(at(N, 'deployments'), deployment('surge', { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } }));

s.post(at(N, 'statefulsets'), {
  metadata: { name: 'db' },
  spec: {
    serviceName: 'db',
    replicas: 3,
    selector: { matchLabels: { app: 'a' } },
    template: template(),
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
});
s.merge(at(N, 'statefulsets', 'db'), { spec: { replicas: 1 } });
s.merge(at(N, 'statefulsets', 'db'), { spec: { serviceName: 'other' } });
s.merge(at(N, 'statefulsets', 'db'), { spec: { podManagementPolicy: 'Parallel' } });
s.merge(at(N, 'statefulsets', 'db'), { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } });
s.merge(at(N, 'statefulsets', 'db/status'), {
  status: { replicas: 1, readyReplicas: 1, currentRevision: 'db-1', updateRevision: 'db-1', observedGeneration: 2 },
});
s.post(at(N, 'statefulsets'), {
  metadata: { name: 'bad' },
  spec: { selector: { matchLabels: { app: 'b' } }, template: template() },
});
s.post(at(N, 'statefulsets'), {
  metadata: { name: 'pol' },
  spec: { podManagementPolicy: 'Never', selector: { matchLabels: { app: 'a' } }, template: template() },
});

s.post(at(N, 'replicasets'), {
  metadata: { name: 'rs' },
  spec: { replicas: 1, selector: { matchLabels: { app: 'a' } }, template: template() },
});
s.merge(at(N, 'replicasets', 'rs'), { spec: { replicas: 0 } });
s.merge(at(N, 'replicasets', 'rs'), { spec: { selector: { matchLabels: { app: 'q' } } } });
s.merge(at(N, 'replicasets', 'rs/status'), { status: { replicas: 0, observedGeneration: 2 } });
s.post(at(N, 'daemonsets'), {
  metadata: { name: 'ds' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: template(
      { app: 'a' },
      {
        securityContext: { privileged: true },
        env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
      },
    ),
  },
});
s.merge(at(N, 'daemonsets', 'ds/status'), {
  status: {
    currentNumberScheduled: 1,
    desiredNumberScheduled: 1,
    numberMisscheduled: 0,
    numberReady: 1,
    observedGeneration: 1,
  },
});
s.merge(at(N, 'daemonsets', 'ds'), { spec: { selector: { matchLabels: { app: 'q' } } } });
s.merge(at(N, 'daemonsets', 'ds'), { spec: { template: { spec: { nodeSelector: { zone: 'a' } } } } });
s.post(at(N, 'controllerrevisions'), { metadata: { name: 'cr-1' }, data: { a: 1 }, revision: 1 });
s.merge(at(N, 'controllerrevisions', 'cr-1'), { data: { a: 2 } });
s.get(at(N, 'deployments'));
s.get('/apis/apps/v1/statefulsets');
s.del(at(N, 'deployments', 'web'), { propagationPolicy: 'Foreground' });
s.get(at(N, 'deployments', 'web'));
s.merge(at(N, 'deployments', 'web'), { metadata: { finalizers: null } });
s.del(at(N, 'deployments', 'web'));
s.del(at(N, 'statefulsets', 'db'), { propagationPolicy: 'Background' });
s.del(at(N, 'statefulsets', 'db'));
s.del(at(N, 'replicasets'));
s.del(at(N, 'daemonsets', 'ds'), { propagationPolicy: 'Sideways' });
s.del(at(N, 'daemonsets', 'ds'));

export const apps = s.steps;
