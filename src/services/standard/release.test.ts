import { describe, expect, it } from 'vitest';
import { CHILDREN } from '../../../api/openstack/controlplane.ts';
import { heldAt, SECTION_NAMES } from '../../controlplane/sections.ts';
import { PLANS } from '../../operator/plans.ts';
import { releaseProblem, wayOf } from './release.ts';

describe('the way between two releases', () => {
  it.each([
    ['2025.1', '2025.1', 'same'],
    ['2025.1', '2025.2', 'next'],
    ['2025.2', '2026.1', 'next'],
    ['2025.1', '2026.1', 'slurp'],
    ['2024.1', '2025.1', 'slurp'],
    ['2024.2', '2025.2', 'skips'],
    ['2025.2', '2026.2', 'skips'],
    ['2025.1', '2027.1', 'skips'],
    ['2025.1', '2026.2', 'skips'],
    ['2025.2', '2025.1', 'backwards'],
    ['2026.1', '2025.1', 'backwards'],
    ['zed', '2025.1', 'unknown'],
    ['2025.1', '2025.3', 'unknown'],
  ] as const)('%s to %s: %s', (from, to, way) => expect(wayOf(from, to)).toBe(way));
});

describe('what runs', () => {
  it.each([
    ['2025.2', '2026.1', 'does not upgrade what runs'],
    ['2025.1', '2026.1', 'does not upgrade what runs'],
    ['2025.2', '2025.1', 'does not go back'],
    ['2024.2', '2026.1', 'SLURP'],
    ['zed', '2025.1', 'no way'],
  ])('%s is not told to become %s: %s', (from, to, why) => expect(releaseProblem(from, to)).toContain(why));

  it('stays what it is, and what does not run yet may become anything', () => {
    expect(releaseProblem('2025.2', '2025.2')).toBeUndefined();
    expect(releaseProblem(undefined, '2025.1')).toBeUndefined();
  });

  it('is guarded for every kind that has spec.release and a controller', () => {
    const released = PLANS.filter(({ kind }) => (kind as { specFields?: string[] }).specFields?.includes('release'));
    const bare = released.filter(plan => plan.version === undefined && plan.rows[0]?.type !== 'ControllerReady');
    expect(released.length).toBeGreaterThan(15);
    expect(bare.map(plan => plan.kind.kind)).toEqual([]);
  });
});

describe('edges gate release changes', () => {
  const moved = (...names: string[]) => {
    const running = (name: string): string => (names.includes(name) ? '2026.1' : '2025.2');
    return SECTION_NAMES.filter(name => heldAt(name, '2026.1', running, () => true) === undefined);
  };
  const moving = (...names: string[]) => moved(...names).filter(name => !names.includes(name));
  const infrastructure = ['mariadb', 'rabbitmq', 'memcached', 'ceph', 'ovn'].filter(name =>
    CHILDREN[name as keyof typeof CHILDREN].specFields.includes('release'),
  );

  it('from below: servers, Keystone, what it serves, and Nova last', () => {
    expect(moving()).toEqual(infrastructure);
    expect(moving(...infrastructure)).toEqual(['keystone']);
    expect(moving(...infrastructure, 'keystone')).toEqual(['glance', 'placement', 'neutron', 'heat', 'horizon']);
    expect(moving(...infrastructure, 'keystone', 'glance', 'placement', 'neutron')).toEqual([
      'nova',
      'cinder',
      'heat',
      'horizon',
    ]);
  });

  it('hold nobody who does not run yet, and nobody by what is switched off', () => {
    expect(
      heldAt(
        'nova',
        '2026.1',
        () => undefined,
        () => true,
      ),
    ).toBeUndefined();
    expect(
      heldAt(
        'nova',
        '2026.1',
        name => (name === 'nova' ? '2025.2' : undefined),
        () => true,
      ),
    ).toBe('2025.2');
    expect(
      heldAt(
        'nova',
        '2026.1',
        name => (name === 'nova' ? '2025.2' : undefined),
        () => false,
      ),
    ).toBeUndefined();
  });
});
