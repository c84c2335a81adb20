import { describe, expect, it } from 'vitest';
import { makeAuthority } from '../../real/certificate.ts';
import { leadsTo, union } from '../../world/x509.ts';
import { nextServing, type Serving, SPREAD_MS } from './serving.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const [first, second] = [makeAuthority('first', NOW), makeAuthority('second', NOW)];
const sourceOf = (from = first, to?: number) => {
  const { ca, cert, key } = from.issue({ names: ['x'], ...(to !== undefined && { to }) });
  return { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca };
};

/** Takes every step as it falls due. */
function walk(source: ReturnType<typeof sourceOf>, from: Serving, start: number): { at: number; serving: Serving }[] {
  const steps: { at: number; serving: Serving }[] = [];
  let [serving, at] = [from, start];
  for (let n = 0; n < 10; n++) {
    const next = nextServing(source, serving, at);
    if (next.serving !== serving) steps.push({ at: at - start, serving: next.serving });
    serving = next.serving;
    if (next.again === undefined) return steps;
    at += next.again;
  }
  throw new Error('it never rests');
}

describe('the certificate that pods show', () => {
  const source = sourceOf();
  const { serving } = nextServing(source, undefined, NOW);

  it('is at first what there is, and then stays', () => {
    expect(serving).toMatchObject({ crt: source['tls.crt'], trust: union(first.ca), since: NOW });
    expect(nextServing(source, serving, NOW + 1)).toEqual({ serving });
  });

  it('is replaced at once by another of the same CA', () => {
    const renewed = sourceOf();
    const steps = walk(renewed, serving, NOW + 1000);
    expect(steps.map(step => step.at)).toEqual([0]);
    expect(steps[0]?.serving).toMatchObject({ crt: renewed['tls.crt'], trust: serving.trust });
  });

  it('changes its CA in three steps, and at no time is shown to somebody who does not trust it', () => {
    const renewed = sourceOf(second);
    const steps = walk(renewed, serving, NOW + 1000);
    expect(steps.map(step => step.at)).toEqual([0, SPREAD_MS, 2 * SPREAD_MS]);
    let known = serving.trust;
    for (const { serving: step } of steps) {
      // A client that still has the bundle of the step before can verify what is shown now.
      expect(leadsTo(step.crt, known) && leadsTo(step.crt, step.trust)).toBe(true);
      known = step.trust;
    }
    expect(steps.at(-1)?.serving).toMatchObject({ crt: renewed['tls.crt'], trust: union(second.ca) });
  });

  it('waits for its turn after others, from when it was first seen or its CA has spread', () => {
    const renewed = sourceOf();
    const seen = nextServing(renewed, serving, NOW + 1000, 30_000);
    expect(seen).toEqual({ serving: { ...serving, noticed: NOW + 1000 }, again: 30_000 });
    expect(nextServing(renewed, seen.serving, NOW + 11_000, 30_000)).toEqual({ serving: seen.serving, again: 20_000 });
    expect(nextServing(renewed, seen.serving, NOW + 31_000, 30_000).serving).toEqual({
      crt: renewed['tls.crt'],
      key: renewed['tls.key'],
      trust: serving.trust,
      since: NOW + 31_000,
    });
    expect(nextServing(source, seen.serving, NOW + 11_000, 30_000)).toEqual({ serving });
    const both = nextServing(sourceOf(second), serving, NOW, 30_000).serving;
    expect(nextServing(sourceOf(second), both, NOW + SPREAD_MS, 30_000)).toEqual({ serving: both, again: 30_000 });
  });

  it('goes on from where it was when it is looked at early, or changed again on the way', () => {
    const both = nextServing(sourceOf(second), serving, NOW).serving;
    expect(nextServing(sourceOf(second), both, NOW + 1000)).toEqual({ serving: both, again: SPREAD_MS - 1000 });
    const back = walk(source, both, NOW + 1000);
    expect(back.at(-1)?.serving.trust).toBe(serving.trust);
    expect(back.every(step => step.serving.crt === serving.crt)).toBe(true);
  });

  it('is not waited for when the old one has ended: nobody takes that any more', () => {
    const old = nextServing(sourceOf(first, NOW + 1000), undefined, NOW).serving;
    const steps = walk(sourceOf(second), old, NOW + 5000);
    expect(steps[0]?.at).toBe(0);
    expect(leadsTo(steps[0]?.serving.crt ?? '', second.ca)).toBe(true);
  });
});
