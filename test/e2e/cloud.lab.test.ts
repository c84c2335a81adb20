import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NovaAPI } from '../../api/nova/api.ts';
import { NovaConductor } from '../../api/nova/conductor.ts';
import { NovaMetadata } from '../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../api/nova/scheduler.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Pod, type Resource, Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { consoleGreeting, type Key, makeKey, ping, ssh } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { gone, ready, until, valueIn, writesAtRest } from './stage.ts';
import { recompute, switchState } from './switch.ts';
import { type Server, Tenant, type Thing } from './tenant.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const rest = Number(process.env.REST ?? 60);
const yaml = parse(readFileSync('lab/cloud.yaml', 'utf8')) as AnyObject & { spec: { nova: object } };
const cloud = (nova: object = {}) => ({
  ...yaml,
  spec: { ...yaml.spec, release, nova: { ...yaml.spec.nova, ...nova } },
});

/** Two cells: guests in emulation, and pretended ones. */
const CELLS = {
  cell0: {},
  cell1: { novaComputeTemplates: { libvirt: {} } },
  cell2: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } },
};
const SCHEDULER = { schedulerServiceTemplate: { customServiceConfig: '[scheduler]\nmax_attempts = 5\n' } };

describe(`a cloud, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let os: OpenStack;
  let tenant: Tenant;
  let key: Key;
  let floating = '';
  const servers: Server[] = [];
  const say = (text: string) => console.log(text);

  const pods = async (part: (pod: AnyObject) => boolean) =>
    (await stage.list(Pod)).filter(pod => pod.metadata.deletionTimestamp === undefined && part(pod));
  const running = async () =>
    new Map(
      (await pods(pod => (pod.status as { phase?: string }).phase === 'Running')).map(pod => [
        pod.metadata.uid ?? '',
        pod.metadata.name,
      ]),
    );

  beforeAll(async () => {
    stage = await labStage(namespace);
    key = await makeKey();
  });

  /** A guest without an address asks on: whether it gets one from flows that are worked out anew tells whose fault it is. */
  async function explain(id: string): Promise<void> {
    say(await switchState(namespace));
    await recompute(namespace);
    await stage.pass(20);
    say(`after all flows were worked out anew:\n  ${(await tenant.greeted(id)).join('\n  ')}`);
    say(await switchState(namespace));
  }

  it('is Ready from one object', async () => {
    const began = performance.now();
    await stage.apply(cloud());
    await ready(stage, OpenStackControlPlane, 'cloud');
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`Ready after ${seconds} s (seconds if it was there before)`);
    figure('Ready seconds', seconds);
    os = await OpenStack.login(namespace, await valueIn(stage, 'keystone-admin', 'password', Secret));
    tenant = new Tenant(stage, os, key);
    await tenant.sweep();
    expect([...os.catalog.keys()].sort()).toEqual(['compute', 'identity', 'image', 'network', 'placement']);
  });

  it('takes an image', async () => {
    const size = await tenant.image();
    expect(await os.call('image', 'GET', `/v2/images/${tenant.ids.image}`)).toMatchObject({ status: 'active', size });
  });

  it('makes networks, a router to the outside, a flavor, a key and rules', () => tenant.furnish());

  it('boots two guests that get an address and their metadata', async () => {
    await tenant.hostKnown();
    const began = performance.now();
    const since = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;
    for (const name of ['one', 'two']) servers.push(await tenant.server(await tenant.boot(name, tenant.connected())));
    for (const [index, { id }] of servers.entries()) servers[index] = await tenant.active(id);
    say(`both ACTIVE after ${since()}`);
    figure('two guests ACTIVE, seconds', Number.parseInt(since(), 10));
    for (const { id } of servers) {
      const told = await tenant.greeted(id);
      say(`${since()}\n  ${told.join('\n  ')}`);
      if (!told.join().includes('GUEST-DHCP-OK')) await explain(id);
      expect(told.join()).toContain('GUEST-DHCP-OK');
      expect(told.join()).toContain('GUEST-METADATA-OK');
      expect(told.join()).toMatch(/GUEST-KEYS [1-9]/);
    }
  });

  it('is reached by ssh through a floating IP, and one guest reaches the other', async () => {
    const [one, two] = servers;
    floating = await tenant.floatingAddress(one!.id);
    let name: string | undefined;
    await until(stage, 'ssh answers', 90, async () => {
      name = await ssh(key, floating, 'hostname');
      return name !== undefined;
    });
    expect(name?.trim()).toMatch(/^one/);
    const other = two!.addresses.private![0]!.addr;
    const pinged = await ssh(key, floating, `ping -c 3 -W 5 ${other}`);
    say(
      `ssh root@${floating} from outside: ${name?.trim()}; ${pinged?.split('\n').find(line => line.includes('packets'))}`,
    );
    expect(pinged).toContain('3 packets received');
  });

  it('shows the console of a guest in a browser', async () => {
    const url = await tenant.console(servers[0]!.id);
    say(url.replace(/token.*/, 'token...'));
    expect(await consoleGreeting(url)).toMatch(/^RFB 003/);
  });

  it(`writes nothing in ${rest} s at rest, also right after a restart (rule 14)`, async () => {
    expect(await writesAtRest(stage, rest)).toEqual([]);
    figure('seconds at rest without a write', rest);
  });

  it('brings an edit to the file in the container, and rolls only what reads it', async () => {
    const before = await running();
    await stage.apply(cloud(SCHEDULER));
    const file = async () => {
      const { code, text } = await stage.tryExec('nova-scheduler-0', ['sh', '-c', 'cat /etc/nova/nova.conf.d/*.conf']);
      return code === 0 ? text : '';
    };
    await until(stage, 'the file shows the edit', 180, async () => (await file()).includes('max_attempts = 5'));
    await ready(stage, OpenStackControlPlane, 'cloud');
    const after = await running();
    expect([...before].filter(([uid]) => !after.has(uid)).map(([, name]) => name)).toEqual(['nova-scheduler-0']);
  });

  it('gets a second cell by an edit, though the operator is killed meanwhile, and schedules into it', async () => {
    await stage.apply(cloud({ ...SCHEDULER, cellTemplates: CELLS }));
    await stage.pass(8);
    await stage.killOperator();
    await stage.pass(8);
    await stage.killOperator();
    await ready(stage, Nova, 'nova');
    await ready(stage, OpenStackControlPlane, 'cloud');
    let host = '';
    await until(stage, 'the pretended host is known', 180, async () => {
      const { services } = await os.call<{ services: { host: string; binary: string; state: string }[] }>(
        'compute',
        'GET',
        '/os-services',
      );
      host = services.find(s => s.binary === 'nova-compute' && s.state === 'up' && /fake/.test(s.host))?.host ?? '';
      const { hypervisors } = await os.call<{ hypervisors: Thing[] }>('compute', 'GET', '/os-hypervisors');
      return host !== '' && hypervisors.length === 2;
    });
    const id = await tenant.boot('pretended', { networks: 'none', host });
    const found = await tenant.active(id);
    say(`server ${id} is ${found.status} on ${host} of cell2`);
    await os.call('compute', 'DELETE', `/servers/${id}`);
  });

  it("runs Nova's parts from Secrets that somebody made by hand, with nothing above them", async () => {
    const alone = await labStage(`${namespace}-parts`);
    const copies = {
      'hand-api-db': ['nova-api-database', 'hostname', 'user', 'password', 'database'],
      'hand-cell0-db': ['nova-cell0-database', 'hostname', 'user', 'password', 'database'],
      'hand-cell1-db': ['nova-cell1-database', 'hostname', 'user', 'password', 'database'],
      'hand-bus': ['nova-message-bus', 'hostname', 'user', 'password', 'vhost'],
      'hand-cell1-bus': ['nova-cell1-message-bus', 'hostname', 'user', 'password', 'vhost'],
      'hand-keystone': ['nova-keystone', 'url', 'user', 'password', 'project', 'region'],
      'hand-metadata': ['nova-metadata-secret', 'metadata-secret'],
    };
    for (const [name, [from, ...keys]] of Object.entries(copies)) {
      const stringData: Record<string, string> = {};
      for (const key of keys) stringData[key] = await valueIn(stage, from!, key, Secret);
      await alone.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });
    }
    const top = {
      release,
      apiDatabaseSecret: 'hand-api-db',
      cellDatabaseSecret: 'hand-cell0-db',
      messageBusSecret: 'hand-bus',
      keystoneSecret: 'hand-keystone',
    };
    const { apiDatabaseSecret: _, ...rest } = top;
    const cell = {
      ...rest,
      cellName: 'cell1',
      cellDatabaseSecret: 'hand-cell1-db',
      messageBusSecret: 'hand-cell1-bus',
    };
    const parts: readonly [Resource, object][] = [
      [NovaAPI, top],
      [NovaScheduler, top],
      [NovaMetadata, { ...top, metadataSecret: 'hand-metadata' }],
      [NovaConductor, cell],
      [NovaNoVNCProxy, cell],
    ];
    for (const [{ kind }, spec] of parts)
      await alone.apply({ apiVersion: 'nova.openstack.org/v1beta1', kind, metadata: { name: handNamed(kind) }, spec });
    for (const [kind] of parts) await ready(alone, kind, handNamed(kind.kind));
    for (const [kind] of parts) await gone(alone, kind, handNamed(kind.kind));
    await until(alone, 'their pods are gone', 120, async () => (await alone.list(Pod)).length === 0);
  });

  it('keeps a guest answering while libvirt and nova-compute are deleted under it', async () => {
    const pinging = ping(floating);
    await stage.pass(5);
    const under = await pods(pod => /^nova-cell1-libvirt-(?!virtlogd)/.test(pod.metadata.name));
    expect(under).toHaveLength(2);
    for (const pod of under) await stage.remove(Pod, pod.metadata.name);
    const old = new Set(under.map(pod => pod.metadata.uid));
    await until(stage, 'new ones are ready', 300, async () => {
      const now = await pods(pod => /^nova-cell1-libvirt-(?!virtlogd)/.test(pod.metadata.name));
      return now.length === 2 && now.every(pod => !old.has(pod.metadata.uid) && isReady(pod));
    });
    await stage.pass(5);
    const { sent, lost } = await pinging.stop();
    say(`${sent} pings, ${lost} lost`);
    figure('pings', sent);
    figure('pings lost', lost);
    expect(lost).toBe(0);
    await tenant.hostsServe();
  });

  it('lets go of everything in the cloud', () => tenant.sweep());

  it('is deleted and leaves only what the policy retains', async () => {
    await gone(stage, OpenStackControlPlane, 'cloud');
    await until(stage, 'pods are gone', 180, async () => (await stage.list(Pod)).length === 0);
    const names = async (resource: typeof Secret) => (await stage.list(resource)).map(o => o.metadata.name).sort();
    expect({ claims: await names(PersistentVolumeClaim), secrets: await names(Secret) }).toMatchInlineSnapshot(`
      {
        "claims": [
          "data-mariadb-0",
          "data-ovn-nb-0",
          "data-ovn-sb-0",
          "data-rabbitmq-0",
          "glance-images",
        ],
        "secrets": [
          "keystone-admin",
          "keystone-credential-keys",
          "keystone-fernet-keys",
          "mariadb-root",
          "openstack-hash-key",
          "openstack-owner",
          "rabbitmq-admin",
        ],
      }
    `);
  });
});

const isReady = (pod: AnyObject): boolean =>
  ((pod.status as { conditions?: { type: string; status: string }[] }).conditions ?? []).some(
    condition => condition.type === 'Ready' && condition.status === 'True',
  );

const handNamed = (kind: string): string => `hand-${kind.toLowerCase()}`;
