import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Deployment, Pod, Secret, Service } from '../../src/kube/resource.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { NS, RealCluster } from './cluster.ts';
import { Journal } from './record.ts';

/** Deploys, edits, breaks and deletes the slice on a real kube-apiserver, and keeps every request that was sent. */
export async function recordSlice(): Promise<Journal> {
  const journal = new Journal();
  const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject;
  const cluster = await RealCluster.start(PLANS, journal.wrap);
  const ready = () => cluster.ready(OpenStackControlPlane, 'slice', 120);
  const ref = { namespace: NS, name: 'slice' };
  try {
    cluster.startOperator();
    await cluster.apply(OpenStackControlPlane, slice);
    await ready();
    // Edit.
    const spec = {
      ...(slice.spec as object),
      memcached: { replicas: 2 },
      customServiceConfig: '[DEFAULT]\ndebug = true\n',
    };
    await cluster.apply(OpenStackControlPlane, { ...slice, spec });
    await settle();
    await ready();
    // Break: what an absent-minded administrator takes away comes back.
    for (const resource of [Deployment, Service]) {
      const found = (await cluster.admin.list<AnyObject>(resource, { namespace: NS })).items.find(o =>
        /keystone/.test(o.metadata.name),
      );
      if (found)
        await cluster.admin.delete(
          resource,
          { namespace: NS, name: found.metadata.name },
          { uid: found.metadata.uid ?? '' },
        );
    }
    const config = (await cluster.admin.list<AnyObject>(Secret, { namespace: NS })).items.find(
      o => o.metadata.name === 'keystone-config-data',
    );
    if (config)
      await cluster.admin.delete(
        Secret,
        { namespace: NS, name: config.metadata.name },
        { uid: config.metadata.uid ?? '' },
      );
    const pod = (await cluster.admin.list<AnyObject>(Pod, { namespace: NS })).items.find(
      o => o.metadata.name === 'rabbitmq-0',
    );
    if (pod)
      await cluster.admin.delete(Pod, { namespace: NS, name: pod.metadata.name }, { uid: pod.metadata.uid ?? '' });
    await settle();
    await ready();
    await cluster.stopOperator();
    cluster.startOperator();
    await settle();
    await ready();
    // Delete.
    const live = await cluster.admin.get<AnyObject>(OpenStackControlPlane, ref);
    await cluster.admin.delete(OpenStackControlPlane, ref, { uid: live?.metadata.uid ?? '' });
    await cluster.until(
      async () => (await cluster.admin.get(OpenStackControlPlane, ref)) === undefined,
      'the control plane is gone',
      120,
    );
    await settle();
  } finally {
    await cluster.stop();
  }
  return journal;
}

/** Time for the controllers to notice; nothing is asserted on it. */
const settle = () => new Promise(resolve => setTimeout(resolve, 2_000));
