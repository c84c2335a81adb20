import { readFileSync } from 'node:fs';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { CronJob, DaemonSet, Job, Namespace, Pod, Secret } from '../../src/kube/resource.ts';
import { OWNER_NAMESPACE_LABEL } from '../../src/runtime/plan/names.ts';
import { Cloud, type CloudOptions, NS } from './cloud.ts';
import { violations } from './podsecurity.ts';
import { label } from './services.ts';

const NODES = 'openstack-nodes';

const sampleOf = (name: string): AnyObject & { spec: object } =>
  parse(readFileSync(`config/samples/controlplane_${name}.yaml`, 'utf8')) as AnyObject & { spec: object };
const minimal = sampleOf('minimal');
const NAME = minimal.metadata.name;
const cloudOnNodes = (spec: object = {}, sample = minimal): AnyObject => ({
  ...sample,
  spec: { ...sample.spec, nodeNamespace: NODES, ...spec },
});

const namespace = (name: string, labels: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'privileged', ...labels } },
});

async function withNodes(options: CloudOptions = {}): Promise<Cloud> {
  const cloud = await Cloud.start(options);
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  return cloud;
}

async function started(spec: object = {}, sample = minimal): Promise<Cloud> {
  const cloud = await withNodes();
  cloud.hands.apply(namespace(NODES));
  cloud.apply(cloudOnNodes(spec, sample));
  await cloud.ready(OpenStackControlPlane, sample.metadata.name);
  await cloud.settle();
  return cloud;
}

const podIn = (spec: unknown): PodSpec => (spec as { template: { spec: PodSpec } }).template.spec;

/** Every pod of a namespace, and every pod that a Job or CronJob there could start. */
const podsIn = (cloud: Cloud, where: string): [string, PodSpec][] => [
  ...cloud.hands.list(Pod, where).map(pod => [pod.metadata.name, pod.spec as PodSpec] as [string, PodSpec]),
  ...cloud.hands.list(Job, where).map(job => [job.metadata.name, podIn(job.spec)] as [string, PodSpec]),
  ...cloud.hands
    .list(CronJob, where)
    .map(cron => [cron.metadata.name, podIn((cron.spec as { jobTemplate: { spec: object } }).jobTemplate.spec)] as [
      string,
      PodSpec,
    ]),
];

const inNodes = (cloud: Cloud): string[] =>
  cloud.store
    .objects()
    .filter(object => object.metadata.namespace === NODES && object.kind !== 'Event')
    .map(object => `${object.kind} ${object.metadata.name}`)
    .sort();

describe('a cloud with a namespace for pods of the node', () => {
  it.each([
    ['minimal', 'baseline', {}],
    ['minimal', 'restricted', { podProfile: 'restricted' }],
    ['ovs', 'baseline', {}],
    ['minimal', 'baseline', { cinder: { enabled: true, backends: [{ name: 'lvm', type: 'lvm', storageSize: '5Gi' }] } }],
  ] as const)(
    'keeps its own (%s) within PodSecurity %s, and leaves nothing in either',
    async (sample, level, spec) => {
      const object = sampleOf(sample);
      const cloud = await started(spec, object);
      const refused = podsIn(cloud, NS).flatMap(([name, pod]) => violations(pod, level).map(why => `${name}: ${why}`));
      expect(refused).toEqual([]);
      const onNodes = podsIn(cloud, NODES);
      expect(onNodes.length).toBeGreaterThan(3);
      for (const [name, pod] of onNodes) expect(violations(pod, 'baseline'), name).not.toEqual([]);
      expect(podsIn(cloud, NS).length).toBeGreaterThan(20);
      cloud.hands.remove(OpenStackControlPlane, NS, object.metadata.name);
      await cloud.settle();
      expect(inNodes(cloud).filter(line => !line.startsWith('PersistentVolumeClaim'))).toEqual([]);
    },
    240_000,
  );
});
