import { describe, expect, it } from 'vitest';
import type { Request, Transport } from '../../kube/transport.ts';
import { loopbackGuard, tokenGuard } from './guard.ts';

describe('on 127.0.0.1', () => {
  it.each([
    ['this machine', { host: '127.0.0.1:8090' }, 200],
    ['its other name', { host: 'localhost:1' }, 200],
    ['its IPv6 name', { host: '[::1]:1' }, 200],
    ['the page itself', { host: '127.0.0.1:8090', 'sec-fetch-site': 'same-origin' }, 200],
    ['somebody who typed the address', { host: '127.0.0.1:8090', 'sec-fetch-site': 'none' }, 200],
    ['another site in the browser', { host: '127.0.0.1:8090', 'sec-fetch-site': 'cross-site' }, 403],
    ['a name that leads here (DNS rebinding)', { host: 'evil.example:8090' }, 403],
    ['nobody', {}, 403],
  ])('%s: %o gets %i', async (_who, headers, status) =>
    expect((await loopbackGuard(headers, 'look')).status).toBe(status),
  );
});

function cluster(users: Record<string, { name: string; may: readonly string[] }>, refuse = false) {
  const asked: string[] = [];
  const transport = {
    async send({ path, body }: Request) {
      if (refuse) return { status: 403, headers: {}, body: {} };
      const { spec } = body as { spec: { token?: string; user?: string; resourceAttributes?: Record<string, string> } };
      if (path.endsWith('/tokenreviews')) {
        asked.push('whose');
        const user = users[spec.token ?? ''];
        return {
          status: 201,
          headers: {},
          body: { status: user ? { authenticated: true, user: { username: user.name, groups: ['g'] } } : {} },
        };
      }
      const { verb, group, resource, namespace } = spec.resourceAttributes ?? {};
      const what = `${verb} ${resource}${group ? `.${group}` : ''}${namespace ? ` in ${namespace}` : ''}`;
      asked.push(what);
      const may = Object.values(users).find(user => user.name === spec.user)?.may ?? [];
      return { status: 201, headers: {}, body: { status: { allowed: may.includes(what) } } };
    },
  } as Partial<Transport> as Transport;
  return { asked, transport };
}

describe('where others can reach it', () => {
  let now = 0;
  const clock = { now: () => now, wall: () => now, timer: () => () => undefined };
  const LOOK = 'list openstackcontrolplanes.openstack.k8s.io';
  const users = {
    'token-of-anna': { name: 'anna', may: [LOOK, 'list secrets'] },
    'token-of-bert': { name: 'bert', may: [LOOK] },
    'token-of-carl': { name: 'carl', may: [] },
  };
  const basic = (token: string): string => `Basic ${Buffer.from(`me:${token}`).toString('base64')}`;

  it.each([
    ['nobody', undefined, 'look', 401],
    ['an unknown token', 'Bearer nonsense', 'look', 401],
    ['no token in a password', `Basic ${Buffer.from('me').toString('base64')}`, 'look', 401],
    ['a user who may list clouds', 'Bearer token-of-bert', 'look', 200],
    ['the same by the question of the browser', basic('token-of-bert'), 'look', 200],
    ['the same user for what is kept in Secrets', 'Bearer token-of-bert', 'secrets', 403],
    ['one who may list Secrets', 'Bearer token-of-anna', 'secrets', 200],
    ['one who may nothing', 'Bearer token-of-carl', 'look', 403],
  ] as const)('%s', async (_who, authorization, need, status) => {
    const guard = tokenGuard({ ...cluster(users), clock, namespaces: [] });
    const verdict = await guard({ ...(authorization && { authorization }) }, need);
    expect(verdict.status).toBe(status);
    if (status === 401) expect(verdict.headers?.['www-authenticate']).toMatch(/^Basic /);
    expect(verdict.message).not.toContain('token-of');
  });

  it('only its own page may ask, however good the token', async () => {
    const guard = tokenGuard({ ...cluster(users), clock, namespaces: [] });
    const headers = { authorization: 'Bearer token-of-anna', 'sec-fetch-site': 'cross-site' };
    expect((await guard(headers, 'look')).status).toBe(403);
  });

  it('asks for every namespace that the operator serves', async () => {
    const { asked, transport } = cluster({ t: { name: 'anna', may: [`${LOOK} in a`] } });
    const guard = tokenGuard({ transport, clock, namespaces: ['a', 'b'] });
    const verdict = await guard({ authorization: 'Bearer t' }, 'look');
    expect(verdict).toMatchObject({ status: 403, message: expect.stringContaining('in b') });
    expect(asked).toEqual(['whose', `${LOOK} in a`, `${LOOK} in b`]);
  });

  it('remembers a verdict for half a minute and no longer', async () => {
    const { asked, transport } = cluster(users);
    const guard = tokenGuard({ transport, clock, namespaces: [] });
    const ask = () => guard({ authorization: 'Bearer token-of-bert' }, 'look');
    await ask();
    await ask();
    expect(asked).toHaveLength(2);
    now += 31_000;
    await ask();
    expect(asked).toHaveLength(4);
  });

  it('a flood of bad tokens takes a few calls at a time, and the rest is turned away', async () => {
    const { transport } = cluster(users);
    let [running, most] = [0, 0];
    const slow = {
      ...transport,
      async send(request: Request) {
        most = Math.max(most, ++running);
        await new Promise(resolve => setImmediate(resolve));
        running--;
        return transport.send(request);
      },
    };
    const guard = tokenGuard({ transport: slow, clock, namespaces: [] });
    const ask = (token: string) => guard({ authorization: `Bearer ${token}` }, 'look');
    expect((await ask('token-of-bert')).status).toBe(200);
    const flood = Promise.all(Array.from({ length: 2000 }, (_, index) => ask(`bad-${index}`)));
    // Who was let in a moment ago is not asked again, and so does not stand in line.
    expect((await ask('token-of-bert')).status).toBe(200);
    const verdicts = (await flood).map(({ status }) => status);
    expect(most).toBeLessThanOrEqual(4);
    expect(verdicts.filter(status => status === 401)).toHaveLength(36);
    expect(verdicts.filter(status => status === 503)).toHaveLength(2000 - 36);
    // What waits is let in in its turn: the line is empty again.
    expect((await ask('token-of-anna')).status).toBe(200);
  });

  it('bad tokens push no good one out of memory', async () => {
    const { asked, transport } = cluster(users);
    const guard = tokenGuard({ transport, clock, namespaces: [] });
    const ask = (token: string) => guard({ authorization: `Bearer ${token}` }, 'look');
    await ask('token-of-bert');
    for (let index = 0; index < 1500; index++) await ask(`bad-${index}`);
    asked.splice(0);
    expect((await ask('token-of-bert')).status).toBe(200);
    expect(asked).toEqual([]);
  });

  it('the same token asked twice at once is one question', async () => {
    const { asked, transport } = cluster(users);
    const guard = tokenGuard({ transport, clock, namespaces: [] });
    const headers = { authorization: 'Bearer token-of-bert' };
    await Promise.all([guard(headers, 'look'), guard(headers, 'look')]);
    expect(asked).toHaveLength(2);
  });

  it.each([['<html>'], [''], [null], [[]], [{}], [{ status: null }], [{ status: 'Success' }]])(
    'an answer that is none is no verdict, and is not remembered: %j',
    async body => {
      const { transport } = cluster(users);
      let strange = true;
      const proxy = {
        send: (request: Request) =>
          strange ? Promise.resolve({ status: 200, headers: {}, body }) : transport.send(request),
      } as Partial<Transport> as Transport;
      const guard = tokenGuard({ transport: proxy, clock, namespaces: [] });
      const headers = { authorization: 'Bearer token-of-anna' };
      await expect(guard(headers, 'look')).rejects.toThrow('no verdict');
      strange = false;
      expect((await guard(headers, 'look')).status).toBe(200);
    },
  );

  it('an operator that may not check tokens says what it lacks, and lets nobody in', async () => {
    const guard = tokenGuard({ ...cluster(users, true), clock, namespaces: [] });
    await expect(guard({ authorization: 'Bearer token-of-anna' }, 'look')).rejects.toThrow('system:auth-delegator');
  });
});
