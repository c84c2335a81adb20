import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CloudError } from '../cloud/ports.ts';
import { passwordMatches } from './bus.ts';
import { realClock } from './clock.ts';
import { realCloud } from './cloud.ts';
import { type Http, reasonOf } from './http/http.ts';
import { realIdentity } from './identity/identity.ts';
import { createTokens } from './identity/tokens.ts';
import { grantOf } from './sql.ts';

const CLAIM = { owner: { id: '00112233aabbccdd', object: 'Nova/nova' } };

describe('what the adapters read', () => {
  it.each([
    ["GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*AB'", { rights: 'USAGE', on: '*.*' }],
    ['GRANT ALL PRIVILEGES ON `nova\\_api`.* TO `u`@`%`', { rights: 'ALL PRIVILEGES', on: '`nova\\_api`.*' }],
    ['GRANT SELECT, INSERT ON `a`.* TO `u`@`%` WITH GRANT OPTION', { rights: 'SELECT, INSERT', on: '`a`.*' }],
    ['GRANT `role` TO `u`@`%`', undefined],
  ])('grant %s', (line, wanted) => expect(grantOf(line)).toEqual(wanted));

  it('a password by its RabbitMQ hash', () => {
    // From the server's documentation: password `test12`, salt 908D C60A.
    const user = {
      password_hash: 'kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR',
      hashing_algorithm: 'rabbit_password_hashing_sha256',
    };
    expect(passwordMatches(user, 'test12')).toBe(true);
    expect(passwordMatches(user, 'test13')).toBe(false);
    expect(passwordMatches({ ...user, hashing_algorithm: 'another' }, 'test12')).toBe(false);
  });

  it.each([
    [{ code: 'ECONNREFUSED' }, 'connection refused'],
    [{ code: 'ENOTFOUND' }, 'its name does not resolve'],
    [{ name: 'TimeoutError' }, 'no answer in time'],
    [{ code: 'PROTOCOL_CONNECTION_LOST' }, 'the connection broke'],
    [{ cause: { code: 'ECONNREFUSED' } }, 'connection refused'],
    [undefined, 'the connection broke'],
  ])('%j in stable words', (error, wanted) => expect(reasonOf(error)).toBe(wanted));
});

describe('connections to a backend', () => {
  it('goes through the dial, while messages keep the name that users know', async () => {
    const server = createServer(socket => socket.destroy());
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const asked: string[] = [];
    const cloud = realCloud({
      clock: realClock,
      dial: async (host, p) => {
        asked.push(`${host}:${p}`);
        return { host: '127.0.0.1', port };
      },
    });
    const who = { user: 'u', password: 'NeverSeen0', ca: undefined };
    const calls = [
      cloud.sql({ host: 'mariadb.x.svc', port: 3306, ...who }).check(),
      cloud.bus({ url: 'http://rabbitmq.x.svc:15672', ...who }).check(),
      cloud.identity({ url: 'http://keystone-api.x.svc:5000', ...who, project: 'p', region: 'r' }).check(),
    ];
    const errors = (await Promise.allSettled(calls)).map(
      r => (r.status === 'rejected' ? r.reason : undefined) as CloudError,
    );
    const places = ['mariadb.x.svc:3306', 'rabbitmq.x.svc:15672', 'keystone-api.x.svc:5000'];
    expect(asked.sort()).toEqual([...places].sort());
    for (const [i, error] of errors.entries()) {
      expect(error).toBeInstanceOf(CloudError);
      expect(error.fault).toBe('unreachable');
      expect(error.message).toContain(places[i]);
      expect(error.message).not.toContain('NeverSeen0');
    }
    await cloud.close();
    server.close();
  });
});

describe('a pass that is stopped', () => {
  const who = { user: 'u', password: 'NeverSeen0', ca: undefined };
  const listen = async (server: Server): Promise<number> => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  const term = () => {
    const stop = new AbortController();
    let leads = true;
    return {
      stop: () => stop.abort(new Error('SIGTERM')),
      lose: () => {
        leads = false;
      },
      signal: stop.signal,
      fence: () => {
        if (!leads) throw new Error('Refused to write: leadership was lost');
      },
    };
  };

  it.each(['sql', 'bus', 'identity'] as const)('does not wait for a server that says nothing: %s', async port => {
    let heard = (): void => undefined;
    const connected = new Promise<void>(resolve => {
      heard = resolve;
    });
    const server = createServer(() => heard());
    const number = await listen(server);
    const pass = term();
    const cloud = realCloud({ clock: realClock, deadline: 20_000 });
    const mine = cloud.during!(pass);
    const url = `http://127.0.0.1:${number}`;
    const calls = {
      sql: () => mine.sql({ host: '127.0.0.1', port: number, ...who }).check(),
      bus: () => mine.bus({ url, ...who }).check(),
      identity: () => mine.identity({ url, ...who, project: 'p', region: 'r' }).check(),
    };
    const call = calls[port]();
    await connected;
    pass.stop();
    // Not a CloudError: that would be a condition which blames the server.
    await expect(call).rejects.toThrow(/^SIGTERM$/);
    await cloud.close();
    server.close();
  });

  it.each(['stop', 'lose'] as const)('sends no second request of a call after %s', async end => {
    const asked: string[] = [];
    const pass = term();
    const server = createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      pass[end]();
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const cloud = realCloud({ clock: realClock });
    const call = cloud.during!(pass)
      .bus({ url, ...who })
      .ensureVhost('nova', CLAIM);
    await expect(call).rejects.toThrow(end === 'stop' ? 'SIGTERM' : 'leadership was lost');
    expect(asked).toEqual(['GET /api/vhosts/nova']);
    await cloud.close();
    server.close();
  });
});

describe('success that is not what the API says', () => {
  /** What each path answers; everything else is a page for humans, as of a captive proxy. */
  async function serving(answers: Readonly<Record<string, readonly [status: number, body: string, token?: string]>>) {
    const asked: string[] = [];
    const server = createHttpServer((request, response) => {
      const path = `${request.method} ${request.url?.split('?')[0]}`;
      asked.push(path);
      const [status, body, token] = answers[path] ?? [200, '<html>sign in</html>'];
      response.writeHead(status, { ...(token && { 'x-subject-token': token }) }).end(body);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cloud = realCloud({ clock: realClock });
    const who = { user: 'u', password: 'NeverSeen0', ca: undefined };
    const end = async () => {
      await cloud.close();
      server.close();
    };
    return {
      asked,
      end,
      url,
      bus: cloud.bus({ url, ...who }),
      identity: cloud.identity({ url, ...who, project: 'p', region: 'r' }),
    };
  }
  const times = '"issued_at":"2026-01-01T00:00:00Z","expires_at":"2026-01-01T01:00:00Z"';
  const TOKEN = [201, `{"token":{${times}}}`, 'a-token'] as const;
  const wrong: [string, string][] = [
    ['a page', '<html>sign in</html>'],
    ['half an answer', '{"users":['],
    ['JSON of somebody else', '{"ok":true}'],
    ['nothing', ''],
    ['rows that are none', '{"users":[{}],"services":[5]}'],
    ['null', 'null'],
    ['a list of somebody else', '[{"id":"i"}]'],
  ];

  it.each(wrong)('Keystone: %s is no empty list, and nothing is made or deleted', async (_what, body) => {
    const answers = { 'POST /v3/auth/tokens': TOKEN, 'GET /v3/users': [200, body], 'GET /v3/services': [200, body] };
    const { identity, asked, end } = await serving(answers as never);
    for (const call of [
      () => identity.dropUser('nova', CLAIM.owner),
      () => identity.dropService('compute', CLAIM.owner),
    ])
      await expect(call()).rejects.toThrow(/^Keystone at 127\.0\.0\.1:\d+ answers GET \/v3\/\w+ with success, but not/);
    expect(asked.filter(line => !/^GET|auth/.test(line))).toEqual([]);
    await end();
  });

  it.each([
    ['a page', [201, '<html/>', 'a-token']],
    ['no token', [201, '{"token":{}}', undefined]],
    ['no times', [201, '{"token":{}}', 'a-token']],
    ['JSON of somebody else', [201, '{"ok":true}', 'a-token']],
  ] as const)('Keystone: a login answered with %s is no wrong password', async (_what, answer) => {
    const { identity, end } = await serving({ 'POST /v3/auth/tokens': answer as never });
    const error = await identity.check().catch((e: unknown) => e as CloudError);
    expect(error).toMatchObject({ fault: 'rejected', message: expect.stringContaining('POST /v3/auth/tokens') });
    await end();
  });

  it('Keystone: a PUT that finds nothing is a failure', async () => {
    const row = (name: string) =>
      `[{"id":"i","name":"${name}","openstack_operator_owner":"openstack-operator:00112233aabbccdd:Nova/nova"}]`;
    const { identity, end } = await serving({
      'POST /v3/auth/tokens': TOKEN,
      'GET /v3/projects': [200, `{"projects":${row('service')}}`],
      'GET /v3/users': [200, `{"users":${row('nova')}}`],
      'GET /v3/projects/i/users/i/roles': [200, '{"roles":[]}'],
      'GET /v3/roles': [200, `{"roles":${row('admin')}}`],
      'PUT /v3/projects/i/users/i/roles/i': [404, '{}'],
    });
    await expect(identity.ensureUser('nova', 'x', 'service', ['admin'], CLAIM)).rejects.toThrow('status 404');
    await end();
  });

  it.each(wrong)('a service: %s is no answer', async (what, body) => {
    const { identity, url, end } = await serving({ 'POST /v3/auth/tokens': TOKEN, 'GET /types': [200, body] });
    const answer = identity.get(url, '/types');
    // Which JSON it must be only the caller knows.
    if (/^(JSON|rows|a list)/.test(what)) await answer;
    else await expect(answer).rejects.toThrow(/^The service at .* answers GET \/types with success, but not/);
    await end();
  });

  it.each(wrong)('RabbitMQ: %s is no vhost, no user and no list', async (_what, body) => {
    const { bus, asked, end } = await serving({
      'GET /api/vhosts/nova': [200, body],
      'GET /api/users/nova': [200, body],
      'GET /api/whoami': [200, body],
    });
    for (const call of [() => bus.ensureVhost('nova', CLAIM), () => bus.dropUser('nova', CLAIM), () => bus.check()])
      await expect(call()).rejects.toThrow(
        /^RabbitMQ at 127\.0\.0\.1:\d+ answers GET \/api\/\S+ with success, but not/,
      );
    expect(asked.filter(line => !line.startsWith('GET'))).toEqual([]);
    await end();
  });

  it.each([...wrong, ['one row of somebody else', '[{"name":"a"},{}]']])(
    'RabbitMQ: %s is no list of what is ours',
    async (_what, body) => {
      const { bus, end } = await serving({ 'GET /api/vhosts': [200, '[]'], 'GET /api/users': [200, body] });
      await expect(bus.owned(CLAIM)).rejects.toThrow(/answers GET \/api\/users with success, but not/);
      await end();
    },
  );

  it('the 404 of a proxy is not that there is nothing', async () => {
    const page: readonly [number, string] = [404, '404 page not found'];
    const { bus, identity, asked, end } = await serving({
      'GET /api/vhosts/nova': page,
      'GET /api/users/nova': page,
      'GET /api/vhosts': page,
      'POST /v3/auth/tokens': TOKEN,
      'GET /v3/users': [
        200,
        '{"users":[{"id":"i","openstack_operator_owner":"openstack-operator:00112233aabbccdd:Nova/nova"}]}',
      ],
      'DELETE /v3/users/i': page,
    });
    for (const call of [
      () => bus.ensureVhost('nova', CLAIM),
      () => bus.dropVhost('nova', CLAIM),
      () => bus.dropUser('nova', CLAIM),
      () => bus.owned(CLAIM),
      () => identity.dropUser('nova', CLAIM.owner),
    ])
      await expect(call()).rejects.toThrow(/answers (GET|DELETE) \S+ with status 404, but not as its API does/);
    expect(asked.filter(line => !/^GET|auth|^DELETE \/v3/.test(line))).toEqual([]);
    await end();
    const gone = await serving({ 'GET /api/vhosts': [404, '{"error":"Object Not Found"}'] });
    await expect(gone.bus.owned(CLAIM)).rejects.toThrow('with status 404, but not');
    await gone.end();
  });

  it.each(wrong)('Keystone: a change, a region or roles answered with %s', async (_what, body) => {
    const owner = '"openstack_operator_owner":"openstack-operator:00112233aabbccdd:Nova/nova"';
    const rows = (more: string) => `[{"id":"i","name":"nova",${owner}${more}}]`;
    const { identity, end } = await serving({
      'POST /v3/auth/tokens': TOKEN,
      'GET /v3/projects': [200, `{"projects":${rows(',"enabled":false')}}`],
      'PATCH /v3/projects/i': [200, body],
      'GET /v3/services': [200, `{"services":${rows(',"type":"compute"')}}`],
      'GET /v3/endpoints': [200, '{"endpoints":[]}'],
      'GET /v3/regions/r': [200, body],
      'GET /v3/users': [200, `{"users":${rows('')}}`],
      'GET /v3/projects/i/users/i/roles': [200, body],
    });
    const entry = { name: 'nova', type: 'compute', endpoints: { internal: 'http://nova' } };
    await expect(identity.ensureProject('nova')).rejects.toThrow(/PATCH \/v3\/projects\/i with success, but not/);
    await expect(identity.ensureService(entry, CLAIM)).rejects.toThrow(/GET \/v3\/regions\/r with success, but not/);
    await expect(identity.ensureUser('nova', 'x', 'nova', ['admin'], CLAIM)).rejects.toThrow(
      /GET \/v3\/projects\/i\/users\/i\/roles with success, but not/,
    );
    await end();
  });

  it('RabbitMQ: a write that a page answers is not done', async () => {
    const { bus, end } = await serving({ 'GET /api/vhosts/nova': [404, '{}'] });
    await expect(bus.ensureVhost('nova', CLAIM)).rejects.toThrow(
      /answers PUT \/api\/vhosts\/nova with success, but not/,
    );
    await end();
  });

  it('RabbitMQ: permissions that are no list', async () => {
    const { bus, asked, end } = await serving({
      'GET /api/vhosts/nova': [200, '{"name":"nova"}'],
      'GET /api/users/nova': [404, '{}'],
      'PUT /api/users/nova': [201, ''],
      'GET /api/users/nova/permissions': [200, '{"ok":true}'],
    });
    await expect(bus.ensureUser('nova', 'x', 'nova', CLAIM)).rejects.toThrow('GET /api/users/nova/permissions');
    expect(asked.filter(line => line.includes('PUT'))).toEqual(['PUT /api/users/nova']);
    await end();
  });
});

it('tokens are kept by a digest: no password is a key, and there are not more of them than fit', async () => {
  const tokens = createTokens();
  const http: Http = async () => ({
    status: 201,
    headers: { 'x-subject-token': 't' },
    body: { token: { issued_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-01T01:00:00Z' } },
  });
  for (let i = 0; i < 1_200; i++) {
    const at = {
      url: 'http://keystone:5000',
      user: 'u',
      password: `NeverSeen${i}`,
      project: 'p',
      region: 'r',
      ca: undefined,
    };
    await realIdentity(at, http, realClock, tokens).check();
  }
  expect(tokens.size).toBe(1_000);
  expect([...tokens.keys()].join()).not.toContain('NeverSeen');
});
