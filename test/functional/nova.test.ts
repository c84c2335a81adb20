import { beforeAll, describe, expect, it } from 'vitest';
import { NovaAPI } from '../../api/nova/api.ts';
import { NovaCell } from '../../api/nova/cell.ts';
import { NovaCompute } from '../../api/nova/compute.ts';
import { NovaConductor } from '../../api/nova/conductor.ts';
import { NovaMetadata } from '../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../api/nova/scheduler.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { CronJob, DaemonSet, Job, Node, Pod, type Resource, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import {
  adminLogin,
  host,
  keystoneOf,
  label,
  objectOf,
  passwordIn,
  secret,
  sqlOf,
  template,
  text,
} from './services.ts';
import { ours, slice } from './stories.ts';

const fake = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
const cells = { cell0: {}, cell1: fake };
const nova = (spec: object = {}, name = 'nova') => ours('Nova', name, { cellTemplates: cells, ...spec });
const part = (kind: string, name: string, spec: object) => ({
  apiVersion: 'nova.openstack.org/v1beta1',
  kind,
  metadata: { name },
  spec,
});

/** All stories begin where one of these ended: building it anew for each would take most of their time. */
function once(build: () => Promise<Cloud>): () => Promise<Rest> {
  let built: Promise<Rest> | undefined;
  return () => {
    built ??= build().then(async cloud => {
      await cloud.settle();
      return cloud.rest();
    });
    return built;
  };
}
/** MariaDB, RabbitMQ, Memcached and Keystone that stand. */
const foundation = once(async () => {
  const cloud = await Cloud.start();
  cloud.apply(slice());
  await cloud.ready(OpenStackControlPlane, 'slice');
  return cloud;
});
async function start(): Promise<Cloud> {
  const cloud = await Cloud.start({ from: await foundation(), seed: 2 });
  await cloud.ready(OpenStackControlPlane, 'slice');
  await cloud.settle();
  return cloud;
}
/** The same with a Nova of two cells. */
const standing = once(async () => {
  const cloud = await start();
  cloud.apply(nova());
  await cloud.ready(Nova, 'nova');
  return cloud;
});
async function readyNova(): Promise<Cloud> {
  const cloud = await Cloud.start({ from: await standing(), seed: 3 });
  await cloud.ready(Nova, 'nova');
  await cloud.settle();
  return cloud;
}

const keys = (cloud: Cloud, name: string) => Object.keys(cloud.get(Secret, name)?.data ?? {}).sort();
const busOf = (cloud: Cloud) => Object.values(cloud.backends.disks.bus)[0]!;
const statefulSets = ['nova-api', 'nova-scheduler', 'nova-metadata', 'nova-cell0-conductor', 'nova-cell1-conductor'];
const templates = (cloud: Cloud, names = statefulSets) => names.map(name => template(cloud, StatefulSet, name));
const lines = (cloud: Cloud) =>
  (cloud.get(Nova, 'nova')?.status as { cells?: { name: string; ready: boolean; reason?: string }[] } | undefined)
    ?.cells ?? [];

describe('Nova', { timeout: 120_000 }, () => {
  beforeAll(standing, 240_000);

  it('registers, packs, maps and starts everything that its document names, with global metadata', async () => {
    const cloud = await readyNova();
    const sql = sqlOf(cloud);
    for (const database of ['nova_api', 'nova_cell0', 'nova_cell1'])
      expect(sql.databases[database]?.schemas).toEqual(['nova']);
    expect(sql.users['openstack-nova-cell1']?.databases).toEqual(['nova_cell1']);
    expect(Object.keys(sql.databases.nova_api?.cells ?? {}).sort()).toEqual(['cell0', 'cell1']);
    expect(busOf(cloud).vhosts).toEqual(expect.arrayContaining(['openstack-nova-top', 'openstack-nova-cell1']));
    for (const name of ['nova-api-database', 'nova-cell0-database', 'nova-cell1-database', 'nova-message-bus'])
      expect(keys(cloud, name)).toEqual(expect.arrayContaining(['hostname', 'password', 'user']));
    // docs/reference/names.md
    for (const name of ['nova-api', 'nova-scheduler', 'nova-metadata', 'nova-cell0-conductor', 'nova-cell1-conductor'])
      expect(keys(cloud, `${name}-config-data`)).toContain('01-nova.conf');
    expect(keys(cloud, 'nova-scheduler-config-data')).not.toContain('02-nova-override.conf');
    expect(text(cloud, 'nova-cell0-conductor-config-data', 'db-sync.sh')).toContain('nova-manage api_db sync');
    expect(text(cloud, 'nova-cell1-conductor-config-data', 'db-sync.sh')).not.toContain('api_db');
    for (const cell of ['cell0', 'cell1']) {
      expect(keys(cloud, `nova-${cell}-manage-config-data`)).toContain('01-nova.conf');
      expect(keys(cloud, `nova-${cell}-manage-scripts`)).toEqual([
        'check-cell.sh',
        'delete-cell.sh',
        'ensure-cell.sh',
        'housekeeping.sh',
        'servers.py',
      ]);
    }
    expect(keys(cloud, 'nova-cell1-compute-config')).toEqual(['01-nova.conf']);
    expect(cloud.get(Secret, 'nova-cell0-compute-config')).toBeUndefined();
    expect(keys(cloud, 'nova-metadata-compute-config')).toEqual(['05-nova-metadata.conf']);
    expect(cloud.get(Secret, 'nova-cell1-metadata-compute-config')).toBeUndefined();
    const agent = text(cloud, 'nova-metadata-compute-config', '05-nova-metadata.conf');
    expect(agent).toContain('nova_metadata_host = nova-metadata.openstack.svc.cluster.local');
    expect(agent).toContain(`metadata_proxy_shared_secret = ${text(cloud, 'nova-metadata-secret', 'metadata-secret')}`);
    // Who may see which database.
    expect(text(cloud, 'nova-cell0-conductor-config-data', '01-nova.conf')).toContain('[api_database]');
    expect(text(cloud, 'nova-cell1-conductor-config-data', '01-nova.conf')).not.toContain('[api_database]');
    for (const name of ['nova-cell1-compute-config', 'nova-cell1-fake-config-data'])
      expect(text(cloud, name, '01-nova.conf')).not.toMatch(/^\[(api_)?database\]/m);
    expect(keystoneOf(cloud).services.find(s => s.type === 'compute')?.endpoints[0]?.url).toBe(
      'http://nova-api.openstack.svc.cluster.local:8774/v2.1',
    );
    expect(lines(cloud)).toMatchObject([
      { name: 'cell0', ready: true },
      { name: 'cell1', ready: true },
    ]);
    expect(cloud.condition(NovaAPI, 'nova-api', 'Answering')?.status).toBe('True');
    expect(cloud.get(NovaNoVNCProxy, 'nova-cell0-novncproxy')).toBeUndefined();
    expect(cloud.get(NovaNoVNCProxy, 'nova-cell1-novncproxy')).toBeDefined();
  });

  it('writes nothing at rest, also right after a restart (rule 14)', async () => {
    const cloud = await readyNova();
    const [writes, mutations] = [cloud.writes().length, cloud.backends.mutations()];
    await cloud.sim.run(1_800_000);
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    await cloud.sim.run(60_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
    expect(cloud.backends.mutations()).toBe(mutations);
  });

  it('serves metadata by cell when a cell asks for it, and then not for all', async () => {
    const cloud = await readyNova();
    const perCell = { ...fake, metadataServiceTemplate: { enabled: true } };
    cloud.apply(nova({ cellTemplates: { cell0: {}, cell1: perCell } }));
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    expect(cloud.get(NovaMetadata, 'nova-metadata')).toBeUndefined();
    expect(cloud.get(Secret, 'nova-metadata-compute-config')).toBeUndefined();
    expect(keys(cloud, 'nova-cell1-metadata-compute-config')).toEqual(['05-nova-metadata.conf']);
    expect(text(cloud, 'nova-cell1-metadata-compute-config', '05-nova-metadata.conf')).toContain(
      'nova_metadata_host = nova-cell1-metadata.openstack.svc.cluster.local',
    );
    const conf = text(cloud, 'nova-cell1-metadata-config-data', '01-nova.conf');
    expect(conf).toContain('local_metadata_per_cell = true');
    expect(conf).not.toContain('[api_database]');
    expect(keys(cloud, 'nova-cell0-metadata-config-data')).toEqual([]);
  });

  it('by two cells is asked by the agents on the nodes of each', async () => {
    const cloud = await readyNova();
    for (const [index, node] of ['node-1', 'node-2'].entries())
      label(cloud, node, { 'openstack.k8s.io/compute': '', 'example.com/cell': `cell${index + 1}` });
    const cell = (selector: object) => ({
      metadataServiceTemplate: { enabled: true },
      novaComputeTemplates: { kvm: { computeDriver: 'libvirt', nodeSelector: selector } },
    });
    const [first, second] = [cell({ 'example.com/cell': 'cell1' }), cell({ 'example.com/cell': 'cell2' })];
    cloud.apply(objectOf(OVNNetwork, 'ovn'), nova({ cellTemplates: { cell0: {}, cell1: first } }));
    await cloud.ready(OVNNetwork, 'ovn');
    await cloud.settle();
    const alone = template(cloud, DaemonSet, 'ovn-metadata-agent');
    expect(JSON.stringify(alone)).not.toContain('example.com/cell');
    cloud.apply(nova({ cellTemplates: { cell0: {}, cell1: first, cell2: second } }));
    await cloud.ready(Nova, 'nova');
    await cloud.ready(OVNNetwork, 'ovn');
    await cloud.settle();
    const asked = () =>
      cloud.hands
        .list(Pod, NS)
        .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']?.startsWith('metadata-agent'))
        .map(({ spec }) => {
          const { nodeName, volumes } = spec as { nodeName: string; volumes: { secret?: { secretName: string } }[] };
          const copies = volumes.flatMap(({ secret: mounted }) => (mounted ? [mounted.secretName] : []));
          const data = copies.flatMap(name => Object.values((cloud.get(Secret, name)?.data ?? {}) as object));
          const texts = data.map(each => Buffer.from(String(each), 'base64').toString());
          return [nodeName, ...texts.flatMap(each => /nova_metadata_host = ([\w-]+)/.exec(each)?.[1] ?? [])];
        })
        .sort();
    expect(asked()).toEqual([
      ['node-1', 'nova-cell1-metadata'],
      ['node-2', 'nova-cell2-metadata'],
    ]);
    expect(cloud.get(DaemonSet, 'ovn-metadata-agent')).toBeUndefined();
    cloud.apply(nova({ cellTemplates: { cell0: {}, cell1: first, cell2: cell({}) } }));
    await cloud.settle();
    expect(cloud.condition(OVNNetwork, 'ovn', 'MetadataAgentReady')).toMatchObject({
      reason: 'CellsShareNodes',
      message: expect.stringContaining('NovaCell nova-cell1 (cell cell1) and NovaCell nova-cell2 (cell cell2)'),
    });
  }, 120_000);

  it('refuses metadata both for all cells and by a cell', async () => {
    const cloud = await start();
    const perCell = { metadataServiceTemplate: { enabled: true } };
    cloud.apply(nova({ metadataServiceTemplate: { enabled: true }, cellTemplates: { cell0: {}, cell1: perCell } }));
    await cloud.settle();
    expect(cloud.condition(Nova, 'nova')).toMatchObject({ status: 'False', reason: 'MetadataConflict' });
    expect(cloud.condition(Nova, 'nova')?.message).toContain('spec.cellTemplates.cell1.metadataServiceTemplate');
    expect(cloud.get(NovaCell, 'nova-cell0')).toBeUndefined();
  });

  it('refuses a cell that shares the database of another', async () => {
    const cloud = await start();
    const shared = { databaseSecret: 'mine' };
    cloud.apply(nova({ cellTemplates: { cell0: {}, cell1: shared, cell2: shared } }));
    await cloud.settle();
    expect(cloud.condition(Nova, 'nova')).toMatchObject({ status: 'False', reason: 'CellsShare' });
  });

  it('makes all schemas at once, maps nothing before the API has its own, and starts nobody who remembers cells before', async () => {
    const cloud = await start();
    cloud.apply(nova());
    const mapped = () => Object.keys(sqlOf(cloud).databases.nova_api?.cells ?? {});
    const synced = (name: string) => cloud.condition(NovaConductor, name, 'DatabaseSyncReady')?.status;
    await cloud.sim.until(() => cloud.get(NovaCell, 'nova-cell1') !== undefined);
    expect(synced('nova-cell0-conductor')).not.toBe('True');
    await cloud.sim.until(() => mapped().length > 0);
    expect(synced('nova-cell0-conductor')).toBe('True');
    await cloud.sim.until(() => cloud.get(StatefulSet, 'nova-cell0-conductor') !== undefined);
    expect(keys(cloud, 'nova-cell-mappings')).toEqual(['cell0', 'cell1']);
  });

  it('starts those who remember cells once, after the last cell that is on its way', async () => {
    const cloud = await start();
    cloud.apply(nova({ cellTemplates: { ...cells, cell2: fake } }));
    await cloud.ready(Nova, 'nova');
    for (const name of ['nova-api', 'nova-scheduler', 'nova-metadata', 'nova-cell0-conductor'])
      expect(cloud.get(StatefulSet, name)?.metadata.generation, name).toBe(1);
    expect(keys(cloud, 'nova-cell-mappings')).toEqual(['cell0', 'cell1', 'cell2']);
  });

  it('holds nobody for one broken cell', async () => {
    const cloud = await start();
    cloud.apply(nova({ cellTemplates: { ...cells, cell2: { databaseInstance: 'nowhere' } } }));
    await cloud.ready(NovaAPI, 'nova-api');
    await cloud.ready(NovaCell, 'nova-cell1');
    await cloud.settle();
    expect(lines(cloud)).toMatchObject([
      { name: 'cell0', ready: true },
      { name: 'cell1', ready: true },
      { name: 'cell2', ready: false, reason: 'NotFound' },
    ]);
    expect(cloud.condition(Nova, 'nova', 'CellsReady')).toMatchObject({ status: 'False', reason: 'NotFound' });
    expect(cloud.condition(Nova, 'nova', 'CellsReady')?.message).toMatch(/^cell2: MariaDB nowhere .*databaseInstance/);
    expect(cloud.condition(Nova, 'nova', 'APIReady')?.status).toBe('True');
    expect(cloud.condition(Nova, 'nova')?.status).toBe('False');
  });

  it('comes up though the operator is killed every few seconds, and does nothing twice', async () => {
    const cloud = await start();
    cloud.apply(nova());
    for (let kill = 0; kill < 12; kill++) {
      await cloud.sim.run(3_500);
      cloud.crashOperator();
      cloud.startOperator();
    }
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    const jobs = cloud.hands.list(Job, NS).map(job => job.metadata.name.replace(/-[0-9a-f]{8}$/, ''));
    expect(jobs.filter(name => name.includes('nova')).sort()).toEqual([
      'nova-cell0-conductor-db-sync',
      'nova-cell0-map',
      'nova-cell1-conductor-db-sync',
      'nova-cell1-map',
    ]);
    expect(Object.keys(sqlOf(cloud).databases.nova_api?.cells ?? {}).sort()).toEqual(['cell0', 'cell1']);
  });

  it('keeps the CronJob of a cell that cannot be used for a moment', async () => {
    const cloud = await readyNova();
    const uid = () => cloud.get(CronJob, 'nova-cell1-housekeeping')?.metadata.uid;
    const before = uid();
    expect(before).toBeDefined();
    cloud.hands.remove(Pod, NS, 'rabbitmq-0');
    const waiting = () => lines(cloud).find(line => line.name === 'cell1')?.ready === false;
    expect(await cloud.sim.until(waiting)).toBe('done');
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    expect(uid()).toBe(before);
  });

  it('takes a cell in by an edit and restarts those who remember cells, and nobody else', async () => {
    const cloud = await readyNova();
    const others = () => templates(cloud, ['nova-cell1-conductor', 'nova-cell1-fake']);
    const [before, rest] = [templates(cloud), others()];
    cloud.apply(nova({ cellTemplates: { ...cells, cell2: fake } }));
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    expect(Object.keys(sqlOf(cloud).databases.nova_api?.cells ?? {}).sort()).toEqual(['cell0', 'cell1', 'cell2']);
    expect(cloud.condition(NovaCompute, 'nova-cell2-fake')?.status).toBe('True');
    for (const [index, name] of ['nova-api', 'nova-scheduler', 'nova-metadata', 'nova-cell0-conductor'].entries())
      expect(template(cloud, StatefulSet, name), name).not.toEqual(before[index]);
    expect(others()).toEqual(rest);
  });

  it('takes a cell out by an edit, but not while hosts are in it, and says which', async () => {
    const cloud = await readyNova();
    const before = template(cloud, StatefulSet, 'nova-api');
    sqlOf(cloud).databases.nova_api!.cells!.cell1!.hosts = ['compute-7'];
    cloud.apply(nova({ cellTemplates: { cell0: {} } }));
    await cloud.sim.within(3_600_000, () => cloud.condition(Nova, 'nova')?.reason === 'JobFailed');
    expect(cloud.condition(Nova, 'nova', 'CellsReady')?.message).toContain('cell cell1 still has hosts: compute-7');
    expect(cloud.condition(Nova, 'nova', 'APIReady')?.status).toBe('True');
    expect(cloud.get(NovaCell, 'nova-cell1')).toBeDefined();
    // Who starts now would find the cell and remember it.
    const unmapped = () => sqlOf(cloud).databases.nova_api!.cells!.cell1 === undefined;
    expect(template(cloud, StatefulSet, 'nova-api')).toEqual(before);
    sqlOf(cloud).databases.nova_api!.cells!.cell1!.hosts = [];
    cloud.hands.patch(Nova, NS, 'nova', { metadata: { annotations: { 'openstack.k8s.io/retry': '1' } } });
    await cloud.sim.until(() => JSON.stringify(template(cloud, StatefulSet, 'nova-api')) !== JSON.stringify(before));
    expect(unmapped()).toBe(true);
    expect(cloud.condition(Nova, 'nova')?.status).toBe('False');
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    expect(Object.keys(sqlOf(cloud).databases.nova_api?.cells ?? {})).toEqual(['cell0']);
    expect(cloud.left().filter(line => line.includes('cell1'))).toEqual([]);
    expect(sqlOf(cloud).users['openstack-nova-cell1']).toBeUndefined();
    expect(busOf(cloud).vhosts).not.toContain('openstack-nova-cell1');
    // Retain: the data outlives the cell.
    expect(sqlOf(cloud).databases.nova_cell1).toBeDefined();
    expect(lines(cloud).map(line => line.name)).toEqual(['cell0']);
    cloud.apply(nova());
    await cloud.ready(Nova, 'nova');
    expect(Object.keys(sqlOf(cloud).databases.nova_api?.cells ?? {}).sort()).toEqual(['cell0', 'cell1']);
  });

  it('is not Ready while a conductor runs and does not report, and says which', async () => {
    const cloud = await readyNova();
    const row = sqlOf(cloud).databases.nova_cell1!.services!['nova-conductor nova-cell1-conductor-0']!;
    row.state = 'down';
    await cloud.sim.within(1_200_000, () => cloud.condition(Nova, 'nova')?.status !== 'True');
    expect(cloud.condition(Nova, 'nova', 'Answering')).toMatchObject({ status: 'False', reason: 'ServiceSilent' });
    expect(cloud.condition(Nova, 'nova', 'Answering')?.message).toContain('nova-cell1-conductor-0');
    row.state = 'up';
    // No watch shows it: the next look, ten seconds later, does.
    expect(await cloud.sim.within(60_000, () => cloud.condition(Nova, 'nova')?.status === 'True')).toBe(true);
  });

  it('is not Ready while a compute runs and does not report, unless it was disabled', async () => {
    const cloud = await readyNova();
    const [pod] = cloud.hands.list(Pod, NS).filter(p => p.metadata.name.startsWith('nova-cell1-fake-'));
    const { name: host } = pod!.metadata;
    const rows = sqlOf(cloud).databases.nova_cell1!.services!;
    const row = { binary: 'nova-compute', host, state: 'down' };
    rows[`nova-compute ${host}`] = row;
    await cloud.sim.within(1_200_000, () => cloud.condition(Nova, 'nova')?.status !== 'True');
    expect(cloud.condition(Nova, 'nova', 'Answering')).toMatchObject({
      status: 'False',
      reason: 'ServiceSilent',
      message: expect.stringContaining(`nova-compute in pod ${host} does not report as ${host}`),
    });
    rows[`nova-compute ${host}`] = { ...row, status: 'disabled' };
    expect(await cloud.sim.within(60_000, () => cloud.condition(Nova, 'nova')?.status === 'True')).toBe(true);
  });

  it('corrects the mapping when the password of a cell changes', async () => {
    const cloud = await readyNova();
    const before = template(cloud, StatefulSet, 'nova-cell1-conductor');
    const data = { password: Buffer.from('another-password').toString('base64') };
    cloud.hands.patch(Secret, NS, 'nova-cell1-database', { data });
    await cloud.settle();
    await cloud.ready(Nova, 'nova');
    expect(sqlOf(cloud).databases.nova_api?.cells?.cell1?.url).toContain('another-password');
    expect(sqlOf(cloud).users['openstack-nova-cell1']?.password).toBe('another-password');
    expect(template(cloud, StatefulSet, 'nova-cell1-conductor')).not.toEqual(before);
    expect(JSON.stringify(cloud.hands.list(Job, NS))).not.toContain('another-password');
  });

  it.each([
    ['gone', (cloud: Cloud) => void delete sqlOf(cloud).databases.nova_cell1],
    ['empty', (cloud: Cloud) => void Object.assign(sqlOf(cloud).databases.nova_cell1!, { schemas: [] })],
  ])('asks about a database that is %s, and creates it again only when told to', async (_, lose) => {
    const cloud = await readyNova();
    lose(cloud);
    const told = () => cloud.condition(Nova, 'nova', 'CellsReady')?.reason === 'DatabaseLost';
    expect(await cloud.sim.within(1_200_000, told)).toBe(true);
    expect(cloud.condition(Nova, 'nova', 'CellsReady')?.message).toContain('nova_cell1');
    await cloud.sim.run(1_200_000);
    expect(sqlOf(cloud).databases.nova_cell1?.schemas ?? []).toEqual([]);
    const { lostSince } = cloud.get(Nova, 'nova')!.status as { lostSince: string };
    const annotations = { 'openstack.k8s.io/accept-data-loss': lostSince };
    cloud.hands.patch(Nova, NS, 'nova', { metadata: { annotations } });
    await cloud.sim.within(1_200_000, () => sqlOf(cloud).databases.nova_cell1?.schemas.includes('nova') ?? false);
    await cloud.ready(Nova, 'nova');
    expect(sqlOf(cloud).databases.nova_cell1?.schemas).toEqual(['nova']);
  });

  it('rolls only the pods of the part whose config is edited', async () => {
    const cloud = await readyNova();
    const before = templates(cloud);
    cloud.apply(nova({ schedulerServiceTemplate: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } }));
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    expect(text(cloud, 'nova-scheduler-config-data', '02-nova-override.conf')).toContain('debug = true');
    const changed = statefulSets.filter((name, index) => {
      return JSON.stringify(template(cloud, StatefulSet, name)) !== JSON.stringify(before[index]);
    });
    expect(changed).toEqual(['nova-scheduler']);
  });

  it("puts the texts of cloud, service, cell and part one under another, in a part's own file", async () => {
    const cloud = await readyNova();
    const debug = (value: string) => `[DEFAULT]\ndebug = ${value}\n`;
    const conductorServiceTemplate = { customServiceConfig: debug('true') };
    const cell1 = { ...fake, customServiceConfig: debug('false'), conductorServiceTemplate };
    cloud.apply(nova({ customServiceConfig: debug('false'), cellTemplates: { cell0: {}, cell1 } }));
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    const merged = text(cloud, 'nova-cell1-conductor-config-data', '02-nova-override.conf');
    const places = ['Nova openstack/nova ', 'NovaCell openstack/nova-cell1 ', 'NovaConductor openstack/nova-cell1-'];
    const found = places.map(place => merged.indexOf(place));
    expect(found.every(at => at >= 0)).toBe(true);
    expect([...found].sort((a, b) => a - b)).toEqual(found);
    expect(text(cloud, 'nova-cell1-fake-config-data', '02-nova-override.conf')).toContain(
      'NovaCell openstack/nova-cell1 ',
    );
  });

  it('lives beside another Nova in one namespace, and the older one stands in the catalog', async () => {
    const cloud = await readyNova();
    cloud.apply(nova({ cellTemplates: { cell0: {}, cell1: {} } }, 'other'));
    await cloud.ready(Nova, 'other');
    await cloud.settle();
    expect(cloud.condition(Nova, 'nova')?.status).toBe('True');
    expect(Object.keys(sqlOf(cloud).databases.other_api?.cells ?? {}).sort()).toEqual(['cell0', 'cell1']);
    expect(keys(cloud, 'other-cell1-compute-config')).toEqual(['01-nova.conf']);
    const url = () => keystoneOf(cloud).services.find(s => s.type === 'compute')?.endpoints[0]?.url;
    expect(url()).toContain('nova-api.');
    const [writes, mutations] = [cloud.writes().length, cloud.backends.mutations()];
    await cloud.sim.run(1_200_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
    expect(cloud.backends.mutations()).toBe(mutations);
    cloud.hands.remove(Nova, NS, 'nova');
    await cloud.settle();
    await cloud.sim.within(1_200_000, () => url()?.includes('other-api.') ?? false);
    expect(url()).toContain('other-api.');
    expect(cloud.condition(Nova, 'other')?.status).toBe('True');
  });

  it('takes two replicas and no cells for an answer: two of each process, and computes on labelled nodes', async () => {
    const cloud = await start();
    cloud.apply(ours('Nova', 'nova', { replicas: 2 }));
    await cloud.ready(NovaAPI, 'nova-api');
    const waiting = () => cloud.condition(Nova, 'nova', 'CellsReady')?.message.includes('openstack.k8s.io/compute');
    expect(await cloud.sim.within(600_000, () => waiting() ?? false)).toBe(true);
    expect(cloud.condition(NovaCompute, 'nova-cell1-libvirt', 'WorkloadsReady')).toMatchObject({ reason: 'NoNodes' });
    for (const name of statefulSets) expect(cloud.get(StatefulSet, name)?.spec, name).toMatchObject({ replicas: 2 });
    const [node] = cloud.hands.list(Node, '');
    const labels = { 'openstack.k8s.io/compute': '' };
    cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels } });
    await cloud.ready(Nova, 'nova');
    const sets = ['compute', 'virtlogd'].map(name => `nova-cell1-libvirt-${name}`);
    for (const name of [...sets, 'nova-cell1-libvirt'])
      expect(cloud.get(DaemonSet, name)?.status, name).toMatchObject({ desiredNumberScheduled: 1, numberReady: 1 });
    expect(cloud.get(DaemonSet, 'nova-cell1-libvirt-virtlogd')?.spec).toMatchObject({
      updateStrategy: { type: 'OnDelete' },
    });
    // An edit of nova-compute's config leaves the hypervisor alone.
    const before = template(cloud, DaemonSet, 'nova-cell1-libvirt');
    const compute = template(cloud, DaemonSet, 'nova-cell1-libvirt-compute');
    cloud.apply(ours('Nova', 'nova', { replicas: 2, customServiceConfig: '[DEFAULT]\ndebug = true\n' }));
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    expect(template(cloud, DaemonSet, 'nova-cell1-libvirt-compute')).not.toEqual(compute);
    expect(template(cloud, DaemonSet, 'nova-cell1-libvirt')).toEqual(before);
  });

  it('leaves nothing behind under Delete, and only its data under Retain', async () => {
    const cloud = await start();
    const before = cloud.left();
    for (const deletionPolicy of ['Delete', 'Retain']) {
      cloud.apply(nova({ deletionPolicy }));
      await cloud.ready(Nova, 'nova');
      cloud.hands.remove(Nova, NS, 'nova');
      await cloud.settle();
      expect(cloud.left(), deletionPolicy).toEqual(before);
      expect(Object.keys(sqlOf(cloud).users).filter(user => user.includes('nova'))).toEqual([]);
      expect(busOf(cloud).vhosts.filter(vhost => vhost.includes('nova'))).toEqual([]);
      expect(keystoneOf(cloud).services.map(s => s.type)).not.toContain('compute');
      expect(keystoneOf(cloud).users.nova).toBeUndefined();
      const kept = deletionPolicy === 'Delete' ? [] : ['nova_api', 'nova_cell0', 'nova_cell1'];
      expect(
        Object.keys(sqlOf(cloud).databases)
          .filter(name => name.startsWith('nova'))
          .sort(),
      ).toEqual(kept);
    }
  });
});

describe("Nova's parts alone, from Secrets that somebody made by hand", { timeout: 120_000 }, () => {
  async function withSecrets(): Promise<Cloud> {
    const cloud = await start();
    const root = { hostname: host('mariadb'), user: 'root', password: passwordIn(cloud, 'mariadb-root') };
    for (const database of ['hand_api', 'hand_cell']) sqlOf(cloud).databases[database] = { schemas: [] };
    cloud.apply(
      secret('hand-api', { ...root, database: 'hand_api' }),
      secret('hand-cell', { ...root, database: 'hand_cell' }),
      secret('hand-bus', { hostname: host('rabbitmq'), user: 'admin', password: passwordIn(cloud, 'rabbitmq-admin') }),
      secret('hand-user', adminLogin(cloud)),
      secret('hand-metadata', { 'metadata-secret': 'between-us-only' }),
    );
    return cloud;
  }
  const bus = { messageBusSecret: 'hand-bus', keystoneSecret: 'hand-user' };
  const cell = { cellDatabaseSecret: 'hand-cell', ...bus };
  const all = { apiDatabaseSecret: 'hand-api', ...cell };

  it('each reaches Ready with nothing above it', async () => {
    const cloud = await withSecrets();
    cloud.apply(part('NovaConductor', 'hand-conductor', { ...all, cellName: 'cell0' }));
    await cloud.ready(NovaConductor, 'hand-conductor');
    expect(sqlOf(cloud).databases.hand_api?.schemas).toEqual(['nova']);
    cloud.apply(
      part('NovaAPI', 'hand-api', all),
      part('NovaScheduler', 'hand-scheduler', all),
      part('NovaMetadata', 'hand-metadata', { ...all, metadataSecret: 'hand-metadata' }),
      part('NovaNoVNCProxy', 'hand-novncproxy', cell),
      part('NovaCompute', 'hand-compute', { ...bus, computeDriver: 'fake', cellName: 'cell1' }),
      part('NovaCompute', 'hand-metal', { ...bus, computeDriver: 'ironic', cellName: 'cell1' }),
      part('NovaCell', 'hand-cell', { ...cell, cellName: 'cell1' }),
    );
    for (const [kind, name] of [
      [NovaAPI, 'hand-api'],
      [NovaScheduler, 'hand-scheduler'],
      [NovaMetadata, 'hand-metadata'],
      [NovaNoVNCProxy, 'hand-novncproxy'],
      [NovaCompute, 'hand-compute'],
      [NovaCompute, 'hand-metal'],
      [NovaCell, 'hand-cell'],
    ] as const)
      await cloud.ready(kind, name);
    expect(cloud.condition(NovaAPI, 'hand-api', 'Answering')?.status).toBe('True');
    expect(keystoneOf(cloud).services.map(s => s.type)).not.toContain('compute');
    expect(keys(cloud, 'hand-cell-compute-config')).toEqual(['01-nova.conf']);
    expect(text(cloud, 'hand-metadata-config-data', '01-nova.conf')).toContain('between-us-only');
    expect(text(cloud, 'hand-metal-config-data', '01-nova.conf')).toContain('ironic.IronicDriver');
  });

  it('say which field or Secret is missing', async () => {
    const cloud = await withSecrets();
    cloud.apply(
      part('NovaAPI', 'hand-api', { ...all, apiDatabaseSecret: 'nowhere' }),
      part('NovaScheduler', 'hand-scheduler', bus),
      part('NovaConductor', 'hand-conductor', { ...cell, cellName: 'cell0' }),
      part('NovaMetadata', 'hand-metadata', all),
      part('NovaCompute', 'hand-compute', { ...bus, computeDriver: 'fake', cellName: 'cell0' }),
      part('NovaNoVNCProxy', 'hand-console', { ...cell, cellName: 'cell0' }),
    );
    await cloud.settle();
    const said = (kind: Resource, name: string) => cloud.condition(kind, name)?.message ?? '';
    expect(said(NovaAPI, 'hand-api')).toContain('Secret nowhere, named in spec.apiDatabaseSecret');
    expect(said(NovaScheduler, 'hand-scheduler')).toContain('spec.apiDatabaseSecret is not set');
    expect(said(NovaConductor, 'hand-conductor')).toContain('spec.apiDatabaseSecret is not set');
    expect(said(NovaMetadata, 'hand-metadata')).toContain('spec.metadataSecret is not set');
    expect(said(NovaCompute, 'hand-compute')).toContain('no host can be in cell0');
    expect(said(NovaNoVNCProxy, 'hand-console')).toContain('nothing in cell0 has a console');
  });
});
