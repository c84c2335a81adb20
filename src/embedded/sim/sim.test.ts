import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { NoAnswer, type Request, type WatchEvent } from '../../kube/transport.ts';
import { sleep } from '../../world/clock.ts';
import type { Store } from '../store/store.ts';
import { Sim } from './sim.ts';
import type { TransportOptions } from './transport.ts';
import { tripwire } from './tripwire.ts';

/** Enough of a store to see what the transport does with one: it counts, and every write is a watch event. */
function recordingStore() {
  const handled: string[] = [];
  const sinks = new Set<(event: WatchEvent) => void>();
  const ends = new Set<() => void>();
  const object = (n: number): AnyObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `o${n}`, resourceVersion: String(n) },
  });
  const store: Store = {
    handle(request, user) {
      handled.push(`${user} ${request.method} ${request.path}`);
      if (request.method !== 'GET') for (const sink of sinks) sink({ type: 'ADDED', object: object(handled.length) });
      return { status: 200, headers: {}, body: { n: handled.length } };
    },
    watch(_request, sink, end) {
      sinks.add(sink);
      ends.add(end);
      return {
        status: 200,
        close: () => {
          sinks.delete(sink);
          ends.delete(end);
        },
      };
    },
    snapshot: () => ({ resourceVersion: 0, objects: [] }),
    objects: () => [],
  };
  const end = () => {
    for (const close of [...ends]) close();
  };
  return { store, handled, sinks, end };
}

const post: Request = { method: 'POST', path: '/api/v1/configmaps' };
const watchRequest: Request = { method: 'GET', path: '/api/v1/configmaps', query: { watch: '1' } };

async function follow(sim: Sim, name = 'p', options: TransportOptions = {}) {
  const { store, ...rest } = recordingStore();
  const p = sim.process(name);
  const transport = p.transport(store, options);
  const abort = new AbortController();
  const answer = transport.watch(watchRequest, abort.signal);
  await sim.settle();
  const opened = await answer;
  if (!('events' in opened)) throw new Error('refused');
  const seen: string[] = [];
  const over = (async () => {
    for await (const event of opened.events) seen.push((event.object as AnyObject).metadata.name);
    return 'ended';
  })().catch((error: Error) => error.name);
  return { store, p, transport, abort, seen, over, ...rest };
}

describe('Sim', () => {
  it('gives the same journal for the same seed, and another one for another seed', () =>
    tripwire(async () => {
      const story = async (seed: number) => {
        const sim = new Sim(seed);
        const { store } = recordingStore();
        for (const name of ['a', 'b', 'c']) {
          const p = sim.process(name);
          const transport = p.transport(store);
          void (async () => {
            for (let i = 0; i < 5; i++) {
              await transport.send(post);
              await sleep(p.clock, Math.floor(p.random.next() * 20), undefined, { label: 'think' });
            }
          })();
        }
        await sim.settle();
        return sim.journal;
      };
      const one = await story(1);
      expect(one.length).toBe(3 * 5 * 3);
      expect(await story(1)).toEqual(one);
      expect(await story(2)).not.toEqual(one);
    }));

  it('is quiet when only daemons remain, and run() lets them work', async () => {
    const sim = new Sim(1);
    let beats = 0;
    const beat = () => {
      beats++;
      sim.clock.timer(1000, beat, { daemon: true, label: 'beat' });
    };
    sim.clock.timer(1000, beat, { daemon: true });
    sim.clock.timer(2500, () => {});
    await sim.settle();
    expect([sim.clock.now(), beats]).toEqual([2500, 2]);
    await sim.run(10_000);
    expect([sim.clock.now(), beats]).toEqual([12_500, 12]);
  });

  it('stops at the first event after which done() holds', async () => {
    const sim = new Sim(1);
    let n = 0;
    for (let i = 1; i <= 5; i++) sim.clock.timer(i, () => n++);
    expect(await sim.until(() => n === 3)).toBe('done');
    expect(sim.clock.now()).toBe(3);
    expect(await sim.until(() => n === 9)).toBe('quiet');
  });

  it('throws with the end of the journal when a limit is hit', async () => {
    const sim = new Sim(7, { maxEvents: 10 });
    const spin = () => sim.clock.timer(1, spin, { label: 'spin' });
    spin();
    await expect(sim.settle()).rejects.toThrow(/10 events \(seed 7\)[\s\S]*spin/);
    const slow = new Sim(7, { maxTime: 1000 });
    slow.clock.timer(5000, () => {});
    await expect(slow.settle()).rejects.toThrow(/1000 ms/);
  });

  it('cancels timers, and a cancelled one does not keep it busy', async () => {
    const sim = new Sim(1);
    let fired = false;
    const cancel = sim.clock.timer(10, () => {
      fired = true;
    });
    cancel();
    cancel();
    await sim.settle();
    expect([fired, sim.clock.now()]).toEqual([false, 0]);
  });

  it('orders events of the same millisecond by the seed', async () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const sim = new Sim(seed);
      let order = '';
      for (const name of ['a', 'b', 'c'])
        sim.clock.timer(5, () => {
          order += name;
        });
      await sim.settle();
      orders.add(order);
    }
    expect(orders.size).toBeGreaterThan(3);
  });

  it('hands time to a paused process only afterwards', async () => {
    const sim = new Sim(1);
    const p = sim.process('p');
    const at: number[] = [];
    p.clock.timer(10, () => at.push(p.clock.now()));
    p.clock.timer(500, () => at.push(p.clock.now()));
    p.pause(100);
    await sim.settle();
    expect(at).toEqual([100, 500]);
  });
});

describe('a crash', () => {
  it('drops timers and answers: the promises of the dead stay unsettled', async () => {
    const sim = new Sim(1);
    const { store } = recordingStore();
    const p = sim.process('p');
    let settled = false;
    const done = () => {
      settled = true;
    };
    void p.transport(store).send(post).then(done, done);
    void sleep(p.clock, 5).then(done);
    p.crash();
    await sim.settle();
    expect(settled).toBe(false);
    expect(p.signal.aborted).toBe(true);
    expect(sim.process('p').name).toBe('p#2');
  });

  it('after the send lets the commit happen or not, as the seed says', async () => {
    const outcomes = new Set<number>();
    for (let seed = 0; seed < 20; seed++) {
      const sim = new Sim(seed);
      const { store, handled } = recordingStore();
      const p = sim.process('p');
      void p.transport(store).send(post);
      p.crash();
      await sim.settle();
      outcomes.add(handled.length);
    }
    expect([...outcomes].sort()).toEqual([0, 1]);
  });

  it('closes the watches of the dead on the server', async () => {
    const sim = new Sim(1);
    const { p, sinks } = await follow(sim);
    expect(sinks.size).toBe(1);
    p.crash();
    expect(sinks.size).toBe(0);
  });
});

describe('the transport', () => {
  it('makes a request two events, with the server date in the answer', async () => {
    const sim = new Sim(1);
    const { store, handled } = recordingStore();
    const answer = sim.process('p').transport(store).send(post);
    await sim.settle();
    expect((await answer).headers.date).toMatch(/^Mon, 05 Jan 2026 08:00:00/);
    expect(handled).toEqual(['p POST /api/v1/configmaps']);
    expect(sim.journal.map(line => line.split(' ').slice(2).join(' '))).toEqual([
      'POST /api/v1/configmaps commit',
      'POST /api/v1/configmaps reply 200',
    ]);
  });

  it.each([
    ['lose-answer', 1],
    ['reject', 0],
    ['hang', 0],
  ] as const)('%s: NoAnswer, with %i requests handled', async (fault, count) => {
    const sim = new Sim(1);
    const { store, handled } = recordingStore();
    const transport = sim.process('p').transport(store, { intercept: (_r, n) => (n === 1 ? fault : undefined) });
    const outcome = transport.send({ ...post, timeout: 3000 }).catch((error: unknown) => error);
    await sim.settle();
    expect(await outcome).toBeInstanceOf(NoAnswer);
    expect(handled.length).toBe(count);
    expect(sim.clock.now() >= 3000).toBe(fault === 'hang');
    const second = transport.send(post);
    await sim.settle();
    expect((await second).status).toBe(200);
  });

  it('answers with the status a fault names, without asking the store', async () => {
    const sim = new Sim(1);
    const { store, handled } = recordingStore();
    const transport = sim.process('p').transport(store, { intercept: () => ({ status: 429, body: 'slow down' }) });
    const answer = transport.send(post);
    await sim.settle();
    expect([(await answer).status, handled.length]).toEqual([429, 0]);
  });

  it('an aborted request is NoAnswer at once', async () => {
    const sim = new Sim(1);
    const abort = new AbortController();
    const outcome = sim
      .process('p')
      .transport(recordingStore().store)
      .send(post, abort.signal)
      .catch(e => e);
    abort.abort(new Error('enough'));
    expect(await outcome).toBeInstanceOf(NoAnswer);
    await sim.settle();
  });

  it('delivers watch events in stream order, whatever the lag of each', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const sim = new Sim(seed);
      const { seen, transport, abort, over } = await follow(sim);
      for (let i = 0; i < 10; i++) void transport.send(post);
      await sim.settle();
      expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => `o${i + 1}`));
      abort.abort();
      expect(await over).toBe('ended');
    }
  });

  it('a lagging bookmark lets the simulation be quiet, an event behind it does not', async () => {
    const sim = new Sim(1);
    const lag = (_r: Request, event: WatchEvent) => (event.type === 'BOOKMARK' ? 50_000 : 0);
    const { seen, sinks, store } = await follow(sim, 'p', { lag });
    const bookmark = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '', resourceVersion: '9' } };
    for (const sink of sinks) sink({ type: 'BOOKMARK', object: bookmark });
    await sim.settle();
    expect(sim.clock.now()).toBeLessThan(50_000);
    store.handle(post, 'other');
    await sim.settle();
    expect(seen).toEqual(['', 'o1']);
  });

  it('keeps stream order through a pause of the reader', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const sim = new Sim(seed);
      const { seen, store, p } = await follow(sim);
      p.pause(1000);
      for (let i = 0; i < 8; i++) {
        store.handle(post, 'other');
        await sim.run(i % 3);
      }
      await sim.settle();
      expect(seen).toEqual(Array.from({ length: 8 }, (_, i) => `o${i + 1}`));
    }
  });

  it('ends the stream when the server does, and breaks it when cut', async () => {
    const sim = new Sim(1);
    const first = await follow(sim);
    first.end();
    await sim.settle();
    expect(await first.over).toBe('ended');
    const second = await follow(sim, 'q');
    void second.transport.send(post);
    await sim.until(() => second.handled.length === 1);
    expect(second.transport.cut()).toBe(1);
    await sim.settle();
    expect([await second.over, second.seen, second.sinks.size]).toEqual(['NoAnswer', [], 0]);
  });
});
