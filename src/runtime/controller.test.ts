import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import { ApiError } from '../kube/errors.ts';
import { sleep } from '../world/clock.ts';
import { silent } from '../world/log.ts';
import { Controller, type ControllerOptions, TerminalError } from './controller.ts';
import { prometheusMetrics } from './metrics/prometheus.ts';
import { LOW } from './queue.ts';
import type { Enqueue, Source } from './sources.ts';

/** A source that the test turns by hand. */
function handSource(name = 'things') {
  let enqueue: Enqueue = () => {};
  let sync = () => {};
  const synced = new Promise<void>(resolve => {
    sync = resolve;
  });
  const state = { stopped: 0, started: 0 };
  const source: Source = put => {
    enqueue = put;
    state.started++;
    return { name, synced, stop: () => void state.stopped++ };
  };
  return { source, state, sync: () => sync(), enqueue: (...args: Parameters<Enqueue>) => enqueue(...args) };
}

async function start(sim: Sim, reconcile: ControllerOptions['reconcile'], options: Partial<ControllerOptions> = {}) {
  const hand = handSource();
  const metrics = prometheusMetrics({ process: false });
  const controller = new Controller(
    { name: 'thing', sources: [hand.source], reconcile, ...options },
    { clock: sim.clock, random: sim.random, log: silent, metrics },
  );
  const stop = new AbortController();
  const ended = controller.run(stop.signal);
  hand.sync();
  await sim.settle();
  const count = async (series: string) => {
    const line = (await metrics.render()).split('\n').find(l => l.startsWith(series));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  return { ...hand, controller, stop, ended, count };
}

const conflict = () =>
  new ApiError('replace things a', { status: 409, headers: {}, body: { kind: 'Status', reason: 'Conflict' } });

describe('Controller', () => {
  it('a pass may make many calls at once: their listeners are no leak to warn of', async () => {
    const sim = new Sim(1);
    const [warnings, calls] = [[] as string[], Array.from({ length: 20 }, () => () => {})];
    const hear = (warning: Error) => void warnings.push(warning.name);
    process.on('warning', hear);
    try {
      let listening = 0;
      const { enqueue } = await start(sim, async (_key, { signal }) => {
        for (const call of calls) signal.addEventListener('abort', call);
        listening = calls.length;
        return undefined;
      });
      enqueue('ns/a');
      await sim.settle();
      expect(listening).toBe(20);
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', hear);
    }
  });

  it('lets the loop turn between passes that never wait for anything', async () => {
    const sim = new Sim(1);
    let [now, runs, turns] = [0, 0, 0];
    // The clock stands still in a simulation while code runs; here every pass takes 4 ms of it.
    const clock = { ...sim.clock, now: () => now };
    const hand = handSource();
    const controller = new Controller(
      {
        name: 'thing',
        sources: [hand.source],
        reconcile: async () => {
          now += 4;
          runs++;
          return undefined;
        },
      },
      { clock, random: sim.random, log: silent, metrics: prometheusMetrics({ process: false }) },
    );
    const stop = new AbortController();
    const ended = controller.run(stop.signal);
    hand.sync();
    await sim.settle();
    for (let key = 0; key < 30; key++) hand.enqueue(`key-${key}`);
    await sim.until(() => {
      turns++;
      return runs === 30;
    });
    // 120 ms of work, at most 12 ms at a stretch.
    expect(turns).toBeGreaterThanOrEqual(10);
    stop.abort();
    await ended;
  });

  it('45: with two workers and five keys never more than two passes run', async () => {
    const sim = new Sim(1);
    let [running, most, runs] = [0, 0, 0];
    const { enqueue, stop, ended } = await start(
      sim,
      async () => {
        most = Math.max(most, ++running);
        await sleep(sim.clock, 10);
        running--;
        runs++;
        return undefined;
      },
      { workers: 2 },
    );
    for (const key of ['a', 'b', 'c', 'd', 'e']) enqueue(key);
    await sim.settle();
    expect([most, runs]).toEqual([2, 5]);
    stop.abort();
    await ended;
  });

  it('46: before the sources have synced nothing runs; then each key runs once', async () => {
    const sim = new Sim(1);
    const hand = handSource();
    const seen: string[] = [];
    const controller = new Controller(
      { name: 'thing', sources: [hand.source], reconcile: async key => void seen.push(key) as undefined },
      { clock: sim.clock, random: sim.random, log: silent, metrics: prometheusMetrics({ process: false }) },
    );
    const stop = new AbortController();
    const ended = controller.run(stop.signal);
    for (let i = 0; i < 3; i++) for (const key of ['a', 'b']) hand.enqueue(key);
    await sim.settle();
    expect(seen).toEqual([]);
    hand.sync();
    await sim.settle();
    expect(seen).toEqual(['a', 'b']);
    stop.abort();
    await ended;
    expect(hand.state).toEqual({ started: 1, stopped: expect.any(Number) });
    expect(hand.state.stopped).toBeGreaterThan(0);
  });

  it('49: a thrown error is retried with growing delays until the first success', async () => {
    const sim = new Sim(1);
    const at: number[] = [];
    const { enqueue, count } = await start(sim, async () => {
      at.push(sim.clock.now());
      if (at.length < 6) throw new Error('not yet');
      return undefined;
    });
    enqueue('a');
    await sim.settle();
    expect(at.length).toBe(6);
    const gaps = at.slice(1).map((t, i) => t - at[i]!);
    for (let i = 1; i < gaps.length; i++) expect(gaps[i]!).toBeGreaterThan(gaps[i - 1]! * 1.5);
    expect(await count('controller_runtime_reconcile_errors_total{controller="thing"}')).toBe(5);
    expect(await count('controller_runtime_reconcile_total{controller="thing",result="success"}')).toBe(1);
    // Success forgot the failures.
    at.length = 4;
    enqueue('a');
    await sim.settle();
    expect(at.at(-1)! - at.at(-2)!).toBeLessThan(6);
  });

  it('50: a terminal error is not retried, and both counters rise', async () => {
    const sim = new Sim(1);
    let runs = 0;
    const { enqueue, count } = await start(sim, async () => {
      runs++;
      throw new TerminalError('spec.region is immutable');
    });
    enqueue('a');
    await sim.settle();
    expect(runs).toBe(1);
    expect(await count('controller_runtime_reconcile_errors_total')).toBe(1);
    expect(await count('controller_runtime_terminal_reconcile_errors_total')).toBe(1);
    enqueue('a');
    await sim.settle();
    expect(runs).toBe(2);
  });

  it('52: requeueAfter forgets the failures and keeps the priority', async () => {
    const sim = new Sim(1);
    const order: string[] = [];
    let runs = 0;
    const { enqueue } = await start(sim, async key => {
      order.push(`${key}@${sim.clock.now()}`);
      await sleep(sim.clock, 10);
      return key === 'low' && ++runs === 1 ? { after: 100 } : undefined;
    });
    enqueue('low', LOW);
    await sim.until(() => order.length === 1);
    await sim.run(105);
    // Busy when the delay is over at 110, so that the two below compete: the delayed one is still of the low class.
    enqueue('busy');
    await sim.run(8);
    enqueue('normal');
    await sim.settle();
    expect(order.map(o => o.split('@')[0])).toEqual(['low', 'busy', 'normal', 'low']);
  });

  it('a result that only re-checks lets a simulation be quiet', async () => {
    const sim = new Sim(1);
    let runs = 0;
    const { enqueue } = await start(sim, async () => {
      runs++;
      return { after: 600_000, daemon: true };
    });
    enqueue('a');
    await sim.settle();
    expect([runs, sim.clock.now()]).toEqual([1, 0]);
    await sim.run(600_000);
    expect(runs).toBe(2);
  });

  it('53: a pass that takes too long sees an abort of ours and is counted; a stop is not', async () => {
    const sim = new Sim(1);
    const reasons: string[] = [];
    const { enqueue, count, stop, ended } = await start(
      sim,
      async (_key, { signal }) => {
        await sleep(sim.clock, 3_600_000, signal).catch(error => {
          reasons.push((error as Error).name);
          throw error;
        });
        return undefined;
      },
      { timeout: 1000 },
    );
    enqueue('a');
    await sim.until(() => reasons.length === 1);
    expect(reasons).toEqual(['PassTimeout']);
    expect(await count('controller_runtime_reconcile_timeouts_total')).toBe(1);
    await sim.run(100);
    const errors = await count('controller_runtime_reconcile_errors_total');
    stop.abort(Object.assign(new Error('SIGTERM'), { name: 'Stop' }));
    await ended;
    expect(reasons.at(-1)).toBe('Stop');
    expect(await count('controller_runtime_reconcile_timeouts_total')).toBe(1);
    expect(await count('controller_runtime_reconcile_errors_total')).toBe(errors);
  });

  it('a pass that ignores its abort keeps its key locked', async () => {
    const sim = new Sim(1);
    let runs = 0;
    const { enqueue, count } = await start(
      sim,
      async key => {
        if (key === 'stuck') runs++;
        if (key === 'stuck') await new Promise(() => {});
        return undefined;
      },
      { workers: 2, timeout: 1000 },
    );
    enqueue('stuck');
    await sim.run(5000);
    enqueue('stuck');
    enqueue('other');
    await sim.run(5000);
    expect(runs).toBe(1);
    expect(await count('workqueue_longest_running_processor_seconds')).toBe(10);
    expect(await count('controller_runtime_active_workers')).toBe(1);
  });

  it('54: a source that never syncs fails the start after two minutes and is named', async () => {
    const sim = new Sim(1);
    const [good, bad] = [handSource('good'), handSource('keystones.openstack.k8s.io')];
    const controller = new Controller(
      { name: 'thing', sources: [good.source, bad.source], reconcile: async () => undefined },
      { clock: sim.clock, random: sim.random, log: silent, metrics: prometheusMetrics({ process: false }) },
    );
    const failed = controller.run(new AbortController().signal).catch((error: Error) => error.message);
    good.sync();
    await sim.run(120_000);
    expect(await failed).toMatch(/no sync in 120 s of keystones\.openstack\.k8s\.io$/);
    expect(bad.state.stopped).toBeGreaterThan(0);
  });

  it('55: the second start fails', async () => {
    const sim = new Sim(1);
    const { controller, stop, ended } = await start(sim, async () => undefined);
    await expect(controller.run(stop.signal)).rejects.toThrow('started twice');
    stop.abort();
    await ended;
  });

  it('a conflict is repeated quietly: no error counted', async () => {
    const sim = new Sim(1);
    let runs = 0;
    const { enqueue, count } = await start(sim, async () => {
      if (++runs < 3) throw conflict();
      return undefined;
    });
    enqueue('a');
    await sim.settle();
    expect(runs).toBe(3);
    expect(await count('controller_runtime_reconcile_errors_total')).toBe(0);
    expect(await count('controller_runtime_reconcile_total{controller="thing",result="requeue"}')).toBe(2);
  });

  it('a mistake of our own is counted as a panic and retried', async () => {
    const sim = new Sim(1);
    let runs = 0;
    const { enqueue, count } = await start(sim, async () => {
      if (++runs === 1) throw new TypeError('x is undefined');
      return undefined;
    });
    enqueue('a');
    await sim.settle();
    expect(runs).toBe(2);
    expect(await count('controller_runtime_reconcile_panics_total')).toBe(1);
  });

  it('a stop before the sync ends the start without a pass', async () => {
    const sim = new Sim(1);
    const hand = handSource();
    const controller = new Controller(
      { name: 'thing', sources: [hand.source], reconcile: async () => undefined },
      { clock: sim.clock, random: sim.random, log: silent, metrics: prometheusMetrics({ process: false }) },
    );
    const stop = new AbortController();
    const ended = controller.run(stop.signal);
    stop.abort();
    await ended;
    expect(hand.state.stopped).toBeGreaterThan(0);
  });
});
