import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { CLOUD_NAMESPACE as namespace, prepareCloud } from '../../lab/cloud.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { nodesOf } from '../../lab/cluster/layout.ts';
import type { CloudSpec } from '../../lab/extras.ts';
import { paths } from '../../lab/paths.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { PersistentVolumeClaim, Pod, Secret } from '../../src/kube/resource.ts';
import { Browser } from './browser.ts';
import { figure } from './figure.ts';
import { type Key, makeKey, ssh } from './guest.ts';
import { Visitor } from './horizon.ts';
import { type LabStage, labStage } from './lab.ts';
import { agentOf, OpenStack } from './openstack.ts';
import { inPool } from './pools.ts';
import { rowsOf } from './sql.ts';
import { conditionOf, gone, ready, until, valueIn } from './stage.ts';
import { type Server, Tenant } from './tenant.ts';
import { Volumes } from './volumes.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const yaml = parse(readFileSync('lab/cloud-ceph.yaml', 'utf8')) as AnyObject & { spec: CloudSpec };
const cloud = { ...yaml, spec: { ...yaml.spec, release } };
const DOMAIN = yaml.spec.publicDomain ?? '';
const GIB = 1;

const TEMPLATE = {
  heat_template_version: '2021-04-16',
  resources: {
    net: { type: 'OS::Neutron::Net' },
    subnet: {
      type: 'OS::Neutron::Subnet',
      properties: { network: { get_resource: 'net' }, cidr: '10.20.0.0/24', ip_version: 4 },
    },
    disk: { type: 'OS::Cinder::Volume', properties: { size: GIB } },
  },
  outputs: { disk: { value: { get_resource: 'disk' } } },
};

describe(`a cloud on Ceph, published with TLS, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let os: OpenStack;
  let tenant: Tenant;
  let volumes: Volumes;
  let key: Key;
  let ca = '';
  let password = '';
  let server: Server;
  let floating = '';
  let data = '';
  const say = (text: string) => console.log(text);
  const inGuest = async (command: string, address = floating): Promise<string> => {
    let said: string | undefined;
    await until(stage, `ssh answers: ${command}`, 90, async () => {
      said = await ssh(key, address, command);
      return said !== undefined;
    });
    return said ?? '';
  };
  /** The first 5 bytes of a disk that has just been plugged in. */
  const firstBytes = (device: string): Promise<string> =>
    inGuest(`for i in $(seq 30); do [ -b ${device} ] && break; sleep 1; done; head -c 5 ${device}`);

  async function sweep(): Promise<void> {
    const { stacks } = await os.call<{ stacks: { id: string; stack_name: string }[] }>(
      'orchestration',
      'GET',
      '/stacks',
    );
    for (const { id, stack_name } of stacks) await os.call('orchestration', 'DELETE', `/stacks/${stack_name}/${id}`);
    await tenant.cleared('compute', '/servers', 'servers');
    await volumes.sweep();
    await tenant.sweep();
  }

  beforeAll(async () => {
    await prepareCloud(nodesOf(1), yaml.spec);
    stage = await labStage(namespace);
    key = await makeKey();
    ca = await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret);
  });

  it('is Ready from one object', async () => {
    const began = performance.now();
    await stage.apply(cloud);
    await ready(stage, OpenStackControlPlane, 'cloud');
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`Ready after ${seconds} s (seconds if it was there before)`);
    figure('Ready seconds', seconds);
  });

  it('takes no plain connection to its database', async () => {
    let transport: string | undefined;
    await until(
      stage,
      () => `plain connections are refused: ${transport}`,
      120,
      async () => {
        const live = await stage.get(MariaDB, 'mariadb');
        const condition = live && conditionOf(live, 'SecureTransport');
        transport = condition?.message;
        return condition?.status === 'True';
      },
    );
    await expect(rowsOf(stage, 'SELECT 1', 'mariadb', 'plain')).rejects.toThrow(/Access denied/);
    expect(await rowsOf(stage, "SHOW SESSION STATUS LIKE 'Ssl_version'")).toMatchObject([
      { Value: expect.stringMatching(/^TLSv1/) },
    ]);
  });

  it('is reached through the ingress under names of its domain, by its certificates', async () => {
    password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    const url = `https://keystone.${DOMAIN}`;
    await expect(OpenStack.login(namespace, password, { url, ca: '' })).rejects.toThrow(/certificate/);
    os = await OpenStack.login(namespace, password, { url, ca });
    tenant = new Tenant(stage, os, key);
    volumes = new Volumes(stage, os);
    const hosts = [...os.catalog.values()].map(address => new URL(address));
    expect(hosts.filter(({ protocol, hostname }) => protocol !== 'https:' || !hostname.endsWith(`.${DOMAIN}`))).toEqual(
      [],
    );
    expect([...os.catalog.keys()].sort()).toEqual(
      expect.arrayContaining(['compute', 'identity', 'image', 'network', 'orchestration', 'placement']),
    );
    await sweep();
  });

  it('keeps images in Ceph', async () => {
    const size = await tenant.image();
    expect(await os.call('image', 'GET', `/v2/images/${tenant.ids.image}`)).toMatchObject({ status: 'active', size });
    expect(await inPool(stage, 'images')).toContain(tenant.ids.image);
  });

  it('makes networks, a router to the outside, a flavor, a key and rules', () => tenant.furnish());

  it('boots a guest whose disk is in Ceph, and is reached by ssh', async () => {
    await tenant.hostKnown();
    const began = performance.now();
    server = await tenant.active(await tenant.boot('one', tenant.connected()));
    const told = await tenant.greeted(server.id);
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`${seconds} s\n  ${told.join('\n  ')}`);
    figure('guest ready, seconds', seconds);
    expect(await inPool(stage, 'vms')).toContain(`${server.id}_disk`);
    floating = await tenant.floatingAddress(server.id);
    expect((await inGuest('hostname')).trim()).toMatch(/^one/);
  });

  it('gives the guest a volume that keeps its data when it is taken out and put in again', async () => {
    data = await volumes.make('volume', { name: 'data', size: GIB });
    expect(await inPool(stage, 'volumes')).toContain(`volume-${data}`);
    const device = await volumes.attach(server.id, data);
    expect(await firstBytes(device)).toBe('\0'.repeat(5));
    await inGuest(`printf hello | dd of=${device} conv=fsync 2>/dev/null`);
    await volumes.detach(server.id, data);
    expect((await inGuest('ls /sys/block')).split('\n')).not.toContain(device.slice('/dev/'.length));
    const again = await volumes.attach(server.id, data);
    expect(await firstBytes(again)).toBe('hello');
    say(`volume ${data}: written as ${device}, read again as ${again}`);
    await volumes.detach(server.id, data);
  });

  it('makes a volume of a snapshot, with the data of its moment', async () => {
    const snapshot = await volumes.make('snapshot', { volume_id: data, name: 'moment' });
    const copy = await volumes.make('volume', { name: 'copy', size: GIB, snapshot_id: snapshot });
    const device = await volumes.attach(server.id, copy);
    expect(await firstBytes(device)).toBe('hello');
    await volumes.detach(server.id, copy);
  });

  it('puts a backup of a volume into a pool of its own and brings it back', async () => {
    const backup = await volumes.make('backup', { volume_id: data, name: 'safe' });
    expect(await inPool(stage, 'backups')).toContain(data);
    const target = await volumes.make('volume', { name: 'restored', size: GIB });
    await os.call('block-storage', 'POST', `/backups/${backup}/restore`, { body: { restore: { volume_id: target } } });
    await volumes.become('backup', backup, 'available');
    await volumes.become('volume', target, 'available');
    const device = await volumes.attach(server.id, target);
    expect(await firstBytes(device)).toBe('hello');
    await volumes.detach(server.id, target);
  });

  it('makes an image of a guest', async () => {
    const body = { createImage: { name: 'of-one' } };
    const { image_id } = await os.call<{ image_id: string }>('compute', 'POST', `/servers/${server.id}/action`, {
      body,
      microversion: '2.45',
    });
    let status = '';
    await until(
      stage,
      () => `image ${image_id} is active: ${status}`,
      300,
      async () => {
        ({ status } = await os.call<{ status: string }>('image', 'GET', `/v2/images/${image_id}`));
        return status === 'active';
      },
    );
  });

  it('boots a guest from a volume', async () => {
    const disk = { boot_index: 0, uuid: tenant.ids.image, source_type: 'image', destination_type: 'volume' };
    const mapping = { ...disk, volume_size: GIB, delete_on_termination: true };
    const id = await tenant.boot('two', {
      ...tenant.connected(),
      imageRef: '',
      block_device_mapping_v2: [mapping],
    });
    await tenant.active(id);
    say((await tenant.greeted(id)).join('\n  '));
    expect(await inPool(stage, 'vms')).not.toContain(id);
    await os.call('compute', 'DELETE', `/servers/${id}`);
  });

  it('makes a stack, and takes it back', async () => {
    const { stack } = await os.call<{ stack: { id: string } }>('orchestration', 'POST', '/stacks', {
      body: { stack_name: 'story', template: TEMPLATE, timeout_mins: 10 },
    });
    interface Stack {
      stack_status: string;
      stack_status_reason: string;
      outputs?: { output_key: string; output_value: string }[];
    }
    let last: Stack | undefined;
    const become = (status: string) =>
      until(
        stage,
        () => `the stack is ${status}: ${last?.stack_status} ${last?.stack_status_reason}`,
        300,
        async () => {
          ({ stack: last } = await os.call<{ stack: Stack }>('orchestration', 'GET', `/stacks/story/${stack.id}`));
          if (last.stack_status.endsWith('FAILED')) throw new Error(last.stack_status_reason);
          return last.stack_status === status;
        },
      );
    await become('CREATE_COMPLETE');
    const disk = last?.outputs?.find(output => output.output_key === 'disk')?.output_value;
    expect(await inPool(stage, 'volumes')).toContain(`volume-${disk}`);
    await os.call('orchestration', 'DELETE', `/stacks/story/${stack.id}`);
    await become('DELETE_COMPLETE');
    expect(await inPool(stage, 'volumes')).not.toContain(`volume-${disk}`);
  });

  it('lets a person in through the dashboard', async () => {
    const visitor = new Visitor(`https://horizon.${DOMAIN}`, agentOf(ca));
    const wrong = await visitor.login('admin', 'not this one');
    expect(wrong.path).toBe('/auth/login/');
    const { path, text } = await visitor.login('admin', password);
    say(`after the login: ${path}`);
    expect(text).toContain('/auth/logout/');
    expect((await visitor.page('/project/volumes/')).text).toContain('data');
    const script = /src="(\/static\/[^"]+\.js)"/.exec(text)?.[1];
    expect((await visitor.page(script ?? '')).text.length).toBeGreaterThan(10_000);
  });

  it('shows the dashboard in a browser', async () => {
    const browser = await Browser.start(ca);
    try {
      await browser.visit(`https://horizon.${DOMAIN}/auth/login/`);
      await browser.until('a form to log in', `document.querySelector('#id_password')`);
      const fill = (id: string, value: string) =>
        browser.evaluate(`document.querySelector('#${id}').value = ${JSON.stringify(value)}`);
      await fill('id_username', 'admin');
      await fill('id_password', password);
      await browser.evaluate(`document.querySelector('#id_password').form.submit()`);
      // A link until 2025.2, a form from 2026.1 on.
      await browser.until('somebody is logged in', `document.body.innerHTML.includes('/auth/logout/')`);
      await browser.visit(`https://horizon.${DOMAIN}/project/volumes/`);
      await browser.until('the volumes', `document.body.innerText.includes('data')`);
      const picture = join(paths.run, 'horizon.png');
      await browser.picture(picture);
      say(`picture of ${await browser.evaluate<string>('location.href')}: ${picture}`);
      expect(statSync(picture).size).toBeGreaterThan(10_000);
    } finally {
      await browser.close();
    }
  });

  it('shows the console of a guest in a browser', async () => {
    const url = await tenant.console(server.id);
    expect(url).toMatch(new RegExp(`^https://nova-cell1-novncproxy.${DOMAIN}/vnc_lite.html`));
    const browser = await Browser.start(ca);
    try {
      await browser.visit(url);
      await browser.until('a console', `document.querySelector('#status').textContent.startsWith('Connected to')`);
      await browser.until('a screen', `document.querySelector('canvas').width >= 640`);
      const picture = join(paths.run, 'console.png');
      await browser.picture(picture);
      say(`${await browser.evaluate<string>(`document.querySelector('#status').textContent`)}: ${picture}`);
      expect(statSync(picture).size).toBeGreaterThan(5_000);
    } finally {
      await browser.close();
    }
  });

  /** The workflow of the kolla-kubernetes document: Keystone and MariaDB are there, somebody adds Glance. */
  it('adds Glance alone where Keystone and MariaDB are already', async () => {
    const alone = await labStage(`${namespace}-glance`);
    const apply = (kind: string, spec: object) =>
      alone.apply({
        apiVersion: 'openstack.k8s.io/v1alpha1',
        kind,
        metadata: { name: kind.toLowerCase() },
        spec: { ...spec, ...(kind !== 'Memcached' && { deletionPolicy: 'Delete' }) },
      });
    await apply('MariaDB', { replicas: 1, storageSize: '1Gi', release });
    await apply('Memcached', { replicas: 1, memoryMB: 64, release });
    await apply('Keystone', { replicas: 1, release });
    await ready(alone, Keystone, 'keystone');
    await apply('Glance', {
      release,
      storageSize: '1Gi',
      customServiceConfig: '[DEFAULT]\nimage_size_cap = 123456789\n',
    });
    await ready(alone, Glance, 'glance');
    const here = await OpenStack.login(alone.namespace, await valueIn(alone, 'keystone-admin', 'password', Secret));
    expect([...here.catalog.keys()].sort()).toEqual(['identity', 'image']);
    const own = new Tenant(alone, here, key);
    const size = await own.image();
    expect(await here.call('image', 'GET', `/v2/images/${own.ids.image}`)).toMatchObject({ status: 'active', size });
    const [pod] = (await alone.list(Pod)).filter(each => each.metadata.name.startsWith('glance-api-'));
    const { text } = await alone.tryExec(pod!.metadata.name, ['sh', '-c', 'cat /etc/glance/glance.conf.d/*.conf']);
    expect(text).toContain('image_size_cap = 123456789');
    for (const [kind, name] of [
      [Glance, 'glance'],
      [Keystone, 'keystone'],
      [Memcached, 'memcached'],
      [MariaDB, 'mariadb'],
    ] as const)
      await gone(alone, kind, name);
    await until(alone, 'its pods are gone', 120, async () => (await alone.list(Pod)).length === 0);
  });

  it('lets go of everything in the cloud', async () => {
    await sweep();
    for (const purpose of ['images', 'vms', 'volumes', 'backups'] as const)
      expect(`${purpose} ${await inPool(stage, purpose)}`).toBe(`${purpose} `);
  });

  it('is deleted and leaves only what the policy retains', async () => {
    await gone(stage, OpenStackControlPlane, 'cloud');
    await until(stage, 'pods are gone', 180, async () => (await stage.list(Pod)).length === 0);
    const names = async (resource: typeof Secret) => (await stage.list(resource)).map(o => o.metadata.name).sort();
    expect(await names(PersistentVolumeClaim)).toEqual([
      'data-mariadb-0',
      'data-ovn-nb-0',
      'data-ovn-sb-0',
      'data-rabbitmq-0',
    ]);
    expect(await names(Secret)).toEqual(
      expect.arrayContaining(['keystone-admin', 'keystone-credential-keys', 'keystone-fernet-keys', 'mariadb-root']),
    );
  });
});
