import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Keystone } from '../../api/openstack/keystone.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Secret } from '../../src/kube/resource.ts';
import { Cloud } from './cloud.ts';

const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as { metadata: { name: string } };

describe('the slice', () => {
  it('goes from one object to a cloud that issues a token', async () => {
    const cloud = await Cloud.start();
    cloud.apply(slice);
    await cloud.ready(OpenStackControlPlane, slice.metadata.name);
    expect(cloud.get(OpenStackControlPlane, 'slice')?.status).toMatchObject({ phase: 'Ready' });
    expect(cloud.condition(Keystone, 'keystone', 'Answering')?.status).toBe('True');
    expect(Object.keys(cloud.get(Secret, 'openstack-clouds')?.data ?? {})).toEqual(['clouds.yaml']);
  });
});
