import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Pod, Secret } from '../../src/kube/resource.ts';
import { type Key, makeKey, ssh } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { gone, ready, until, valueIn } from './stage.ts';
import { type Server, Tenant } from './tenant.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const yaml = parse(readFileSync('lab/cloud-ovs.yaml', 'utf8')) as AnyObject & { spec: object };

describe(`a cloud whose networks are made by agents, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let os: OpenStack;
  let tenant: Tenant;
  let key: Key;
  const servers: Server[] = [];

  beforeAll(async () => {
    stage = await labStage(namespace);
    key = await makeKey();
  });

  it('is Ready from one object, without OVN', async () => {
    await stage.apply({ ...yaml, spec: { ...yaml.spec, release } });
    await ready(stage, OpenStackControlPlane, 'cloud');
    expect(await stage.list(OVNNetwork)).toEqual([]);
    os = await OpenStack.login(namespace, await valueIn(stage, 'keystone-admin', 'password', Secret));
    tenant = new Tenant(stage, os, key);
    await tenant.sweep();
  });

  it('has one living agent of each kind', async () => {
    let last: { binary: string; alive: boolean }[] = [];
    await until(
      stage,
      () => `agents are alive: ${JSON.stringify(last)}`,
      120,
      async () => {
        ({ agents: last } = await os.call<{ agents: typeof last }>('network', 'GET', '/v2.0/agents'));
        return last.length >= 4 && last.every(agent => agent.alive);
      },
    );
    expect(last.map(agent => agent.binary).sort()).toEqual([
      'neutron-dhcp-agent',
      'neutron-l3-agent',
      'neutron-metadata-agent',
      'neutron-openvswitch-agent',
    ]);
  });

  it('makes an image, networks, a router to the outside', async () => {
    await tenant.image();
    await tenant.furnish();
  });

  it('boots two guests that get an address and their metadata', async () => {
    await tenant.hostKnown();
    for (const name of ['one', 'two']) servers.push(await tenant.active(await tenant.boot(name, tenant.connected())));
    for (const { id } of servers) {
      const told = await tenant.greeted(id);
      console.log(told.join('\n  '));
      expect(told.join()).toContain('GUEST-DHCP-OK');
      expect(told.join()).toContain('GUEST-METADATA-OK');
    }
  });

  it('is reached by ssh through a floating IP, and one guest reaches the other', async () => {
    const [one, two] = servers;
    const floating = await tenant.floatingAddress(one!.id);
    const other = two!.addresses.private![0]!.addr;
    let said: string | undefined;
    await until(stage, 'ssh answers', 90, async () => {
      said = await ssh(key, floating, `hostname; ping -c 3 -W 5 ${other}`);
      return said !== undefined;
    });
    console.log(`ssh root@${floating} from outside: ${said}`);
    expect(said).toMatch(/^one/);
    expect(said).toContain('3 packets received');
  });

  it('lets go of everything, and is deleted', async () => {
    await tenant.sweep();
    await gone(stage, OpenStackControlPlane, 'cloud');
    await until(stage, 'pods are gone', 180, async () => (await stage.list(Pod)).length === 0);
  });
});
