import { describe, expect, it } from 'vitest';
import { NovaCompute } from '../../api/nova/compute.ts';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { commandOf, type Programs } from '../../src/embedded/pretend/program.ts';
import { DaemonSet, Job, PersistentVolumeClaim, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS } from './cloud.ts';
import {
  cephSecret,
  cloudWith,
  FSID,
  label,
  objectOf,
  readyCloud,
  removeCloud,
  secret,
  template,
  text,
} from './services.ts';

const on = (spec: object = {}) => ({ ceph: { enabled: true, external: { secret: 'ceph-admin' }, ...spec } });
const withSecret = (cloud: Cloud): void => cloud.apply(cephSecret());
const script = (cloud: Cloud, step = 'pools') => text(cloud, `ceph-${step}-config-data`, 'ceph.sh');

describe('CephStorage', () => {
  it('makes pools and users by a Job, and hands each service its key', async () => {
    const cloud = await readyCloud(on({ pools: undefined }), withSecret);
    expect(cloud.get(CephStorage, 'ceph')?.status).toMatchObject({ fsid: FSID });
    for (const pool of ['images', 'volumes', 'vms', 'backups'])
      expect(script(cloud)).toContain(`pool '${pool}' '' ''\n`);
    const rings = text(cloud, 'ceph-pools-config-data', 'clients.keyring');
    const key = text(cloud, 'ceph-glance', 'key');
    expect(rings).toContain(`[client.openstack-ceph-glance]\n\tkey = ${key}\n\tcaps mon = "profile rbd"`);
    expect(key).toMatch(/^AQ.{36}==$/);
    expect(text(cloud, 'ceph-glance-key', 'key')).toBe(key);
    // The administrator's key is nobody's but the Job's.
    expect(text(cloud, 'ceph-glance', 'conf')).not.toContain('AQadmin');
  });

  it('waits for a Secret, and says which key or line it lacks', async () => {
    const cloud = await readyCloud();
    cloud.apply(cloudWith(on()));
    await cloud.settle();
    const told = () => cloud.condition(CephStorage, 'ceph', 'InputReady');
    expect(told()).toMatchObject({ reason: 'SecretNotFound' });
    cloud.apply(secret('ceph-admin', { 'ceph.conf': '[global]\n' }));
    await cloud.settle();
    expect(told()).toMatchObject({ reason: 'SecretInvalid', message: expect.stringContaining('has no fsid') });
    cloud.apply(secret('ceph-admin', { 'ceph.conf': `[global]\nfsid = ${FSID}\n` }));
    await cloud.settle();
    expect(told()).toMatchObject({ message: expect.stringContaining('no key ceph.client.admin.keyring') });
    withSecret(cloud);
    await cloud.ready(CephStorage, 'ceph');
    cloud.apply(objectOf(CephStorage, 'empty'));
    await cloud.settle();
    expect(cloud.condition(CephStorage, 'empty')).toMatchObject({ reason: 'FieldMissing' });
  });

  it('a keyring without rights: what Ceph says stands in the condition', async () => {
    const refuses: Programs = run =>
      /ceph\.sh/.test(commandOf(run)) ? { exit: 13, message: 'Error EACCES: access denied', after: 1000 } : undefined;
    const cloud = await Cloud.start({ programs: refuses });
    withSecret(cloud);
    cloud.apply(objectOf(CephStorage, 'ceph', { external: { secret: 'ceph-admin' } }));
    await cloud.settle();
    expect(cloud.condition(CephStorage, 'ceph', 'PoolsReady')).toMatchObject({
      reason: 'JobFailed',
      message: expect.stringContaining('Error EACCES: access denied'),
    });
  });

  it('takes ready-made keys, follows them, and looks whether they open the pools', async () => {
    const cloud = await readyCloud();
    const given = (key: string) =>
      secret('keys', {
        'ceph.conf': `[global]\nfsid = ${FSID}\n`,
        'ceph.client.glance.keyring': `[client.glance]\n  key = ${key}\n`,
      });
    cloud.apply(given('AQone=='), objectOf(CephStorage, 'ceph', { external: { keyringsSecret: 'keys' } }));
    await cloud.ready(CephStorage, 'ceph');
    expect(script(cloud)).toContain("rbd --id 'glance' --keyring /etc/ceph/clients.keyring ls 'images'");
    cloud.apply(objectOf(Glance, 'glance', { storageType: 'ceph' }));
    await cloud.ready(Glance, 'glance');
    const before = template(cloud, StatefulSet, 'glance-api');
    cloud.apply(given('AQtwo=='));
    await cloud.settle();
    expect(text(cloud, 'glance-config-data', 'ceph.client.glance.keyring')).toContain('AQtwo==');
    expect(template(cloud, StatefulSet, 'glance-api')).not.toEqual(before);
    cloud.apply(objectOf(Glance, 'other', { stores: [{ name: 'v', type: 'ceph', cephStorage: 'ceph' }] }));
    cloud.apply(secret('keys', { 'ceph.client.glance.keyring': '[client.other]\n key = AQx==\n' }));
    await cloud.settle();
    expect(cloud.condition(CephStorage, 'ceph', 'KeysReady')).toMatchObject({ reason: 'SecretInvalid' });
  });

  it('keeps keys with the pools under Retain, and drops both under Delete', async () => {
    const cloud = await readyCloud(on(), withSecret);
    const key = text(cloud, 'ceph-cinder-key', 'key');
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.hands.list(Job, NS)).toEqual([]);
    cloud.apply(cloudWith({ ...on(), deletionPolicy: 'Delete' }));
    await cloud.ready(CephStorage, 'ceph');
    expect(text(cloud, 'ceph-cinder', 'key')).toBe(key);
    const dropped: string[] = [];
    removeCloud(cloud);
    await cloud.sim.until(() => {
      if (script(cloud, 'drop')) dropped.push(script(cloud, 'drop'));
      return dropped.length > 0;
    });
    expect(dropped[0]).toContain("ceph osd pool rm 'images' 'images' --yes-i-really-really-mean-it\n");
    await cloud.settle();
    expect(cloud.left()).toEqual(['Secret ceph-admin']);
  }, 60_000);
});

describe('what stands on Ceph', () => {
  it('Glance keeps images in a pool, without a volume', async () => {
    const cloud = await readyCloud({ ...on(), storageBackend: 'ceph', glance: { enabled: true } }, withSecret);
    expect(cloud.get(PersistentVolumeClaim, 'glance-images')).toBeUndefined();
    const conf = text(cloud, 'glance-config-data', '01-glance.conf');
    expect(conf).toContain('enabled_backends = rbd:rbd\n');
    expect(conf).toMatch(/\[rbd\]\nrbd_store_ceph_conf = \/etc\/ceph\/ceph.conf\nrbd_store_pool = images\n/);
    expect(text(cloud, 'glance-config-data', 'ceph.conf')).toContain(
      'keyring = /etc/ceph/ceph.client.openstack-ceph-glance.keyring\n',
    );
  });

  it('Glance has several stores, and says which of them can not be', async () => {
    const cloud = await readyCloud(on(), withSecret);
    const stores = [
      { name: 'fast', type: 'ceph', pool: 'ssd' },
      { name: 'files', type: 'pvc' },
      { name: 'far', type: 'swift' },
    ];
    expect(() => cloud.apply(objectOf(Glance, 'g', { stores, defaultStore: 'slow' }))).toThrow(
      'defaultStore must be the name of an entry of stores',
    );
    expect(() => cloud.apply(objectOf(Glance, 'g', { stores: [...stores, { name: 'b', type: 'pvc' }] }))).toThrow(
      'stores can have one entry of type pvc',
    );
    cloud.apply(objectOf(Glance, 'g', { stores, defaultStore: 'files' }));
    await cloud.ready(Glance, 'g');
    const conf = text(cloud, 'g-config-data', '01-glance.conf');
    expect(conf).toContain('enabled_backends = fast:rbd,files:file,far:swift\n');
    expect(conf).toContain('default_backend = files\n');
    expect(conf).toContain('swift_store_config_file = /etc/swift/far.conf\n');
    expect(text(cloud, 'g-config-data', 'swift-far.conf')).toContain('user = service:g\n');
    expect(conf).toContain('rbd_store_pool = ssd\n');
  });

  it('a Ceph store without a CephStorage names what is missing', async () => {
    const cloud = await readyCloud();
    cloud.apply(objectOf(Glance, 'g', { storageType: 'ceph' }));
    await cloud.settle();
    expect(cloud.condition(Glance, 'g', 'InputReady')).toMatchObject({
      reason: 'NotFound',
      message: expect.stringContaining(
        'CephStorage ceph does not exist. User: create it, or name another one in spec.cephStorage',
      ),
    });
  });

  it('nova-compute keeps disks there and libvirt has the key', async () => {
    const cloud = await readyCloud(on(), cloud => {
      withSecret(cloud);
      label(cloud, 'node-1', { 'openstack.k8s.io/compute': '' });
    });
    const user = { url: 'http://k:5000', user: 'nova', password: 'p', project: 'service', region: 'R' };
    cloud.apply(
      secret('bus', { hostname: 'mq', user: 'u', password: 'p' }),
      secret('user', user),
      objectOf(NovaCompute, 'c', {
        cellName: 'cell1',
        computeDriver: 'libvirt',
        ephemeralStorage: 'ceph',
        messageBusSecret: 'bus',
        keystoneSecret: 'user',
      }),
    );
    await cloud.ready(NovaCompute, 'c');
    const conf = text(cloud, 'c-config-data', '01-nova.conf');
    expect(conf).toContain('images_type = rbd\n');
    expect(conf).toContain(`rbd_secret_uuid = ${FSID}\n`);
    expect(text(cloud, 'c-config-data', 'ceph-secret.base64')).toBe(text(cloud, 'ceph-cinder', 'key'));
    const copies = (name: string) => {
      const pods = template(cloud, DaemonSet, name) as { spec: { volumes: { secret?: { secretName: string } }[] } };
      return pods.spec.volumes.flatMap(v => Object.keys(cloud.get(Secret, v.secret?.secretName ?? '')?.data ?? {}));
    };
    expect(copies('c-libvirt')).toContain('ceph-secret.xml');
    expect(copies('c-compute')).not.toContain('ceph-secret.xml');
    expect(copies('c-compute')).toContain('ceph.conf');
  });
});
