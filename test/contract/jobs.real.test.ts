import { execFile, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call } from '../../src/cloud/calls.ts';
import type { Changed, IdentityAddress } from '../../src/cloud/ports.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/real/clock.ts';
import { realCloud } from '../../src/real/cloud.ts';
import { effectJobs, RETRY } from '../../src/render/jobs.ts';
import {
  folder,
  freePort,
  type Keystone,
  type MariaDb,
  type Rabbit,
  removeFolders,
  startKeystone,
  startMariaDb,
  startRabbit,
} from './daemons.ts';

const CLAIM = { owner: { id: '00112233aabbccdd', object: 'Keystone/keystone' } };

/** The programs in the Jobs of `render --as jobs`, on real servers; then the operator's own ports find nothing to do. */

const cloud = realCloud({ clock: realClock, deadline: 30_000 });
const root = (port: number, password: string) => ({ host: '127.0.0.1', port, user: 'root', password, ca: undefined });
let [mariadb, rabbit, keystone]: [MariaDb?, Rabbit?, Keystone?] = [];

afterAll(async () => {
  for (const daemon of [keystone, rabbit, mariadb]) await daemon?.stop();
  await cloud.close();
  removeFolders();
});

const server = (kind: string): AnyObject => ({
  apiVersion: 'x/v1',
  kind,
  metadata: { name: kind.toLowerCase() },
  spec: { podProfile: 'kolla', release: '2025.2', external: { hostname: '127.0.0.1' } },
});

const HASH_KEY: AnyObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'openstack-hash-key' },
  data: { key: 'YWJj' },
};

const filesOf = (secret: AnyObject): [string, string][] =>
  Object.entries(secret.data as Record<string, string>).map(([name, value]) => [
    name,
    Buffer.from(value, 'base64').toString(),
  ]);

/** The files of a Job's Secret in a folder, and its command on them. */
async function perform(calls: readonly Call[]): Promise<string> {
  const around = {
    namespace: 'openstack',
    env: {},
    objects: [server('MariaDB'), server('RabbitMQ'), server('Keystone'), HASH_KEY],
  };
  let said = '';
  for (const { objects } of effectJobs(calls, around)) {
    const [secret, job] = objects;
    const at = join(folder('job'), 'effects');
    mkdirSync(at);
    for (const [name, text] of filesOf(secret))
      writeFileSync(join(at, name), text.replaceAll('/effects/', `${at}/`), { mode: 0o600 });
    const { containers } = (job.spec as { template: { spec: { containers: { command: string[] }[] } } }).template.spec;
    const words = containers[0]!.command.map(word => word.replaceAll('/effects/', `${at}/`));
    expect(words.slice(0, 3)).toEqual(['dumb-init', '--single-child', '--']);
    const [program, ...args] = words.slice(3);
    said += (await promisify(execFile)(program!, args, { timeout: 60_000 })).stdout;
  }
  return said;
}

/** What the rows would call, after the Jobs: true means that there was something left to do. */
async function left(calls: readonly Call[]): Promise<Record<string, Changed>> {
  const found: Record<string, Changed> = {};
  for (const { port, address, method, args } of calls) {
    const methods = cloud[port](address as never) as unknown as Record<string, (...a: unknown[]) => Promise<Changed>>;
    found[`${method} ${JSON.stringify(args[0])}`] = await methods[method]!(...args);
  }
  return found;
}
const nothing = (calls: readonly Call[]) =>
  Object.fromEntries(calls.map(({ method, args }) => [`${method} ${JSON.stringify(args[0])}`, false]));

describe('the Jobs on real servers', () => {
  it('databases and users', async () => {
    mariadb = await startMariaDb((port, password) => cloud.sql(root(port, password)).check());
    const address = root(mariadb.port, mariadb.rootPassword);
    const of = (method: string, ...args: unknown[]): Call => ({ port: 'sql', address, by: 'Nova nova', method, args });
    const calls = [
      of('ensureDatabase', 'nova_api', CLAIM, ['openstack-nova']),
      of('ensureDatabase', 'nova', CLAIM, ['openstack-nova']),
      of('ensureUser', 'openstack-nova', 'Nova0Password', ['nova_api', 'nova'], CLAIM),
    ];
    await perform(calls);
    expect(await left(calls)).toEqual(nothing(calls));
    await cloud.sql({ ...address, user: 'openstack-nova', password: 'Nova0Password' }).check();
    await perform(calls);
    expect(await left(calls)).toEqual(nothing(calls));
    const changed = [of('ensureUser', 'openstack-nova', 'Another0Password', ['nova_api', 'nova'], CLAIM)];
    await perform(changed);
    expect(await left(changed)).toEqual(nothing(changed));
  });

  it('vhosts and users of the bus', async () => {
    rabbit = await startRabbit((port, user, password) =>
      cloud.bus({ url: `http://127.0.0.1:${port}`, user, password, ca: undefined }).check(),
    );
    const address = {
      url: `http://127.0.0.1:${rabbit.port}`,
      user: rabbit.user,
      password: rabbit.password,
      ca: undefined,
    };
    const of = (method: string, ...args: unknown[]): Call => ({ port: 'bus', address, by: 'Nova nova', method, args });
    const calls = [
      of('ensureVhost', 'open/stack', CLAIM),
      of('ensureUser', 'openstack-nova', 'pä"ss', 'open/stack', CLAIM),
    ];
    expect(await perform(calls)).toBe('ensureVhost open/stack\nensureUser openstack-nova\n');
    expect(await left(calls)).toEqual(nothing(calls));
    await perform(calls);
    expect(await left(calls)).toEqual(nothing(calls));
  });

  describe('Keystone', () => {
    let address: IdentityAddress;
    const of = (method: string, ...args: unknown[]): Call => ({
      port: 'identity',
      address,
      by: 'Heat heat',
      method,
      args,
    });
    const endpoints = { public: 'https://heat.example.com/v1/%(project_id)s', internal: 'http://heat-api:8004/v1' };
    beforeAll(async () => {
      const sql = cloud.sql(root(mariadb!.port, mariadb!.rootPassword));
      await sql.ensureDatabase('keystone', CLAIM, ['openstack-keystone']);
      await sql.ensureUser('openstack-keystone', 'Keystone0Password', ['keystone'], CLAIM);
      const url = `mysql+pymysql://openstack-keystone:Keystone0Password@127.0.0.1:${mariadb!.port}/keystone?charset=utf8`;
      const admin = { user: 'admin', project: 'admin', region: 'RegionOne', ca: undefined };
      keystone = await startKeystone(url, (port, password) =>
        cloud.identity({ ...admin, url: `http://127.0.0.1:${port}`, password }).check(),
      );
      address = { ...admin, url: `http://127.0.0.1:${keystone.port}`, password: keystone.password };
    });

    it('projects, users, roles, a domain, the catalog', async () => {
      const calls = [
        of('ensureProject', 'service'),
        of('ensureUser', 'heat', 'Heat0Password', 'service', ['admin', 'service'], CLAIM),
        of('ensureRole', 'heat_stack_user'),
        of('ensureDomain', 'heat', 'heat_domain_admin', 'Domain0Password', CLAIM),
        of('ensureService', { name: 'heat', type: 'orchestration', endpoints }, CLAIM),
      ];
      expect(await perform(calls)).toContain('ensureService heat');
      expect(await left(calls)).toEqual(nothing(calls));
      const before = keystone!.requests().length;
      await perform(calls);
      const again = keystone!.requests().slice(before);
      // Roles are given by PUT, which says the same twice; nothing is made or changed.
      expect(again.filter(r => /^(POST|PATCH|DELETE)/.test(r) && !r.includes('/auth/tokens'))).toEqual([]);
      expect(await left(calls)).toEqual(nothing(calls));
    });

    it('another password, another URL, a description', async () => {
      const calls = [
        of('ensureUser', 'heat', 'Heat1Password', 'service', ['admin', 'service'], CLAIM),
        of(
          'ensureService',
          {
            name: 'heat',
            type: 'orchestration',
            description: 'stacks',
            endpoints: { ...endpoints, internal: 'http://heat:8004/v1' },
          },
          CLAIM,
        ),
      ];
      await perform(calls);
      expect(await left(calls)).toEqual(nothing(calls));
    });

    it('an entry of the catalog in a region that is new', async () => {
      const elsewhere = { ...address, region: 'Region Two' };
      const calls: Call[] = [
        {
          ...of('ensureService', { name: 'heat', type: 'orchestration', endpoints }, CLAIM),
          address: elsewhere,
        } as Call,
      ];
      await perform(calls);
      expect(await left(calls)).toEqual(nothing(calls));
    });

    it('waits for what is not there yet: a server, a project', async () => {
      const wanted = of('ensureUser', 'late', 'Late0Password', 'latecomers', ['admin'], CLAIM);
      const around = { namespace: 'openstack', env: {}, objects: [server('Keystone'), HASH_KEY] };
      const ensure = (address: IdentityAddress): string[] => {
        const { objects } = effectJobs([{ ...wanted, address } as Call], around)[0]!;
        const at = folder('waiting');
        for (const [name, text] of filesOf(objects[0])) writeFileSync(join(at, name), text);
        return ['python3', join(at, 'ensure.py')];
      };
      const [python, script] = ensure({ ...address, url: `http://127.0.0.1:${await freePort()}` });
      await expect(promisify(execFile)(python!, [script!])).rejects.toThrow(/refused/i);
      const [, again] = ensure(address);
      await expect(promisify(execFile)(python!, [again!])).rejects.toThrow('project latecomers does not exist yet');

      const log = join(folder('retry'), 'log');
      const out = openSync(log, 'a');
      const waiting = spawn('sh', ['-c', RETRY.replace('sleep 5', 'sleep 0.2'), 'retry', 'python3', again!], {
        stdio: ['ignore', out, out],
      });
      const ended = new Promise<number | null>(resolve => waiting.once('exit', resolve));
      await cloud.identity(address).ensureProject('latecomers');
      expect(await ended).toBe(0);
      expect(await left([wanted])).toEqual(nothing([wanted]));
    });
  });
});
