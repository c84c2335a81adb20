import { beforeAll, describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CLOUD_NAMESPACE } from '../../lab/cloud.ts';
import { Pod, Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { makeKey } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { conditionOf, gone, ready, until, valueIn } from './stage.ts';
import { Tenant } from './tenant.ts';

const NAME = 'cloud';
const [first = '2025.2', release = first] = process.env.LAB_RELEASES?.split(',') ?? [];
/** The lab has one node, and a node is of one cloud: this one's computes only pretend. */
const cloud = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OpenStackControlPlane',
  metadata: { name: NAME },
  spec: {
    release,
    region: 'RegionTwo',
    storageBackend: 'pvc',
    deletionPolicy: 'Delete',
    ovn: { controller: { nodeSelector: { cloud: 'two' } }, metadataAgent: { enabled: false } },
    nova: { cellTemplates: { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } } },
  },
};

/** Stands beside the cloud that is there: `make lab-cloud` or `make lab-cloud-ceph` before. */
describe(`a second cloud of the same name in another namespace, ${release}`, { timeout: 1_800_000 }, () => {
  let one: LabStage;
  let two: LabStage;
  let os: OpenStack;
  let before: readonly string[];
  /** A pod that was replaced has another uid, one that started again has counted it. */
  const podsOfOne = async (): Promise<string[]> =>
    (await one.list(Pod))
      .map(({ metadata, status }) => {
        const { containerStatuses = [] } = status as { containerStatuses?: { restartCount: number }[] };
        return `${metadata.name} ${metadata.uid} ${containerStatuses.map(each => each.restartCount)}`;
      })
      .sort();
  const passwordIn = (stage: LabStage) => valueIn(stage, 'keystone-admin', 'password', Secret);

  beforeAll(async () => {
    [one, two] = [await labStage(CLOUD_NAMESPACE), await labStage(`${CLOUD_NAMESPACE}-two`)];
    await ready(one, OpenStackControlPlane, NAME);
    before = await podsOfOne();
    expect(before.length).toBeGreaterThan(10);
  });

  it('becomes Ready beside the first one', async () => {
    const began = performance.now();
    await two.apply(cloud);
    await ready(two, OpenStackControlPlane, NAME);
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`Ready after ${seconds} s`);
    figure('second cloud, Ready seconds', seconds);
  });

  it('has its own users, catalog, images and guests', async () => {
    await expect(OpenStack.login(two.namespace, await passwordIn(one))).rejects.toThrow(/401/);
    os = await OpenStack.login(two.namespace, await passwordIn(two));
    const hosts = [...os.catalog.values()].map(url => new URL(url).hostname);
    expect(hosts.filter(host => !host.endsWith(`.${two.namespace}.svc.cluster.local`))).toEqual([]);
    const tenant = new Tenant(two, os, await makeKey());
    await tenant.sweep();
    await tenant.image();
    await tenant.flavor(64);
    let server = '';
    // The scheduler maps new hosts once a minute (discoverHostsIntervalSeconds); the quota is of 10 servers.
    await until(two, 'a guest is ACTIVE', 120, async () => {
      server = await tenant.boot('pretended', { networks: 'none' });
      return tenant.active(server).then(
        () => true,
        async error => {
          if (!/No valid host|not mapped to any cell/.test(String(error))) throw error;
          await tenant.cleared('compute', '/servers', 'servers');
          return false;
        },
      );
    });
    await tenant.cleared('compute', '/servers', 'servers');
  });

  it('goes, and the first one has not noticed', async () => {
    await gone(two, OpenStackControlPlane, NAME);
    await until(two, 'its pods are gone', 180, async () => (await two.list(Pod)).length === 0);
    expect(await podsOfOne()).toEqual(before);
    expect(conditionOf(await one.get(OpenStackControlPlane, NAME))?.status).toBe('True');
  });
});
