import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCache } from '../../src/kube/cache/cache.ts';
import { type Client, createClient } from '../../src/kube/client.ts';
import { type AnyObject, refOfKey } from '../../src/kube/object.ts';
import { ConfigMap, Event, Lease, Secret } from '../../src/kube/resource.ts';
import { realClock, realRandom } from '../../src/real/clock.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { type Connection, connect } from '../../src/real/transport.ts';
import { Controller } from '../../src/runtime/controller.ts';
import { createRecorder } from '../../src/runtime/events.ts';
import { Gate } from '../../src/runtime/gate.ts';
import { LeaderElection } from '../../src/runtime/lease.ts';
import { Manager } from '../../src/runtime/manager.ts';
import { noMetrics } from '../../src/runtime/metrics/metrics.ts';
import { watchOwn, watchOwned } from '../../src/runtime/sources.ts';
import { silent } from '../../src/world/log.ts';
import { type ApiServer, startApiServer } from './apiserver.ts';

const NAMESPACE = 'default';
const base = { clock: realClock, random: realRandom, log: silent, metrics: noMetrics };

/** Polls: a real server keeps no promises about when. */
async function eventually(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** Copies each labelled ConfigMap into a Secret that it owns, and says so in an event. */
function operator(connection: Connection, identity: string) {
  const plain = createClient(connection, realClock, { retries: 0 });
  const election = new LeaderElection(
    // Short terms, so that the test sees a takeover; still in the proportion of the defaults.
    { namespace: NAMESPACE, name: 'runtime', identity, leaseDuration: 6000, renewDeadline: 4000, retryPeriod: 500 },
    { ...base, client: plain },
  );
  const client = createClient(connection, realClock, { fence: () => election.fence() });
  const cache = createCache({ transport: connection, clock: realClock, random: realRandom });
  const owners = cache.informer({ resource: ConfigMap, labelSelector: 'copy' });
  const copies = cache.informer({ resource: Secret, labelSelector: 'copied' });
  const recorder = createRecorder({ ...base, client: plain, controller: 'runtime.real', instance: identity });
  const gate = new Gate(realClock);
  const controller = new Controller(
    {
      name: 'copy',
      sources: [watchOwn(owners), watchOwned(copies, ConfigMap)],
      async reconcile(key, { signal }) {
        const owner = owners.get(refOfKey(key));
        if (!owner) return undefined;
        const { name, uid = '' } = owner.metadata;
        const after = gate.behind(uid, resource => cache.for(resource).resourceVersion);
        if (after !== undefined) return { after };
        if (copies.get({ namespace: NAMESPACE, name })) return undefined;
        const made = await client.withSignal(signal).apply<AnyObject>(
          Secret,
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: {
              name,
              namespace: NAMESPACE,
              labels: { copied: '' },
              ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }],
            },
          },
          { manager: identity },
        );
        gate.wrote(uid, Secret, made.metadata.resourceVersion);
        const note = `Secret ${name} was made`;
        recorder.event(owner, { type: 'Normal', reason: 'Copied', action: 'Copy', note, related: made });
        return undefined;
      },
    },
    base,
  );
  const manager = new Manager({ ...base, election, cache, flush: () => recorder.flush() });
  manager.add('leader', controller);
  const stop = new AbortController();
  return { manager, election, stop, ended: manager.run(stop.signal), recorder };
}

describe('the runtime on a real kube-apiserver', { timeout: 120_000 }, () => {
  let server: ApiServer;
  let client: Client;
  const connections: Connection[] = [];
  const dial = () => {
    const credentials = loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} });
    const connection = connect(credentials, { userAgent: 'runtime.real' });
    connections.push(connection);
    return connection;
  };

  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(dial(), realClock);
  }, 120_000);
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await server?.stop();
  });

  const put = (name: string) =>
    client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: NAMESPACE, labels: { copy: '' } },
    });
  const copied = async (name: string) => (await client.get(Secret, { namespace: NAMESPACE, name })) !== undefined;
  const lease = async () =>
    (await client.get(Lease, { namespace: NAMESPACE, name: 'runtime' }))?.spec as
      | { holderIdentity: string; leaseTransitions: number }
      | undefined;

  it('elects one leader, works, repairs, hands over on a stop, and takes over after silence', async () => {
    await put('a');
    const first = operator(dial(), 'first');
    await eventually('first leads', () => first.manager.state === 'running');
    const second = operator(dial(), 'second');
    await eventually('a is copied', () => copied('a'));
    expect([second.manager.state, (await lease())?.holderIdentity]).toEqual(['standby', 'first']);

    const made = await client.get(Secret, { namespace: NAMESPACE, name: 'a' });
    await client.delete(Secret, { namespace: NAMESPACE, name: 'a' }, { uid: made!.metadata.uid! });
    await eventually('a is copied again', () => copied('a'));

    first.stop.abort();
    await first.ended;
    await eventually('second leads', () => second.manager.state === 'running');
    expect(await lease()).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    await put('b');
    await eventually('b is copied', () => copied('b'));

    // The third waits; the second loses its connection, not its life.
    const third = operator(dial(), 'third');
    connections[2]!.close();
    await expect(second.ended).rejects.toThrow(/leader election lost/);
    expect(() => second.election.fence()).toThrow('leadership was lost');
    await eventually('third leads', () => third.manager.state === 'running');
    await put('c');
    await eventually('c is copied', () => copied('c'));
    third.stop.abort();
    await third.ended;
    expect((await lease())?.holderIdentity).toBe('');
  });

  it('its events are accepted: created, made a series, and found by kubectl under the object', async () => {
    const plain = createClient(dial(), realClock, { retries: 0 });
    const results: string[] = [];
    const metrics = { ...noMetrics, event: (result: string) => void results.push(result) };
    const recorder = createRecorder({ ...base, metrics, client: plain, controller: 'runtime.real', instance: 'pod' });
    const object = (await client.get(ConfigMap, { namespace: NAMESPACE, name: 'a' }))!;
    const happening = { type: 'Warning', reason: 'Refused', action: 'Login', note: 'x'.repeat(2000) } as const;
    recorder.event(object, happening);
    await recorder.flush();
    for (let i = 0; i < 3; i++) recorder.event(object, happening);
    await recorder.flush();
    recorder.event({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, happening);
    await recorder.flush();
    expect(results).toEqual(['created', 'patched', 'patched', 'created']);
    const { items } = await client.list<AnyObject>(Event, { namespace: NAMESPACE });
    const mine = items.filter(e => e.reason === 'Refused' && (e.regarding as { kind: string }).kind === 'ConfigMap');
    expect(mine).toMatchObject([{ series: { count: 4 }, regarding: { name: 'a', uid: object.metadata.uid } }]);
  });
});
