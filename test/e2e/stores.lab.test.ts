import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { OBJECTS, startGateway } from '../../lab/cluster/ceph.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { PersistentVolumeClaim, Secret } from '../../src/kube/resource.ts';
import { addressOf, type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { inPool } from './pools.ts';
import { ready, until, valueIn } from './stage.ts';
import type { Thing } from './tenant.ts';
import { Volumes } from './volumes.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
/** The first is what the cloud has before: images that are there stay where they are. */
const STORES = [
  { name: 'rbd', type: 'ceph' },
  { name: 'far', type: 'swift' },
  { name: 'near', type: 'pvc' },
];
/** More than one chunk of any driver. */
const BYTES = randomBytes(9 * 2 ** 20);
const HASH = createHash('sha512').update(BYTES).digest('hex');

interface Image extends Thing {
  status: string;
  stores?: string;
  os_hash_value?: string;
}

/** On the cloud of `make lab-cloud-ceph`. The object store is Ceph's gateway, which speaks Swift's API. */
describe(`images in several stores, backups in Swift, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let os: OpenStack;
  let volumes: Volumes;
  const login = async (): Promise<OpenStack> => {
    const password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    const ca = await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret);
    return OpenStack.login(namespace, password, { url: 'https://keystone.cloud.test', ca });
  };
  async function edited(spec: object): Promise<void> {
    await stage.patch(OpenStackControlPlane, 'cloud', { spec });
    await ready(stage, OpenStackControlPlane, 'cloud');
  }
  const image = (id: string): Promise<Image> => os.call<Image>('image', 'GET', `/v2/images/${id}`);
  async function upload(store: string): Promise<string> {
    const body = { name: store, disk_format: 'raw', container_format: 'bare' };
    const { id } = await os.call<Thing>('image', 'POST', '/v2/images', { body });
    const headers = { 'x-image-meta-store': store };
    await os.call('image', 'PUT', `/v2/images/${id}/file`, { body: BYTES, headers });
    return id;
  }
  const objects = async (): Promise<string[]> =>
    (await os.call<{ name: string }[]>('object-store', 'GET', '?format=json')).map(({ name }) => name);

  beforeAll(async () => {
    stage = await labStage(namespace);
    await ready(stage, OpenStackControlPlane, 'cloud');
    const password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    // By address: the gateway's host knows no names of the cluster.
    const keystone = await addressOf(`keystone-api.${namespace}.svc.cluster.local`);
    await startGateway({ url: `https://${keystone}:5000`, password });
    os = await login();
    await os.clear('identity', '/v3/services?type=object-store', 'services');
    const service = { type: 'object-store', name: 'swift' };
    const made = await os.call<{ service: Thing }>('identity', 'POST', '/v3/services', { body: { service } });
    for (const by of ['public', 'internal']) {
      const endpoint = { interface: by, service_id: made.service.id, region_id: 'RegionOne', url: OBJECTS };
      await os.call('identity', 'POST', '/v3/endpoints', { body: { endpoint } });
    }
    os = await login();
    volumes = new Volumes(stage, os);
    await os.clear('image', '/v2/images', 'images');
  });

  it('opens two more stores by an edit', async () => {
    expect(await objects()).toEqual([]);
    await edited({ glance: { stores: STORES, storageSize: '1Gi', importMethods: ['glance-direct', 'copy-image'] } });
    const { stores } = await os.call<{ stores: Thing[] }>('image', 'GET', '/v2/info/stores');
    expect(stores.map(({ id }) => id).filter(id => !id.startsWith('os_glance'))).toEqual(['rbd', 'far', 'near']);
  });

  it('keeps an image in each, and gives back what it was given', async () => {
    for (const { name } of STORES) {
      const id = await upload(name);
      expect(await image(id)).toMatchObject({ status: 'active', stores: name, os_hash_value: HASH });
      expect(await os.digest('image', `/v2/images/${id}/file`)).toBe(HASH);
      expect((await inPool(stage, 'images')).includes(id)).toBe(name === 'rbd');
      await os.call('image', 'DELETE', `/v2/images/${id}`);
    }
  });

  it('copies an image from one store to the others', async () => {
    const id = await upload('rbd');
    const body = { method: { name: 'copy-image' }, stores: ['far', 'near'], all_stores_must_succeed: true };
    await os.call('image', 'POST', `/v2/images/${id}/import`, { body });
    let last: Image | undefined;
    await until(
      stage,
      () => `image ${id} is in three stores: ${JSON.stringify(last)}`,
      180,
      async () => {
        last = await image(id);
        return (last.stores ?? '').split(',').sort().join() === 'far,near,rbd';
      },
    );
    await os.call('image', 'DELETE', `/v2/stores/rbd/${id}`);
    expect((await inPool(stage, 'images')).includes(id)).toBe(false);
    expect(await os.digest('image', `/v2/images/${id}/file`)).toBe(HASH);
    await os.call('image', 'DELETE', `/v2/images/${id}`);
  });

  it('puts a backup of a volume into Swift, and brings it back', async () => {
    await edited({ cinder: { enabled: true, backup: { enabled: true, driver: 'swift' } } });
    // At its start it gives up what others began, and only then says that it is there.
    const since = Date.now();
    await until(stage, 'the new cinder-backup reports', 120, async () => {
      const { services } = await os.call<{ services: { updated_at: string }[] }>(
        'block-storage',
        'GET',
        '/os-services?binary=cinder-backup',
      );
      return services.some(({ updated_at }) => Date.parse(`${updated_at}Z`) > since);
    });
    const volume = await volumes.make('volume', { name: 'data', size: 1 });
    const backup = await volumes.make('backup', { volume_id: volume, name: 'safe', container: 'safe' });
    expect(await objects()).toContain('safe');
    const target = await volumes.make('volume', { name: 'restored', size: 1 });
    await os.call('block-storage', 'POST', `/backups/${backup}/restore`, { body: { restore: { volume_id: target } } });
    await volumes.become('backup', backup, 'available');
    await volumes.become('volume', target, 'available');
    await volumes.sweep();
  });

  it('is as it was before when the edit is taken back', async () => {
    await edited({
      glance: { stores: null, storageSize: null, importMethods: null },
      cinder: { enabled: true, backup: { enabled: true, driver: null } },
    });
    const id = await upload('rbd');
    expect(await image(id)).toMatchObject({ status: 'active', stores: 'rbd' });
    await os.call('image', 'DELETE', `/v2/images/${id}`);
    await os.clear('identity', '/v3/services?type=object-store', 'services');
    // The store on a volume is gone and its images are kept: whoever does not want them removes the claim.
    await stage.remove(PersistentVolumeClaim, 'glance-images');
  });
});
