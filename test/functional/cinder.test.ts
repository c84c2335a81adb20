import { describe, expect, it } from 'vitest';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { Cinder } from '../../api/openstack/cinder.ts';
import { Deployment, PersistentVolumeClaim, StatefulSet } from '../../src/kube/resource.ts';
import {
  cephSecret,
  cloudWith,
  host,
  keystoneOf,
  objectOf,
  readyCloud,
  removeCloud,
  sqlOf,
  template,
  text,
} from './services.ts';

const ceph = { ceph: { enabled: true, external: { secret: 'ceph-admin' } } };
const on = (spec: object = {}) => ({ ...ceph, cinder: { enabled: true, ...spec } });
const both = {
  backends: [
    { name: 'fast', type: 'ceph' },
    { name: 'files', type: 'nfs', shares: ['nas:/v'] },
  ],
};
const backendConf = '01-cinder-volume.conf';

describe('Cinder', () => {
  it('runs one volume process per backend, with a volume type each', async () => {
    const cloud = await readyCloud(on(both), c => c.apply(cephSecret()));
    for (const name of ['cinder-scheduler', 'cinder-volume-fast', 'cinder-volume-files'])
      expect(cloud.get(StatefulSet, name)?.spec, name).toMatchObject({ replicas: 1 });
    const fast = text(cloud, 'cinder-volume-fast-config-data', backendConf);
    expect(fast).toContain('enabled_backends = fast\n');
    expect(fast).toContain('[fast]\nbackend_host = cinder\n');
    // The daemons that read as root keep no more than the container has.
    expect(fast).toContain('[privsep_osbrick]\ncapabilities = CAP_DAC_OVERRIDE\n');
    expect(fast).toContain('volume_driver = cinder.volume.drivers.rbd.RBDDriver\n');
    expect(text(cloud, 'cinder-volume-files-config-data', 'nfs_shares')).toBe('nas:/v\n');
    expect(text(cloud, 'cinder-config-data', '01-cinder.conf')).toContain('default_volume_type = fast\n');
    expect(sqlOf(cloud).databases.cinder?.volumeTypes).toEqual({
      fast: { volume_backend_name: 'fast' },
      files: { volume_backend_name: 'files' },
    });
    const urls = keystoneOf(cloud).services.filter(s => /block-storage|volumev3/.test(s.type));
    expect(urls.map(s => s.endpoints[0]?.url)).toEqual(Array(2).fill(`http://${host('cinder-api')}:8776/v3`));
    expect(cloud.get(Cinder, 'cinder')?.status).toMatchObject({
      backends: [
        { name: 'fast', ready: true },
        { name: 'files', ready: true },
      ],
    });
  });

  it('repairs a type that leads elsewhere, at rest posts nothing, and rolls one backend for its own edit', async () => {
    const cloud = await readyCloud(on(both), c => c.apply(cephSecret()));
    const types = sqlOf(cloud).databases.cinder!.volumeTypes!;
    types.fast = { volume_backend_name: 'gone', kept: 'yes' };
    const [fast, files, api] = [
      template(cloud, StatefulSet, 'cinder-volume-fast'),
      template(cloud, StatefulSet, 'cinder-volume-files'),
      template(cloud, Deployment, 'cinder-api'),
    ];
    const [first, second] = both.backends;
    const own = { customServiceConfig: '[files]\nnfs_mount_options = vers=4\n' };
    cloud.apply(cloudWith(on({ backends: [first, { ...second, ...own }] })));
    await cloud.settle();
    expect(sqlOf(cloud).databases.cinder!.volumeTypes!.fast).toEqual({ volume_backend_name: 'fast', kept: 'yes' });
    expect(template(cloud, StatefulSet, 'cinder-volume-fast')).toEqual(fast);
    expect(template(cloud, Deployment, 'cinder-api')).toEqual(api);
    expect(template(cloud, StatefulSet, 'cinder-volume-files')).not.toEqual(files);
    const before = cloud.backends.mutations();
    await cloud.sim.run(1_800_000);
    expect(cloud.backends.mutations()).toBe(before);
  });

  it('one broken backend holds neither the API nor the others, and says what is wrong', async () => {
    const cloud = await readyCloud(ceph, c => c.apply(cephSecret()));
    const broken = { name: 'empty', type: 'nfs' };
    cloud.apply(cloudWith(on({ backends: [{ name: 'fast', type: 'ceph' }, broken] })));
    await cloud.settle();
    expect(cloud.condition(Cinder, 'cinder', 'BackendsReady')).toMatchObject({
      reason: 'FieldMissing',
      message: expect.stringContaining('spec.backends[name=empty] is of type nfs and has no shares'),
    });
    expect(cloud.condition(Cinder, 'cinder', 'Answering')?.status).toBe('True');
    expect(cloud.get(StatefulSet, 'cinder-volume-fast')?.status).toMatchObject({ readyReplicas: 1 });
    cloud.apply(cloudWith(on({ backends: [{ name: 'fast', type: 'ceph' }] })));
    await cloud.ready(Cinder, 'cinder');
    expect(cloud.get(StatefulSet, 'cinder-volume-empty')).toBeUndefined();
  });

  it('a driver that does not come up keeps it from Ready, by name', async () => {
    const cloud = await readyCloud(on(both), c => c.apply(cephSecret()));
    sqlOf(cloud).databases.cinder!.services!['cinder-volume cinder@fast']!.state = 'down';
    cloud.apply(cloudWith(on({ ...both, replicas: 2, schedulerServiceTemplate: { replicas: 1 } })));
    await cloud.settle();
    expect(cloud.condition(Cinder, 'cinder', 'ServicesReady')).toMatchObject({
      reason: 'ServiceSilent',
      message: expect.stringContaining(
        'cinder-volume cinder@fast in pod cinder-volume-fast-0 does not report that it is up',
      ),
    });
  });

  it('starts when Ceph knows its keys, and tells of backups that do not come up', async () => {
    const cloud = await readyCloud({}, c => c.apply(cephSecret()));
    const storage = (images: object) => objectOf(CephStorage, 'ceph', { external: { secret: 'ceph-admin' }, images });
    cloud.apply(storage({ 'cinder-volume': 'example.org/no-such:1' }));
    const fast = { name: 'fast', type: 'ceph' };
    cloud.apply(objectOf(Cinder, 'cinder', { backends: [fast], backup: { enabled: true, driver: 'ceph' } }));
    await cloud.settle();
    expect(cloud.condition(Cinder, 'cinder')?.message).toContain('CephStorage ceph');
    expect(cloud.get(StatefulSet, 'cinder-backup')).toBeUndefined();
    expect(cloud.get(StatefulSet, 'cinder-volume-fast')).toBeUndefined();
    cloud.apply(storage({}));
    await cloud.ready(Cinder, 'cinder');
    sqlOf(cloud).databases.cinder!.services!['cinder-backup cinder-backup-0']!.state = 'down';
    cloud.apply(
      objectOf(Cinder, 'cinder', { backends: [fast], backup: { enabled: true, driver: 'ceph' }, replicas: 2 }),
    );
    await cloud.settle();
    expect(cloud.condition(Cinder, 'cinder', 'ServicesReady')?.message).toContain('cinder-backup-0');
  });

  it('builds a group on a claim in block mode or on a file of the node', async () => {
    const cloud = await readyCloud();
    const backends = [
      { name: 'claim', type: 'lvm', storageSize: '20Gi' },
      { name: 'node', type: 'lvm', hostPath: '/srv', storageSize: '5Gi', volumeGroup: 'vg1' },
    ];
    cloud.apply(objectOf(Cinder, 'cinder', { backends, deletionPolicy: 'Delete' }));
    await cloud.ready(Cinder, 'cinder');
    expect(cloud.get(PersistentVolumeClaim, 'cinder-volume-claim')?.spec).toMatchObject({ volumeMode: 'Block' });
    expect(JSON.stringify(template(cloud, StatefulSet, 'cinder-volume-claim'))).toContain(
      '"volumeDevices":[{"devicePath":"/dev/openstack-volumes","name":"group"}]',
    );
    const start = text(cloud, 'cinder-volume-node-config-data', 'lvm-start.sh');
    expect(start).toContain("truncate -s '5G' '/srv/vg1.img'");
    cloud.hands.remove(Cinder, 'openstack', 'cinder');
    await cloud.settle();
    expect(cloud.left().filter(line => line.includes('cinder'))).toEqual([]);
  });

  it('backs up to Ceph, and leaves nothing under Delete', async () => {
    const cloud = await readyCloud({ ...on({ ...both, backup: { enabled: true } }), deletionPolicy: 'Delete' }, c =>
      c.apply(cephSecret()),
    );
    expect(cloud.get(StatefulSet, 'cinder-backup')).toBeDefined();
    expect(text(cloud, 'cinder-config-data', '01-cinder-backup.conf')).toMatch(
      /^backup_ceph_pool = backups-[0-9a-f]{6}$/m,
    );
    // It reads the volumes it backs up, with the key of whoever made them.
    const userOf = (client: string) => text(cloud, `ceph-${client}`, 'user');
    for (const user of ['cinder', 'cinder-backup'].map(userOf))
      expect(text(cloud, 'cinder-config-data', 'ceph.conf')).toContain(
        `[client.${user}]\nkeyring = /etc/ceph/ceph.client.${user}.keyring\n`,
      );
    expect(text(cloud, 'cinder-config-data', `ceph.client.${userOf('cinder')}.keyring`)).toContain(
      text(cloud, 'ceph-cinder', 'key'),
    );
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual(['Secret ceph-admin']);
  });

  it('refuses what is no backend, and asks for one where there is none', async () => {
    const cloud = await readyCloud();
    expect(() => cloud.apply(objectOf(Cinder, 'c', { backends: [{ name: 'a', type: 'floppy' }] }))).toThrow(
      /spec\.backends\[0\]\.type.*ceph.*lvm.*nfs/s,
    );
    cloud.apply(objectOf(Cinder, 'c'));
    await cloud.settle();
    expect(cloud.condition(Cinder, 'c', 'InputReady')).toMatchObject({
      reason: 'FieldMissing',
      message: expect.stringContaining('spec.backends is not set'),
    });
    cloud.apply(objectOf(Cinder, 'd', { backends: [{ name: 'a', type: 'ceph' }] }));
    await cloud.settle();
    expect(cloud.get(Cinder, 'd')?.status).toMatchObject({
      backends: [{ name: 'a', ready: false, reason: 'NotFound', message: expect.stringContaining('CephStorage ceph') }],
    });
  });
});
