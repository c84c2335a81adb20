import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import type { InformerStats } from '../kube/cache/cache.ts';
import { silent } from '../world/log.ts';
import { failures, informersAlive, watchLoop } from './health.ts';
import { prometheusMetrics } from './metrics/prometheus.ts';

describe('health', () => {
  it('names the checks that complain', () => {
    expect(failures({ a: () => undefined, b: () => 'too old' })).toEqual({ b: 'too old' });
  });

  it.each<[string, Partial<InformerStats>, boolean]>([
    ['heard lately', { lastEventAt: 650_000 }, true],
    ['silent for ten minutes', { lastEventAt: 50_000 }, false],
    ['silent and knows why', { lastEventAt: 50_000, failures: 3 }, true],
    ['never heard anything: still starting', {}, true],
  ])('an informer that is %s', async (_name, stats, alive) => {
    const sim = new Sim(1);
    await sim.run(700_000);
    const base = { failures: 0, lastEventAt: undefined } as InformerStats;
    const check = informersAlive(sim.clock, () => [{ resource: { plural: 'pods' }, stats: { ...base, ...stats } }]);
    expect(check()).toBe(alive ? undefined : 'nothing heard for 10 minutes of pods');
  });

  it('a blocked loop is warned of and shows as the worst lag since the last scrape', async () => {
    const sim = new Sim(1);
    const p = sim.process('p');
    const metrics = prometheusMetrics({ process: false });
    const warnings: unknown[] = [];
    const stop = new AbortController();
    watchLoop(p.clock, { ...silent, warn: (_text, fields) => void warnings.push(fields) }, metrics, stop.signal);
    await sim.run(2_000);
    expect(warnings).toEqual([]);
    p.pause(3_000);
    await sim.run(10_000);
    expect(warnings).toEqual([{ milliseconds: 2500 }]);
    expect(await metrics.render()).toMatch(/^eventloop_lag_seconds 2\.5$/m);
    expect(await metrics.render()).toMatch(/^eventloop_lag_seconds 0$/m);
    stop.abort();
    const before = sim.journal.length;
    await sim.run(10_000);
    expect(sim.journal.length).toBe(before);
  });
});
