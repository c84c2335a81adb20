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
import { guestImage } from '../../lab/images/guest.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Pod, type Resource, Secret } from '../../src/kube/resource.ts';
import { consoleGreeting, type Key, makeKey, ping, ssh } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { gone, ready, until, valueIn, writesAtRest } from './stage.ts';

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

interface Server {
  id: string;
  status: string;
  fault?: { message: string };
  addresses: Record<string, { addr: string }[]>;
}
interface Thing {
  id: string;
}

describe(`a cloud, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let os: OpenStack;
  let key: Key;
  const ids: Record<string, string> = {};
  const servers: Server[] = [];
  const say = (text: string) => console.log(text);

  const server = async (id: string) => (await os.call<{ server: Server }>('compute', 'GET', `/servers/${id}`)).server;
  async function active(id: string): Promise<Server> {
    let last: Server | undefined;
    await until(
      stage,
      () => `server ${id} is ACTIVE: ${last?.status} ${last?.fault?.message ?? ''}`,
      300,
      async () => {
        last = await server(id);
        if (last.status === 'ERROR') throw new Error(`server ${id}: ${last.fault?.message}`);
        return last.status === 'ACTIVE';
      },
    );
    return last!;
  }
  async function boot(name: string, more: object): Promise<string> {
    const body = { server: { name, imageRef: ids.image, flavorRef: ids.flavor, ...more } };
    return (await os.call<{ server: Thing }>('compute', 'POST', '/servers', { body, microversion: '2.74' })).server.id;
  }
  const pods = async (part: (pod: AnyObject) => boolean) =>
    (await stage.list(Pod)).filter(pod => pod.metadata.deletionTimestamp === undefined && part(pod));
  const running = async () =>
    new Map(
      (await pods(pod => (pod.status as { phase?: string }).phase === 'Running')).map(pod => [
        pod.metadata.uid ?? '',
        pod.metadata.name,
      ]),
    );

  /** What this story made, or an earlier one that ended in the middle. */
  async function sweep(): Promise<void> {
    await os.clear('compute', '/servers', 'servers');
    await until(
      stage,
      'servers are gone',
      180,
      async () => (await os.call<{ servers: Thing[] }>('compute', 'GET', '/servers')).servers.length === 0,
    );
    await os.clear('network', '/v2.0/floatingips', 'floatingips');
    const { ports } = await os.call<{ ports: { id: string; device_id: string }[] }>(
      'network',
      'GET',
      '/v2.0/ports?device_owner=network:router_interface',
    );
    for (const { id, device_id } of ports)
      await os.call('network', 'PUT', `/v2.0/routers/${device_id}/remove_router_interface`, { body: { port_id: id } });
    await os.clear('network', '/v2.0/routers', 'routers');
    await os.clear('network', '/v2.0/networks', 'networks');
    await os.clear('network', '/v2.0/security-groups?name=open', 'security_groups');
    await os.clear('image', '/v2/images', 'images');
    await os.clear('compute', '/flavors', 'flavors');
    await os.call('compute', 'DELETE', '/os-keypairs/story').catch(() => undefined);
  }

  beforeAll(async () => {
    stage = await labStage(namespace);
    key = await makeKey();
  });

  it('is Ready from one object', async () => {
    const began = performance.now();
    await stage.apply(cloud());
    await ready(stage, OpenStackControlPlane, 'cloud');
    say(`Ready after ${((performance.now() - began) / 1000).toFixed(0)} s (seconds if it was there before)`);
    os = await OpenStack.login(namespace, await valueIn(stage, 'keystone-admin', 'password', Secret));
    await sweep();
    expect([...os.catalog.keys()].sort()).toEqual(['compute', 'identity', 'image', 'network', 'placement']);
  });

  it('takes an image', async () => {
    const body = { name: 'guest', disk_format: 'qcow2', container_format: 'bare', visibility: 'public' };
    ids.image = (await os.call<Thing>('image', 'POST', '/v2/images', { body })).id;
    const bytes = readFileSync(await guestImage(() => undefined));
    await os.call('image', 'PUT', `/v2/images/${ids.image}/file`, { body: bytes });
    expect(await os.call('image', 'GET', `/v2/images/${ids.image}`)).toMatchObject({
      status: 'active',
      size: bytes.length,
    });
  });

  it('makes networks, a router to the outside, a flavor, a key and rules', async () => {
    const make = async (kind: string, body: object): Promise<string> => {
      const answer = await os.call<Record<string, Thing>>('network', 'POST', `/v2.0/${kind.replace(/_/g, '-')}s`, {
        body: { [kind]: body },
      });
      return answer[kind]!.id;
    };
    ids.public = await make('network', {
      name: 'public',
      'router:external': true,
      'provider:network_type': 'flat',
      'provider:physical_network': 'physnet1',
    });
    await make('subnet', {
      network_id: ids.public,
      ip_version: 4,
      cidr: '172.24.4.0/24',
      gateway_ip: '172.24.4.254',
      enable_dhcp: false,
      allocation_pools: [{ start: '172.24.4.10', end: '172.24.4.99' }],
    });
    ids.private = await make('network', { name: 'private' });
    ids.subnet = await make('subnet', { network_id: ids.private, ip_version: 4, cidr: '192.168.50.0/24' });
    ids.router = await make('router', { name: 'router', external_gateway_info: { network_id: ids.public } });
    await os.call('network', 'PUT', `/v2.0/routers/${ids.router}/add_router_interface`, {
      body: { subnet_id: ids.subnet },
    });
    ids.group = await make('security_group', { name: 'open' });
    for (const rule of [{ protocol: 'icmp' }, { protocol: 'tcp', port_range_min: 22, port_range_max: 22 }])
      await make('security_group_rule', {
        security_group_id: ids.group,
        direction: 'ingress',
        ethertype: 'IPv4',
        ...rule,
      });
    const flavor = { flavor: { name: 'nano', ram: 192, vcpus: 1, disk: 1 } };
    ids.flavor = (await os.call<{ flavor: Thing }>('compute', 'POST', '/flavors', { body: flavor })).flavor.id;
    await os.call('compute', 'POST', '/os-keypairs', { body: { keypair: { name: 'story', public_key: key.public } } });
  });

  it('boots two guests that get an address and their metadata', async () => {
    await until(stage, 'a host is known to the scheduler', 120, async () => {
      const { hypervisors } = await os.call<{ hypervisors: Thing[] }>('compute', 'GET', '/os-hypervisors');
      return hypervisors.length > 0;
    });
    const began = performance.now();
    const since = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;
    const more = { networks: [{ uuid: ids.private }], key_name: 'story', security_groups: [{ name: 'open' }] };
    for (const name of ['one', 'two']) servers.push(await server(await boot(name, more)));
    for (const [index, { id }] of servers.entries()) servers[index] = await active(id);
    say(`both ACTIVE after ${since()}`);
    for (const { id } of servers) {
      let output = '';
      await until(
        stage,
        () => `guest ${id} is ready; its console: ${output.slice(-600)}`,
        300,
        async () => {
          const body = { 'os-getConsoleOutput': {} };
          ({ output } = await os.call<{ output: string }>('compute', 'POST', `/servers/${id}/action`, { body }));
          return output.includes('GUEST-READY');
        },
      );
      const told = output.split('\n').filter(line => line.startsWith('GUEST-'));
      say(`${since()}\n  ${told.join('\n  ')}`);
      expect(told.join()).toContain('GUEST-DHCP-OK');
      expect(told.join()).toContain('GUEST-METADATA-OK');
      expect(told.join()).toMatch(/GUEST-KEYS [1-9]/);
    }
  });

  it('is reached by ssh through a floating IP, and one guest reaches the other', async () => {
    const [one, two] = servers;
    const ports = await os.call<{ ports: Thing[] }>('network', 'GET', `/v2.0/ports?device_id=${one!.id}`);
    const body = { floatingip: { floating_network_id: ids.public, port_id: ports.ports[0]!.id } };
    const { floatingip } = await os.call<{ floatingip: { floating_ip_address: string } }>(
      'network',
      'POST',
      '/v2.0/floatingips',
      { body },
    );
    ids.floating = floatingip.floating_ip_address;
    let name: string | undefined;
    await until(stage, 'ssh answers', 90, async () => {
      name = await ssh(key, ids.floating!, 'hostname');
      return name !== undefined;
    });
    expect(name?.trim()).toMatch(/^one/);
    const other = two!.addresses.private![0]!.addr;
    const pinged = await ssh(key, ids.floating!, `ping -c 3 -W 5 ${other}`);
    say(
      `ssh root@${ids.floating} from outside: ${name?.trim()}; ${pinged?.split('\n').find(line => line.includes('packets'))}`,
    );
    expect(pinged).toContain('3 packets received');
  });

  it('shows the console of a guest in a browser', async () => {
    const body = { remote_console: { protocol: 'vnc', type: 'novnc' } };
    const { remote_console } = await os.call<{ remote_console: { url: string } }>(
      'compute',
      'POST',
      `/servers/${servers[0]!.id}/remote-consoles`,
      { body, microversion: '2.6' },
    );
    say(remote_console.url.replace(/token.*/, 'token...'));
    expect(await consoleGreeting(remote_console.url)).toMatch(/^RFB 003/);
  });

  it(`writes nothing in ${rest} s at rest, also right after a restart (rule 14)`, async () => {
    expect(await writesAtRest(stage, rest)).toEqual([]);
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
    const id = await boot('pretended', { networks: 'none', host });
    const found = await active(id);
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
    const pinging = ping(ids.floating!);
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
    expect(lost).toBe(0);
    await until(stage, 'the host is enabled and up again', 180, async () => {
      const { services } = await os.call<{ services: { host: string; state: string; status: string }[] }>(
        'compute',
        'GET',
        '/os-services?binary=nova-compute',
      );
      return services.every(s => s.state === 'up' && s.status === 'enabled');
    });
  });

  it('lets go of everything in the cloud', () => sweep());

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
