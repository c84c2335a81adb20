import { describe, expect, it } from 'vitest';
import { prometheusMetrics } from '../../src/runtime/metrics/prometheus.ts';
import { Cloud } from './cloud.ts';
import { ours } from './stories.ts';

describe('the series that alerts stand on', () => {
  it('tells of every object of ours whether it is Ready', async () => {
    const metrics = prometheusMetrics({ process: false });
    const cloud = await Cloud.start({ operator: { metrics } });
    cloud.apply(ours('Memcached', 'good'), ours('Memcached', 'bad', { image: 'example.org/no-such:1' }));
    await cloud.settle();
    const page = await metrics.render();
    expect(page).toContain('object_ready{namespace="openstack",kind="Memcached",object="good"} 1');
    expect(page).toContain('object_ready{namespace="openstack",kind="Memcached",object="bad"} 0');
  });
});
