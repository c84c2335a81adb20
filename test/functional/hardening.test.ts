import { describe, expect, it } from 'vitest';
import { Deployment, PodDisruptionBudget } from '../../src/kube/resource.ts';
import { NS } from './cloud.ts';
import { cloudWith, readyCloud, template } from './services.ts';

const of = (replicas: number) => ({
  keystone: { replicas },
  // Always two: its addresses are in everybody's config.
  memcached: { replicas: 2 },
  heat: { enabled: true, replicas },
  horizon: { enabled: true, replicas },
});
const several = ['heat-api', 'heat-cfn', 'heat-engine', 'horizon', 'keystone-api', 'memcached'];

describe('disruption budgets', () => {
  it('are there where a service has several pods, follow their number, and roll nothing', async () => {
    const cloud = await readyCloud(of(1));
    const names = () =>
      cloud.hands
        .list(PodDisruptionBudget, NS)
        .map(object => object.metadata.name)
        .sort();
    expect(names()).toEqual(['memcached']);
    const before = template(cloud, Deployment, 'heat-api');
    cloud.apply(cloudWith(of(2)));
    await cloud.settle();
    expect(names()).toEqual(several);
    expect(cloud.get(PodDisruptionBudget, 'heat-api')?.spec).toMatchObject({
      maxUnavailable: 1,
      selector: { matchLabels: { 'app.kubernetes.io/instance': 'heat', 'app.kubernetes.io/component': 'api' } },
    });
    expect(template(cloud, Deployment, 'heat-api')).toEqual(before);
    cloud.apply(cloudWith(of(1)));
    await cloud.settle();
    expect(names()).toEqual(['memcached']);
  }, 60_000);
});
