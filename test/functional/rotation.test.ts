import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Keystone as keystoneKind } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Neutron } from '../../api/openstack/neutron.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { parseDatabaseUrl } from '../../src/embedded/servers/state.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Deployment, Node, Pod, type Resource, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { lookup, parse as parseOslo } from '../../src/oslo/parse.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import { adminLogin, cloudWith, keystoneOf, label, passwordIn, readyCloud, sqlOf, template, text } from './services.ts';

const busOf = (cloud: Cloud) => Object.values(cloud.backends.disks.bus)[0]!;
const nameOf = (object: AnyObject): string => object.metadata.name;
const rotate = (id: string, target?: string) => ({ actions: [{ name: 'rotate', id, ...(target && { target }) }] });
const order = (cloud: Cloud, kind: Resource, object: string, id: string, target?: string): void =>
  void cloud.hands.patch(kind, NS, object, { spec: rotate(id, target) });
const stateOf = (cloud: Cloud, kind: Resource, name: string, id: string) =>
  (
    (cloud.get(kind, name)?.status ?? {}) as { actions?: { id: string; state: string; message?: string }[] }
  ).actions?.find(action => action.id === id);

/** A login as a pod's files have it. */
interface Held {
  readonly to: 'database' | 'bus' | 'identity';
  readonly user: string;
  readonly password: string;
}

function heldIn(data: Readonly<Record<string, string>>): readonly Held[] {
  return Object.values(data).flatMap(value => {
    const file = Buffer.from(value, 'base64').toString();
    const urls = [...file.matchAll(/=\s*(mysql\S+|rabbit\S+)/g)].flatMap(([, url = '']): Held[] => {
      const database = parseDatabaseUrl(url);
      if (database) return [{ to: 'database', user: database.user, password: database.password }];
      const [, user = '', password = ''] = /^rabbit:\/\/([^:]+):([^@]+)@/.exec(url) ?? [];
      return [{ to: 'bus', user, password }];
    });
    const parsed = parseOslo(file);
    const option = (name: string) =>
      'ok' in parsed ? lookup(parsed.ok, 'keystone_authtoken', name)?.value : undefined;
    const [user, password] = [option('username'), option('password')];
    return user && password ? [...urls, { to: 'identity', user, password }] : urls;
  });
}

/** Looks at the whole cloud as its clients do, twice a second. */
class Clients {
  readonly failed: string[] = [];
  /** By workload, all that its pods were to be. */
  readonly templates = new Map<string, Set<string>>();
  requests = 0;
  #polls = 0;
  readonly #cloud: Cloud;
  readonly #held = new Map<string, readonly Held[]>();
  readonly #texts = new Map<string, readonly string[]>();

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  async poll(): Promise<void> {
    const cloud = this.#cloud;
    for (const resource of [Deployment, StatefulSet])
      for (const { metadata } of cloud.hands.list(resource, NS)) {
        const before = this.templates.get(metadata.name) ?? new Set();
        this.templates.set(metadata.name, before.add(JSON.stringify(template(cloud, resource, metadata.name))));
      }
    const { endpoints = {} } = (cloud.get(OpenStackControlPlane, name)?.status ?? {}) as {
      endpoints?: Record<string, string>;
    };
    const identity = cloud.backends.cloud.identity({ ...adminLogin(cloud), ca: undefined });
    for (const [service, url] of Object.entries(endpoints)) {
      this.requests++;
      const asked =
        service === 'keystone' ? identity.check() : identity.get(url, service === 'nova' ? '/os-services' : '/');
      await asked.catch(error => this.failed.push(`${service}: ${(error as Error).message}`));
    }
    if (this.#polls++ % 4 > 0) return;
    // Whatever a process was started with must open its door as long as it runs, also while it stops.
    for (const pod of cloud.hands.list(Pod, NS)) {
      const { phase } = pod.status as { phase?: string };
      if (phase !== 'Running' && phase !== 'Pending') continue;
      const { volumes = [] } = pod.spec as { volumes?: { secret?: { secretName: string } }[] };
      for (const { secret } of volumes)
        for (const held of secret ? this.#heldIn(secret.secretName) : [])
          if (!opens(cloud, held)) this.failed.push(`${nameOf(pod)}: ${held.to} refuses ${held.user}`);
    }
    this.#metadata();
    const { cells = {} } = sqlOf(cloud).databases.nova_api ?? {};
    for (const [cell, { url }] of Object.entries(cells)) {
      const { user = '', password = '' } = parseDatabaseUrl(url) ?? {};
      if (!opens(cloud, { to: 'database', user, password })) this.failed.push(`mapping of ${cell} refuses ${user}`);
    }
  }

  /** Every agent signs with what the service that it calls knows. */
  #metadata(): void {
    const cloud = this.#cloud;
    const pods = cloud.hands.list(Pod, NS).filter(pod => (pod.status as { phase?: string }).phase === 'Running');
    const filesOf = (pod: AnyObject): readonly string[] =>
      ((pod.spec as { volumes?: { secret?: { secretName: string } }[] }).volumes ?? []).flatMap(({ secret }) =>
        secret ? this.#textsIn(secret.secretName) : [],
      );
    const option = (file: string, name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(file)?.[1];
    for (const agent of pods)
      for (const file of filesOf(agent)) {
        const [service = ''] = option(file, 'nova_metadata_host')?.split('.') ?? [];
        const secret = option(file, 'metadata_proxy_shared_secret');
        if (service === '' || secret === undefined) continue;
        const servers = pods.filter(
          pod => pod.metadata.labels?.['app.kubernetes.io/instance'] === service && !pod.metadata.deletionTimestamp,
        );
        const knowing = servers.filter(pod =>
          filesOf(pod).some(text => option(text, 'metadata_proxy_shared_secret') === secret),
        );
        if (servers.length === 0 || knowing.length < servers.length)
          this.failed.push(`${nameOf(agent)}: ${service} does not know its secret`);
      }
  }

  #heldIn(secret: string): readonly Held[] {
    return this.#once(this.#held, secret, data => heldIn(data));
  }

  /** Files that say anything of metadata. */
  #textsIn(secret: string): readonly string[] {
    return this.#once(this.#texts, secret, data =>
      Object.values(data)
        .map(value => Buffer.from(value, 'base64').toString())
        .filter(file => file.includes('metadata')),
    );
  }

  #once<T>(memo: Map<string, T>, secret: string, read: (data: Record<string, string>) => T): T {
    // Copies for pods never change; the others are looked at each time.
    const copy = /-config-data-[0-9a-f]{10}$/.test(secret) ? memo.get(secret) : undefined;
    if (copy !== undefined) return copy;
    const found = this.#cloud.get(Secret, secret);
    const key = /-config-data-[0-9a-f]{10}$/.test(secret) ? secret : `${secret} ${found?.metadata.resourceVersion}`;
    const known = memo.get(key) ?? read((found?.data ?? {}) as Record<string, string>);
    memo.set(key, known);
    return known;
  }

  /** Until it is so, at most half an hour. */
  async until(done: () => boolean): Promise<void> {
    for (let i = 0; i < 3600 && !done(); i++) {
      await this.#cloud.sim.run(500);
      await this.poll();
    }
    expect(done()).toBe(true);
  }
}

function opens(cloud: Cloud, { to, user, password }: Held): boolean {
  if (to === 'database') return sqlOf(cloud).users[user]?.password === password;
  if (to === 'bus') return busOf(cloud).users[user]?.password === password;
  const found = keystoneOf(cloud).users[user];
  return found?.password === password && found.enabled;
}

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const name = minimal.metadata.name;
/** Two where a pod that is replaced has no twin meanwhile: sets that give their pods names. */
const twice = {
  ...minimal.spec,
  glance: { replicas: 2, storageType: 'swift' },
  nova: { replicas: 2 },
  heat: { enabled: true },
};
const wholeCloud = (spec: object = {}): AnyObject => ({ ...minimal, spec: { ...twice, ...spec } });

async function startWhole(): Promise<Cloud> {
  const cloud = await Cloud.start();
  const [node] = cloud.hands.list(Node, '');
  label(cloud, node!.metadata.name, { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  cloud.apply(wholeCloud());
  await cloud.ready(OpenStackControlPlane, name);
  await cloud.settle();
  return cloud;
}

const loginsOf = (cloud: Cloud) => ({
  database: Object.keys(sqlOf(cloud).users).sort(),
  bus: Object.keys(busOf(cloud).users).sort(),
  identity: Object.keys(keystoneOf(cloud).users).sort(),
});

describe('rotation of logins', () => {
  it('replaces every login of a cloud, and no client sees it', async () => {
    const cloud = await startWhole();
    const before = loginsOf(cloud);
    const shared = text(cloud, 'nova-metadata-secret', 'metadata-secret');
    const clients = new Clients(cloud);
    await clients.poll();
    expect(clients.failed).toEqual([]);
    cloud.apply(wholeCloud(rotate('one')));
    await clients.until(() => stateOf(cloud, OpenStackControlPlane, name, 'one')?.state === 'Done');
    expect(clients.failed).toEqual([]);
    expect(clients.requests).toBeGreaterThan(500);
    // One after the other: what a service calls has its new login by then, so all of its own come at once.
    for (const part of ['keystone-api', 'glance-api', 'placement-api', 'neutron-api', 'heat-api', 'heat-engine'])
      expect(clients.templates.get(part)?.size, part).toBe(2);
    const renamed = (users: readonly string[], but: readonly string[]) =>
      users.map(user => (but.includes(user) ? user : `${user}_b`)).sort();
    const after = loginsOf(cloud);
    expect(after.database).toEqual(renamed(before.database, []));
    expect(after.bus).toEqual(renamed(before.bus, ['admin']));
    // People's, and the one that trusts of stacks name.
    expect(after.identity).toEqual(renamed(before.identity, ['admin', 'heat_trustee']));
    for (const secret of cloud.hands.list(Secret, NS))
      expect(
        Object.keys((secret.data ?? {}) as object).filter(key => /^(next|previous)-/.test(key)),
        nameOf(secret),
      ).toEqual([]);
    await cloud.ready(OpenStackControlPlane, name);
    expect(text(cloud, 'nova-metadata-secret', 'metadata-secret')).not.toBe(shared);
    expect(cloud.left().filter(line => line.includes('spare'))).toEqual([]);
    // Back to the first names, so that it can go on for ever.
    cloud.apply(wholeCloud(rotate('two')));
    await cloud.sim.within(3_600_000, () => stateOf(cloud, OpenStackControlPlane, name, 'two')?.state === 'Done');
    expect(loginsOf(cloud)).toEqual(before);
    await cloud.settle();
    const writes = cloud.writes().length;
    await cloud.sim.run(1_800_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
  }, 600_000);

  it('tells how far it is, and keeps the former login as long as a pod knows it', async () => {
    const cloud = await readyCloud({ neutron: { enabled: true }, ovn: { enabled: true } });
    const old = passwordIn(cloud, 'neutron-database');
    order(cloud, Neutron, 'neutron', 'x', 'database');
    await cloud.sim.until(() => cloud.condition(Neutron, 'neutron', 'RotationReady')?.reason === 'Rotating');
    expect(cloud.condition(Neutron, 'neutron', 'RotationReady')?.message).toContain('Secret neutron-database');
    expect(stateOf(cloud, Neutron, 'neutron', 'x')?.state).toBe('Running');
    expect(sqlOf(cloud).users['openstack-neutron']?.password).toBe(old);
    expect(sqlOf(cloud).users['openstack-neutron_b']?.password).toBe(passwordIn(cloud, 'neutron-database'));
    await cloud.settle();
    expect(cloud.condition(Neutron, 'neutron', 'RotationReady')?.status).toBe('True');
    expect(stateOf(cloud, Neutron, 'neutron', 'x')).toMatchObject({ state: 'Done' });
    expect(sqlOf(cloud).users['openstack-neutron']).toBeUndefined();
    // Only what was named.
    expect(keystoneOf(cloud).users.neutron).toBeDefined();
    expect(busOf(cloud).users['openstack-neutron']).toBeDefined();
    // The whole goes when the object goes, whatever its logins are called by then.
    cloud.apply(cloudWith({ ovn: { enabled: true } }));
    await cloud.settle();
    expect(
      [...Object.keys(sqlOf(cloud).users), ...Object.keys(busOf(cloud).users)].filter(u => u.includes('neutron')),
    ).toEqual([]);
  }, 120_000);

  it('goes on after a crash of the operator at any point', async () => {
    const start = await readyCloud({ glance: { enabled: true } });
    const rests: Rest[] = [];
    order(start, Glance, 'glance', 'x');
    let version = '';
    const done = (cloud: Cloud) => stateOf(cloud, Glance, 'glance', 'x')?.state === 'Done';
    for (let i = 0; i < 4000 && !done(start); i++) {
      // Most of it happens in a moment, the rest when pods have rolled.
      await start.sim.run(i < 1000 ? 5 : 200);
      const rest = start.rest();
      const now = JSON.stringify([
        rest.disks,
        rest.store.objects.filter(o => o.kind === 'Secret').map(o => o.metadata.resourceVersion),
      ]);
      if (now !== version) rests.push(rest);
      version = now;
    }
    expect(done(start)).toBe(true);
    expect(rests.length).toBeGreaterThan(4);
    for (const [index, from] of rests.entries()) {
      const cloud = await Cloud.start({ from, seed: index + 2 });
      await cloud.settle();
      await cloud.sim.run(120_000);
      expect(done(cloud), `state ${index}`).toBe(true);
      expect(
        Object.keys(sqlOf(cloud).users).filter(user => user.includes('glance')),
        `state ${index}`,
      ).toEqual(['openstack-glance_b']);
      expect(Object.keys(keystoneOf(cloud).users).filter(user => user.includes('glance'))).toEqual(['glance_b']);
      expect(cloud.condition(Glance, 'glance')?.status).toBe('True');
    }
  }, 300_000);

  it('of root restarts no server; a password that somebody wrote does', async () => {
    const cloud = await readyCloud({ glance: { enabled: true } });
    const before = template(cloud, StatefulSet, 'mariadb');
    const started = cloud.get(Pod, 'mariadb-0')?.metadata.uid;
    order(cloud, MariaDB, 'mariadb', 'r');
    await cloud.settle();
    expect(Object.keys(sqlOf(cloud).users)).toEqual(expect.arrayContaining(['root', 'root_b']));
    await cloud.sim.run(120_000);
    expect(stateOf(cloud, MariaDB, 'mariadb', 'r')?.state).toBe('Done');
    expect(Object.keys(sqlOf(cloud).users)).not.toContain('root');
    expect(sqlOf(cloud).users.root_b).toEqual({
      password: passwordIn(cloud, 'mariadb-root'),
      all: true,
      databases: [],
    });
    expect(text(cloud, 'mariadb-root', 'user')).toBe('root_b');
    expect(template(cloud, StatefulSet, 'mariadb')).toEqual(before);
    expect(cloud.get(Pod, 'mariadb-0')?.metadata.uid).toBe(started);
    // A restart in between finds the new one.
    cloud.hands.remove(Pod, NS, 'mariadb-0');
    await cloud.settle();
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('True');
    cloud.hands.patch(Secret, NS, 'mariadb-root', {
      data: { password: Buffer.from('Chosen0ByHand').toString('base64') },
    });
    await cloud.settle();
    await cloud.sim.run(300_000);
    expect(template(cloud, StatefulSet, 'mariadb')).not.toEqual(before);
    expect(sqlOf(cloud).users.root_b?.password).toBe('Chosen0ByHand');
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('True');
  }, 120_000);

  it('comes by schedule, and is caught up with after downtime', async () => {
    const cloud = await readyCloud({ glance: { enabled: true }, credentialRotation: { schedule: '0 3 * * *' } });
    const password = () => passwordIn(cloud, 'glance-identity');
    const first = password();
    await cloud.sim.run(25 * 3_600_000);
    const second = password();
    expect(second).not.toBe(first);
    expect(Object.keys(keystoneOf(cloud).users)).toContain('glance_b');
    expect(Object.keys(keystoneOf(cloud).users)).not.toContain('glance');
    cloud.crashOperator();
    await cloud.sim.run(25 * 3_600_000);
    expect(password()).toBe(second);
    cloud.startOperator();
    await cloud.sim.run(600_000);
    expect(password()).not.toBe(second);
    expect(cloud.condition(OpenStackControlPlane, 'slice')?.status).toBe('True');
  }, 120_000);

  it('says what it can not do', async () => {
    const cloud = await readyCloud();
    cloud.hands.patch(keystoneKind, NS, 'keystone', {
      spec: {
        credentialRotation: { schedule: '61 3 * * *' },
        actions: [
          { name: 'rotate', id: 'a', target: 'fernet' },
          { name: 'backup', id: 'b' },
        ],
      },
    });
    await cloud.settle();
    const state = (id: string) => stateOf(cloud, keystoneKind, 'keystone', id);
    expect(state('a')).toMatchObject({ state: 'Failed', message: 'there is no fernet here; there is: database' });
    expect(state('b')).toMatchObject({ state: 'Failed', message: expect.stringContaining('it can: rotate') });
    expect(cloud.condition(keystoneKind, 'keystone', 'RotationReady')).toMatchObject({
      reason: 'InvalidSchedule',
      message: expect.stringContaining('spec.credentialRotation.schedule'),
    });
    expect(cloud.condition(keystoneKind, 'keystone')?.status).toBe('True');
  });

  it('of Nova maps its cells anew before it lets go of what they were mapped with', async () => {
    const cloud = await readyCloud({
      placement: { enabled: true },
      glance: { enabled: true },
      ovn: { enabled: true },
      neutron: { enabled: true },
      nova: {
        enabled: true,
        cellTemplates: { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } },
      },
    });
    const urls = () =>
      Object.values(sqlOf(cloud).databases.nova_api?.cells ?? {})
        .map(cell => parseDatabaseUrl(cell.url)?.user)
        .sort();
    expect(urls()).toEqual(['openstack-nova-cell0', 'openstack-nova-cell1']);
    order(cloud, Nova, 'nova', 'n', 'database');
    const clients = new Clients(cloud);
    await clients.until(() => stateOf(cloud, Nova, 'nova', 'n')?.state === 'Done');
    expect(clients.failed.filter(line => line.includes('refuses'))).toEqual([]);
    expect(urls()).toEqual(['openstack-nova-cell0_b', 'openstack-nova-cell1_b']);
  }, 240_000);
});
