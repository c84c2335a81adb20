import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import type { TransportOptions } from '../embedded/sim/transport.ts';
import { tripwire } from '../embedded/sim/tripwire.ts';
import { createStore, type Store } from '../embedded/store/store.ts';
import { createClient } from '../kube/client.ts';
import type { AnyObject } from '../kube/object.ts';
import { ConfigMap } from '../kube/resource.ts';
import type { Request } from '../kube/transport.ts';
import { silent } from '../world/log.ts';
import { type ElectionOptions, electionTimeout, LeaderElection } from './lease.ts';
import { noMetrics } from './metrics/metrics.ts';

const NAME = 'openstack-operator';

function cluster(seed = 1) {
  const sim = new Sim(seed);
  const store = createStore({ clock: sim.clock, random: sim.random });
  return { sim, store };
}

/** One operator process with its election; `writes` are the requests that would change the lease. */
function candidate(
  { sim, store }: { sim: Sim; store: Store },
  name: string,
  options: TransportOptions & { election?: Partial<ElectionOptions>; skew?: number } = {},
) {
  const p = sim.process(name, { skew: options.skew ?? 0 });
  const requests: string[] = [];
  const transport = p.transport(store, {
    ...options,
    intercept: (request, n) => {
      requests.push(request.method);
      return options.intercept?.(request, n);
    },
  });
  const timeout = electionTimeout();
  const client = createClient(transport, p.clock, { retries: 0, readTimeout: timeout, writeTimeout: timeout });
  const deps = { client, clock: p.clock, random: p.random, log: silent, metrics: noMetrics };
  const election = new LeaderElection({ namespace: 'default', name: NAME, identity: name, ...options.election }, deps);
  const stop = new AbortController();
  const acquire = () => void election.acquire(stop.signal).catch(() => {});
  return { p, election, requests, stop, acquire, transport };
}

const lease = (store: Store) =>
  store.objects().find(o => o.kind === 'Lease') as (AnyObject & { spec: Spec }) | undefined;
interface Spec {
  holderIdentity: string;
  leaseDurationSeconds: number;
  leaseTransitions: number;
  acquireTime: string;
  renewTime: string;
}

describe('LeaderElection', () => {
  it('makes the lease when there is none, and renews with one PUT each (62)', () =>
    tripwire(async () => {
      const world = cluster();
      const a = candidate(world, 'a');
      a.acquire();
      await world.sim.run(100);
      expect(a.election.leading).toBe(true);
      expect(a.requests).toEqual(['GET', 'POST']);
      const first = lease(world.store)!.spec;
      expect(first).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
      await world.sim.run(20_000);
      const renewals = a.requests.slice(2);
      expect(renewals.length).toBeGreaterThanOrEqual(9);
      expect(new Set(renewals)).toEqual(new Set(['PUT']));
      const spec = lease(world.store)!.spec;
      expect(spec.acquireTime).toBe(first.acquireTime);
      expect(spec.renewTime > first.renewTime).toBe(true);
      expect(spec.leaseTransitions).toBe(0);
    }));

  it('61: no takeover while the record changes; takeover a lease duration after it last changed', async () => {
    for (let seed = 0; seed < 5; seed++) {
      const world = cluster(seed);
      // An hour wrong in either direction does no harm.
      const a = candidate(world, 'a', { skew: 3_600_000 });
      const b = candidate(world, 'b', { skew: -3_600_000 });
      a.acquire();
      await world.sim.run(100);
      b.acquire();
      await world.sim.run(60_000);
      expect([a.election.leading, b.election.leading]).toEqual([true, false]);
      a.p.crash();
      const crashed = world.sim.clock.now();
      await world.sim.run(12_000);
      expect(b.election.leading).toBe(false);
      await world.sim.run(10_000);
      expect(b.election.leading).toBe(true);
      expect(world.sim.clock.now() - crashed).toBeLessThanOrEqual(22_000);
      expect(lease(world.store)!.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    }
  });

  it('62: a renewal that meets a conflict reads the lease and goes on', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    a.acquire();
    await world.sim.run(100);
    const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${NAME}`;
    const label = { metadata: { labels: { team: 'cloud' } } };
    const merge = { method: 'PATCH', path, body: label, contentType: 'application/merge-patch+json' } as const;
    expect(world.store.handle(merge).status).toBe(200);
    await world.sim.run(2_100);
    expect(a.requests.slice(2)).toEqual(['PUT', 'GET', 'PUT']);
    expect(a.election.leading).toBe(true);
    expect(lease(world.store)!.metadata.labels).toEqual({ team: 'cloud' });
  });

  it('63: a release that meets a conflict reads again and retries', async () => {
    const world = cluster();
    let puts = 0;
    const conflict = { status: 409, body: { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409 } };
    const a = candidate(world, 'a', {
      intercept: r => (r.method === 'PUT' && ++puts === 1 ? conflict : undefined),
    });
    a.acquire();
    await world.sim.run(100);
    const released = a.election.release();
    await world.sim.settle();
    await released;
    expect(a.requests.slice(2)).toEqual(['GET', 'PUT', 'GET', 'PUT']);
    expect(lease(world.store)!.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  });

  it('a released lease is taken at the next try, without waiting for its end', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    const b = candidate(world, 'b');
    a.acquire();
    await world.sim.run(100);
    b.acquire();
    await world.sim.run(5_000);
    const released = a.election.release();
    await world.sim.run(6_000);
    await released;
    expect(b.election.leading).toBe(true);
    expect(() => a.election.fence()).toThrow('does not lead');
  });

  it('a second release waits for the first: who ends the process then must not cut it off', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    a.acquire();
    await world.sim.run(100);
    // What nobody caught gives the lease back, and so does the stop that it causes.
    const first = a.election.release();
    const after: Promise<string>[] = [];
    for (let step = 0; step < 20; step++) {
      after.push(a.election.release().then(() => lease(world.store)!.spec.holderIdentity));
      await world.sim.run(1);
    }
    await world.sim.run(3_000);
    await first;
    expect(new Set(await Promise.all(after))).toEqual(new Set(['']));
    expect(a.requests.slice(2)).toEqual(['GET', 'PUT']);
  });

  it('64: a release during a renewal waits for it and writes once', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    a.acquire();
    await world.sim.run(100);
    const before = a.requests.length;
    await world.sim.within(5000, () => a.requests.length > before);
    // The PUT of the renewal is under way.
    expect(a.requests.at(-1)).toBe('PUT');
    const released = a.election.release();
    await world.sim.settle();
    await released;
    expect(a.requests.slice(before)).toEqual(['PUT', 'GET', 'PUT']);
    expect(lease(world.store)!.spec.holderIdentity).toBe('');
    await world.sim.run(30_000);
    expect(a.requests.length).toBe(before + 3);
  });

  it('release leaves the lease of another holder alone', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    a.acquire();
    await world.sim.run(100);
    const held = lease(world.store)!;
    world.store.handle({
      method: 'PUT',
      path: `/apis/coordination.k8s.io/v1/namespaces/default/leases/${NAME}`,
      body: { ...held, spec: { ...held.spec, holderIdentity: 'thief' } },
    });
    const released = a.election.release();
    await world.sim.settle();
    await released;
    expect(lease(world.store)!.spec.holderIdentity).toBe('thief');
    expect(a.requests.filter(m => m === 'PUT')).toEqual([]);
  });

  it.each<[string, Partial<ElectionOptions>]>([
    ['leaseDuration must be greater than renewDeadline', { leaseDuration: 10_000 }],
    ['renewDeadline must be greater than 1.2 x retryPeriod', { retryPeriod: 9_000 }],
    ['retryPeriod must be greater than 0', { retryPeriod: 0 }],
  ])('65: %s', (rule, election) => {
    expect(() => candidate(cluster(), 'a', { election })).toThrow(rule);
  });

  it('a leader that gets no answer loses at the deadline, and its fence closes no later', async () => {
    const world = cluster();
    let down = false;
    const a = candidate(world, 'a', { intercept: () => (down ? 'hang' : undefined) });
    a.acquire();
    await world.sim.run(10_000);
    a.election.fence();
    down = true;
    const cut = world.sim.clock.now();
    expect(await world.sim.within(10_000, () => a.election.lost.aborted)).toBe(true);
    expect(world.sim.clock.now() - cut).toBeGreaterThan(7_000);
    expect(() => a.election.fence()).toThrow('leadership was lost');
    expect(a.election.check()).toBeUndefined();
  });

  it('a renewal whose answer is lost does not end the term', async () => {
    const world = cluster();
    let n = 0;
    const a = candidate(world, 'a', {
      intercept: r => (r.method === 'PUT' && ++n % 3 === 1 ? 'lose-answer' : undefined),
    });
    a.acquire();
    await world.sim.run(120_000);
    expect(a.election.leading).toBe(true);
    expect(lease(world.store)!.spec.leaseTransitions).toBe(0);
  });

  it('66: a leader that has not renewed past lease and tolerance is unhealthy', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    a.acquire();
    await world.sim.run(5_000);
    expect(a.election.check()).toBeUndefined();
    // Stopped, so that not even the watchdog runs: the probe is all that can still ask.
    a.p.pause(60_000);
    await world.sim.run(30_000);
    expect(a.election.check()).toBeUndefined();
    await world.sim.run(10_000);
    expect(a.election.check()).toMatch(/last renewed 4[01] s ago/);
  });
});

describe('fencing', () => {
  it('counts from the sending of the renewal, not from its answer', async () => {
    const world = cluster(3);
    const sent: number[] = [];
    const a = candidate(world, 'a', {
      latency: 1500,
      intercept: request => {
        if (request.method === 'PUT') sent.push(world.sim.clock.now());
        return undefined;
      },
    });
    a.acquire();
    await world.sim.within(60_000, () => sent.length === 3);
    const third = sent.length;
    // The answer of the second renewal is there, the third is under way and will be lost with the process's time.
    a.p.pause(60_000);
    const last = sent[third - 2]!;
    await world.sim.run(last + 9_999 - world.sim.clock.now());
    a.election.fence();
    await world.sim.run(1);
    expect(() => a.election.fence()).toThrow('not renewed in time');
  });

  it('a leader that stood still past its deadline is out, even if nobody else came', async () => {
    const world = cluster();
    const a = candidate(world, 'a');
    a.acquire();
    await world.sim.run(5_000);
    const before = a.requests.length;
    a.p.pause(12_000);
    await world.sim.run(12_100);
    expect(a.election.lost.aborted).toBe(true);
    expect((a.election.lost.reason as Error).message).toMatch(/leader election lost/);
    expect(lease(world.store)!.spec.holderIdentity).toBe('a');
    await world.sim.run(60_000);
    expect(a.requests.length).toBe(before);
  });

  it("a leader that stood still writes nothing in its successor's term, by any schedule", () =>
    tripwire(async () => {
      for (let seed = 0; seed < 12; seed++) {
        const log: { who: string; at: number }[] = [];
        const { sim, store } = cluster(seed);
        const audited: Store = {
          ...store,
          handle(request: Request, user?: string) {
            const isWork = request.method === 'POST' && request.path.endsWith('/configmaps');
            if (isWork) log.push({ who: user ?? '', at: sim.clock.now() });
            return store.handle(request, user);
          },
        };
        const world = { sim, store: audited };
        const worker = (name: string) => {
          const c = candidate(world, name);
          const client = createClient(c.transport, c.p.clock, { fence: () => c.election.fence(), retries: 0 });
          c.acquire();
          let n = 0;
          // A controller that knows nothing of leadership: it writes all the time, and the fence decides.
          const write = () => {
            const object = {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: `${name}-${n++}`, namespace: 'default' },
            };
            void client.create(ConfigMap, object).then(
              () => {},
              () => {},
            );
            c.p.clock.timer(500, write, { daemon: true });
          };
          write();
          return c;
        };
        const a = worker('a');
        await world.sim.run(5_000);
        expect(a.election.leading).toBe(true);
        const b = worker('b');
        await world.sim.run(5_000);
        // At another point between two writes and two renewals each time.
        await world.sim.run(seed * 173);
        a.p.pause(20_000 + seed * 2_300);
        await world.sim.run(90_000);
        expect([a.election.leading, b.election.leading]).toEqual([false, true]);
        const takeover = log.find(l => l.who === 'b')!.at;
        expect(log.filter(l => l.who === 'a' && l.at >= takeover)).toEqual([]);
        expect(log.filter(l => l.who === 'a').length).toBeGreaterThan(5);
      }
    }));

  describe('beside another Lease', () => {
    const CLASH = 'both do the same; stop one';
    const beside = (world: ReturnType<typeof cluster>, name: string, lease: string, clash?: string) => {
      const one = candidate(world, name, {
        election: { name: lease, annotations: { does: lease }, ...(clash && { clash: () => clash }) },
      });
      let failure: Error | undefined;
      void one.election.acquire(one.stop.signal).catch((error: Error) => {
        failure = error;
      });
      return { ...one, failure: () => failure?.message };
    };
    const holders = (store: Store) =>
      store
        .objects()
        .filter(o => o.kind === 'Lease')
        .map(o => (o as AnyObject & { spec: Spec }).spec.holderIdentity);

    it('the later one gives way, names the other, and releases its own lease', () =>
      tripwire(async () => {
        const world = cluster();
        const a = beside(world, 'a', 'all', CLASH);
        await world.sim.run(5_000);
        const b = beside(world, 'b', 'some', CLASH);
        await world.sim.run(5_000);
        expect([a.election.leading, b.election.leading]).toEqual([true, false]);
        expect(b.failure()).toBe(`${CLASH} (Lease default/all, held by a)`);
        expect(holders(world.store)).toEqual(['a', '']);
        expect(lease(world.store)?.metadata.annotations).toEqual({ does: 'all' });
        await world.sim.run(60_000);
        expect(a.election.leading).toBe(true);
      }));

    it('of two that come at once exactly one goes on, by any schedule', () =>
      tripwire(async () => {
        for (let seed = 1; seed <= 30; seed++) {
          const world = cluster(seed);
          const both = [beside(world, 'a', 'all', CLASH), beside(world, 'b', 'some', CLASH)];
          await world.sim.run(10_000);
          expect([seed, both.filter(one => one.election.leading).length]).toEqual([seed, 1]);
        }
      }));

    it('whose holder is gone, or which does something else, is none of its business', () =>
      tripwire(async () => {
        const world = cluster();
        const a = beside(world, 'a', 'all', CLASH);
        await world.sim.run(5_000);
        a.p.crash();
        await world.sim.run(30_000);
        const b = beside(world, 'b', 'some', CLASH);
        const c = beside(world, 'c', 'other');
        await world.sim.run(5_000);
        expect([b.election.leading, c.election.leading]).toEqual([true, true]);
      }));
  });
});
