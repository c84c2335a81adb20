import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CloudError } from '../cloud/ports.ts';
import { passwordMatches } from './bus.ts';
import { realClock } from './clock.ts';
import { realCloud } from './cloud.ts';
import { reasonOf } from './http.ts';
import { grantOf } from './sql.ts';

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

describe('the way to a backend', () => {
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
    const who = { user: 'u', password: 'NeverSeen0' };
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
