import { describe, expect, it } from 'vitest';
import { pretend } from '../../src/embedded/controllers/controllers.ts';
import { Sim } from '../../src/embedded/sim/sim.ts';
import type { Fault } from '../../src/embedded/sim/transport.ts';
import { tripwire } from '../../src/embedded/sim/tripwire.ts';
import { createStore } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Request } from '../../src/kube/transport.ts';

type Obj = AnyObject & { spec: { containers?: object[] }; status?: Record<string, unknown> };

/** A namespace with one of each workload, as a user applies it. */
function world(seed: number) {
  const sim = new Sim(seed);
  const store = createStore({ clock: sim.clock, random: sim.random });
  const post = (path: string, object: object) => {
    const answer = store.handle({ method: 'POST', path, body: object });
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  };
  const labels = (app: string) => ({ selector: { matchLabels: { app } }, template: template(app) });
  const template = (app: string, spec: object = {}) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'c', image: 'example.com/c:1' }], ...spec },
  });
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } });
  const apply = (group: string, kind: string, plural: string, name: string, spec: object) =>
    post(`/apis/${group}/namespaces/x/${plural}`, { apiVersion: group, kind, metadata: { name }, spec });
  apply('apps/v1', 'Deployment', 'deployments', 'web', { replicas: 3, ...labels('web') });
  apply('apps/v1', 'StatefulSet', 'statefulsets', 'db', {
    replicas: 2,
    serviceName: 'db',
    volumeClaimTemplates: [claim],
    ...labels('db'),
  });
  apply('apps/v1', 'DaemonSet', 'daemonsets', 'agent', labels('agent'));
  apply('batch/v1', 'Job', 'jobs', 'sync', { template: template('sync', { restartPolicy: 'Never' }) });
  const start = (intercept?: (request: Request, n: number) => Fault | undefined) => {
    const process = sim.process('pretend');
    const transport = process.transport(store, intercept ? { intercept } : {});
    const pretenders = pretend({ transport, clock: process.clock, random: process.random, programs: () => undefined });
    void pretenders.start();
    return process;
  };
  const pods = (app: string) =>
    (store.objects() as Obj[])
      .filter(o => o.kind === 'Pod' && o.metadata.labels?.app === app)
      .map(p => ({
        name: p.metadata.name,
        phase: p.status?.phase,
        leaving: p.metadata.deletionTimestamp !== undefined,
      }));
  const expectDone = () => {
    expect(pods('web').map(p => p.phase)).toEqual(['Running', 'Running', 'Running']);
    expect(pods('db').map(p => [p.name, p.phase])).toEqual([
      ['db-0', 'Running'],
      ['db-1', 'Running'],
    ]);
    expect(pods('agent').map(p => p.phase)).toEqual(['Running', 'Running', 'Running']);
    expect(pods('sync').map(p => p.phase)).toContain('Succeeded');
    const job = (store.objects() as Obj[]).find(o => o.kind === 'Job');
    expect(job?.status).toMatchObject({ succeeded: 1 });
    const claims = store.objects().filter(o => o.kind === 'PersistentVolumeClaim');
    expect(claims.map(c => c.metadata.name)).toEqual(['data-db-0', 'data-db-1']);
  };
  return { sim, store, start, expectDone };
}

describe('pretenders when things go wrong', () => {
  it('stay inside the simulation', () =>
    tripwire(async () => {
      const { sim, start, expectDone } = world(1);
      start();
      await sim.settle();
      expectDone();
    }));

  it.each([2, 3, 4, 5, 6])('crash again and again, and end where they would have ended (seed %i)', async seed => {
    const { sim, start, expectDone } = world(seed);
    for (let life = 0; life < 8; life++) {
      const process = start();
      await sim.run(300 + Math.floor(sim.random.next() * 1_500));
      process.crash();
    }
    start();
    await sim.settle();
    expectDone();
  });

  it('a process outlives the kubelet that started it', async () => {
    const { sim, store, start, expectDone } = world(7);
    const first = start();
    await sim.settle();
    first.crash();
    const before = store.snapshot().resourceVersion;
    start();
    await sim.settle();
    expectDone();
    // Nothing was started again, so nothing was written.
    expect(store.snapshot().resourceVersion).toBe(before);
  });

  it.each([11, 12, 13, 14, 15])('lose one answer in ten and make nothing twice for good (seed %i)', async seed => {
    const { sim, start, expectDone } = world(seed);
    let faults = 0;
    start(request => {
      if (sim.random.next() > 0.1 || faults > 200) return undefined;
      faults++;
      return request.method === 'GET' ? 'reject' : sim.random.next() < 0.5 ? 'lose-answer' : 'reject';
    });
    await sim.settle();
    expect(faults).toBeGreaterThan(5);
    expectDone();
  });
});
