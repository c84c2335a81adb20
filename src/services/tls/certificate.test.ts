import { describe, expect, it } from 'vitest';
import { namesOf } from './certificate.ts';

describe('the names of a certificate', () => {
  it('of a Service are those that clients use', () => {
    expect(namesOf('keystone-api.openstack.svc.cluster.local')).toEqual([
      'keystone-api.openstack.svc.cluster.local',
      'keystone-api.openstack.svc',
      'keystone-api.openstack',
    ]);
  });

  it('of a member are those of all members: the second pod of Glance had a certificate for the first', () => {
    const all = ['*.glance-api-members.a.svc.example.org', '*.glance-api-members.a.svc', '*.glance-api-members.a'];
    for (const ordinal of [0, 1])
      expect(namesOf(`glance-api-${ordinal}.glance-api-members.a.svc.example.org`)).toEqual(all);
  });

  it('do not depend on what a namespace is called', () => {
    expect(namesOf('m.svc.svc.cluster.local')[2]).toBe('m.svc');
    expect(namesOf('m-0.m.svc.svc.cluster.local')[2]).toBe('*.m.svc');
  });
});
