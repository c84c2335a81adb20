import { describe, expect, it } from 'vitest';
import { markOf } from '../../src/cloud/ownership.ts';
import { unmarked } from './marks.ts';

const mark = markOf({ id: 'abc123', object: 'Glance/glance' });
const whole = {
  databases: { glance: markOf({ id: 'abc123', object: 'Glance/glance' }, ['openstack-glance']) },
  vhosts: { '/': 'Default virtual host', 'openstack-glance': mark },
  busUsers: { admin: ['administrator'], 'openstack-glance': [mark] },
  identityUsers: {
    admin: {},
    glance: { managed_by: 'openstack-operator', openstack_operator_owner: mark },
  },
};

describe('owner marks on the servers of a cloud', () => {
  it('are complete when everything but what is the servers’ own has one', () => {
    expect(unmarked(whole)).toEqual([]);
  });

  it('are missed one by one', () => {
    const bare = {
      databases: { ...whole.databases, keystone: '' },
      vhosts: { ...whole.vhosts, 'openstack-nova': 'mine' },
      busUsers: { ...whole.busUsers, 'openstack-nova': [] },
      identityUsers: { ...whole.identityUsers, nova: { managed_by: 'openstack-operator' } },
    };
    expect(unmarked(bare)).toEqual([
      'database keystone: nothing',
      'vhost openstack-nova: mine',
      'user of RabbitMQ openstack-nova: nothing',
      'user of Keystone nova: nothing',
    ]);
  });
});
