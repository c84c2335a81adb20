import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { rejected } from '../../src/cloud/faults.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Deployment, Job, type Resource, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { PLANS } from '../../src/operator/plans.ts';
import type { Plan } from '../../src/runtime/plan/row.ts';
import { Cloud, NS } from './cloud.ts';
import { Toy, toy } from './toy/index.ts';

const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject;
const toyObject = (spec: object = {}, name = 'toy') => ({
  apiVersion: 'toy.openstack.org/v1alpha1',
  kind: 'Toy',
  metadata: { name },
  spec,
});

/** The whole wiring of a new service: its folder, and this line. */
const start = () => Cloud.start({ plans: [...PLANS, toy as Plan<never>], kinds: [Toy] });

async function readyToy(spec: object = {}): Promise<Cloud> {
  const cloud = await start();
  cloud.apply(slice, toyObject(spec));
  await cloud.ready(Toy, 'toy');
  await cloud.settle();
  return cloud;
}

const sqlOf = (cloud: Cloud) => Object.values(cloud.backends.disks.sql)[0]!;
const busOf = (cloud: Cloud) => Object.values(cloud.backends.disks.bus)[0]!;
const keystoneOf = (cloud: Cloud) => sqlOf(cloud).databases.keystone!.keystone!;
const secretText = (cloud: Cloud, name: string, key: string) => {
  const data = cloud.get(Secret, name)?.data as Record<string, string> | undefined;
  return Buffer.from(data?.[key] ?? '', 'base64').toString();
};
const conf = (cloud: Cloud, key: string) => secretText(cloud, 'toy-config-data', key);
const template = (cloud: Cloud, resource: Resource, name: string) =>
  (cloud.get(resource, name)?.spec as { template: unknown } | undefined)?.template;

describe('a service of one folder and one line', () => {
  it('becomes Ready with database, bus, identity, catalog, schema and an API that answers', async () => {
    const cloud = await readyToy();
    expect(conditionsOf(cloud.get(Toy, 'toy')).map(c => [c.type, c.status])).toEqual(
      [
        'Ready',
        'CredentialsReady',
        'DatabaseReady',
        'MessageBusReady',
        'IdentityReady',
        'ConfigValid',
        'ConfigReady',
        'DatabaseSyncReady',
        'ExposeReady',
        'WorkloadsReady',
        'EndpointsReady',
        'Answering',
        'RotationReady',
      ].map(type => [type, 'True']),
    );
    expect(sqlOf(cloud).users['openstack-toy']).toMatchObject({ all: false, databases: ['toy'] });
    expect(sqlOf(cloud).databases.toy?.schemas).toEqual(['toy']);
    expect(busOf(cloud).vhosts).toContain('openstack-toy');
    expect(busOf(cloud).users['openstack-toy']).toMatchObject({ administrator: false, vhosts: ['openstack-toy'] });
    const { users, services } = keystoneOf(cloud);
    expect(users.toy?.roles).toEqual({ service: ['admin', 'service'] });
    const url = 'http://toy-api.openstack.svc.cluster.local:9999/v1';
    expect(services.find(s => s.type === 'toybox')?.endpoints.map(e => [e.interface, e.region, e.url])).toEqual([
      ['public', 'RegionOne', url],
      ['internal', 'RegionOne', url],
    ]);
    expect(cloud.get(Toy, 'toy')?.status).toMatchObject({
      endpoints: { internal: url, public: url },
      release: '2025.2',
      replicas: 1,
      readyReplicas: 1,
    });
    const text = conf(cloud, '01-toy.conf');
    expect(text).toContain('transport_url = rabbit://openstack-toy:');
    expect(text).toContain('connection = mysql+pymysql://openstack-toy:');
  });

  it('writes nothing at rest (rule 14)', async () => {
    const cloud = await readyToy();
    const [writes, mutations] = [cloud.writes().length, cloud.backends.mutations()];
    await cloud.sim.run(3_600_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
    expect(cloud.backends.mutations()).toBe(mutations);
  });

  it('rolls only itself when its config is edited', async () => {
    const cloud = await readyToy();
    const others = () => [
      ...['mariadb', 'rabbitmq', 'memcached'].map(name => template(cloud, StatefulSet, name)),
      template(cloud, Deployment, 'keystone-api'),
      cloud.hands.list(Job, NS).map(job => job.metadata.name),
    ];
    const [before, own] = [others(), template(cloud, Deployment, 'toy-api')];
    cloud.apply(toyObject({ customServiceConfig: '[DEFAULT]\ndebug = true\n' }));
    await cloud.ready(Toy, 'toy');
    await cloud.settle();
    expect(conf(cloud, '02-toy-override.conf')).toContain('debug = true');
    expect(template(cloud, Deployment, 'toy-api')).not.toEqual(own);
    expect(others()).toEqual(before);
  });

  it('gives its parts back when deleted, and keeps its data under Retain', async () => {
    const cloud = await readyToy();
    const kept = cloud.left().filter(line => !/\btoy\b|^(Pod|ReplicaSet) /.test(line));
    cloud.hands.remove(Toy, NS, 'toy');
    await cloud.settle();
    expect(cloud.get(Toy, 'toy')).toBeUndefined();
    expect(cloud.left().filter(line => !/^(Pod|ReplicaSet) /.test(line))).toEqual(kept);
    expect(sqlOf(cloud).users['openstack-toy']).toBeUndefined();
    expect(busOf(cloud).vhosts).not.toContain('openstack-toy');
    expect(busOf(cloud).users['openstack-toy']).toBeUndefined();
    expect(keystoneOf(cloud).users.toy).toBeUndefined();
    expect(keystoneOf(cloud).services.map(s => s.type)).toEqual(['identity']);
    expect(sqlOf(cloud).databases.toy?.schemas).toEqual(['toy']);
    cloud.apply(toyObject());
    await cloud.ready(Toy, 'toy');
  });

  it('takes its database along under Delete', async () => {
    const cloud = await readyToy({ deletionPolicy: 'Delete' });
    cloud.hands.remove(Toy, NS, 'toy');
    await cloud.settle();
    expect(Object.keys(sqlOf(cloud).databases)).toEqual(['keystone']);
  });

  it('stands on hand-made Secrets instead of objects', async () => {
    const cloud = await start();
    cloud.apply(slice);
    await cloud.ready(OpenStackControlPlane, 'slice');
    const password = (secret: string) => secretText(cloud, secret, 'password');
    sqlOf(cloud).databases.box = { schemas: [] };
    const secret = (name: string, stringData: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData,
    });
    const host = (name: string) => `${name}.openstack.svc.cluster.local`;
    cloud.apply(
      secret('db', { hostname: host('mariadb'), user: 'root', password: password('mariadb-root'), database: 'box' }),
      secret('mq', { hostname: host('rabbitmq'), user: 'admin', password: password('rabbitmq-admin') }),
      toyObject({ databaseSecret: 'db', messageBusSecret: 'mq', memcachedServers: ['cache:11211'] }),
    );
    await cloud.ready(Toy, 'toy');
    expect(sqlOf(cloud).databases.box?.schemas).toEqual(['toy']);
    expect(sqlOf(cloud).databases.toy).toBeUndefined();
    expect(conf(cloud, '01-toy.conf')).toContain('memcache_servers = cache:11211');
  });

  it('is not Ready while its API answers with an error, and comes back by itself', async () => {
    let fails = false;
    const cloud = await Cloud.start({
      plans: [...PLANS, toy as Plan<never>],
      kinds: [Toy],
      backendFaults: ({ port, method }) => {
        if (fails && port === 'identity' && method === 'get')
          throw rejected('The service', 'toy-api', 'GET /v1/toys: status 500');
      },
    });
    cloud.apply(slice, toyObject({}));
    await cloud.ready(Toy, 'toy');
    fails = true;
    await cloud.sim.within(1_200_000, () => cloud.condition(Toy, 'toy')?.status !== 'True');
    expect(cloud.condition(Toy, 'toy', 'Answering')).toMatchObject({ status: 'False', reason: 'BackendError' });
    expect(cloud.condition(Toy, 'toy')?.message).toContain('GET /v1/toys: status 500');
    fails = false;
    expect(await cloud.sim.within(1_200_000, () => cloud.condition(Toy, 'toy')?.status === 'True')).toBe(true);
  });

  it('is not Ready while its database is empty, and comes back when it is restored', async () => {
    const cloud = await readyToy();
    const database = sqlOf(cloud).databases.toy!;
    database.schemas = [];
    await cloud.sim.within(1_200_000, () => cloud.condition(Toy, 'toy')?.status !== 'True');
    expect(cloud.condition(Toy, 'toy', 'DatabaseReady')).toMatchObject({ status: 'False', reason: 'DatabaseLost' });
    expect(cloud.condition(Toy, 'toy')?.message).toContain('Database toy on MariaDB mariadb is empty');
    expect(cloud.condition(Keystone, 'keystone')?.status).toBe('True');
    database.schemas = ['toy'];
    expect(await cloud.sim.within(1_200_000, () => cloud.condition(Toy, 'toy')?.status === 'True')).toBe(true);
  });
});
