import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { Placement } from '../../api/openstack/placement.ts';
import { unreachable } from '../../src/cloud/faults.ts';
import type { BackendCall } from '../../src/embedded/backends/backends.ts';
import type { Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Pod, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { hashOf } from '../../src/runtime/plan/canonical.ts';
import { SPREAD_MS } from '../../src/services/tls/serving.ts';
import { authority, certificateSecret } from './certificates.ts';
import { Cloud, NS } from './cloud.ts';
import { cloudWith, host, label, objectOf, passwordIn, readyCloud, secret, sqlOf, template, text } from './services.ts';

/** MariaDB refuses plain connections when the last client speaks TLS, and stops before the first one is plain again. */

const first = authority('first');
const own = { tls: { secretName: 'cert' } };
const tls = { enabled: true, secretName: 'cert' };
const SERVER = host('mariadb');
const PLAIN = new RegExp(`mysql[\\w+]*://[^\\s@]*@${SERVER}\\S*`, 'g');

/**
 * Looks at the server and at what pods mount at every request of anybody: while plain connections are refused no pod may
 * run with a plain URL. Also the order in which the operator told the server and changed sets.
 */
function watchPlain() {
  const victims = new Set<string>();
  const seen: string[] = [];
  const plainSecrets = new Map<string, boolean>();
  let cloud: Cloud | undefined;
  let refuses = false;
  const look = (): void => {
    if (cloud === undefined) return;
    const now = cloud.backends.refusesPlain(SERVER);
    if (now !== refuses) seen.push(now ? 'refuses' : 'takes');
    refuses = now;
    if (!refuses) return;
    // Asked at every request: as they are stored, because a list by the API would copy them all.
    const objects = cloud.store.objects().filter(({ metadata }) => metadata.namespace === NS);
    const plain = new Set(objects.filter(each => each.kind === Secret.kind && isPlain(each)).map(nameOf));
    for (const pod of objects.filter(({ kind }) => kind === Pod.kind)) {
      const { phase = '' } = (pod.status ?? {}) as { phase?: string };
      const { volumes = [] } = pod.spec as { volumes?: { secret?: { secretName?: string } }[] };
      if (!['Succeeded', 'Failed'].includes(phase) && volumes.some(({ secret }) => plain.has(secret?.secretName ?? '')))
        victims.add(pod.metadata.name);
    }
  };
  const nameOf = ({ metadata }: AnyObject): string => metadata.name;
  const isPlain = (live: AnyObject): boolean => {
    const key = `${live.metadata.name} ${live.metadata.resourceVersion}`;
    const known = plainSecrets.get(key);
    if (known !== undefined) return known;
    const data = Object.values((live.data ?? {}) as Record<string, string>).map(value => atob(value));
    const found = data.some(each => [...each.matchAll(PLAIN)].some(([url]) => !url.includes('ssl_ca=')));
    plainSecrets.set(key, found);
    return found;
  };
  const wrap = (store: Store): Store => ({
    ...store,
    handle: (request, user) => {
      const answer = store.handle(request, user);
      if (request.method !== 'GET' && user !== 'admin') look();
      if (request.method === 'PATCH' && /statefulsets\/mariadb$/.test(request.path)) seen.push('set');
      return answer;
    },
  });
  return {
    victims,
    seen,
    of: (started: Cloud): Cloud => {
      cloud = started;
      return started;
    },
    options: { wrap, backendFaults: (_call: BackendCall) => look() },
  };
}

const status = (cloud: Cloud) => cloud.get(MariaDB, 'mariadb')?.status as { secureTransport?: boolean } | undefined;
const told = (cloud: Cloud) => cloud.condition(MariaDB, 'mariadb', 'SecureTransport');
const initSql = (cloud: Cloud): string => text(cloud, 'mariadb-init', 'init.sql');
const REFUSED = 'SET GLOBAL require_secure_transport = ON;\n';
const rest = async (cloud: Cloud): Promise<void> => {
  await cloud.settle();
  await cloud.sim.run(10_000);
  await cloud.settle();
};
const hand = (cloud: Cloud, more: object = {}) =>
  secret('db', {
    hostname: SERVER,
    user: 'root',
    password: passwordIn(cloud, 'mariadb-root'),
    database: 'hand',
    ...more,
  });

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const PARTS = ['mariadb', 'rabbitmq', 'memcached', 'keystone', 'glance', 'placement', 'ovn', 'neutron', 'nova'];
const whole = (section: object, more: object = {}): AnyObject => ({
  ...minimal,
  spec: { ...minimal.spec, ...Object.fromEntries(PARTS.map(name => [name, { ...section }])), ...more },
});
const plain = whole({});
const secured = (nova: object = {}, more: object = {}): AnyObject =>
  whole(own, { tls: { enabled: true }, nova: { ...own, ...nova }, ...more });
const cells = (...names: string[]) => ({
  cellTemplates: Object.fromEntries(names.map(name => [name, {}])),
});

describe('a cloud that changes to TLS and back', () => {
  const watched = watchPlain();
  let cloud: Cloud;
  const settled = async (): Promise<void> => {
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await rest(cloud);
  };
  beforeAll(async () => {
    cloud = watched.of(await Cloud.start(watched.options));
    label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
    cloud.apply(plain, certificateSecret('cert', first));
    await settled();
  }, 240_000);

  it('says and does nothing about it while it is plain', () => {
    expect(status(cloud)).not.toHaveProperty('secureTransport');
    expect(told(cloud)).toBeUndefined();
    expect(watched.seen.filter(what => what !== 'set')).toEqual([]);
  });

  it('refuses plain connections in the end, without a restart, and nobody was refused on the way', async () => {
    cloud.apply(secured());
    await cloud.ready(OpenStackControlPlane, 'minimal');
    const before = hashOf(template(cloud, StatefulSet, 'mariadb'));
    await rest(cloud);
    expect(watched.seen.filter(what => what !== 'set')).toEqual(['refuses']);
    expect(watched.seen.at(-1)).toBe('refuses');
    expect(cloud.backends.plain()).toEqual([]);
    expect([...watched.victims]).toEqual([]);
    expect(status(cloud)).toMatchObject({ secureTransport: true });
    expect(told(cloud)).toMatchObject({ status: 'True', message: expect.stringContaining('without TLS are refused') });
    expect(initSql(cloud)).toContain(REFUSED);
    expect(hashOf(template(cloud, StatefulSet, 'mariadb'))).toBe(before);
  }, 240_000);

  it('still does so after a restart of the server', async () => {
    cloud.hands.remove(Pod, NS, 'mariadb-0');
    await settled();
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    expect([...watched.victims]).toEqual([]);
  }, 60_000);

  it('is never asked in plain by the operator: in cells that come and go, logins and certificates that are replaced, services that leave', async () => {
    const before = cloud.backends.plain().length;
    cloud.apply(secured(cells('cell0', 'cell1', 'cell2')));
    await settled();
    cloud.apply(certificateSecret('cert', first));
    await rest(cloud);
    await cloud.sim.run(SPREAD_MS);
    cloud.apply(secured(cells('cell0', 'cell1'), { actions: [{ name: 'rotate', id: 'one' }] }));
    await settled();
    await cloud.sim.run(1_800_000);
    cloud.apply(
      secured(cells('cell0', 'cell1'), { placement: { ...own, enabled: true }, heat: { ...own, enabled: true } }),
    );
    await settled();
    cloud.apply(secured(cells('cell0', 'cell1'), { heat: { ...own, enabled: false } }));
    await settled();
    expect(cloud.backends.plain().slice(before)).toEqual([]);
    expect(cloud.get(Nova, 'nova')?.status).toMatchObject({ cells: [{ name: 'cell0' }, { name: 'cell1' }] });
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    expect([...watched.victims]).toEqual([]);
  }, 240_000);

  it('takes them again before its own pods or any client changes', async () => {
    cloud.apply(secured());
    await settled();
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    const from = watched.seen.length;
    cloud.apply(plain);
    await settled();
    expect(watched.seen.slice(from)[0]).toBe('takes');
    expect(watched.seen.slice(from).filter(what => what !== 'set')).toEqual(['takes']);
    expect([...watched.victims]).toEqual([]);
    expect(status(cloud)).not.toHaveProperty('secureTransport');
    expect(told(cloud)).toBeUndefined();
    expect(initSql(cloud)).not.toContain('require_secure_transport');
    expect(cloud.get(Secret, 'mariadb-init')?.data).not.toHaveProperty('ca.crt');
  }, 240_000);
});

describe('a client with a hand-made Secret', () => {
  const start = async (watched: ReturnType<typeof watchPlain>): Promise<Cloud> => {
    const cloud = watched.of(
      await readyCloud(
        { tls: { enabled: true }, mariadb: own, rabbitmq: own, memcached: own, keystone: own },
        c => c.apply(certificateSecret('cert', first)),
        watched.options,
      ),
    );
    await rest(cloud);
    sqlOf(cloud).databases.hand = { schemas: [] };
    return cloud;
  };

  it('that is plain is waited for: first the server takes it, then it starts', async () => {
    const watched = watchPlain();
    const cloud = await start(watched);
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    cloud.apply(hand(cloud), objectOf(Placement, 'hand', { databaseSecret: 'db', ...own, tls }));
    await cloud.ready(Placement, 'hand');
    await rest(cloud);
    expect(cloud.backends.refusesPlain(SERVER)).toBe(false);
    expect([...watched.victims]).toEqual([]);
    expect(status(cloud)).toMatchObject({ secureTransport: false });
    expect(told(cloud)).toMatchObject({
      status: 'False',
      reason: 'SecretIncomplete',
      message: expect.stringContaining('Placement hand opens this server by Secret db, which has no key ca.crt'),
    });
    expect(cloud.condition(MariaDB, 'mariadb')).toMatchObject({ status: 'True' });
    cloud.apply(hand(cloud, { 'ca.crt': first.ca }));
    await cloud.ready(Placement, 'hand');
    await rest(cloud);
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    expect(text(cloud, 'hand-config-data', '01-placement.conf')).toContain('&ssl_ca=');
    // And back: a CA that is taken out.
    cloud.hands.patch(Secret, NS, 'db', { data: { 'ca.crt': null } });
    await rest(cloud);
    await cloud.ready(Placement, 'hand');
    expect(cloud.backends.refusesPlain(SERVER)).toBe(false);
    expect([...watched.victims]).toEqual([]);
  }, 60_000);

  it('waits while the server can not be told, and says for what', async () => {
    const watched = watchPlain();
    let silent = false;
    const cloud = await (async () => {
      const backendFaults = (call: BackendCall): void => {
        watched.options.backendFaults(call);
        if (silent && call.method === 'ensureSecureTransport') throw unreachable('MariaDB', SERVER, 'timeout');
      };
      return start({ ...watched, options: { ...watched.options, backendFaults } });
    })();
    silent = true;
    cloud.apply(hand(cloud), objectOf(Placement, 'hand', { databaseSecret: 'db', ...own, tls }));
    await cloud.sim.run(30_000);
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    expect(cloud.condition(MariaDB, 'mariadb', 'SecureTransport')).toMatchObject({ status: 'False' });
    expect(cloud.condition(Placement, 'hand', 'DatabaseReady')).toMatchObject({
      reason: 'SecretIncomplete',
      message: expect.stringContaining('MariaDB mariadb refuses connections without TLS'),
    });
    expect([...watched.victims]).toEqual([]);
    silent = false;
    await cloud.ready(Placement, 'hand');
    expect([...watched.victims]).toEqual([]);
  }, 60_000);
});

/** The clock of the embedded world at its start. */
const STARTS = Date.parse('2026-01-05T08:00:00Z');

describe('a server that can not be told', { timeout: 60_000 }, () => {
  const sections = { tls: { enabled: true }, mariadb: own, rabbitmq: own, memcached: own, keystone: own };
  const paused = (value: string | null) => ({ metadata: { annotations: { 'openstack.k8s.io/paused': value } } });
  const pause = (cloud: Cloud, value: 'true' | null) => cloud.hands.patch(MariaDB, NS, 'mariadb', paused(value));
  const started = async (wanted: object = sections, options: object = {}, ...more: AnyObject[]): Promise<Cloud> => {
    const cloud = await readyCloud(wanted, each => each.apply(certificateSecret('cert', first), ...more), options);
    await rest(cloud);
    expect(cloud.backends.refusesPlain(SERVER)).toBe(true);
    return cloud;
  };
  const becomesPlain = async (cloud: Cloud): Promise<void> => {
    await cloud.sim.run(600_000);
    await cloud.ready(MariaDB, 'mariadb');
    expect(cloud.backends.refusesPlain(SERVER)).toBe(false);
    expect(cloud.get(MariaDB, 'mariadb')?.status).not.toHaveProperty('secureTransport');
  };

  it('because its certificate has ended: TLS can still be switched off', async () => {
    let ended = false;
    let cloud: Cloud | undefined;
    // As long as the pod has the certificate, which simulated servers show without a look at the date.
    const shows = () => JSON.stringify(cloud?.get(Pod, 'mariadb-0')?.spec ?? {}).includes('mariadb-tls');
    const backendFaults = (call: BackendCall): void => {
      if (ended && call.port === 'sql' && shows()) throw unreachable('MariaDB', SERVER, 'TLS: certificate has expired');
    };
    cloud = await started(sections, { backendFaults });
    ended = true;
    cloud.apply(cloudWith({}));
    await becomesPlain(cloud);
  });

  it('because its password was replaced in the same edit', async () => {
    const root = (password: string) => secret('root', { password });
    const cloud = await started({ ...sections, mariadb: { ...own, secret: 'root' } }, {}, root('one'));
    pause(cloud, 'true');
    await rest(cloud);
    cloud.apply(root('two'), cloudWith({ mariadb: { secret: 'root' } }));
    await rest(cloud);
    pause(cloud, null);
    await becomesPlain(cloud);
  });

  it('because its generated password was deleted', async () => {
    const cloud = await started();
    pause(cloud, 'true');
    await rest(cloud);
    cloud.hands.remove(Secret, NS, 'mariadb-root');
    cloud.apply(cloudWith({}));
    await rest(cloud);
    pause(cloud, null);
    await becomesPlain(cloud);
  });

  it('takes a plain client also while the source of its certificate is damaged', async () => {
    const cloud = await started();
    sqlOf(cloud).databases.hand = { schemas: [] };
    cloud.hands.patch(Secret, NS, 'cert', { data: { 'tls.key': btoa('nonsense') } });
    await rest(cloud);
    cloud.apply(hand(cloud), objectOf(Placement, 'hand', { databaseSecret: 'db', tls: { enabled: false } }));
    await cloud.sim.run(600_000);
    expect(cloud.condition(Placement, 'hand', 'DatabaseReady')).toMatchObject({ status: 'True' });
    expect(cloud.backends.refusesPlain(SERVER)).toBe(false);
  });

  it('restarts for a certificate that comes after the end of the one before, and for no other', async () => {
    const until = (ms: number) => certificateSecret('cert', first, { to: STARTS + ms });
    const cloud = await readyCloud(sections, each => each.apply(until(7_200_000)));
    await rest(cloud);
    const pod = () => cloud.get(Pod, 'mariadb-0')?.metadata.uid;
    const before = pod();
    cloud.apply(until(7_300_000));
    await cloud.sim.run(600_000);
    expect(pod()).toBe(before);
    await cloud.sim.run(10_800_000);
    expect(pod()).toBe(before);
    cloud.apply(certificateSecret('cert', first));
    await cloud.sim.run(600_000);
    expect(pod()).not.toBe(before);
    const after = pod();
    await cloud.sim.run(600_000);
    expect(pod()).toBe(after);
  });
});
