import { describe, expect, it } from 'vitest';
import { NovaCompute } from '../../api/nova/compute.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { Pod, Secret } from '../../src/kube/resource.ts';
import { type Cloud, NS } from './cloud.ts';
import { podSpecs } from './pods.ts';
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
