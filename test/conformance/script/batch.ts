import { scribe } from '../script.ts';
import { batch as at } from './objects.ts';

const s = scribe('batch');
const N = 'default';
const pods = (more: object = {}) => ({
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'example.com/tool:1', command: ['run'] }], ...more },
});
const job = (name: string, spec: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: pods(), ...spec },
});

s.post(at(N, 'jobs'), job('sync'));
s.get(at(N, 'jobs', 'sync'));
s.post(at(N, 'jobs'), job('sync'));
s.merge(at(N, 'jobs', 'sync'), { metadata: { labels: { a: 'b' } } });
s.merge(at(N, 'jobs', 'sync'), { spec: { template: { spec: { containers: [{ name: 'c', image: 'other' }] } } } });
s.merge(at(N, 'jobs', 'sync'), { spec: { selector: { matchLabels: { a: 'b' } } } });
s.merge(at(N, 'jobs', 'sync'), { spec: { completions: 4 } });
s.merge(at(N, 'jobs', 'sync'), { spec: { parallelism: 2 } });
s.merge(at(N, 'jobs', 'sync'), { spec: { backoffLimit: 3 } });
s.merge(at(N, 'jobs', 'sync/status'), { status: { active: 1, startTime: '2026-01-05T08:00:00Z', ready: 0 } });
s.merge(at(N, 'jobs', 'sync/status'), {
  status: {
    active: 0,
    succeeded: 1,
    uncountedTerminatedPods: {},
    completionTime: '2026-01-05T08:00:10Z',
    conditions: [
      { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: '2026-01-05T08:00:10Z' },
      { type: 'Complete', status: 'True', lastTransitionTime: '2026-01-05T08:00:10Z' },
    ],
  },
});
s.merge(at(N, 'jobs', 'sync/status'), { status: { conditions: null } });
s.post(at(N, 'jobs'), job('failing', { backoffLimit: 0, activeDeadlineSeconds: 30, ttlSecondsAfterFinished: 100 }));
s.merge(at(N, 'jobs', 'failing/status'), {
  status: {
    failed: 1,
    startTime: '2026-01-05T08:00:00Z',
    conditions: [
      {
        type: 'FailureTarget',
        status: 'True',
        reason: 'BackoffLimitExceeded',
        lastTransitionTime: '2026-01-05T08:00:10Z',
      },
      { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', lastTransitionTime: '2026-01-05T08:00:10Z' },
    ],
  },
});
s.post(at(N, 'jobs'), job('always', { template: pods({ restartPolicy: 'Always' }) }));
s.post(at(N, 'jobs'), job('default-policy', { template: { spec: { containers: [{ name: 'c', image: 'x' }] } } }));
s.post(at(N, 'jobs'), job('minus', { backoffLimit: -1 }));
s.post(at(N, 'jobs'), { metadata: { name: 'nothing' }, spec: {} });
s.post(at(N, 'jobs'), job('selected', { selector: { matchLabels: { a: 'b' } } }));
s.post(at(N, 'jobs'), job('labelled', { template: { metadata: { labels: { app: 'x' } }, ...pods() } }));
s.post(at(N, 'jobs'), {
  metadata: { generateName: 'once-' },
  spec: { template: pods({ restartPolicy: 'OnFailure' }) },
});
s.post(at(N, 'jobs'), job('parallel', { parallelism: 3, completions: 6, completionMode: 'Indexed', suspend: true }));
s.merge(at(N, 'jobs', 'parallel'), { spec: { suspend: false } });
s.merge(at(N, 'jobs', 'parallel'), { spec: { completionMode: 'NonIndexed' } });
s.get(at(N, 'jobs'), { query: { labelSelector: 'app=x' } });
s.get(at(N, 'jobs'), { query: { fieldSelector: 'status.successful=1' } });
s.del(at(N, 'jobs', 'sync'));
s.get(at(N, 'jobs', 'sync'));
s.merge(at(N, 'jobs', 'sync'), { metadata: { finalizers: null } });
s.del(at(N, 'jobs', 'failing'), { propagationPolicy: 'Background' });
s.del(at(N, 'jobs', 'failing'));
s.post(at(N, 'cronjobs'), {
  metadata: { name: 'nightly' },
  spec: { schedule: '0 3 * * *', jobTemplate: { spec: { template: pods() } } },
});
s.merge(at(N, 'cronjobs', 'nightly'), { spec: { suspend: true } });
s.post(at(N, 'cronjobs'), {
  metadata: { name: 'never' },
  spec: { schedule: 'whenever', jobTemplate: { spec: { template: pods() } } },
});
s.post(at(N, 'cronjobs'), {
  metadata: { name: 'policy' },
  spec: { schedule: '0 3 * * *', concurrencyPolicy: 'Maybe', jobTemplate: { spec: { template: pods() } } },
});
s.del(at(N, 'cronjobs', 'nightly'));

export const batch = s.steps;
