import { describe, expect, it } from 'vitest';
import type { Clock } from '../world/clock.ts';
import { markOf } from './ownership.ts';
import type { Bus, Cloud, FoundDatabase, Identity, Sql } from './ports.ts';
import { remembering } from './remember.ts';

const CLAIM = { owner: { id: '00112233aabbccdd', object: 'Nova/nova' } };
const AT = {
  url: 'http://keystone:5000',
  user: 'admin',
  password: 'p',
  project: 'admin',
  region: 'RegionOne',
  ca: undefined,
};

function world() {
  const asked: string[] = [];
  let now = 0;
  let sick: Error | undefined;
  const answer =
    (name: string) =>
    async (...args: readonly unknown[]): Promise<boolean> => {
      asked.push([name, ...args.filter(arg => arg !== CLAIM && arg !== CLAIM.owner)].map(String).join(' '));
      if (sick) throw sick;
      return true;
    };
  const port = new Proxy({}, { get: (_target, name) => answer(String(name)) }) as Identity;
  const clock = { now: () => now } as Clock;
  let there: Readonly<Record<string, FoundDatabase>> = {};
  const sql = { ensureDatabase: answer('ensureDatabase'), databases: () => answer('databases')().then(() => there) };
  const cloud = remembering(
    {
      identity: () => port,
      bus: () => port as object as Bus,
      sql: () => sql as Partial<Sql> as Sql,
    } as Partial<Cloud> as Cloud,
    clock,
  );
  return {
    keystone: (at = AT) => cloud.identity(at),
    rabbitmq: (password = 'p') => cloud.bus({ url: 'http://rabbitmq:15672', user: 'admin', password, ca: undefined }),
    mariadb: () => cloud.sql({ host: 'mariadb', port: 3306, user: 'root', password: 'p', ca: undefined }),
    has: (...names: readonly string[]) => {
      there = Object.fromEntries(names.map(name => [name, { mark: markOf(CLAIM.owner), empty: false }]));
    },
    asked: () => asked.splice(0),
    pass: (ms: number) => {
      now += ms;
    },
    fail: (error: Error | undefined) => {
      sick = error;
    },
  };
}

describe('what a server was told it has', () => {
  it('is asked once in a moment, by whomever, and again afterwards', async () => {
    const { keystone, asked, pass } = world();
    expect(await keystone().ensureUser('nova', 'x', 'service', ['admin'], CLAIM)).toBe(true);
    expect(await keystone().ensureUser('nova', 'x', 'service', ['admin'], CLAIM)).toBe(false);
    expect(asked()).toEqual(['ensureUser nova x service admin']);
    pass(60_000);
    await keystone().ensureUser('nova', 'x', 'service', ['admin'], CLAIM);
    expect(asked()).toHaveLength(1);
  });

  it('is asked for each password, region and server of its own', async () => {
    const { keystone, asked } = world();
    await keystone().ensureUser('nova', 'x', 'service', [], CLAIM);
    await keystone().ensureUser('nova', 'y', 'service', [], CLAIM);
    await keystone({ ...AT, region: 'two' }).ensureUser('nova', 'y', 'service', [], CLAIM);
    await keystone({ ...AT, url: 'http://other:5000' }).ensureUser('nova', 'y', 'service', [], CLAIM);
    expect(asked()).toHaveLength(4);
  });

  it('is the last word about a thing: what was said there and back is said three times', async () => {
    const { keystone, asked } = world();
    const image = (url: string) =>
      keystone().ensureService({ name: 'glance', type: 'image', endpoints: { public: url, internal: url } }, CLAIM);
    await image('a');
    await keystone().ensureService({ name: 'nova', type: 'compute', endpoints: { public: 'a', internal: 'a' } }, CLAIM);
    expect(await image('a')).toBe(false);
    await image('b');
    expect(await image('a')).toBe(true);
    expect(asked()).toHaveLength(4);
  });

  it.each(['dropUser', 'dropService', 'dropDomain'] as const)(
    'is forgotten when something is taken back: %s',
    async drop => {
      const { keystone, asked } = world();
      await keystone().ensureUser('nova', 'x', 'service', [], CLAIM);
      await keystone()[drop]('other', CLAIM.owner);
      await keystone().ensureUser('nova', 'x', 'service', [], CLAIM);
      expect(asked()).toEqual(['ensureUser nova x service ', `${drop} other`, 'ensureUser nova x service ']);
    },
  );

  it('is forgotten when anything fails: a refused token means that a password may be wrong', async () => {
    const { keystone, asked, fail } = world();
    await keystone().ensureUser('nova', 'x', 'service', [], CLAIM);
    fail(new Error('401'));
    await expect(keystone().get('http://nova', '/os-services')).rejects.toThrow('401');
    fail(undefined);
    asked();
    await keystone().ensureUser('nova', 'x', 'service', [], CLAIM);
    expect(asked()).toHaveLength(1);
  });

  it('is not remembered when it failed, nor when it was forgotten while it was asked', async () => {
    const { keystone, asked, fail } = world();
    fail(new Error('503'));
    await expect(keystone().ensureRole('member')).rejects.toThrow('503');
    fail(undefined);
    const slow = keystone().ensureRole('member');
    await keystone().dropUser('nova', CLAIM.owner);
    await slow;
    asked();
    await keystone().ensureRole('member');
    expect(asked()).toEqual(['ensureRole member']);
  });

  it('is kept for so many logins and no more: each rotated password is another one', async () => {
    const { rabbitmq, asked } = world();
    await rabbitmq('first').ensureVhost('nova', CLAIM);
    for (let i = 0; i < 500; i++) await rabbitmq(`rotated-${i}`).ensureVhost('nova', CLAIM);
    asked();
    await rabbitmq('rotated-499').ensureVhost('nova', CLAIM);
    expect(asked()).toEqual([]);
    await rabbitmq('first').ensureVhost('nova', CLAIM);
    expect(asked()).toHaveLength(1);
  });

  it('never stands in for a check', async () => {
    const { keystone, asked } = world();
    await keystone().check();
    await keystone().check();
    expect(asked()).toHaveLength(2);
  });

  it('is asked of MariaDB by one list: a database that is lost is made anew at once, one that is there is not asked for', async () => {
    const { mariadb, asked, pass, has } = world();
    has('nova');
    expect(await mariadb().ensureDatabase('nova', CLAIM, [])).toBe(false);
    expect(Object.keys(await mariadb().databases())).toEqual(['nova']);
    expect(asked()).toEqual(['databases']);
    has();
    pass(60_000);
    expect(await mariadb().databases()).toEqual({});
    expect(await mariadb().ensureDatabase('nova', CLAIM, [])).toBe(true);
    has('nova');
    expect(await mariadb().ensureDatabase('nova', CLAIM, [])).toBe(false);
    expect(asked()).toEqual(['databases', 'ensureDatabase nova ', 'databases']);
  });

  it('is remembered of the bus too, and of each login of its own', async () => {
    const { rabbitmq, asked } = world();
    await rabbitmq().ensureUser('nova', 'x', 'nova', CLAIM);
    await rabbitmq().ensureUser('nova', 'x', 'nova', CLAIM);
    await rabbitmq('new').ensureUser('nova', 'x', 'nova', CLAIM);
    expect(asked()).toHaveLength(2);
  });
});
