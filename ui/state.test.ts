import { describe, expect, it } from 'vitest';
import { matches } from './drawer.ts';
import { hashOf, nowOf, type Route, routeIn } from './state.ts';
import { ticksOf } from './timeline.ts';

describe('the address', () => {
  it.each<[string, Route]>([
    ['', { view: 'topology', tab: 'why' }],
    ['#view=rollout', { view: 'rollout', tab: 'why' }],
    [
      '#cloud=openstack/slice&object=Keystone/keystone&tab=config',
      { cloud: 'openstack/slice', view: 'topology', object: 'Keystone/keystone', tab: 'config' },
    ],
    ['#view=nonsense&tab=nonsense&object=<script>', { view: 'topology', tab: 'why' }],
  ])('%s', (hash, route) => expect(routeIn(hash)).toEqual(route));

  it('comes back from what it was made to', () => {
    const route: Route = { cloud: 'a/b', view: 'rollout', object: 'Nova/nova', tab: 'events' };
    expect(routeIn(hashOf(route))).toEqual(route);
    expect(hashOf({ view: 'topology', tab: 'why' })).toBe('#');
  });
});

describe('time', () => {
  const overview = { now: 5000, live: true } as never;
  it('goes on from when the cluster was looked at', () => expect(nowOf({ overview, heardAt: 100 }, 1100)).toBe(6000));
  it('stands still in a file', () =>
    expect(nowOf({ overview: { now: 5000, live: false } as never, heardAt: 100 }, 1100)).toBe(5000));

  it.each([
    [4000, 5, 1000],
    [45_000, 5, 10_000],
    [3_600_000, 7, 600_000],
  ])('%i ms have %i ticks of %i', (ms, count, step) => {
    const ticks = ticksOf(ms);
    expect([ticks.length, ticks[1]]).toEqual([count, step]);
  });
});

describe('the search in a config', () => {
  const setter = {
    layer: 'service' as const,
    object: 'Keystone keystone',
    file: '02-keystone-override.conf',
    fileLine: 3,
    value: 'true',
  };
  const option = {
    section: 'DEFAULT',
    key: 'debug',
    values: ['true'],
    layer: 'service' as const,
    setters: [setter],
    overrides: [],
    masked: false,
    elsewhere: [],
  };
  it.each([
    ['', true],
    ['DEBUG', true],
    ['default debug', true],
    ['override.conf', true],
    ['keystone service', true],
    ['transport', false],
    ['debug false', false],
  ])('%s', (search, found) => expect(matches(option, search)).toBe(found));
});
