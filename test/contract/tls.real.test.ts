import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, makeAuthority } from '../../src/real/certificate.ts';
import { realClock } from '../../src/real/clock.ts';
import { realCloud } from '../../src/real/cloud.ts';
import { realSql } from '../../src/real/sql.ts';
import { databaseUrl } from '../../src/services/links/database.ts';
import { initSql, mariadbFiles } from '../../src/services/mariadb/files.ts';
import { uwsgiFile } from '../../src/services/pods/uwsgi.ts';
import { rabbitFiles } from '../../src/services/rabbitmq/files.ts';
import { CA_BUNDLE, OWN_CERTIFICATE, OWN_KEY } from '../../src/services/tls/trust.ts';
import { fingerprint } from '../../src/world/x509.ts';
import { type Daemon, folder, removeFolders, startKeystone, startMariaDb, startRabbit } from './daemons.ts';
import { ensureKeystone } from './setup.ts';

/** The files that the operator writes for TLS, read by the servers and clients that they are for. */

const exec = promisify(execFile);
const cloud = realCloud({ clock: realClock, deadline: 30_000 });
const running: Daemon[] = [];
const dir = folder('tls');
const [first, second] = [makeAuthority('first', Date.now()), makeAuthority('second', Date.now())];

/** A Secret as the kubelet mounts it: a change is one rename of a link. */
function mount(name: string, from: Authority): { readonly crt: string; show(by: Authority): string } {
  const at = join(dir, name);
  mkdirSync(at, { recursive: true });
  let version = 0;
  const show = (by: Authority): string => {
    const { cert, key } = by.issue({ names: ['localhost'] });
    const data = `..v${++version}`;
    mkdirSync(join(at, data));
    writeFileSync(join(at, data, 'tls.crt'), cert);
    writeFileSync(join(at, data, 'tls.key'), key);
    symlinkSync(data, join(at, '..next'));
    renameSync(join(at, '..next'), join(at, '..data'));
    return cert;
  };
  const crt = show(from);
  for (const file of ['tls.crt', 'tls.key']) symlinkSync(join('..data', file), join(at, file));
  return { crt, show };
}

/** The same text with the paths of this machine. */
const here = (text: string, name: string): string =>
  text
    .replaceAll(OWN_CERTIFICATE, join(dir, name, 'tls.crt'))
    .replaceAll(OWN_KEY, join(dir, name, 'tls.key'))
    .replaceAll(CA_BUNDLE, join(dir, 'ca.crt'));

const lines = (text: string, wanted: RegExp): string[] => text.split('\n').filter(line => wanted.test(line));
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

beforeAll(() => writeFileSync(join(dir, 'ca.crt'), first.ca));
afterAll(async () => {
  for (const daemon of running.reverse()) await daemon.stop();
  await cloud.close();
  removeFolders();
});

const mariadb = mount('mariadb', first);
const rootAt = (port: number, password: string, ca: string) => ({
  host: 'localhost',
  port,
  user: 'root',
  password,
  ca,
});
async function server(...statements: string[]) {
  const text = here(
    mariadbFiles('', undefined, true)
      .map(file => file.text)
      .join('\n'),
    'mariadb',
  );
  const db = await startMariaDb(
    (port, password) => cloud.sql(rootAt(port, password, first.ca)).check(),
    lines(text, /^(ssl-|tls_version)/),
    statements,
  );
  running.push(db);
  return db;
}
let made: ReturnType<typeof server> | undefined;
const database = () => {
  made ??= server();
  return made;
};

describe('a real MariaDB over TLS', () => {
  it('is opened by who trusts its CA, and by nobody who does not', async () => {
    const { port, rootPassword } = await database();
    await cloud.sql(rootAt(port, rootPassword, first.ca)).check();
    await expect(cloud.sql(rootAt(port, rootPassword, second.ca)).check()).rejects.toMatchObject({
      fault: 'unreachable',
      message: expect.stringContaining('TLS'),
    });
  });

  it('is not opened where its certificate is for another name than the one that was asked for', async () => {
    const { port, rootPassword } = await database();
    const at = { ...rootAt(port, rootPassword, first.ca), host: 'other.example.org' };
    await expect(realSql(at, async () => ({ host: '127.0.0.1', port })).check()).rejects.toMatchObject({
      fault: 'unreachable',
      untrusted: true,
      message: expect.stringContaining('altnames'),
    });
  });

  it('refuses plain connections from when it is told to until it is told again, without a restart', async () => {
    const { port, rootPassword } = await database();
    const sql = cloud.sql(rootAt(port, rootPassword, first.ca));
    const plain = cloud.sql({ ...rootAt(port, rootPassword, first.ca), ca: undefined });
    await plain.check();
    expect(await sql.ensureSecureTransport('ON')).toBe(true);
    expect(await sql.ensureSecureTransport('ON')).toBe(false);
    await expect(plain.check()).rejects.toMatchObject({
      fault: 'refused',
      message: expect.stringContaining('or the server requires TLS'),
    });
    await sql.check();
    expect(await sql.ensureSecureTransport('OFF')).toBe(true);
    await plain.check();
  });

  it('refuses them from its start on, where its init file says so', async () => {
    const init = lines(initSql({ user: 'root', password: '' }, true), /require_secure_transport/);
    expect(init).toHaveLength(1);
    const { port, rootPassword } = await server(...init);
    await cloud.sql(rootAt(port, rootPassword, first.ca)).check();
    const plain = cloud.sql({ ...rootAt(port, rootPassword, first.ca), ca: undefined });
    await expect(plain.check()).rejects.toMatchObject({ fault: 'refused' });
  });

  it('shows a renewed certificate when it is told to, without a restart', async () => {
    const { port, rootPassword } = await database();
    const sql = cloud.sql(rootAt(port, rootPassword, first.ca));
    expect(await sql.ensureCertificate(fingerprint(mariadb.crt) ?? '')).toBe(false);
    const renewed = fingerprint(mariadb.show(first)) ?? '';
    expect(await sql.ensureCertificate(renewed)).toBe(true);
    expect(await sql.ensureCertificate(renewed)).toBe(false);
  });

  it('is opened by SQLAlchemy with the URL that services get, and by its name only', async () => {
    const { port, rootPassword: password } = await database();
    const link = { host: 'localhost', port, database: 'mysql', user: 'root', password, ca: first.ca };
    const python = join(ensureKeystone(), 'bin', 'python');
    const open = (host: string) => {
      const url = here(databaseUrl({ ...link, host }), 'mariadb');
      const script = `import sqlalchemy as s
with s.create_engine(${JSON.stringify(url)}).connect() as c:
  print(c.execute(s.text("show status like 'Ssl_version'")).fetchone()[1])`;
      return exec(python, ['-c', script]);
    };
    expect((await open('localhost')).stdout.trim()).toBe('TLSv1.3');
    // Not a name of the certificate, though the same machine.
    await expect(open('127.0.0.1')).rejects.toMatchObject({
      stderr: expect.stringContaining('CERTIFICATE_VERIFY_FAILED'),
    });
  });
});

describe('a real RabbitMQ over TLS', () => {
  it('is managed over HTTPS and used over AMQPS, with the options that services get', async () => {
    mount('rabbitmq', first);
    const spec = { tls: { enabled: true } };
    const [conf] = rabbitFiles({ user: 'admin', password: 'x' }, 'rabbitmq-admin', undefined, spec);
    const rabbit = await startRabbit(
      (port, user, password) => cloud.bus({ url: `https://localhost:${port}`, user, password, ca: first.ca }).check(),
      (amqp, management) =>
        lines(here(conf!.text, 'rabbitmq'), /^(listeners|ssl_options|management)\b/).map(line =>
          line
            .replace(/^(listeners\.ssl\.default) = .*/, `$1 = 127.0.0.1:${amqp}`)
            .replace(/^(management\.ssl\.port) = .*/, `$1 = ${management}`),
        ),
    );
    running.push(rabbit);
    const at = { url: `https://localhost:${rabbit.port}`, user: rabbit.user, password: rabbit.password };
    await expect(cloud.bus({ ...at, ca: second.ca }).check()).rejects.toMatchObject({ fault: 'unreachable' });
    const plain = { ...at, url: at.url.replace('https', 'http'), ca: undefined };
    await expect(cloud.bus(plain).check()).rejects.toMatchObject({ fault: 'unreachable' });
    const send = (ca: string) => {
      const script = `from oslo_config import cfg
import oslo_messaging as m
conf = cfg.ConfigOpts()
conf([])
t = m.get_notification_transport(conf, url='rabbit://${rabbit.user}:${rabbit.password}@localhost:${rabbit.amqp}/')
conf.set_override('ssl', True, 'oslo_messaging_rabbit')
conf.set_override('ssl_ca_file', '${ca}', 'oslo_messaging_rabbit')
m.Notifier(t, driver='messaging', topics=['proof'], publisher_id='x', retry=1).info({}, 'event', {})
print('sent')`;
      return exec(join(ensureKeystone(), 'bin', 'python'), ['-c', script]);
    };
    await send(join(dir, 'ca.crt'));
    expect(await rabbit.ctl('-q', 'list_queues', 'name', 'messages')).toMatch(/proof\.info\s+1/);
    writeFileSync(join(dir, 'other.crt'), second.ca);
    await send(join(dir, 'other.crt')).catch(() => undefined);
    expect(await rabbit.ctl('-q', 'list_queues', 'name', 'messages')).toMatch(/proof\.info\s+1/);
  }, 240_000);
});

const CLAIM = { owner: { id: '00112233aabbccdd', object: 'Keystone/keystone' } };

describe('a real Keystone over TLS', () => {
  it('serves HTTPS from the file of the operator, over a database with TLS, and takes a new certificate while clients call', async () => {
    const { port: sqlPort, rootPassword } = await database();
    const sql = cloud.sql(rootAt(sqlPort, rootPassword, first.ca));
    await sql.ensureDatabase('keystone', CLAIM, ['keystone']);
    await sql.ensureUser('keystone', 'Keystone0Password', ['keystone'], CLAIM);
    const own = mount('keystone', first);
    const link = {
      host: 'localhost',
      port: sqlPort,
      database: 'keystone',
      user: 'keystone',
      password: 'Keystone0Password',
    };
    const daemon = await startKeystone(
      here(databaseUrl({ ...link, ca: first.ca }), 'keystone'),
      (port, password) => cloud.identity(adminAt(port, password, first.ca)).check(),
      (port, venv) =>
        here(
          uwsgiFile({ service: 'keystone', port, module: 'keystone.wsgi.api:application', tls: true }).text,
          'keystone',
        )
          .replace('0.0.0.0', '127.0.0.1')
          .replace('/var/lib/kolla/venv', venv),
    );
    running.push(daemon);
    const { port, password } = daemon;
    await expect(cloud.identity(adminAt(port, password, second.ca)).check()).rejects.toMatchObject({
      fault: 'unreachable',
    });
    // The mtime of uwsgi's file has seconds.
    await sleep(1_100);
    const renewed = own.show(second);
    const both = `${first.ca}${second.ca}`;
    let calls = 0;
    for (const end = Date.now() + 60_000; ; calls++) {
      await cloud.identity(adminAt(port, password, both)).check();
      const shown = await exec('sh', [
        '-c',
        `echo | openssl s_client -connect 127.0.0.1:${port} 2>/dev/null | openssl x509`,
      ]);
      if (fingerprint(shown.stdout) === fingerprint(renewed)) break;
      if (Date.now() > end) throw new Error('it still shows the old one');
    }
    expect(calls).toBeGreaterThan(0);
    await cloud.identity(adminAt(port, password, second.ca)).check();
  }, 240_000);
});

const adminAt = (port: number, password: string, ca: string) => ({
  url: `https://localhost:${port}`,
  user: 'admin',
  password,
  project: 'admin',
  region: 'RegionOne',
  ca,
});
