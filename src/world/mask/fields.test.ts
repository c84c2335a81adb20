import { describe, expect, it } from 'vitest';
import { maskFields, maskObject } from './fields.ts';

describe('fields', () => {
  it('masks the values of a Secret and keeps its keys', () => {
    const secret = { kind: 'Secret', metadata: { name: 's' }, data: { password: 'YQ==', host: 'Yg==' } };
    expect(maskFields({ object: secret })).toEqual({
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
    expect(maskFields(fields)).toEqual({
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
    const plain = maskFields(error) as { message: string; stack: string; cause: { type: string } };
    expect(plain.message).toBe('connect mysql://root:***@db failed');
    expect(plain.stack).not.toContain('pw@');
    expect(plain.cause.type).toBe('TypeError');
  });

  it('ends on a cycle', () => {
    const loop: Record<string, unknown> = { n: 1n };
    loop.self = loop;
    expect(JSON.stringify(maskFields(loop))).toContain('"..."');
  });

  it('of an object all is kept but what is secret by its name, its text or its variable', () => {
    const pod = {
      kind: 'Pod',
      spec: {
        containers: [
          {
            env: [
              { name: 'DB_PASSWORD', value: 'x' },
              { name: 'DB_HOST', value: 'h' },
            ],
            args: ['--os-password', 'mysql://u:pw@h'],
          },
        ],
        imagePullSecrets: [{ name: 'registry' }],
      },
      passwordSecret: 'nova-db',
      sshKeySecret: 'key',
      client_secret: 'y',
    };
    expect(maskObject(pod, text => text.replace('pw', '***'))).toEqual({
      ...pod,
      spec: {
        ...pod.spec,
        containers: [
          {
            env: [
              { name: 'DB_PASSWORD', value: '***' },
              { name: 'DB_HOST', value: 'h' },
            ],
            args: ['--os-password', 'mysql://u:***@h'],
          },
        ],
      },
      client_secret: '***',
    });
  });
});
