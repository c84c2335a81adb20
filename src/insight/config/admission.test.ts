import { describe, expect, it } from 'vitest';
import type { Live } from '../view/view.ts';
import { type AdmissionRequest, admit, CELL_ANNOTATION, type Neighbours } from './admission.ts';

const object = (kind: string, name: string, spec: object = {}, cell?: string): Live => ({
  apiVersion: 'x/v1',
  kind,
  metadata: { name, namespace: 'openstack', ...(cell && { annotations: { [CELL_ANNOTATION]: cell } }) },
  spec,
});
const around = (...objects: Live[]): Neighbours => ({ list: async kind => objects.filter(o => o.kind === kind) });
const nobody: Neighbours = { list: () => Promise.reject(new Error('asked for nothing')) };
const create = (one: Live, among = nobody) => admit({ operation: 'CREATE', object: one }, among);
const update = (before: Live, after: Live, among = nobody) =>
  admit({ operation: 'UPDATE', object: after, oldObject: before } satisfies AdmissionRequest, among);
const keystone = (customServiceConfig: string, more: object = {}) =>
  object('Keystone', 'keystone', { release: '2025.2', customServiceConfig, ...more });
const fine = { refusals: [], warnings: [] };

describe('what is written is looked at', () => {
  it('good text passes in silence', async () => {
    expect(await create(keystone('[token]\nexpiration = 7200\n'))).toEqual(fine);
  });

  it('text that nobody can read is refused, with its place', async () => {
    const { refusals } = await create(keystone('[token\n'));
    expect(refusals).toEqual([expect.stringMatching(/^spec\.customServiceConfig:1:\d+: .* \(syntax\)$/)]);
  });

  it('what may be meant passes with a warning: unknown, of the wrong type, not yours to set', async () => {
    const text = '[token]\nexpiraton = 1\nexpiration = soon\n[database]\nconnection = x\n';
    const { refusals, warnings } = await create(keystone(text));
    expect(refusals).toEqual([]);
    expect(warnings.map(line => /\((\S+)\)$/.exec(line)?.[1])).toEqual(['unknown-option', 'type', 'operator-owned']);
  });

  it('an object that is wrong already is open to every other edit, and to none that makes it worse', async () => {
    const bad = keystone('[token\n');
    expect((await update(bad, keystone('[token\n', { replicas: 2 }))).refusals).toEqual([]);
    expect((await update(bad, keystone('[token\n', { replicas: 2 }))).warnings).toHaveLength(1);
    expect((await update(bad, keystone('[other]\nx\n'))).refusals).toHaveLength(1);
    expect((await update(bad, keystone('[token]\n'))).refusals).toEqual([]);
  });

  it('a spec without end is not read to its end: that would take longer than the lease of this process', async () => {
    const long = keystone(`[DEFAULT]\n${'x=1\n'.repeat(900_000)}`);
    const wide = object('Keystone', 'keystone', {
      ...Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, { schedule: 'x' }])),
    });
    for (const one of [long, wide]) {
      const { refusals, warnings } = await update(one, { ...one });
      expect(refusals).toEqual([]);
      expect(warnings).toEqual([
        expect.stringMatching(
          /^spec has \d+ KiB, more than the 128 KiB that are checked here: .*kubectl openstack lint/,
        ),
      ]);
      // What does not depend on its length is looked at all the same.
      const ran = { ...one, spec: { ...(one.spec as object), release: '2025.2' }, status: { release: '2025.2' } };
      const back = { ...ran, spec: { ...ran.spec, release: '2025.1' } };
      expect((await update(ran, back)).refusals).toEqual([expect.stringContaining('spec.release')]);
    }
  });

  it('many mistakes are named by the first of them', async () => {
    const tasks = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, { schedule: 'x' }]));
    const { refusals } = await update(object('Keystone', 'keystone'), object('Keystone', 'keystone', tasks));
    expect(refusals).toHaveLength(12);
  });

  it('a spec on its way out is nobody’s business', async () => {
    const going = { ...keystone('[token\n') };
    const metadata = { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(await update(going, { ...going, metadata })).toEqual(fine);
    expect(await admit({ operation: 'DELETE', object: going }, nobody)).toEqual(fine);
  });

  it('a schedule that means no time', async () => {
    const bad = keystone('', { fernetRotation: { schedule: '0 25 * * *' } });
    expect((await create(bad)).refusals).toEqual([expect.stringMatching(/^spec\.fernetRotation\.schedule: /)]);
    expect((await update(bad, bad)).refusals).toEqual([]);
  });

  it('keeps warnings short and few', async () => {
    const text = `[token]\n${Array.from({ length: 40 }, (_, i) => `no_such_option_${i} = 1`).join('\n')}\n`;
    const { warnings } = await create(keystone(text));
    expect(warnings).toHaveLength(12);
    expect(warnings.at(-1)).toBe('and 29 more: kubectl openstack lint shows them all');
    expect(Math.max(...warnings.map(line => line.length))).toBeLessThanOrEqual(256);
  });

  it('one control plane per namespace', async () => {
    const [one, two] = ['one', 'two'].map(name => object('OpenStackControlPlane', name)) as [Live, Live];
    expect((await create(two, around(one))).refusals).toEqual([
      'namespace openstack has OpenStackControlPlane one: one is all it can have',
    ]);
    const elsewhere = { ...one, metadata: { ...one.metadata, namespace: 'other' } };
    expect(await create(two, around(elsewhere, two))).toEqual(fine);
    expect(await update(two, two)).toEqual(fine);
  });
});

describe('a host keeps its cell', () => {
  const role = (cell?: string, name = 'compute') => object('OpenStackDataPlaneRole', name, {}, cell);
  const node = (cell?: string, in_ = 'compute') => object('OpenStackDataPlaneNode', 'host-0', { role: in_ }, cell);
  const refused = [expect.stringContaining('host host-0 belongs to cell nova-cell1')];

  it.each([
    ['its annotation changes', node('nova-cell1'), node('nova-cell2'), refused],
    ['its annotation goes, and its role has none', node('nova-cell1'), node(), refused],
    ['an override comes after the role gave it a cell', node(), node('nova-cell2'), refused, role('nova-cell1')],
    ['its role is swapped', node(), node(undefined, 'other'), refused, role('nova-cell1'), role('nova-cell2', 'other')],
    ['an override that says the same', node(), node('nova-cell1'), [], role('nova-cell1')],
    ['its annotation goes, and its role says the same', node('nova-cell1'), node(), [], role('nova-cell1')],
    [
      'its role is swapped for one of the same cell',
      node(),
      node(undefined, 'other'),
      [],
      role('nova-cell1'),
      role('nova-cell1', 'other'),
    ],
    ['it gets its first cell', node(), node('nova-cell2'), [], role()],
  ])('%s', async (_what, before, after, refusals, ...roles) => {
    expect((await update(before as Live, after as Live, around(...(roles as Live[])))).refusals).toEqual(refusals);
  });

  it.each([
    ['of a role that has hosts', role('nova-cell1'), role('nova-cell2'), refused, node()],
    ['is taken from a role that has hosts', role('nova-cell1'), role(), refused, node()],
    ['of a role whose hosts all have their own', role('nova-cell1'), role('nova-cell2'), [], node('nova-cell1')],
    ['of a role without hosts', role('nova-cell1'), role('nova-cell2'), [], node(undefined, 'other')],
    ['is given to a role with hosts for the first time', role(), role('nova-cell2'), [], node()],
  ])('the annotation %s', async (_what, before, after, refusals, ...nodes) => {
    expect((await update(before as Live, after as Live, around(...(nodes as Live[])))).refusals).toEqual(refusals);
  });

  it('asks for nothing when nothing about it changes', async () => {
    expect(await update(node('a'), node('a'))).toEqual(fine);
    expect(await update(role('a'), role('a'))).toEqual(fine);
  });
});

describe('the release of what runs', () => {
  const running = (release: string, wanted: string): Live => ({
    ...object('Keystone', 'keystone', { release: wanted }),
    status: { release },
  });

  it.each([
    ['2025.2', '2025.1', 'does not go back'],
    ['2025.1', '2025.2', 'does not upgrade'],
    ['2025.1', '2026.1', 'does not upgrade'],
  ])('is not changed from %s to %s', async (from, to, words) => {
    const { refusals } = await update(running(from, from), running(from, to));
    expect(refusals).toEqual([expect.stringContaining(words)]);
    expect(refusals[0]).toMatch(
      new RegExp(`^spec\\.release: Keystone keystone runs ${from} .* leave spec\\.release at ${from}$`),
    );
  });

  it('may be set back, and a spec that is wrong already is open to every other edit', async () => {
    expect((await update(running('2025.1', '2025.2'), running('2025.1', '2025.1'))).refusals).toEqual([]);
    const edited = { ...running('2025.1', '2025.2'), spec: { release: '2025.2', replicas: 2 } };
    expect((await update(running('2025.1', '2025.2'), edited)).refusals).toEqual([]);
  });

  it('is free while nothing runs', async () => {
    const fresh = (release: string) => object('Keystone', 'keystone', { release });
    expect((await update(fresh('2025.2'), fresh('2025.1'))).refusals).toEqual([]);
  });
});

describe('rights on the node', () => {
  const bad = { override: { podTemplate: { spec: { hostNetwork: true } } } };
  const cloud = (keystone: object) => object('OpenStackControlPlane', 'cloud', { keystone });

  it('are refused with object, field and cure, in sections too', async () => {
    const { refusals } = await create(cloud(bad), around());
    expect(refusals).toEqual([
      'spec.keystone.override.podTemplate.spec.hostNetwork is the network of the node, in OpenStackControlPlane cloud: take it out; only whoever runs the operator may allow it (run --allow-host-access)',
    ]);
    expect((await update(cloud({}), cloud(bad), around())).refusals).toHaveLength(1);
  });

  it('that were there before are a warning, and no reason to refuse another edit', async () => {
    const { refusals, warnings } = await update(cloud(bad), cloud({ ...bad, replicas: 2 }), around());
    expect([refusals, warnings.length]).toEqual([[], 1]);
  });

  it('are refused in a spec that is too long for the linter', async () => {
    const { refusals } = await create(keystone(`# ${'x'.repeat(200_000)}\n`, bad));
    expect(refusals).toHaveLength(1);
  });

  it('are given where the operator was told to', async () => {
    const request = { operation: 'CREATE', object: cloud(bad) };
    expect((await admit(request, around(), { ALLOW_HOST_ACCESS: 'true' })).refusals).toEqual([]);
  });
});
