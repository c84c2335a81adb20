import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Ingress } from '../../src/kube/resource.ts';
import { authority, certManager } from './certificates.ts';
import { Cloud } from './cloud.ts';
import { GROUND, standsOn } from './samples.ts';

const PUBLISHED = [
  'glance-api',
  'heat-api',
  'heat-cfn',
  'horizon',
  'keystone-api',
  'neutron-api',
  'nova-api',
  'nova-cell1-novncproxy',
  'placement-api',
];

describe('every sample of a cloud', () => {
  it.each(Object.keys(GROUND))(
    '%s deploys, rests, also right after a restart, and goes without leaving anything but what was there before',
    async name => {
      const text = readFileSync(`config/samples/controlplane_${name}.yaml`, 'utf8');
      const sample = parse(text) as AnyObject & { spec: object };
      const cloud = await Cloud.start(certManager(authority('public')));
      standsOn(cloud, name);
      const before = cloud.left();
      cloud.apply({ ...sample, spec: { ...sample.spec, deletionPolicy: 'Delete' } });
      await cloud.ready(OpenStackControlPlane, name);
      await cloud.settle();
      const published = cloud.hands.list(Ingress, 'openstack').map(({ metadata }) => metadata.name);
      expect(published.sort()).toEqual(name === 'tls' ? PUBLISHED : []);
      const writes = cloud.writes().length;
      await cloud.sim.run(1_800_000);
      cloud.crashOperator();
      cloud.startOperator();
      await cloud.sim.run(1_800_000);
      expect(cloud.writes().slice(writes)).toEqual([]);
      cloud.hands.remove(OpenStackControlPlane, 'openstack', name);
      await cloud.settle();
      // cert-manager leaves the Secrets it made, unless it is told otherwise.
      const ours = cloud.left().filter(each => !/^Secret \S+-(certificate|public-tls)$/.test(each));
      expect(ours).toEqual(before);
    },
    240_000,
  );
});
