import { describe, expect, it } from 'vitest';
import { type Backends, createBackends } from '../../src/embedded/backends/backends.ts';
import type { PodObject } from '../../src/embedded/controllers/objects.ts';
import type { Exit, Outcome, Run } from '../../src/embedded/controllers/program.ts';
import type { KeystoneRows, SqlServer } from '../../src/embedded/servers/state.ts';
import { Sim } from '../../src/embedded/sim/sim.ts';
import { busContract, identityContract, sqlContract } from './ports.ts';

/** A cluster of three pods, each the only one behind its name. */
class Pods {
  readonly backends: Backends = createBackends({
    resolve: host => [this.#pods.get(host)].filter(p => p !== undefined),
  });
  readonly #pods = new Map<string, PodObject>();

  run(
    host: string,
    command: string,
    given: { env?: Run['env']; files?: Record<string, string>; volume?: string; uid?: string } = {},
  ): Outcome {
    const container = { name: 'main', command: command.split(' ') };
    const metadata = { name: host, namespace: 'x', uid: given.uid ?? host };
    const pod: PodObject = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } };
    this.#pods.set(host, pod);
    const files = given.files ?? {};
    const outcome = this.backends.programs({
      pod,
      container,
      argv: container.command,
      env: given.env ?? {},
      file: path => files[path],
      files: dir => {
        const root = `${dir.replace(/\/$/, '')}/`;
        return Object.keys(files).flatMap(f => (f.startsWith(root) ? f.slice(root.length) : []));
      },
      volume: () => given.volume ?? `claim-of-${host}`,
      clock: new Sim(1).clock,
    });
    if (outcome === undefined) throw new Error(`no program for ${command}`);
    return outcome;
  }

  stop(host: string): void {
    this.#pods.delete(host);
  }

  disk(): SqlServer {
    return this.backends.disks.sql['claim-of-db']!;
  }
}

const CLAIM = { owner: { id: '00112233aabbccdd', object: 'Keystone/keystone' } };
const ends = (outcome: Outcome): Exit => ('end' in outcome ? outcome.end() : (outcome as Exit));
const root = { host: 'db', port: 3306, user: 'root', password: 'Root0', ca: undefined };
const conf = {
  '/etc/keystone/keystone.conf':
    '[database]\nconnection = mysql+pymysql://keystone:K%30@db:3306/keystone?charset=utf8\n',
};
const keys = { '/etc/keystone/fernet-keys/0': 'a', '/etc/keystone/fernet-keys/1': 'b' };
const admin = {
  url: 'http://keystone:5000',
  user: 'admin',
  password: 'Admin0',
  project: 'admin',
  region: 'RegionOne',
  ca: undefined,
};
const env = { OS_BOOTSTRAP_PASSWORD: 'Admin0', OS_BOOTSTRAP_INTERNAL_URL: 'http://keystone:5000' };

async function cloudOfThree(): Promise<Pods> {
  const pods = new Pods();
  pods.run('db', 'mariadbd --user=mysql', { env: { MARIADB_ROOT_PASSWORD: 'Root0' } });
  pods.run('bus', 'rabbitmq-server', { env: { RABBITMQ_DEFAULT_USER: 'admin', RABBITMQ_DEFAULT_PASS: 'Bus0' } });
  const sql = pods.backends.cloud.sql(root);
  await sql.ensureDatabase('keystone', CLAIM, ['keystone']);
  await sql.ensureUser('keystone', 'K0', ['keystone'], CLAIM);
  expect(ends(pods.run('job', 'keystone-manage db_sync', { files: conf }))).toEqual({ exit: 0 });
  expect(ends(pods.run('job', 'keystone-manage bootstrap', { files: conf, env }))).toEqual({ exit: 0 });
  pods.run('keystone', 'uwsgi --ini /etc/uwsgi/keystone.ini', { files: { ...conf, ...keys } });
  return pods;
}

sqlContract('the fake', async () => {
  const pods = await cloudOfThree();
  const user = (name: string) => pods.disk().users[name]!;
  return {
    cloud: pods.backends.cloud,
    at: root,
    nowhere: { ...root, host: 'nowhere' },
    mutations: async () => pods.backends.mutations(),
    drift: {
      password: async name => void Object.assign(user(name), { password: 'changed' }),
      grant: async (name, database) => void user(name).databases.push(database),
      revoke: async (name, database) =>
        void Object.assign(user(name), { databases: user(name).databases.filter(d => d !== database) }),
      makeDatabase: async name => void Object.assign(pods.disk().databases, { [name]: { schemas: [] } }),
    },
  };
});

busContract('the fake', async () => {
  const pods = await cloudOfThree();
  const user = (name: string) => pods.backends.disks.bus['claim-of-bus']!.users[name];
  const at = { url: 'http://bus:15672', user: 'admin', password: 'Bus0', ca: undefined };
  return {
    cloud: pods.backends.cloud,
    at,
    nowhere: { ...at, url: 'http://nowhere:15672' },
    mutations: async () => pods.backends.mutations(),
    drift: {
      password: async name => void Object.assign(user(name)!, { password: 'changed' }),
      makeAdministrator: async name => void Object.assign(user(name)!, { administrator: true, mark: '' }),
      allow: async (name, vhost) => void user(name)!.vhosts.push(vhost),
      forbid: async (name, vhost) =>
        void Object.assign(user(name)!, { vhosts: user(name)!.vhosts.filter(v => v !== vhost) }),
      makeVhost: async (vhost, name, password) => {
        const server = pods.backends.disks.bus['claim-of-bus']!;
        server.vhosts.push(vhost);
        server.users[name] = { password, administrator: false, vhosts: [vhost] };
      },
    },
    vhostsOf: async (name, password) =>
      user(name)?.password === password ? [...user(name)!.vhosts] : 'wrong password',
  };
});

identityContract('the fake', async () => {
  const pods = await cloudOfThree();
  const rows = (): KeystoneRows => pods.disk().databases.keystone!.keystone!;
  const service = (type: string) => rows().services.find(s => s.type === type);
  return {
    cloud: pods.backends.cloud,
    at: admin,
    nowhere: { ...admin, url: 'http://nowhere:5000' },
    mutations: async () => pods.backends.mutations(),
    drift: {
      password: async name => void Object.assign(rows().users[name]!, { password: 'changed' }),
      disable: async name => void Object.assign(rows().users[name]!, { enabled: false }),
      takeRole: async (name, project, role) => {
        const { roles } = rows().users[name]!;
        roles[project] = roles[project]!.filter(r => r !== role);
      },
      setUrl: async (type, interface_, url) => {
        service(type)!.endpoints.find(e => e.interface === interface_)!.url = url;
      },
      addEndpoint: async (type, interface_, url) =>
        void service(type)!.endpoints.push({ interface: interface_, region: 'RegionOne', url, ours: false }),
      makeUser: async name =>
        void Object.assign(rows().users, { [name]: { password: 'theirs', enabled: true, roles: {}, ours: false } }),
      makeService: async (type, url) => {
        const endpoints = [{ interface: 'public', region: 'RegionOne', url, ours: false }];
        rows().services.push({ name: 'theirs', type, description: '', ours: false, endpoints });
      },
    },
    endpoints: async type =>
      service(type)
        ?.endpoints.map(e => `${e.interface} ${e.url}`)
        .sort(),
    userExists: async name => rows().users[name] !== undefined,
  };
});

describe('the fakes as servers in pods', () => {
  it('data lives with the claim, not with the pod', async () => {
    const pods = await cloudOfThree();
    const sql = pods.backends.cloud.sql(root);
    pods.stop('db');
    await expect(sql.check()).rejects.toMatchObject({ fault: 'unreachable' });
    pods.run('db', 'mariadbd', { uid: 'another pod', env: { MARIADB_ROOT_PASSWORD: 'too late' } });
    expect(Object.keys(await sql.databases())).toEqual(['keystone']);
    pods.run('db', 'mariadbd', { volume: 'another claim', env: { MARIADB_ROOT_PASSWORD: 'Root0' } });
    expect(await sql.databases()).toEqual({});
  });

  it('statements of --init-file set the root password at every start', async () => {
    const pods = await cloudOfThree();
    const init = "ALTER USER 'root'@'%' IDENTIFIED BY 'It''s new';\n";
    pods.run('db', 'mariadbd --defaults-file=/etc/my.cnf', { files: { '/etc/mysql/init.sql': init } });
    await expect(pods.backends.cloud.sql(root).check()).rejects.toMatchObject({ fault: 'refused' });
    await pods.backends.cloud.sql({ ...root, password: "It's new" }).check();
  });

  it('Keystone serves without a database but issues no token', async () => {
    const pods = await cloudOfThree();
    const identity = pods.backends.cloud.identity(admin);
    await identity.check();
    pods.stop('db');
    await expect(identity.check()).rejects.toMatchObject({ fault: 'rejected' });
  });

  it('Keystone issues no token without fernet keys', async () => {
    const pods = await cloudOfThree();
    pods.run('keystone', 'uwsgi --ini /etc/uwsgi/keystone.ini', { files: conf });
    await expect(pods.backends.cloud.identity(admin).check()).rejects.toMatchObject({ fault: 'rejected' });
  });

  it('a schema sync needs a database that lets it in, bootstrap needs the schema', async () => {
    const pods = new Pods();
    const sync = () => ends(pods.run('job', 'keystone-manage db_sync', { files: conf }));
    expect(sync()).toMatchObject({ exit: 1, message: expect.stringContaining("Can't connect") });
    pods.run('db', 'mariadbd', { env: { MARIADB_ROOT_PASSWORD: 'Root0' } });
    expect(sync()).toMatchObject({ exit: 1, message: expect.stringContaining('Access denied') });
    const sql = pods.backends.cloud.sql(root);
    await sql.ensureDatabase('keystone', CLAIM, ['keystone']);
    await sql.ensureUser('keystone', 'K0', ['keystone'], CLAIM);
    const bootstrap = () => ends(pods.run('job', 'keystone-manage bootstrap', { files: conf, env }));
    expect(bootstrap()).toMatchObject({ exit: 1 });
    expect(sync()).toEqual({ exit: 0 });
    expect(bootstrap()).toEqual({ exit: 0 });
  });

  it('a snapshot brings the data back, and processes only with their pods', async () => {
    const pods = await cloudOfThree();
    const saved = pods.backends.snapshot();
    await pods.backends.cloud.sql(root).dropDatabase('keystone', CLAIM.owner);
    pods.backends.restore(saved);
    await expect(pods.backends.cloud.sql(root).check()).rejects.toMatchObject({ fault: 'unreachable' });
    pods.run('db', 'mariadbd');
    expect(Object.keys(await pods.backends.cloud.sql(root).databases())).toEqual(['keystone']);
  });
});
