import { describe, expect, it } from 'vitest';
import { NETNS, nodesOf } from './layout.ts';

describe('the nodes of the lab', () => {
  it('share nothing but the first network namespace with the control plane', () => {
    const nodes = nodesOf(3);
    for (const field of ['name', 'ip', 'podCidr', 'netns', 'cgroup'] as const)
      expect(new Set(nodes.map(node => node[field])).size).toBe(3);
    expect(nodes[0]?.netns).toBe(NETNS);
  });

  it.each([0, 10, 1.5, Number.NaN])('are not %d', count => {
    expect(() => nodesOf(count)).toThrow(/LAB_NODES must be a number from 1 to 9/);
  });
});
