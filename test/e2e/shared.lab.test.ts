import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { ceph, rbd } from '../../lab/cluster/ceph.ts';
import { giveCeph } from '../../lab/extras.ts';
import { guestImage } from '../../lab/images/guest.ts';
import { readMark } from '../../src/cloud/ownership.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Pod, Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { type Key, makeKey, ssh } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { rowsOf } from './sql.ts';
import { conditionOf, gone, ready, until, valueIn } from './stage.ts';
import { Tenant } from './tenant.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const NAME = 'cloud';
const { spec: guests } = parse(readFileSync('lab/cloud.yaml', 'utf8')) as AnyObject & {
  spec: { ovn: object; nova: object };
};

/** The database server of the site. That an operator runs it makes no difference to clouds that are told an address. */
const SERVER = `${namespace}-database`;
const PURPOSES = ['images', 'volumes', 'vms', 'backups'];

/** Neither chooses a name on the servers: the operator keeps them apart. */
const cloud = (spec: object): object => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OpenStackControlPlane',
  metadata: { name: NAME },
  spec: {
    release,
    storageBackend: 'ceph',
    networkBackend: 'ovn',
    mariadb: { external: { hostname: `mariadb.${SERVER}.svc.cluster.local`, port: 3306, adminSecret: 'db-admin' } },
    ceph: { enabled: true, external: { secret: 'ceph-admin' } },
    ...spec,
  },
});
const ONE = cloud({ region: 'RegionOne', ovn: guests.ovn, nova: guests.nova });
/** The lab has one node, and a node is of one cloud: the computes of this one use the fake driver. */
const TWO = cloud({
  region: 'RegionTwo',
  deletionPolicy: 'Delete',
  ovn: { controller: { nodeSelector: { cloud: 'two' } }, metadataAgent: { enabled: false } },
  nova: { cellTemplates: { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } } },
});

/** What clouds made on the two servers. */
interface Shared {
  readonly databases: readonly string[];
  readonly users: readonly string[];
  readonly pools: readonly string[];
  readonly keys: readonly string[];
}

const purposeOf = (pool: string): string => pool.replace(/-[0-9a-f]{6}$/, '');
const isForClouds = (pool: string): boolean => !/^\.|^device_health_metrics$|\.rgw\./.test(pool);
const minus = (all: readonly string[], some: readonly string[]): string[] => all.filter(name => !some.includes(name));

/** On a lab without a cloud: npx tsx lab/main.ts test shared */
describe(`two clouds on one MariaDB and one Ceph, ${release}`, { timeout: 1_800_000 }, () => {
  let [server, one, two]: LabStage[] = [];
  let [none, withOne, withBoth]: (Shared | undefined)[] = [];
  let os: OpenStack;
  let tenant: Tenant;
  let key: Key;
  let image = '';

  async function look(): Promise<Shared> {
    const column = async (sql: string): Promise<string[]> =>
      [...new Set((await rowsOf(server!, sql)).map(row => Object.values(row)[0] ?? ''))].sort();
    const { auth_dump } = JSON.parse(await ceph('auth', 'ls', '-f', 'json')) as { auth_dump: { entity: string }[] };
    return {
      databases: await column('SHOW DATABASES'),
      users: await column('SELECT User FROM mysql.user'),
      // Those of Ceph's own modules come when they like.
      pools: (JSON.parse(await ceph('osd', 'pool', 'ls', '-f', 'json')) as string[]).filter(isForClouds).sort(),
      keys: auth_dump.map(({ entity }) => entity).sort(),
    };
  }
  /** The pool of the first or of the second cloud. */
  const poolOne = (purpose: string) => minus(withOne!.pools, none!.pools).find(pool => purposeOf(pool) === purpose)!;
  const poolTwo = (purpose: string) =>
    minus(withBoth!.pools, withOne!.pools).find(pool => purposeOf(pool) === purpose)!;
  const passwordIn = (stage: LabStage): Promise<string> => valueIn(stage, 'keystone-admin', 'password', Secret);
  async function deployed(stage: LabStage, object: object, what: string): Promise<void> {
    const began = performance.now();
    await stage.apply(object);
    await ready(stage, OpenStackControlPlane, NAME);
    figure(`${what}, Ready seconds`, Math.round((performance.now() - began) / 1000));
  }
  async function removed(stage: LabStage): Promise<void> {
    await gone(stage, OpenStackControlPlane, NAME);
    await until(stage, 'its pods are gone', 300, async () => (await stage.list(Pod)).length === 0);
  }

  beforeAll(async () => {
    [server, one, two] = [await labStage(SERVER), await labStage(namespace), await labStage(`${namespace}-two`)];
    key = await makeKey();
    // Of a run that was cut short.
    for (const stage of [two, one]) await removed(stage);
    await server.apply({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'MariaDB',
      metadata: { name: 'mariadb' },
      spec: { replicas: 1, storageSize: '2Gi', release, deletionPolicy: 'Delete' },
    });
    await ready(server, MariaDB, 'mariadb');
    const stringData = { user: 'root', password: await valueIn(server, 'mariadb-root', 'password', Secret) };
    for (const stage of [one, two]) {
      await giveCeph(stage.namespace);
      await stage.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-admin' }, stringData });
    }
    none = await look();
  }, 1_800_000);

  it('the first one becomes Ready, and makes what it needs on both servers', async () => {
    await deployed(one!, ONE, 'first cloud');
    withOne = await look();
    expect((await one!.list(Pod)).filter(({ metadata }) => metadata.name.startsWith('mariadb'))).toEqual([]);
    // Keystone, Glance, Placement, Neutron, and three of Nova.
    expect(minus(withOne.databases, none!.databases).length).toBeGreaterThanOrEqual(7);
    expect(minus(withOne.pools, none!.pools).map(purposeOf)).toEqual([...PURPOSES].sort());
    os = await OpenStack.login(one!.namespace, await passwordIn(one!));
    tenant = new Tenant(one!, os, key);
    await tenant.sweep();
    await tenant.image();
    image = tenant.ids.image!;
    expect(await rbd('ls', poolOne('images'))).toContain(image);
  });

  it('the second one becomes Ready beside it, with databases, users and pools of its own', async () => {
    await deployed(two!, TWO, 'second cloud');
    withBoth = await look();
    const own = (what: keyof Shared): string[] => minus(withBoth![what], withOne![what]);
    figure('databases of the second cloud', own('databases').length);
    // As many as the first has, and none of its: two clouds in one database would be one cloud.
    expect(own('databases')).toHaveLength(minus(withOne!.databases, none!.databases).length);
    expect(own('users')).toHaveLength(minus(withOne!.users, none!.users).length);
    expect(own('keys')).toHaveLength(minus(withOne!.keys, none!.keys).length);
    expect(own('pools').map(purposeOf)).toEqual([...PURPOSES].sort());
    const marks = await rowsOf(
      server!,
      'SELECT SCHEMA_NAME AS name, SCHEMA_COMMENT AS mark FROM information_schema.SCHEMATA',
    );
    const ownersOf = (names: readonly string[]) =>
      new Set(marks.filter(({ name }) => names.includes(name ?? '')).map(({ mark }) => readMark(mark)?.id));
    const [first, second] = [ownersOf(minus(withOne!.databases, none!.databases)), ownersOf(own('databases'))];
    expect([first.size, second.size, new Set([...first, ...second]).size]).toEqual([1, 1, 2]);
    // Nothing of the first one went.
    for (const what of ['databases', 'users', 'pools', 'keys'] as const)
      expect([what, minus(withOne![what], withBoth[what])]).toEqual([what, []]);
  });

  it('each has its own users and images', async () => {
    await expect(OpenStack.login(two!.namespace, await passwordIn(one!))).rejects.toThrow(/401/);
    const other = await OpenStack.login(two!.namespace, await passwordIn(two!));
    const { images } = await other.call<{ images: { id: string }[] }>('image', 'GET', '/v2/images');
    expect(images).toEqual([]);
    const foreign = new Tenant(two!, other, key);
    await foreign.image();
    expect(await rbd('ls', poolTwo('images'))).toContain(foreign.ids.image);
    expect(await rbd('ls', poolOne('images'))).not.toContain(foreign.ids.image);
  });

  it('the second one is deleted with its data, and nothing of it is left on either server', async () => {
    await removed(two!);
    // All that is there is what was there before it came: nothing of the deleted one, everything of the other.
    expect(await look()).toEqual(withOne);
    await until(two!, 'its claims are gone', 120, async () => (await two!.list(PersistentVolumeClaim)).length === 0);
  });

  it('the first one is whole: Ready, its image as it was, and it boots a guest', async () => {
    expect(conditionOf(await one!.get(OpenStackControlPlane, NAME))?.status).toBe('True');
    os = await OpenStack.login(one!.namespace, await passwordIn(one!));
    tenant = new Tenant(one!, os, key);
    tenant.ids.image = image;
    const hash = createHash('sha512')
      .update(readFileSync(await guestImage(() => undefined)))
      .digest('hex');
    expect(await os.digest('image', `/v2/images/${image}/file`)).toBe(hash);
    await tenant.furnish();
    await tenant.hostKnown();
    const { id } = await tenant.active(await tenant.boot('one', tenant.connected()));
    const told = await tenant.greeted(id);
    console.log(told.join('\n  '));
    expect(told.join()).toContain('GUEST-DHCP-OK');
    expect(told.join()).toContain('GUEST-METADATA-OK');
    expect(await rbd('ls', poolOne('vms'))).toContain(`${id}_disk`);
    const floating = await tenant.floatingAddress(id);
    let name: string | undefined;
    await until(one!, 'ssh answers', 90, async () => {
      name = await ssh(key, floating, 'hostname');
      return name !== undefined;
    });
    expect(name?.trim()).toMatch(/^one/);
  });

  it('goes as well when it is told to take its data along', async () => {
    await tenant.sweep();
    await one!.patch(OpenStackControlPlane, NAME, { spec: { deletionPolicy: 'Delete' } });
    await ready(one!, OpenStackControlPlane, NAME);
    await removed(one!);
    expect(await look()).toEqual(none);
    await gone(server!, MariaDB, 'mariadb');
  });
});
