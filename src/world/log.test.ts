import { describe, expect, it } from 'vitest';
import { redact, redactText } from './log.ts';

describe('redact', () => {
  it.each([
    ['mysql+pymysql://nova:s3cret@mariadb/nova?charset=utf8', 'mysql+pymysql://nova:***@mariadb/nova?charset=utf8'],
    ['rabbit://u:p1@a:5672,u2:p2@b/v', 'rabbit://u:***@b/v'],
    ['{"a":"amqp://u:p/@x@h","b":"c@d"}', '{"a":"amqp://u:***@h","b":"c@d"}'],
    ['http://keystone-api:5000/v3', 'http://keystone-api:5000/v3'],
    ['admin_password = abc\nworkers = 4', 'admin_password = ***\nworkers = 4'],
    ['password is missing', 'password is missing'],
  ])('text: %s', (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it('masks the values of a Secret and keeps its keys', () => {
    const secret = { kind: 'Secret', metadata: { name: 's' }, data: { password: 'YQ==', host: 'Yg==' } };
    expect(redact({ object: secret })).toEqual({
      object: { kind: 'Secret', metadata: { name: 's' }, data: { password: '***', host: '***' } },
    });
  });

  it('masks fields by name, also inside lists, and leaves names of Secrets readable', () => {
    const fields = {
      password: 'x',
      users: [{ user: 'nova', userPassword: 'y' }],
      authorization: 'Bearer z',
      token: 't',
      databaseSecret: 'nova-db',
      password_absent: '',
      transport_url: 'rabbit://...',
    };
    expect(redact(fields)).toEqual({
      password: '***',
      users: [{ user: 'nova', userPassword: '***' }],
      authorization: '***',
      token: '***',
      databaseSecret: 'nova-db',
      password_absent: '',
      transport_url: '***',
    });
  });

  it('makes errors plain, with their causes, masked', () => {
    const error = new Error('connect mysql://root:pw@db failed', { cause: new TypeError('inner') });
    const plain = redact(error) as { message: string; stack: string; cause: { type: string } };
    expect(plain.message).toBe('connect mysql://root:***@db failed');
    expect(plain.stack).not.toContain('pw@');
    expect(plain.cause.type).toBe('TypeError');
  });

  it('ends on a cycle', () => {
    const loop: Record<string, unknown> = { n: 1n };
    loop.self = loop;
    expect(JSON.stringify(redact(loop))).toContain('"..."');
  });
});
