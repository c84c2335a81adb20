import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { DaemonSet, Namespace, Pod, Secret } from '../../src/kube/resource.ts';
import { Cloud } from './cloud.ts';
import { label } from './services.ts';

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const NAME = minimal.metadata.name;

/** A switch and a libvirt serve one cloud, so each has nodes of its own (docs/how-to/several-clouds.md). */
function cloudIn(namespace: string): AnyObject {
  const nodeSelector = { cloud: namespace };
  const libvirt = { computeDriver: 'libvirt', nodeSelector };
  return {
    ...minimal,
    metadata: { ...minimal.metadata, namespace },
    spec: {
      ...minimal.spec,
      deletionPolicy: 'Delete',
      ovn: { controller: { nodeSelector }, metadataAgent: { nodeSelector } },
      nova: { cellTemplates: { cell0: {}, cell1: { novaComputeTemplates: { libvirt } } } },
    },
  };
}

describe('two clouds of the same name in two namespaces', () => {
  it('share nothing: each has its own servers, logins and nodes, and one goes without the other noticing', async () => {
    const cloud = await Cloud.start();
    const { hands } = cloud;
    const isReady = (namespace: string) =>
      conditionsOf(hands.get(OpenStackControlPlane, namespace, NAME)).find(c => c.type === 'Ready')?.status === 'True';
    const writesIn = (namespace: string) => cloud.writes().filter(line => line.includes(`/namespaces/${namespace}/`));
    const passwordIn = (namespace: string) => hands.get(Secret, namespace, 'keystone-admin')?.data;

    for (const [index, namespace] of ['openstack', 'second'].entries()) {
      if (!hands.get(Namespace, '', namespace))
        hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      label(cloud, `node-${index + 1}`, {
        cloud: namespace,
        'openstack.k8s.io/compute': '',
        'openstack.k8s.io/gateway': '',
      });
      const before = writesIn('openstack');
      hands.apply(cloudIn(namespace));
      await cloud.sim.until(() => isReady(namespace));
      await cloud.settle();
      expect(isReady(namespace)).toBe(true);
      if (index > 0) expect(writesIn('openstack')).toEqual(before);
      const sets = new Set(hands.list(DaemonSet, namespace).map(set => set.metadata.name));
      const pods = hands
        .list(Pod, namespace)
        .filter(pod => pod.metadata.ownerReferences?.some(({ kind, name }) => kind === 'DaemonSet' && sets.has(name)));
      expect(sets.size).toBeGreaterThan(3);
      expect(pods.map(pod => [pod.metadata.name, (pod.spec as { nodeName: string }).nodeName])).toEqual(
        pods.map(pod => [pod.metadata.name, `node-${index + 1}`]),
      );
    }
    expect(Object.keys(cloud.backends.disks.sql)).toHaveLength(2);
    expect(passwordIn('second')).not.toEqual(passwordIn('openstack'));

    const before = writesIn('openstack');
    const kept = cloud.left();
    hands.remove(OpenStackControlPlane, 'second', NAME);
    await cloud.settle();
    await cloud.sim.run(1_800_000);
    const left = cloud.store.objects().filter(o => o.metadata.namespace === 'second' && o.kind !== 'Event');
    expect(left.map(o => `${o.kind} ${o.metadata.name}`)).toEqual([
      'Secret openstack-hash-key',
      'Secret openstack-owner',
    ]);
    expect(writesIn('openstack')).toEqual(before);
    expect(cloud.left()).toEqual(kept);
    expect(isReady('openstack')).toBe(true);
  }, 240_000);
});
