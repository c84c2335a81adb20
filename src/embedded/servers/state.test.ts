import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from './state.ts';

describe('a connection URL', () => {
  it('is read as SQLAlchemy reads it', () => {
    expect(parseDatabaseUrl('mysql+pymysql://openstack-nova:p%40ss@db.x.svc:3307/nova_api?charset=utf8')).toEqual({
      host: 'db.x.svc',
      port: 3307,
      user: 'openstack-nova',
      password: 'p@ss',
      database: 'nova_api',
    });
  });

  it('has 3306 where it names no port, and is nothing where it is none', () => {
    expect(parseDatabaseUrl('mysql://u:p@h/d')?.port).toBe(3306);
    expect(parseDatabaseUrl('sqlite:///x')).toBeUndefined();
  });
});
