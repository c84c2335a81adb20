import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NovaCompute } from '../../api/nova/compute.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Neutron } from '../../api/openstack/neutron.ts';
import { Placement } from '../../api/openstack/placement.ts';
import { Job, Node, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud } from './cloud.ts';

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as object;

describe('the minimal cloud', () => {
  it('becomes Ready from one object and a labelled node, makes schemas before Keystone runs, and starts Nova after what it stands on', async () => {
    const cloud = await Cloud.start();
    const [node] = cloud.hands.list(Node, '');
    const labels = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };
    cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels } });
    cloud.apply(minimal);
    // Their logins are chosen and packed before bus and Keystone run.
    const syncs = [
      'neutron-db-sync',
      'placement-db-sync',
      'nova-cell0-conductor-db-sync',
      'nova-cell1-conductor-db-sync',
    ];
    const jobs = () => cloud.hands.list(Job, 'openstack').map(job => job.metadata.name.replace(/-[0-9a-f]+$/, ''));
    await cloud.sim.until(() => syncs.every(sync => jobs().includes(sync)));
    expect(cloud.condition(Keystone, 'keystone')?.status).not.toBe('True');
    const processes = ['nova-api', 'nova-scheduler', 'nova-metadata', 'nova-cell0-conductor', 'nova-cell1-conductor'];
    await cloud.sim.until(() => processes.some(name => cloud.get(StatefulSet, name) !== undefined));
    for (const [kind, name] of [
      [Placement, 'placement'],
      [Glance, 'glance'],
      [Neutron, 'neutron'],
    ] as const)
      expect(cloud.condition(kind, name)?.status, name).toBe('True');
    await cloud.ready(OpenStackControlPlane, 'minimal');
    expect(cloud.condition(NovaCompute, 'nova-cell1-libvirt')?.status).toBe('True');
    expect(cloud.get(OpenStackControlPlane, 'minimal')?.status).toMatchObject({
      phase: 'Ready',
      endpoints: { nova: 'http://nova-api.openstack.svc.cluster.local:8774/v2.1' },
    });
    await cloud.settle();
    const writes = cloud.writes().length;
    await cloud.sim.run(1_800_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
  }, 240_000);
});
