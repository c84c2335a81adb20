import { readFileSync } from 'node:fs';
import { guestImage } from '../../lab/images/guest.ts';
import type { Key } from './guest.ts';
import type { OpenStack } from './openstack.ts';
import { type Stage, until } from './stage.ts';

export interface Server {
  id: string;
  status: string;
  fault?: { message: string };
  addresses: Record<string, { addr: string }[]>;
}
export interface Thing {
  id: string;
}

/** What the user of a cloud does in stories: networks, an image, guests; and what he leaves behind he sweeps up. */
export class Tenant {
  readonly os: OpenStack;
  readonly #stage: Stage;
  readonly #key: Key;
  /** Of what was made, by what it is. */
  readonly ids: Record<string, string> = {};

  constructor(stage: Stage, os: OpenStack, key: Key) {
    this.os = os;
    this.#stage = stage;
    this.#key = key;
  }

  server = async (id: string): Promise<Server> =>
    (await this.os.call<{ server: Server }>('compute', 'GET', `/servers/${id}`)).server;

  async active(id: string): Promise<Server> {
    let last: Server | undefined;
    await until(
      this.#stage,
      () => `server ${id} is ACTIVE: ${last?.status} ${last?.fault?.message ?? ''}`,
      300,
      async () => {
        last = await this.server(id);
        if (last.status === 'ERROR') throw new Error(`server ${id}: ${last.fault?.message}`);
        return last.status === 'ACTIVE';
      },
    );
    return last!;
  }

  /** nova-compute disables its host while libvirt is away, and enables it again within about half a minute. */
  hostsServe = async (): Promise<void> => {
    // For a minute Nova calls a host up whose nova-compute was replaced: only a report from now on is that of the new one.
    const since = Date.now();
    await until(this.#stage, 'every compute host is enabled and reports', 180, async () => {
      const { services } = await this.os.call<{ services: { state: string; status: string; updated_at: string }[] }>(
        'compute',
        'GET',
        '/os-services?binary=nova-compute',
      );
      const serves = ({ state, status, updated_at }: (typeof services)[number]): boolean =>
        state === 'up' && status === 'enabled' && Date.parse(`${updated_at}Z`) > since;
      return services.length > 0 && services.every(serves);
    });
  };

  async boot(name: string, more: object): Promise<string> {
    const body = { server: { name, imageRef: this.ids.image, flavorRef: this.ids.flavor, ...more } };
    const made = await this.os.call<{ server: Thing }>('compute', 'POST', '/servers', { body, microversion: '2.74' });
    return made.server.id;
  }

  /** On the network of the story, with its key and its rules. */
  connected = (): object => ({
    networks: [{ uuid: this.ids.private }],
    key_name: 'story',
    security_groups: [{ name: 'open' }],
  });

  /** What the guest said on its console by the time it was ready. */
  async greeted(id: string): Promise<string[]> {
    let output = '';
    await until(
      this.#stage,
      () => `guest ${id} is ready; its console: ${output.slice(-600)}`,
      300,
      async () => {
        const body = { 'os-getConsoleOutput': {} };
        ({ output } = await this.os.call<{ output: string }>('compute', 'POST', `/servers/${id}/action`, { body }));
        return output.includes('GUEST-READY');
      },
    );
    return output.split('\n').filter(line => line.startsWith('GUEST-'));
  }

  /** Where a browser sees its screen; the address is worth as much as a password. */
  async console(id: string): Promise<string> {
    const { remote_console } = await this.os.call<{ remote_console: { url: string } }>(
      'compute',
      'POST',
      `/servers/${id}/remote-consoles`,
      { body: { remote_console: { protocol: 'vnc', type: 'novnc' } }, microversion: '2.6' },
    );
    return remote_console.url;
  }

  async floatingAddress(server: string): Promise<string> {
    const { ports } = await this.os.call<{ ports: Thing[] }>('network', 'GET', `/v2.0/ports?device_id=${server}`);
    const body = { floatingip: { floating_network_id: this.ids.public, port_id: ports[0]!.id } };
    const made = await this.os.call<{ floatingip: { floating_ip_address: string } }>(
      'network',
      'POST',
      '/v2.0/floatingips',
      { body },
    );
    return made.floatingip.floating_ip_address;
  }

  /** Answers with its size. */
  async image(name = 'guest'): Promise<number> {
    const body = { name, disk_format: 'qcow2', container_format: 'bare', visibility: 'public' };
    this.ids.image = (await this.os.call<Thing>('image', 'POST', '/v2/images', { body })).id;
    const bytes = readFileSync(await guestImage(() => undefined));
    await this.os.call('image', 'PUT', `/v2/images/${this.ids.image}/file`, { body: bytes });
    return bytes.length;
  }

  async #network(kind: string, body: object): Promise<string> {
    const answer = await this.os.call<Record<string, Thing>>('network', 'POST', `/v2.0/${kind.replace(/_/g, '-')}s`, {
      body: { [kind]: body },
    });
    return answer[kind]!.id;
  }

  /** Networks, a router to the outside, a flavor, a key and rules. */
  async furnish(): Promise<void> {
    const { ids } = this;
    ids.public = await this.#network('network', {
      name: 'public',
      'router:external': true,
      'provider:network_type': 'flat',
      'provider:physical_network': 'physnet1',
    });
    await this.#network('subnet', {
      network_id: ids.public,
      ip_version: 4,
      cidr: '172.24.4.0/24',
      gateway_ip: '172.24.4.254',
      enable_dhcp: false,
      allocation_pools: [{ start: '172.24.4.10', end: '172.24.4.99' }],
    });
    ids.private = await this.#network('network', { name: 'private' });
    ids.subnet = await this.#network('subnet', { network_id: ids.private, ip_version: 4, cidr: '192.168.50.0/24' });
    ids.router = await this.#network('router', { name: 'router', external_gateway_info: { network_id: ids.public } });
    await this.os.call('network', 'PUT', `/v2.0/routers/${ids.router}/add_router_interface`, {
      body: { subnet_id: ids.subnet },
    });
    ids.group = await this.#network('security_group', { name: 'open' });
    for (const rule of [{ protocol: 'icmp' }, { protocol: 'tcp', port_range_min: 22, port_range_max: 22 }])
      await this.#network('security_group_rule', {
        security_group_id: ids.group,
        direction: 'ingress',
        ethertype: 'IPv4',
        ...rule,
      });
    await this.flavor(192);
    const keypair = { name: 'story', public_key: this.#key.public };
    await this.os.call('compute', 'POST', '/os-keypairs', { body: { keypair } });
  }

  async flavor(ram: number): Promise<void> {
    const body = { flavor: { name: 'nano', ram, vcpus: 1, disk: 1 } };
    const { flavor } = await this.os.call<{ flavor: Thing }>('compute', 'POST', '/flavors', { body });
    this.ids.flavor = flavor.id;
  }

  async hostKnown(): Promise<void> {
    await until(this.#stage, 'a host is known to the scheduler', 120, async () => {
      const { hypervisors } = await this.os.call<{ hypervisors: Thing[] }>('compute', 'GET', '/os-hypervisors');
      return hypervisors.length > 0;
    });
  }

  /** Deletes everything of a list and waits until it is empty. */
  async cleared(service: string, path: string, key: string): Promise<void> {
    await this.os.clear(service, path, key);
    const left = async () => (await this.os.call<Record<string, Thing[]>>(service, 'GET', path))[key]?.length ?? 0;
    await until(this.#stage, `${key} are gone`, 180, async () => (await left()) === 0);
  }

  /** What this story made, or an earlier one that ended in the middle. */
  async sweep(): Promise<void> {
    const { os } = this;
    await this.cleared('compute', '/servers', 'servers');
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
}
