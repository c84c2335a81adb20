import { describe, expect, it } from 'vitest';
import { type Process, Sim } from '../embedded/sim/sim.ts';
import { tripwire } from '../embedded/sim/tripwire.ts';
import { createStore, type Store } from '../embedded/store/store.ts';
import { createCache } from '../kube/cache/cache.ts';
import { createClient } from '../kube/client.ts';
import { type AnyObject, refOfKey } from '../kube/object.ts';
import { ConfigMap, Secret } from '../kube/resource.ts';
import type { Request } from '../kube/transport.ts';
import { silent } from '../world/log.ts';
import { Controller } from './controller.ts';
import { Gate } from './gate.ts';
import { electionTimeout, LeaderElection } from './lease.ts';
import { Manager } from './manager.ts';
import { noMetrics } from './metrics/metrics.ts';
import { watchOwn, watchOwned } from './sources.ts';

const OWNER = 'owner';
const WANTED = 3;

/**
 * A whole operator on the simulated API server: for each ConfigMap it wants three Secrets. The names are counted up,
 * never derived, so a pass that runs on an old view makes too many: what the gate is there to prevent.
 */
function operator(p: Process, store: Store, options: { gate: boolean }) {
  const transport = p.transport(store);
  const timeout = electionTimeout();
  const base = { clock: p.clock, random: p.random, log: silent, metrics: noMetrics };
  const election = new LeaderElection(
    { namespace: 'default', name: 'operator', identity: p.name },
    {
      ...base,
      client: createClient(transport, p.clock, { retries: 0, readTimeout: timeout, writeTimeout: timeout }),
    },
  );
  const client = createClient(transport, p.clock, { fence: () => election.fence() });
  const cache = createCache({ transport, clock: p.clock, random: p.random });
  const owners = cache.informer({ resource: ConfigMap, labelSelector: 'copies' });
  const indexers = {
    [OWNER]: (o: { metadata: { ownerReferences?: readonly { uid: string }[] } }) =>
      o.metadata.ownerReferences?.map(r => r.uid) ?? [],
  };
  const copies = cache.informer({ resource: Secret, indexers });
  const gate = new Gate(p.clock);
  const controller = new Controller(
    {
      name: 'copies',
      workers: 2,
      sources: [watchOwn(owners), watchOwned(copies, ConfigMap)],
      async reconcile(key, { signal }) {
        const owner = owners.get(refOfKey(key));
        if (!owner) return undefined;
        const uid = owner.metadata.uid!;
        const behind = options.gate ? gate.behind(uid, r => cache.for(r).resourceVersion) : undefined;
        if (behind !== undefined) return { after: behind };
        const have = copies.list({ namespace: 'default', index: { name: OWNER, value: uid } });
        if (have.length >= WANTED) return undefined;
        const { name } = owner.metadata;
        const created = await client.withSignal(signal).create<AnyObject>(Secret, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: {
            name: `${name}-${Math.floor(p.random.next() * 2 ** 40)}`,
            namespace: 'default',
            ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }],
          },
        });
        gate.wrote(uid, Secret, created.metadata.resourceVersion);
        // Somebody else's event or our own: either way it goes on with the next one.
        return { after: 1 };
      },
    },
    base,
  );
  const manager = new Manager({ clock: p.clock, log: silent, election, cache });
  manager.add('leader', controller);
  const stop = new AbortController();
  return { manager, election, stop, ended: manager.run(stop.signal), transport };
}

function cluster(seed: number) {
  const sim = new Sim(seed);
  const real = createStore({ clock: sim.clock, random: sim.random });
  const writes: string[] = [];
  const store: Store = {
    ...real,
    handle(request: Request, user?: string) {
      if (request.method !== 'GET' && !request.path.includes('/leases')) writes.push(`${user} ${request.path}`);
      return real.handle(request, user);
    },
  };
  const put = (name: string) =>
    real.handle({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body: { metadata: { name, labels: { copies: '' } } },
    });
  const secrets = () => real.objects().filter((o: AnyObject) => o.kind === 'Secret').length;
  return { sim, store, put, secrets, writes };
}

describe('the whole runtime', () => {
  it('does the work, is at rest afterwards, takes up a late object, and stops in order', () =>
    tripwire(async () => {
      const { sim, store, put, secrets, writes } = cluster(1);
      put('a');
      const op = operator(sim.process('operator'), store, { gate: true });
      await sim.settle();
      expect([op.manager.state, secrets()]).toEqual(['running', 3]);
      const done = writes.length;
      await sim.run(300_000);
      expect(writes.length).toBe(done);
      put('b');
      await sim.settle();
      expect(secrets()).toBe(6);
      op.stop.abort();
      await sim.settle();
      await op.ended;
      expect(op.manager.state).toBe('stopped');
      const before = sim.journal.length;
      await sim.run(300_000);
      // Nothing of the process is left: no timer, no watch.
      expect(sim.journal.slice(before).filter(line => line.includes('operator'))).toEqual([]);
    }));

  it('same seed, same journal', async () => {
    const journal = async () => {
      const { sim, store, put } = cluster(7);
      put('a');
      put('b');
      operator(sim.process('operator'), store, { gate: true });
      await sim.run(10_000);
      return sim.journal;
    };
    const first = await journal();
    expect(first.length).toBeGreaterThan(30);
    expect(await journal()).toEqual(first);
  });

  it('never makes one too many, with cut watches and any schedule; without the gate it does', async () => {
    const surplus = async (gate: boolean, seeds: number) => {
      let found = 0;
      for (let seed = 0; seed < seeds; seed++) {
        const { sim, store, put, secrets } = cluster(seed);
        const op = operator(sim.process('operator'), store, { gate });
        for (const name of ['a', 'b', 'c']) put(name);
        for (let i = 0; i < 10; i++) {
          await sim.run(3 + seed);
          op.transport.cut();
        }
        await sim.settle();
        expect(secrets()).toBeGreaterThanOrEqual(9);
        if (secrets() > 9) found++;
      }
      return found;
    };
    expect(await surplus(true, 15)).toBe(0);
    expect(await surplus(false, 3)).toBeGreaterThan(0);
  });

  it('a crash at any moment: the successor finishes the work and nobody writes in its term', async () => {
    for (let seed = 0; seed < 15; seed++) {
      const { sim, store, put, secrets, writes } = cluster(seed);
      for (const name of ['a', 'b']) put(name);
      const first = sim.process('operator');
      operator(first, store, { gate: true });
      await sim.run(5 + seed * 3);
      first.crash();
      const second = operator(sim.process('operator'), store, { gate: true });
      await sim.run(60_000);
      expect(second.election.leading).toBe(true);
      expect(secrets()).toBe(6);
      const lastOfFirst = writes.findLastIndex(w => w.startsWith('operator '));
      const firstOfSecond = writes.findIndex(w => w.startsWith('operator#2 '));
      if (firstOfSecond >= 0) expect(lastOfFirst).toBeLessThan(firstOfSecond);
    }
  });
});
