import { describe, expect, expectTypeOf, it } from 'vitest';
import type { OpenStackControlPlane } from '../openstack/controlplane.ts';
import { Keystone } from '../openstack/keystone.ts';
import { MariaDB } from '../openstack/mariadb.ts';
import type { BaseStatus, InputOf, ObjectOf, SpecOf, StatusOf } from './kind.ts';

describe('types of a kind', () => {
  it('before defaulting all is optional, after it what has a default is there', () => {
    expectTypeOf<InputOf<typeof Keystone>['replicas']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<SpecOf<typeof Keystone>['replicas']>().toEqualTypeOf<number>();
    expectTypeOf<SpecOf<typeof Keystone>['fernetRotation']>().toEqualTypeOf<{
      schedule: string;
      maxActiveKeys: number;
    }>();
    expectTypeOf<SpecOf<typeof Keystone>['databaseSecret']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<SpecOf<typeof Keystone>['podProfile']>().toEqualTypeOf<'kolla' | 'restricted'>();
  });

  it('a section of the control plane has enabled, and the rest as the user may write it', () => {
    type Section = SpecOf<typeof OpenStackControlPlane>['keystone'];
    expectTypeOf<Section['enabled']>().toEqualTypeOf<boolean>();
    expectTypeOf<Section['replicas']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Section>().not.toHaveProperty('region');
  });

  it('status has the common fields and its own', () => {
    expectTypeOf<StatusOf<typeof Keystone>>().toExtend<BaseStatus>();
    expectTypeOf<NonNullable<ObjectOf<typeof MariaDB>['status']>['hostname']>().toEqualTypeOf<string | undefined>();
  });
});

describe('defaults', () => {
  it('apply inside groups that the user left out or left empty, as the API server does', () => {
    const rotation = { schedule: '0 0 * * 0', maxActiveKeys: 5 };
    expect(Keystone.specSchema.parse({}).fernetRotation).toEqual(rotation);
    expect(Keystone.specSchema.parse({ fernetRotation: { maxActiveKeys: 7 } }).fernetRotation).toEqual({
      ...rotation,
      maxActiveKeys: 7,
    });
  });

  it('do not create an optional group: external stays absent until somebody asks for it', () => {
    expect(MariaDB.specSchema.parse({}).external).toBeUndefined();
    expect(MariaDB.specSchema.parse({ external: { hostname: 'db' } }).external).toEqual({ hostname: 'db', port: 3306 });
  });
});
