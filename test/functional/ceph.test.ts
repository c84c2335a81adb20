import { describe, expect, it } from 'vitest';
import { NovaCompute } from '../../api/nova/compute.ts';
import { CephStorage } from '../../api/openstack/cephstorage.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { commandOf, type Programs } from '../../src/embedded/controllers/program.ts';
import {
  CephBlockPool,
  CephClient,
  CephCluster,
  ConfigMap,
  DaemonSet,
  Job,
  PersistentVolumeClaim,
  Secret,
  StatefulSet,
} from '../../src/kube/resource.ts';
import { Cloud, type CloudOptions, NS } from './cloud.ts';
import { cephCluster, MONITORS, pretendRook } from './rook.ts';
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
import { withSlice } from './stories.ts';

const on = (spec: object = {}) => ({ ceph: { enabled: true, external: { secret: 'ceph-admin' }, ...spec } });
const withSecret = (cloud: Cloud): void => cloud.apply(cephSecret());
/** On a cluster that others use too, names that nobody chose end with digits of the owner id. */
const pool = (cloud: Cloud, purpose: string): string =>
  `${purpose}-${text(cloud, 'openstack-owner', 'id').slice(0, 6)}`;
const script = (cloud: Cloud, step = 'pools') => text(cloud, `ceph-${step}-config-data`, 'ceph.sh');

describe('storageBackend ceph', { timeout: 120_000 }, () => {
  const cloud = (sections: object) => cloudWith({ storageBackend: 'ceph', glance: { enabled: true }, ...sections });

  it('switches the ceph section on', async () => {
    const ceph = { external: { secret: 'ceph-admin' } };
    const made = await readyCloud({ storageBackend: 'ceph', glance: { enabled: true }, ceph }, withSecret);
    expect(made.condition(CephStorage, 'ceph')?.status).toBe('True');
    const { services = [] } = (made.get(OpenStackControlPlane, 'slice')?.status ?? {}) as {
      services?: { name: string; ready: boolean }[];
    };
    expect(services.filter(({ name }) => name === 'ceph')).toMatchObject([{ ready: true }]);
    expect(text(made, 'glance-config-data', '01-glance.conf')).toContain(`rbd_store_pool = ${pool(made, 'images')}\n`);
  });

  it('names the fields of the cloud that are missing for it', async () => {
    const story = await withSlice();
    story.cloud.apply(cloud({}));
    const words = ['spec.storageBackend is ceph, and neither spec.ceph.external nor spec.ceph.rook is set'];
    const name = 'User: name the Secret of an existing cluster in spec.ceph.external.secret';
    await story.tells(OpenStackControlPlane, 'slice', 'CephStorageReady', 'FieldMissing', ...words, name);
    expect(story.cloud.get(CephStorage, 'ceph')).toBeUndefined();
    story.cloud.apply(cephSecret(), cloud({ ceph: { external: { secret: 'ceph-admin' } } }));
    await story.cloud.ready(OpenStackControlPlane, 'slice');
  });

  it('leaves a CephStorage beside the cloud to whoever made it', async () => {
    const { cloud: made } = await withSlice();
    made.apply(cephSecret(), objectOf(CephStorage, 'ceph', { external: { secret: 'ceph-admin' } }), cloud({}));
    await made.ready(Glance, 'glance');
    await made.ready(OpenStackControlPlane, 'slice');
    expect(made.get(CephStorage, 'ceph')?.metadata.ownerReferences).toBeUndefined();
  });
});

describe('CephStorage', () => {
  it('makes pools and users by a Job, and hands each service its key', async () => {
    const cloud = await readyCloud(on({ pools: undefined }), withSecret);
    expect(cloud.get(CephStorage, 'ceph')?.status).toMatchObject({ fsid: FSID });
    for (const purpose of ['images', 'volumes', 'vms', 'backups'])
      expect(script(cloud)).toContain(`pool '${pool(cloud, purpose)}' '' ''\n`);
    const rings = text(cloud, 'ceph-pools-config-data', 'clients.keyring');
    const key = text(cloud, 'ceph-glance', 'key');
    expect(rings).toContain(
      `[client.${text(cloud, 'ceph-glance', 'user')}]\n\tkey = ${key}\n\tcaps mon = "profile rbd"`,
    );
    expect(key).toMatch(/^AQ.{36}==$/);
    expect(text(cloud, 'ceph-glance-key', 'key')).toBe(key);
    // The administrator's key is nobody's but the Job's.
    expect(text(cloud, 'ceph-glance', 'conf')).not.toContain('AQadmin');
  });

  it('keeps the Secrets of services that an earlier version wrote before its Job', async () => {
    const cloud = await readyCloud({}, withSecret);
    const storage = (images: object) => objectOf(CephStorage, 'ceph', { external: { secret: 'ceph-admin' }, images });
    cloud.apply(storage({}));
    await cloud.ready(CephStorage, 'ceph');
    const names = ['ceph-glance', 'ceph-cinder', 'ceph-cinder-backup'];
    const uids = () => names.map(name => cloud.get(Secret, name)?.metadata.uid);
    const before = uids();
    expect(before).not.toContain(undefined);
    cloud.crashOperator();
    for (const name of names)
      cloud.hands.patch(Secret, NS, name, { metadata: { labels: { 'openstack.k8s.io/row': 'KeysReady' } } });
    cloud.apply(storage({ 'cinder-volume': 'example.org/no-such:1' }));
    cloud.startOperator();
    await cloud.settle();
    expect(cloud.condition(CephStorage, 'ceph', 'PoolsReady')?.reason).toBe('ImagePullFailed');
    expect(uids()).toEqual(before);
  });

  it('keeps the names of pools that a cloud had before they had a suffix', async () => {
    const older = (cloud: Cloud): void => {
      withSecret(cloud);
      const labels = { 'openstack.k8s.io/managed': 'true', 'openstack.k8s.io/retained-for': 'cephstorage.ceph' };
      for (const client of ['glance', 'cinder', 'cinder-backup']) {
        const made = secret(`ceph-${client}-key`, { user: `openstack-ceph-${client}`, key: 'AQolder==' });
        cloud.apply({ ...made, metadata: { ...made.metadata, labels } });
      }
    };
    const cloud = await readyCloud({ ...on(), storageBackend: 'ceph', glance: { enabled: true } }, older);
    expect(script(cloud)).toContain("pool 'images' '' ''\n");
    expect(text(cloud, 'glance-config-data', '01-glance.conf')).toContain('rbd_store_pool = images\n');
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
    expect(dropped[0]).toMatch(/^OWNER='openstack-operator=[0-9a-f]{16}=CephStorage=ceph'$/m);
    expect(dropped[0]).toContain('marked "$name"');
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
    expect(conf).toContain(
      `[rbd]\nrbd_store_ceph_conf = /etc/ceph/ceph.conf\nrbd_store_pool = ${pool(cloud, 'images')}\n`,
    );
    expect(text(cloud, 'glance-config-data', 'ceph.conf')).toContain(
      `keyring = /etc/ceph/ceph.client.${text(cloud, 'ceph-glance', 'user')}.keyring\n`,
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
    // glance_store forgets its default for a store among several, and then no download works.
    expect(conf).toMatch(/\nswift_store_retry_get_count = \d\n/);
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

describe('Rook', () => {
  const storage = { useAllNodes: true, useAllDevices: true };
  const byRook = (rook: object = { storage }, spec: object = {}) => objectOf(CephStorage, 'ceph', { rook, ...spec });

  async function start(options: CloudOptions = {}) {
    const rook = pretendRook();
    const cloud = await Cloud.start({ ...options, wrap: rook.wrap });
    rook.install(cloud);
    const told = (type: string) => cloud.condition(CephStorage, 'ceph', type);
    return { rook, cloud, told };
  }

  const specOf = (cloud: Cloud, resource: typeof CephCluster, name: string) => cloud.get(resource, name)?.spec;
  const deletions = (cloud: Cloud): string[] =>
    cloud.writes().flatMap(line => /DELETE \S*\/(ceph(?:clusters|blockpools|clients))\//.exec(line)?.[1] ?? []);

  it('makes cluster, pools and users, and Glance keeps its images there', async () => {
    const rook = pretendRook();
    const ceph = { enabled: true, rook: { storage, network: { provider: 'host' } } };
    const sections = { ceph, storageBackend: 'ceph', glance: { enabled: true } };
    const cloud = await readyCloud(sections, rook.install, { wrap: rook.wrap });
    expect(specOf(cloud, CephCluster, 'openstack')).toEqual({
      cephVersion: { image: 'quay.io/ceph/ceph:v19.2.3' },
      dataDirHostPath: '/var/lib/rook/openstack',
      mon: { count: 3, allowMultiplePerNode: false },
      mgr: { count: 2, allowMultiplePerNode: false },
      storage,
      network: { provider: 'host' },
    });
    const replicated = { size: 3, requireSafeReplicaSize: true };
    for (const pool of ['images', 'volumes', 'vms', 'backups'])
      expect(specOf(cloud, CephBlockPool, pool)).toEqual({ replicated });
    expect(specOf(cloud, CephClient, 'ceph-cinder-backup')).toEqual({
      caps: { mon: 'profile rbd', osd: 'profile rbd pool=backups', mgr: 'profile rbd pool=backups' },
      security: { cephx: { keyType: 'aes' } },
    });
    expect(cloud.get(CephStorage, 'ceph')?.status).toMatchObject({ fsid: FSID, health: 'HEALTH_OK' });
    const monitors = '[v2:10.2.0.1:3300,v1:10.2.0.1:6789],[v2:10.2.0.2:3300,v1:10.2.0.2:6789]';
    expect(text(cloud, 'glance-config-data', 'ceph.conf')).toContain(`fsid = ${FSID}\nmon_host = ${monitors}\n`);
    expect(text(cloud, 'glance-config-data', 'ceph.client.ceph-glance.keyring')).toContain('key = AQceph-glance==\n');
    expect(script(cloud)).toContain("rbd --id 'ceph-glance' --keyring /etc/ceph/clients.keyring ls 'images'");
    expect(script(cloud)).not.toContain('pool create');
    const before = cloud.writes();
    await cloud.sim.run(1_800_000);
    expect(cloud.writes()).toEqual(before);
  }, 60_000);

  it('takes what the spec says of cluster and pools, also later', async () => {
    const { cloud } = await start();
    const own = { storage, clusterName: 'small', monitors: 1, cephImage: 'example.org/ceph:v20' };
    const pools = (size: number) => ({
      pools: [{ name: 'fast', purpose: 'images', replicas: size, deviceClass: 'ssd' }],
    });
    cloud.apply(byRook(own, pools(1)));
    await cloud.ready(CephStorage, 'ceph');
    expect(specOf(cloud, CephCluster, 'small')).toMatchObject({
      cephVersion: { image: 'example.org/ceph:v20' },
      mon: { count: 1 },
      mgr: { count: 1 },
    });
    const fast = (size: number, requireSafeReplicaSize: boolean) => ({
      replicated: { size, requireSafeReplicaSize },
      deviceClass: 'ssd',
    });
    expect(specOf(cloud, CephBlockPool, 'fast')).toEqual(fast(1, false));
    // Nothing but what a service may do: Ceph has no such thing as an empty capability.
    expect(specOf(cloud, CephClient, 'ceph-cinder')).toMatchObject({
      caps: { mon: 'profile rbd', osd: 'profile rbd-read-only pool=fast' },
    });
    expect(specOf(cloud, CephClient, 'ceph-cinder')).not.toHaveProperty('caps.mgr');
    cloud.apply(byRook(own, pools(2)));
    await cloud.ready(CephStorage, 'ceph');
    expect(specOf(cloud, CephBlockPool, 'fast')).toEqual(fast(2, true));
  });

  it('follows monitors that move, and not the order in which they are named', async () => {
    const { cloud } = await start();
    cloud.apply(byRook());
    await cloud.ready(CephStorage, 'ceph');
    const move = async (data: string) => {
      cloud.hands.patch(ConfigMap, NS, 'rook-ceph-mon-endpoints', { data: { data } });
      await cloud.sim.run(90_000);
    };
    const before = cloud.writes();
    await move(MONITORS.split(',').reverse().join());
    expect(cloud.writes()).toEqual(before);
    await move('c=10.2.0.3:3300,a=10.2.0.1:6789');
    expect(text(cloud, 'ceph-glance', 'conf')).toContain(
      'mon_host = [v2:10.2.0.1:3300,v1:10.2.0.1:6789],[v2:10.2.0.3:3300]\n',
    );
  });

  it('keeps everything under Retain, and takes it up again', async () => {
    const { cloud } = await start();
    cloud.apply(byRook());
    await cloud.ready(CephStorage, 'ceph');
    const kept = () =>
      [CephCluster, CephBlockPool, CephClient].map(r => cloud.hands.list(r, NS).map(o => o.metadata.uid));
    const before = kept();
    expect(before.map(list => list.length)).toEqual([1, 4, 3]);
    cloud.hands.remove(CephStorage, NS, 'ceph');
    await cloud.settle();
    expect(cloud.get(CephStorage, 'ceph')).toBeUndefined();
    expect(kept()).toEqual(before);
    cloud.apply(byRook({ storage, monitors: 5 }));
    await cloud.ready(CephStorage, 'ceph');
    expect(kept()).toEqual(before);
    expect(specOf(cloud, CephCluster, 'openstack')).toMatchObject({ mon: { count: 5 } });
  });

  it('removes pools and users and then the cluster under Delete, and says what holds them', async () => {
    const { cloud, rook, told } = await start();
    cloud.apply(byRook({ storage }, { deletionPolicy: 'Delete' }));
    await cloud.ready(CephStorage, 'ceph');
    const message = 'pool contains images or snapshots';
    rook.says('CephBlockPool images', { conditions: [{ type: 'PoolDeletionIsBlocked', status: 'True', message }] });
    cloud.hands.remove(CephStorage, NS, 'ceph');
    await cloud.settle();
    expect(told('Ready')?.message).toContain(
      `PoolsReady: Rook does not delete CephBlockPool images: ${message}. User: remove what is in it`,
    );
    expect(cloud.hands.list(CephBlockPool, NS).map(pool => pool.metadata.name)).toEqual(['images']);
    expect(cloud.get(CephCluster, 'openstack')?.metadata.deletionTimestamp).toBeUndefined();
    rook.says('CephBlockPool images');
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
    expect([...new Set(deletions(cloud))]).toEqual(['cephblockpools', 'cephclients', 'cephclusters']);
  });

  it('says so when somebody else has a pool in a cluster that is to go', async () => {
    const { cloud, told } = await start();
    cloud.apply(byRook({ storage }, { deletionPolicy: 'Delete' }));
    cloud.apply({ ...cephCluster('other'), kind: 'CephBlockPool' });
    await cloud.ready(CephStorage, 'ceph');
    cloud.hands.remove(CephStorage, NS, 'ceph');
    await cloud.settle();
    expect(told('Ready')?.message).toContain('Rook does not delete CephCluster openstack: has dependents');
    expect(told('Ready')?.message).toContain('[other]');
    cloud.hands.remove(CephBlockPool, NS, 'other');
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('uses a cluster and a pool that somebody else made, and never writes them', async () => {
    const { cloud } = await start();
    cloud.apply(cephCluster('openstack'), { ...cephCluster('images'), kind: 'CephBlockPool' });
    const theirs = () => [cloud.get(CephCluster, 'openstack'), cloud.get(CephBlockPool, 'images')];
    const before = theirs();
    const shared = (name: string) => objectOf(CephStorage, name, { rook: {}, deletionPolicy: 'Delete' });
    for (const name of ['ceph', 'second']) {
      cloud.apply(shared(name));
      await cloud.ready(CephStorage, name);
    }
    expect(text(cloud, 'second-glance', 'user')).toBe('second-glance');
    const pools = () => cloud.hands.list(CephBlockPool, NS).map(pool => pool.metadata.uid);
    const four = pools();
    cloud.hands.remove(CephStorage, NS, 'second');
    await cloud.settle();
    expect(pools()).toEqual(four);
    expect(four).toHaveLength(4);
    expect(cloud.hands.list(CephClient, NS)).toHaveLength(3);
    cloud.hands.remove(CephStorage, NS, 'ceph');
    await cloud.settle();
    expect(pools()).toHaveLength(1);
    expect(theirs()).toEqual(before);
  });

  it('looks whether the keys open the pools, and hides no name that Rook has in its Secrets', async () => {
    const refuses: Programs = run =>
      /ceph\.sh/.test(commandOf(run)) ? { exit: 13, message: 'rbd: error opening pool', after: 1000 } : undefined;
    const { cloud, told } = await start({ programs: refuses });
    cloud.apply(byRook());
    await cloud.settle();
    expect(told('PoolsReady')).toMatchObject({ reason: 'JobFailed' });
    expect(told('PoolsReady')?.message).toMatch(/rbd: error opening pool.*openstack\.k8s\.io\/retry=/);
  });

  it('waits for Rook, and says how to get it', async () => {
    const rook = pretendRook();
    const cloud = await Cloud.start({ wrap: rook.wrap });
    cloud.apply(byRook());
    await cloud.settle();
    expect(cloud.condition(CephStorage, 'ceph', 'ClusterReady')).toMatchObject({
      reason: 'RookNotFound',
      message: expect.stringMatching(/cephclusters\.ceph\.rook\.io does not exist.* User: install Rook/),
    });
    rook.install(cloud);
    await cloud.ready(CephStorage, 'ceph');
  });

  it('needs disks for a cluster of its own, and one place to be', async () => {
    const { cloud, told } = await start();
    cloud.apply(byRook({}));
    await cloud.settle();
    expect(told('ClusterReady')).toMatchObject({
      reason: 'FieldMissing',
      message: expect.stringContaining('User: set spec.rook.storage'),
    });
    expect(cloud.get(CephCluster, 'openstack')).toBeUndefined();
    expect(() => cloud.apply(byRook({}, { external: { secret: 's' } }))).toThrow('set at most one of external, rook');
    cloud.apply(byRook());
    await cloud.ready(CephStorage, 'ceph');
  });

  it.each([
    ['CephCluster openstack', 'ClusterReady', { phase: 'Progressing', message: 'Configuring Ceph Mons' }],
    ['CephCluster openstack', 'ClusterReady', { phase: 'Failure', message: 'failed to start ceph monitors' }],
    ['CephClient ceph-cinder-backup', 'KeysReady', { phase: 'Failure' }],
    ['CephBlockPool images', 'PoolsReady', { phase: 'Failure' }],
    ['CephBlockPool images', 'PoolsReady', { phase: 'Progressing' }],
    ['CephBlockPool images', 'PoolsReady', { observedGeneration: 0 }],
  ])('%s holds %s up: %j', async (object, type, status) => {
    const { cloud, rook, told } = await start();
    rook.says(object, status);
    cloud.apply(byRook());
    await cloud.settle();
    const failed = 'phase' in status && status.phase === 'Failure';
    const said = 'message' in status ? `: ${status.message}` : '';
    expect(told(type)).toMatchObject(failed ? { reason: 'RookFailed' } : { reason: 'RookNotReady' });
    expect(told(type)?.message).toContain(`${object}`);
    expect(told(type)?.message).toContain(said);
    rook.says(object);
    await cloud.ready(CephStorage, 'ceph');
  });

  it.each([
    ['rook-ceph-mon', 'InputReady', 'Secret rook-ceph-mon has no fsid'],
    ['rook-ceph-mon-endpoints', 'InputReady', 'ConfigMap rook-ceph-mon-endpoints names no monitor'],
    ['rook-ceph-client-ceph-cinder', 'KeysReady', 'Secret rook-ceph-client-ceph-cinder does not have the key'],
  ])('%s is not there yet', async (name, type, message) => {
    const { cloud, rook, told } = await start();
    rook.hides(name);
    cloud.apply(byRook());
    await cloud.settle();
    expect(told(type)).toMatchObject({ reason: 'RookNotReady', message: expect.stringContaining(message) });
    rook.hides(name, false);
    await cloud.sim.run(90_000);
    await cloud.ready(CephStorage, 'ceph');
  });
});
