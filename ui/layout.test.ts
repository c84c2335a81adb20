import { describe, expect, it } from 'vitest';
import type { Topology } from '../src/insight/status/topology.ts';
import { type Layout, layoutOf, neighbour, spoken } from './layout.ts';

const node = (id: string, phase?: 'Infrastructure' | 'Identity' | 'CoreServices') => ({
  id,
  parts: [],
  ...(phase && { phase }),
});
const cloud: Topology = {
  phases: ['Infrastructure', 'Identity', 'CoreServices'],
  nodes: [
    node('Glance/glance', 'CoreServices'),
    node('MariaDB/mariadb', 'Infrastructure'),
    node('Memcached/memcached', 'Infrastructure'),
    node('Keystone/keystone', 'Identity'),
  ],
  edges: [
    { from: 'MariaDB/mariadb', to: 'Keystone/keystone', implied: false },
    { from: 'Keystone/keystone', to: 'Glance/glance', implied: false },
    { from: 'MariaDB/mariadb', to: 'Glance/glance', implied: true },
  ],
};
const at = (layout: Layout, id: string) => layout.boxes.find(box => box.id === id)!;
const overlaps = ({ boxes, box }: Layout): boolean =>
  boxes.some((a, i) =>
    boxes.some((b, j) => i < j && Math.abs(a.x - b.x) < box.width && Math.abs(a.y - b.y) < box.height),
  );

describe('the picture', () => {
  it.each([1280, 760, 600])('%i wide: phases go to the right in their order, and nothing overlaps', room => {
    const layout = layoutOf(cloud, room);
    expect(at(layout, 'MariaDB/mariadb').x).toBeLessThan(at(layout, 'Keystone/keystone').x);
    expect(at(layout, 'Keystone/keystone').x).toBeLessThan(at(layout, 'Glance/glance').x);
    expect(at(layout, 'MariaDB/mariadb').x).toBe(at(layout, 'Memcached/memcached').x);
    expect(overlaps(layout)).toBe(false);
    expect(layout.bands.map(band => band.title)).toEqual(['Infrastructure', 'Identity', 'Core services']);
    expect(layout.lines).toHaveLength(3);
    expect(Math.max(...layout.boxes.map(box => box.x + layout.box.width))).toBeLessThanOrEqual(room);
  });

  it.each([400, 300])('%i wide: phases go downwards, and it is no wider than the room', room => {
    const layout = layoutOf(cloud, room);
    expect(at(layout, 'MariaDB/mariadb').y).toBeLessThan(at(layout, 'Keystone/keystone').y);
    expect(at(layout, 'Keystone/keystone').y).toBeLessThan(at(layout, 'Glance/glance').y);
    expect(Math.max(...layout.boxes.map(box => box.x + layout.box.width))).toBeLessThanOrEqual(room);
    expect(overlaps(layout)).toBe(false);
  });

  it('more phases than fit beside each other go downwards', () => {
    const phases = ['Infrastructure', 'Identity', 'CoreServices', 'ComputeAndStorage', 'OptionalServices'] as const;
    const many: Topology = { phases, nodes: phases.map(phase => ({ id: `${phase}/a`, phase, parts: [] })), edges: [] };
    const rows = (room: number) => new Set(layoutOf(many, room).boxes.map(box => box.y)).size;
    expect([rows(900), rows(778)]).toEqual([1, 5]);
  });

  it('without phases a service stands after what it waits for', () => {
    const alone: Topology = { ...cloud, phases: [], nodes: cloud.nodes.map(({ id }) => node(id)) };
    const layout = layoutOf(alone, 1280);
    expect(at(layout, 'MariaDB/mariadb').x).toBeLessThan(at(layout, 'Keystone/keystone').x);
    expect(at(layout, 'Keystone/keystone').x).toBeLessThan(at(layout, 'Glance/glance').x);
    expect(layout.bands).toEqual([]);
  });

  it('of nothing, and of a circle that no cloud has', () => {
    expect(layoutOf({ phases: [], nodes: [], edges: [] }, 800).boxes).toEqual([]);
    const edges = [
      { from: 'A/a', to: 'B/b', implied: false },
      { from: 'B/b', to: 'A/a', implied: false },
    ];
    expect(layoutOf({ phases: [], nodes: [node('A/a'), node('B/b')], edges }, 800).boxes).toHaveLength(2);
  });

  it('arrow keys walk it', () => {
    const layout = layoutOf(cloud, 1280);
    expect(neighbour(layout, 'Keystone/keystone', 'ArrowRight')).toBe('Glance/glance');
    expect(neighbour(layout, 'Glance/glance', 'ArrowRight')).toBeUndefined();
    expect(neighbour(layout, 'MariaDB/mariadb', 'ArrowDown')).toBe('Memcached/memcached');
    expect(neighbour(layout, 'Memcached/memcached', 'ArrowUp')).toBe('MariaDB/mariadb');
  });

  it.each([
    ['CoreServices', 'Core services'],
    ['ComputeAndStorage', 'Compute and storage'],
    ['Identity', 'Identity'],
  ])('%s is %s', (name, words) => expect(spoken(name)).toBe(words));
});
