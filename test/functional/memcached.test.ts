import { describe, expect, it } from 'vitest';
import { Memcached } from '../../api/openstack/memcached.ts';
import { StatefulSet } from '../../src/kube/resource.ts';
import { Cloud } from './cloud.ts';

const memcached = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Memcached', metadata: { name: 'memcached' } };

describe('Memcached', () => {
  it('becomes Ready from nothing but its name', async () => {
    const cloud = await Cloud.start();
    cloud.apply(memcached);
    await cloud.ready(Memcached, 'memcached');
    expect(cloud.get(StatefulSet, 'memcached')?.spec).toMatchObject({ replicas: 1 });
    expect(cloud.get(Memcached, 'memcached')?.status).toMatchObject({
      servers: ['memcached-0.memcached.openstack.svc.cluster.local:11211'],
    });
  });
});
