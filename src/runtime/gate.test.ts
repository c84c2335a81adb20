import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import { Deployment, Job } from '../kube/resource.ts';
import { Gate } from './gate.ts';
import { noMetrics } from './metrics/metrics.ts';

function make() {
  const sim = new Sim(1);
  const stale: string[] = [];
  const gate = new Gate(sim.clock, { ...noMetrics, stale: (resource, how) => stale.push(`${resource} ${how}`) });
  return { sim, gate, stale };
}

describe('Gate', () => {
  it('71: wrote 10 and the informer at 9: wait; at 10: go, and the record is cleared', () => {
    const { gate, stale } = make();
    gate.wrote('uid', Deployment, '10');
    expect(gate.behind('uid', () => '9')).toBe(100);
    expect(stale).toEqual(['deployments.apps skipped']);
    expect(gate.behind('uid', () => '10')).toBeUndefined();
    expect(gate.size).toBe(0);
    expect(gate.behind('uid', () => '1')).toBeUndefined();
  });

  it('keeps the highest version per resource, and numbers are not text', () => {
    const { gate } = make();
    gate.wrote('uid', Deployment, '100');
    gate.wrote('uid', Deployment, '99');
    gate.wrote('uid', Job, '7');
    expect(gate.behind('uid', r => (r === Job ? '7' : '99'))).toBe(100);
    expect(gate.behind('uid', r => (r === Job ? '6' : '100'))).toBe(100);
    expect(gate.behind('uid', r => (r === Job ? '7' : '100'))).toBeUndefined();
  });

  it('72: an owner recreated under a new uid starts empty', () => {
    const { gate } = make();
    gate.wrote('old', Deployment, '10');
    expect(gate.behind('new', () => '1')).toBeUndefined();
    gate.forget('old');
    expect(gate.size).toBe(0);
  });

  it('73: an informer that has not synced is behind', () => {
    const { gate } = make();
    gate.wrote('uid', Deployment, '10');
    expect(gate.behind('uid', () => undefined)).toBe(100);
  });

  it('74: a delete that finalizers hold feeds the gate, one that left nothing does not', () => {
    const { gate } = make();
    gate.wrote('uid', Deployment, undefined);
    expect(gate.size).toBe(0);
    gate.wrote('uid', Deployment, '11');
    expect(gate.behind('uid', () => '10')).toBe(100);
  });

  it('takes versions that are no numbers for seen, and blocks no other owner', () => {
    const { gate } = make();
    gate.wrote('a', Deployment, 'opaque');
    gate.wrote('b', Deployment, '10');
    expect(gate.behind('a', () => '1')).toBeUndefined();
    expect(gate.behind('b', () => '1')).toBe(100);
    expect(gate.behind('c', () => '1')).toBeUndefined();
  });

  it('gives up after thirty seconds and says so', async () => {
    const { sim, gate, stale } = make();
    gate.wrote('uid', Deployment, '10');
    await sim.run(29_999);
    expect(gate.behind('uid', () => '9')).toBe(100);
    await sim.run(1);
    expect(gate.behind('uid', () => '9')).toBeUndefined();
    expect(stale.at(-1)).toBe('deployments.apps live');
    expect(gate.size).toBe(0);
  });
});
