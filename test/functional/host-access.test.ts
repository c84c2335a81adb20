import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { NovaCompute } from '../../api/nova/compute.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Pod, Secret } from '../../src/kube/resource.ts';
import { ownerUid } from '../../src/runtime/plan/dress.ts';
import { nodePodsOf } from '../../src/services/host-access/nodes.ts';
import { type Cloud, NS } from './cloud.ts';
import { podSpecs, TRUSTING } from './pods.ts';
import { violations } from './podsecurity.ts';
import { deployed, GROUPS } from './samples.ts';
import { cloudWith, label, readyCloud, secret } from './services.ts';
import { slice, Trouble, withSlice } from './stories.ts';

const uids = (cloud: Cloud): Record<string, string> =>
  Object.fromEntries(cloud.hands.list(Pod, NS).map(pod => [pod.metadata.name, pod.metadata.uid ?? '']));
const privileged = (name: string) => ({
  override: { podTemplate: { spec: { containers: [{ name, securityContext: { privileged: true } }] } } },
});
const FIELD = 'spec.override.podTemplate.spec.containers[0].securityContext.privileged';

describe('a field that gives pods rights on the node', { timeout: 240_000 }, () => {
  it('is refused before anything is written, and what runs stays as it is', async () => {
    const story = await withSlice();
    const { cloud } = story;
    const [pods, specs, secrets] = [uids(cloud), podSpecs(cloud), cloud.hands.list(Secret, NS).length];
    cloud.apply(slice({ keystone: { ...privileged('keystone'), customServiceConfig: '[DEFAULT]\ndebug = true\n' } }));
    const words = [`${FIELD} is root on the node`, 'Keystone keystone', 'take it out', '--allow-host-access'];
    await story.tells(Keystone, 'keystone', 'HostAccessAllowed', 'HostAccessRefused', ...words);
    await story.waits(OpenStackControlPlane, 'slice', 'KeystoneReady', 'HostAccessRefused', FIELD);
    await story.rests();
    expect(uids(cloud)).toEqual(pods);
    expect(podSpecs(cloud)).toEqual(specs);
    // Not even a config Secret of the same edit.
    expect(cloud.hands.list(Secret, NS).length).toBe(secrets);
    cloud.apply(slice());
    await story.mends(OpenStackControlPlane, 'slice');
    expect(cloud.condition(Keystone, 'keystone', 'HostAccessAllowed')).toBeUndefined();
    expect(uids(cloud)).toEqual(pods);
  });

  it('holds nobody else up: other sections follow the same edit', async () => {
    const story = await withSlice();
    story.cloud.apply(slice({ keystone: privileged('keystone'), memcached: { replicas: 3 } }));
    await story.waits(Keystone, 'keystone', 'HostAccessAllowed', 'HostAccessRefused', FIELD);
    await story.mends(Memcached, 'memcached');
    expect(story.cloud.get(Memcached, 'memcached')?.status).toMatchObject({ readyReplicas: 3 });
  });

  it('is carried out where the operator was told to allow it', async () => {
    const cloud = await readyCloud({}, undefined, { operator: { env: { ALLOW_HOST_ACCESS: 'true' } } });
    cloud.apply(cloudWith({ keystone: privileged('keystone') }));
    const isPrivileged = () =>
      podSpecs(cloud).some(
        ([name, spec]) => name === 'Deployment keystone-api' && /"privileged":true/.test(JSON.stringify(spec)),
      );
    expect(await cloud.sim.within(600_000, isPrivileged)).toBe(true);
  });

  it('reaches computes by the text of a Secret or of the cloud no more than by their own', async () => {
    const story = await Trouble.start(undefined);
    const { cloud } = story;
    label(cloud, 'node-1', { 'openstack.k8s.io/compute': '' });
    const text = '[privsep]\nhelper_command = sh -c id\n';
    cloud.apply(secret('mine', { 'a.conf': text }));
    const compute = (more: object) => ({
      apiVersion: 'nova.openstack.org/v1beta1',
      kind: 'NovaCompute',
      metadata: { name: 'c' },
      spec: { cellName: 'cell1', messageBusSecret: 'bus', keystoneSecret: 'keystone', ...more },
    });
    cloud.apply(compute({ customServiceConfigSecrets: ['mine'] }));
    const words = ['spec.customServiceConfigSecrets[0] (Secret mine, key a.conf) sets helper_command', 'take it out'];
    await story.tells(NovaCompute, 'c', 'ConfigValid', 'HostAccessRefused', ...words);
    cloud.apply(compute({ customServiceConfig: text }));
    await story.waits(NovaCompute, 'c', 'HostAccessAllowed', 'HostAccessRefused', 'spec.customServiceConfig sets');
    const ovn = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OVNNetwork', metadata: { name: 'n' } };
    cloud.apply({ ...ovn, spec: { controller: { image: 'example.org/a:1' } } });
    await story.tells(
      OVNNetwork,
      'n',
      'HostAccessAllowed',
      'HostAccessRefused',
      'spec.controller.image names an image',
    );
    expect(podSpecs(cloud)).toEqual([]);
  });
});

/** The templates of an object by which its pods with rights on the node are set, as the walk over specs names them. */
const ownerOf = (cloud: Cloud, object: AnyObject): AnyObject | undefined =>
  cloud.store
    .objects()
    .find(other => other.metadata.uid === ownerUid(object) && KINDS.some(k => k.kind === other.kind));

describe('the table of pods with rights on the node', { timeout: 240_000 }, () => {
  it.each(GROUPS.map(group => [group.name, group] as const))(
    'says what the operator makes of: %s',
    async (_, group) => {
      const cloud = await deployed(group, {}, { operator: { env: TRUSTING } });
      const workloads = cloud.store
        .objects()
        .filter(({ kind }) => ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind));
      expect(workloads.length).toBeGreaterThan(0);
      for (const workload of workloads) {
        const { spec } = (workload.spec as { template: { spec: PodSpec } }).template;
        const owner = ownerOf(cloud, workload)!;
        const nodes = nodePodsOf(owner.kind, owner.spec as Record<string, unknown>);
        const names = spec.containers.map(({ name }) => name);
        const isOrdinary = nodes === undefined || names.every(name => nodes.ordinary.includes(name));
        expect([workload.metadata.name, violations(spec, 'baseline').length === 0]).toEqual([
          workload.metadata.name,
          isOrdinary,
        ]);
      }
    },
  );
});
