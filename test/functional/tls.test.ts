import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { Neutron } from '../../api/openstack/neutron.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { Placement } from '../../api/openstack/placement.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { DaemonSet, Deployment, Pod, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { hashOf } from '../../src/runtime/plan/canonical.ts';
import { SPREAD_MS, TURN_MS } from '../../src/services/tls/serving.ts';
import { fingerprint, leadsTo, union } from '../../src/world/x509.ts';
import { authority, BEGIN, CERT_MANAGER, certificateSecret, installForeign, issuer } from './certificates.ts';
import { Cloud, NS } from './cloud.ts';
import {
  adminLogin,
  host,
  keystoneOf,
  label,
  objectOf,
  passwordIn,
  readyCloud,
  secret,
  sqlOf,
  text,
} from './services.ts';

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const own = { tls: { secretName: 'cert' } };
const SERVERS = [
  ...['mariadb', 'rabbitmq', 'memcached', 'keystone', 'glance', 'placement', 'ovn', 'neutron', 'nova'],
  ...['heat', 'horizon'],
];
const parts = (section: object) =>
  Object.fromEntries(
    SERVERS.map(name => [name, { ...section, ...(['heat', 'horizon'].includes(name) && { enabled: true }) }]),
  );
const plain = { ...minimal, spec: { ...minimal.spec, ...parts({}) } };
const secured = { ...minimal, spec: { ...minimal.spec, tls: { enabled: true }, ...parts(own) } };

const [first, second] = [authority('first'), authority('second')];

/** What pods are made from, by workload: what differs has rolled. */
const templates = (cloud: Cloud): Record<string, string> =>
  Object.fromEntries(
    [Deployment, StatefulSet, DaemonSet]
      .flatMap(resource => cloud.hands.list(resource, NS))
      .map(object => [object.metadata.name, hashOf(sorted((object.spec as { template: unknown }).template))]),
  );
/** Lists of named things in the order of their names: what an apply adds and takes out again may leave another one. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sorted(each)]));
};
const differing = (before: Record<string, string>, after: Record<string, string>): string[] =>
  Object.keys({ ...before, ...after })
    .filter(name => before[name] !== after[name])
    .sort();
const podsOf = (cloud: Cloud): string[] =>
  cloud.hands
    .list(Pod, NS)
    .filter(pod => !pod.metadata.ownerReferences?.some(owner => owner.kind === 'Job'))
    .map(pod => pod.metadata.uid ?? '')
    .sort();
const internal = (cloud: Cloud): string[] =>
  keystoneOf(cloud).services.flatMap(s => s.endpoints.filter(e => e.interface === 'internal').map(e => e.url));
const shown = (cloud: Cloud, object: string): string => text(cloud, `${object}-tls`, 'tls.crt');
const trusted = (cloud: Cloud): string => text(cloud, 'openstack-ca-bundle', 'ca.crt');
const ready = (cloud: Cloud) => cloud.condition(OpenStackControlPlane, 'minimal');

describe('TLS on a living cloud', () => {
  let cloud: Cloud;
  let before: Record<string, string>;
  let left: readonly string[];
  const settled = async (): Promise<void> => {
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
  };

  beforeAll(async () => {
    cloud = await Cloud.start();
    label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
    cloud.apply(plain, certificateSecret('cert', first));
    await settled();
    before = templates(cloud);
    left = cloud.left();
  }, 240_000);

  it('is switched on by edit: every API, the database, the bus, the cache and OVN, and every pod that speaks to them', async () => {
    expect(internal(cloud).every(url => url.startsWith('http://'))).toBe(true);
    cloud.apply(secured);
    await settled();
    expect(internal(cloud).filter(url => !url.startsWith('https://'))).toEqual([]);
    const kept = Object.keys(before).filter(name => !differing(before, templates(cloud)).includes(name));
    // They speak to nobody over the network of the cloud, or to none that has TLS.
    expect(kept.sort()).toEqual(['nova-cell1-libvirt', 'nova-cell1-libvirt-virtlogd']);
    expect(text(cloud, 'memcached-config-data', 'memcached.config.json')).toContain(
      '-l 0.0.0.0:11211,notls:127.0.0.1:',
    );
    expect(text(cloud, 'keystone-config-data', '01-keystone.conf')).toContain('\ntls_enabled = true\n');
    expect(text(cloud, 'nova-api-config-data', '01-nova.conf')).toContain('\nmemcache_tls_enabled = true\n');
    expect(text(cloud, 'horizon-config-data', 'local_settings.py')).toContain('{"tls_context": ssl.create_default_');
    expect(text(cloud, 'nova-api-config-data', '01-nova.conf')).toContain('&ssl_ca=/etc/openstack-tls/ca/ca.crt');
    expect(text(cloud, 'neutron-config-data', 'ml2_conf.ini')).toMatch(/ovn_nb_connection = ssl:/);
    expect(text(cloud, 'ovn-config-data', 'nb.sh')).toContain('set-connection pssl:6641');
    const rabbit = text(cloud, 'rabbitmq-config-data', '01-rabbitmq.conf');
    expect(rabbit).toContain('listeners.tcp = none');
    // Nothing takes a plain connection beside: neither AMQP nor the management API, nor the databases of OVN.
    expect(rabbit).not.toMatch(/^(listeners\.tcp\.|management\.(tcp|listener))/m);
    for (const key of ['nb.sh', 'sb.sh']) expect(text(cloud, 'ovn-config-data', key)).not.toMatch(/ptcp:|--remote=tcp/);
    expect(text(cloud, 'memcached-config-data', 'memcached.config.json')).toMatch(
      / -l 0\.0\.0\.0:11211,notls:127\.0\.0\.1:\d+ -Z /,
    );
    expect(text(cloud, 'nova-metadata-compute-config', '05-nova-metadata.conf')).toContain('protocol = https');
    expect(text(cloud, 'openstack-clouds', 'clouds.yaml')).toContain('https://keystone-api');
  }, 240_000);

  it('takes a renewed certificate without restarting anything', async () => {
    const [pods, old] = [podsOf(cloud), shown(cloud, 'mariadb')];
    const [same, status] = [templates(cloud), ready(cloud)];
    cloud.apply(certificateSecret('cert', first));
    await cloud.settle();
    await cloud.sim.run(SPREAD_MS);
    expect(shown(cloud, 'mariadb')).not.toBe(old);
    // One after the other: an API that loads anew on a busy machine answers late.
    const times = cloud.hands
      .list(Secret, NS)
      .filter(({ metadata }) => metadata.labels?.['openstack.k8s.io/serving'])
      .map(({ metadata }) => Date.parse(metadata.annotations?.['openstack.k8s.io/since'] ?? ''))
      .sort((a, b) => a - b);
    expect(times.length).toBeGreaterThan(10);
    for (const [index, time] of times.slice(1).entries()) expect(time - times[index]!).toBeGreaterThan(TURN_MS - 1000);
    expect(podsOf(cloud)).toEqual(pods);
    expect(differing(same, templates(cloud))).toEqual([]);
    expect(ready(cloud)).toEqual(status);
    // It has read the file, not only been given it.
    const sql = cloud.backends.cloud.sql({
      host: host('mariadb'),
      port: 3306,
      user: 'root',
      password: text(cloud, 'mariadb-root', 'password'),
      ca: first.ca,
    });
    expect(await sql.ensureCertificate(fingerprint(shown(cloud, 'mariadb')) ?? '')).toBe(false);
  }, 60_000);

  it('changes the CA in steps: all trust both, then servers change, then the old one goes; nobody fails meanwhile', async () => {
    const [pods, old] = [podsOf(cloud), shown(cloud, 'keystone')];
    cloud.apply(certificateSecret('cert', second));
    await cloud.settle();
    expect(leadsTo(trusted(cloud), first.ca) && leadsTo(second.ca, trusted(cloud))).toBe(true);
    expect(shown(cloud, 'keystone')).toBe(old);
    for (let minutes = 0; minutes < 18; minutes++) {
      await cloud.sim.run(SPREAD_MS / 5);
      expect(ready(cloud), ready(cloud)?.message).toMatchObject({ status: 'True' });
      expect(leadsTo(shown(cloud, 'keystone'), trusted(cloud))).toBe(true);
    }
    expect(leadsTo(shown(cloud, 'keystone'), second.ca)).toBe(true);
    expect(trusted(cloud)).not.toContain(first.ca.split('\n')[1]);
    expect(text(cloud, 'nova-api-ca-bundle', 'ca.crt')).not.toContain(first.ca.split('\n')[1]);
    expect(podsOf(cloud)).toEqual(pods);
  }, 120_000);

  it('rests afterwards, also after a restart of the operator', async () => {
    const writes = cloud.writes().length;
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.settle();
    await cloud.sim.run(1_800_000);
    expect(cloud.writes().slice(writes)).toEqual([]);
  }, 60_000);

  it('is switched off by edit, and leaves nothing behind', async () => {
    cloud.apply(plain);
    await settled();
    expect(internal(cloud).filter(url => !url.startsWith('http://'))).toEqual([]);
    const gone = (name: string) => !/-config-data-\w+$|^(Pod|Job|ReplicaSet|ControllerRevision) /.test(name);
    expect(cloud.left().filter(gone)).toEqual(left.filter(gone));
    expect(cloud.hands.list(Secret, NS).filter(s => /-tls$|-ca-bundle$/.test(s.metadata.name))).toEqual([]);
    expect(differing(before, templates(cloud))).toEqual([]);
  }, 240_000);
});

describe('TLS that can not be', () => {
  const wrong = (name: string): string => `Secret cert, named in spec.tls.secretName: ${name}`;
  const DAY = 86_400_000;
  it.each<[string, () => AnyObject | undefined, object, string, string]>([
    ['neither issuer nor Secret', () => undefined, { enabled: true }, 'FieldMissing', 'neither spec.tls.issuerRef nor'],
    [
      'a Secret that is not there',
      () => undefined,
      own.tls,
      'SecretNotFound',
      'Secret cert, named in spec.tls.secretName',
    ],
    ['one without a CA', () => without('ca.crt'), own.tls, 'SecretIncomplete', 'has no key ca.crt'],
    [
      'one that has ended',
      () => certificateSecret('cert', first, { from: BEGIN - 2 * DAY, to: BEGIN }),
      own.tls,
      'CertificateExpired',
      wrong('tls.crt expired at 2026-01-01T00:00:00Z'),
    ],
    [
      'one for another name',
      () => certificateSecret('cert', first, { names: ['db.example.org'] }),
      own.tls,
      'CertificateInvalid',
      wrong('tls.crt is not for mariadb.openstack.svc.cluster.local'),
    ],
    [
      'the key of another',
      () => mixed('tls.key'),
      own.tls,
      'CertificateInvalid',
      wrong('tls.key is not the key of tls.crt'),
    ],
    ['another CA', () => mixed('ca.crt'), own.tls, 'CertificateInvalid', wrong('ca.crt did not sign tls.crt')],
  ])('%s is told with name and cure, and mended by what it asks for', async (_name, made, tls, reason, message) => {
    const cloud = await Cloud.start();
    const object = made();
    if (object) cloud.apply(object);
    const database = (spec: object) => objectOf(MariaDB, 'mariadb', { tls: { enabled: true, ...spec } });
    cloud.apply(database(tls));
    await cloud.settle();
    const told = cloud.condition(MariaDB, 'mariadb', 'CertificateReady');
    expect(told).toMatchObject({ status: 'False', reason, message: expect.stringContaining(message) });
    expect(told?.message).toContain('User: ');
    cloud.apply(certificateSecret('cert', first), database(own.tls));
    await cloud.ready(MariaDB, 'mariadb');
  });

  it('a certificate that ends while in use is told of when it ends, and not before', async () => {
    const cloud = await Cloud.start();
    const HOUR = 3_600_000;
    const ends = cloud.sim.clock.wall() + 2 * HOUR;
    cloud.apply(
      certificateSecret('cert', first, { to: ends }),
      objectOf(MariaDB, 'mariadb', { tls: { enabled: true, ...own.tls } }),
    );
    await cloud.ready(MariaDB, 'mariadb');
    await cloud.sim.run(1.9 * HOUR);
    expect(cloud.condition(MariaDB, 'mariadb')).toMatchObject({ status: 'True' });
    await cloud.sim.run(0.2 * HOUR);
    expect(cloud.condition(MariaDB, 'mariadb', 'CertificateReady')).toMatchObject({ reason: 'CertificateExpired' });
    cloud.apply(certificateSecret('cert', second));
    await cloud.ready(MariaDB, 'mariadb');
    expect(leadsTo(text(cloud, 'mariadb-tls', 'tls.crt'), second.ca)).toBe(true);
  });

  it('a certificate that cert-manager has not made yet is waited for by name', async () => {
    const cloud = await Cloud.start();
    installForeign(cloud, ...CERT_MANAGER);
    cloud.hands.apply(issuer('Issuer', 'ca'));
    cloud.apply(objectOf(MariaDB, 'mariadb', { tls: { enabled: true, issuerRef: { name: 'ca' } } }));
    await cloud.settle();
    const told = () => cloud.condition(MariaDB, 'mariadb', 'CertificateReady');
    expect(told()).toMatchObject({
      reason: 'CertificateNotReady',
      message: expect.stringContaining('Certificate mariadb-certificate is not Ready'),
    });
    cloud.apply(certificateSecret('mariadb-certificate', first));
    await cloud.ready(MariaDB, 'mariadb');
  });

  it('a release whose clients of memcached speak no TLS goes on in plain, sealed, and says so where it is asked for', async () => {
    const cloud = await readyCloud(
      { release: '2025.1', tls: { enabled: true }, mariadb: own, rabbitmq: own, keystone: own },
      c => c.apply(certificateSecret('cert', first)),
    );
    expect(cloud.get(Memcached, 'memcached')?.spec).not.toHaveProperty('tls');
    cloud.apply(objectOf(Placement, 'placement', { release: '2025.1', ...own }));
    await cloud.ready(Placement, 'placement');
    expect(text(cloud, 'placement-config-data', '01-placement.conf')).toContain('memcache_security_strategy = ENCRYPT');
    cloud.hands.patch(Memcached, NS, 'memcached', { spec: { tls: { enabled: true, secretName: 'cert' } } });
    await cloud.settle();
    expect(cloud.condition(Placement, 'placement', 'ConfigReady')).toMatchObject({
      reason: 'NotSupported',
      message: expect.stringContaining('clients of it in 2025.1 speak no TLS. User: set tls.enabled of the Memcached'),
    });
  });

  it('caches that somebody else runs are spoken to over TLS when their CA is given', async () => {
    const cloud = await readyCloud({}, c => c.apply(secret('ca', { 'ca.crt': second.ca })));
    cloud.apply(objectOf(Placement, 'placement', { memcachedServers: ['cache.example:11211'], memcachedSecret: 'ca' }));
    await cloud.ready(Placement, 'placement');
    const written = text(cloud, 'placement-config-data', '01-placement.conf');
    expect(written).toContain('memcache_tls_cafile = /etc/openstack-tls/ca/ca.crt');
    expect(text(cloud, 'placement-ca-bundle', 'ca.crt')).toBe(union(second.ca));
    cloud.apply(secret('ca', { 'ca.crt': 'no certificate' }));
    await cloud.settle();
    expect(cloud.condition(Placement, 'placement', 'ConfigReady')).toMatchObject({
      reason: 'CertificateInvalid',
      message: expect.stringContaining('Secret ca, named in spec.memcachedSecret'),
    });
  });

  it('a Neutron without a certificate is told that its OVN asks for one', async () => {
    const cloud = await readyCloud({}, c => c.apply(certificateSecret('cert', first)));
    cloud.apply(objectOf(OVNNetwork, 'ovn', { tls: { enabled: true, ...own.tls } }), objectOf(Neutron, 'neutron'));
    await cloud.settle();
    expect(cloud.condition(Neutron, 'neutron', 'InputReady')).toMatchObject({
      reason: 'FieldMissing',
      message: expect.stringContaining('OVNNetwork ovn asks its clients for certificates'),
    });
  });
});

describe('hand-made Secrets with a CA', () => {
  it('make services speak TLS, and the operator too', async () => {
    const cloud = await readyCloud(
      { tls: { enabled: true }, mariadb: own, rabbitmq: own, memcached: own, keystone: own },
      c => c.apply(certificateSecret('cert', first)),
    );
    sqlOf(cloud).databases.hand = { schemas: [] };
    const ca = { 'ca.crt': first.ca };
    cloud.apply(
      secret('db', {
        hostname: host('mariadb'),
        user: 'root',
        password: passwordIn(cloud, 'mariadb-root'),
        database: 'hand',
        ...ca,
      }),
      secret('user', { ...adminLogin(cloud), url: `https://${host('keystone-api')}:5000`, ...ca }),
      objectOf(Placement, 'hand', { databaseSecret: 'db', keystoneSecret: 'user' }),
    );
    await cloud.ready(Placement, 'hand');
    const conf = text(cloud, 'hand-config-data', '01-placement.conf');
    expect(conf).toContain('&ssl_ca=/etc/openstack-tls/ca/ca.crt');
    expect(conf).toContain('cafile = /etc/openstack-tls/ca/ca.crt');
    // It serves in plain itself: only its clients' side was asked for.
    expect(text(cloud, 'hand-config-data', 'uwsgi.ini')).toContain('http-socket');
    expect(text(cloud, 'hand-ca-bundle', 'ca.crt')).toBe(union(first.ca));
  });
});

function without(key: string): AnyObject {
  const object = certificateSecret('cert', first);
  const { [key]: _gone, ...stringData } = object.stringData as Record<string, string>;
  return { ...object, stringData };
}

function mixed(key: string): AnyObject {
  const [one, other] = [certificateSecret('cert', first), certificateSecret('cert', second)];
  const text = (of: AnyObject) => of.stringData as Record<string, string>;
  return { ...one, stringData: { ...text(one), [key]: text(other)[key] } };
}
