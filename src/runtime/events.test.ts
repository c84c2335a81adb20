import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import type { TransportOptions } from '../embedded/sim/transport.ts';
import { tripwire } from '../embedded/sim/tripwire.ts';
import { createStore } from '../embedded/store/store.ts';
import { createClient } from '../kube/client.ts';
import type { AnyObject } from '../kube/object.ts';
import { silent } from '../world/log.ts';
import { createRecorder, type Happening } from './events.ts';
import { noMetrics } from './metrics/metrics.ts';

function make(options: TransportOptions = {}) {
  const sim = new Sim(1);
  const store = createStore({ clock: sim.clock, random: sim.random });
  const p = sim.process('operator');
  const requests: string[] = [];
  const transport = p.transport(store, {
    ...options,
    intercept: (request, n) => {
      requests.push(request.method);
      return options.intercept?.(request, n);
    },
  });
  const results: string[] = [];
  const recorder = createRecorder({
    client: createClient(transport, p.clock, { retries: 0 }),
    clock: p.clock,
    random: p.random,
    log: silent,
    metrics: { ...noMetrics, event: result => results.push(result) },
    controller: 'openstack-operator',
    instance: 'pod-1',
  });
  const events = () => {
    const { body } = store.handle({ method: 'GET', path: '/apis/events.k8s.io/v1/events' });
    return (body as { items: (AnyObject & { series?: { count: number } })[] }).items;
  };
  return { sim, store, recorder, requests, results, events };
}

const keystone = (name = 'keystone'): AnyObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '5' },
});
const ready: Happening = { type: 'Normal', reason: 'DeploymentReady', action: 'Reconcile', note: 'all is there' };

describe('the event recorder', () => {
  it('writes an event that says who, what and why', () =>
    tripwire(async () => {
      const { sim, recorder, events } = make();
      recorder.event(keystone(), ready);
      await sim.settle();
      expect(events()).toMatchObject([
        {
          metadata: { namespace: 'default', name: expect.stringMatching(/^keystone\.[0-9a-f]+$/) },
          type: 'Normal',
          reason: 'DeploymentReady',
          action: 'Reconcile',
          note: 'all is there',
          regarding: { kind: 'Keystone', name: 'keystone', namespace: 'default', uid: 'uid-keystone' },
          reportingController: 'openstack-operator',
          reportingInstance: 'pod-1',
          eventTime: expect.stringMatching(/^2026-01-05T08:00:0\d\.\d{6}Z$/),
        },
      ]);
    }));

  it('86: five of the same are one create, one patch at the second, and the count at the end', async () => {
    const { sim, recorder, requests, events } = make();
    for (let i = 0; i < 5; i++) {
      // The note is not part of the identity.
      recorder.event(keystone(), { ...ready, note: `try ${i}` });
      await sim.settle();
    }
    expect(requests).toEqual(['POST', 'PATCH']);
    expect(events()).toMatchObject([{ note: 'try 0', series: { count: 2 } }]);
    await sim.run(7 * 60_000);
    expect(requests).toEqual(['POST', 'PATCH', 'PATCH']);
    expect(events()[0]?.series?.count).toBe(5);
    // The series is over: the next one starts another.
    recorder.event(keystone(), ready);
    await sim.settle();
    expect(events().length).toBe(2);
  });

  it('a series that goes on is refreshed every half hour', async () => {
    const { sim, recorder, requests } = make();
    // Slow enough for the spam filter.
    for (let i = 0; i < 16; i++) {
      recorder.event(keystone(), ready);
      await sim.run(5 * 60_000);
    }
    expect(requests.filter(m => m === 'POST').length).toBe(1);
    expect(requests.filter(m => m === 'PATCH').length).toBe(3);
  });

  it('87: an event that expired on the server is created again', async () => {
    const { sim, store, recorder, requests, events } = make();
    recorder.event(keystone(), ready);
    await sim.settle();
    const { name } = events()[0]!.metadata;
    store.handle({ method: 'DELETE', path: `/apis/events.k8s.io/v1/namespaces/default/events/${name}` });
    recorder.event(keystone(), ready);
    await sim.settle();
    expect(requests).toEqual(['POST', 'PATCH', 'POST']);
    expect(events()).toMatchObject([{ series: { count: 2 } }]);
  });

  it('88: of thirty events on one object in a minute twenty-five pass; others are not concerned', async () => {
    const { sim, recorder, results, events } = make();
    for (let i = 0; i < 30; i++) {
      recorder.event(keystone(), { ...ready, reason: `Reason${i}` });
      await sim.run(2_000);
    }
    expect(events().length).toBe(25);
    expect(results.filter(r => r === 'dropped').length).toBe(5);
    recorder.event(keystone('other'), ready);
    await sim.settle();
    expect(events().length).toBe(26);
    await sim.run(5 * 60_000);
    recorder.event(keystone(), { ...ready, reason: 'Later' });
    await sim.settle();
    expect(events().length).toBe(27);
  });

  it('a lost answer is tried again and does not make two events', async () => {
    const { sim, recorder, requests, events } = make({ intercept: (_r, n) => (n === 1 ? 'lose-answer' : undefined) });
    recorder.event(keystone(), ready);
    await sim.run(20_000);
    expect(requests).toEqual(['POST', 'POST']);
    expect(events().length).toBe(1);
  });

  it('what the server refuses is dropped; what it does not answer is dropped after twelve tries', async () => {
    const refused = make({ intercept: () => ({ status: 403, body: 'no' }) });
    refused.recorder.event(keystone(), ready);
    await refused.sim.run(60_000);
    expect([refused.requests.length, refused.results]).toEqual([1, ['dropped']]);
    const silentServer = make({ intercept: () => 'reject' });
    silentServer.recorder.event(keystone(), ready);
    await silentServer.sim.run(10 * 60_000);
    expect([silentServer.requests.length, silentServer.results]).toEqual([12, ['dropped']]);
  });

  it('never blocks: with the server away it keeps a thousand and drops the rest', async () => {
    const { recorder, results, sim } = make({ intercept: () => 'hang' });
    for (let i = 0; i < 1500; i++) recorder.event(keystone(`k${i}`), ready);
    expect(results.length).toBe(499);
    await sim.run(0);
  });

  it('flush writes what waits, with the count of open series', async () => {
    const { sim, recorder, events } = make();
    for (let i = 0; i < 3; i++) {
      recorder.event(keystone(), ready);
      await sim.settle();
    }
    recorder.event(keystone('other'), ready);
    const flushed = recorder.flush();
    await sim.settle();
    await flushed;
    expect(events().map(e => `${e.metadata.name.split('.')[0]} ${e.series?.count}`)).toEqual([
      'keystone 3',
      'other undefined',
    ]);
    await recorder.flush();
  });

  it('leaves no timer behind when it was flushed: a stopped process must end', async () => {
    const { sim, recorder } = make();
    recorder.event(keystone(), ready);
    await sim.settle();
    await recorder.flush();
    const from = sim.journal.length;
    await sim.run(600_000);
    expect(sim.journal.slice(from).filter(line => line.includes('event sweep'))).toEqual([]);
  });

  it('cuts a long note by bytes and not through a character', async () => {
    const { sim, recorder, events } = make();
    recorder.event(keystone(), { ...ready, note: 'ä'.repeat(1000) });
    await sim.settle();
    const note = events()[0]!.note as string;
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^ä{510}\.\.\.$/);
  });

  it('an event about a cluster-scoped object goes to the default namespace', async () => {
    const { sim, recorder, events } = make();
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u' } }, ready);
    await sim.settle();
    expect(events()[0]?.metadata.namespace).toBe('default');
  });
});
