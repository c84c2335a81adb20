import { Placement } from '../../../api/openstack/placement.ts';
import { conf } from '../../oslo/conf.ts';
import { authToken } from '../links/sections.ts';
import { uwsgi } from '../pods/workload.ts';
import { openstackService } from '../standard/service.ts';

export const placement = openstackService(Placement, {
  name: 'placement',
  user: 42482,
  image: 'placement-api',
  catalog: { type: 'placement', check: '/resource_providers?name=none' },
  databases: { placement: { section: 'placement_database', sync: ['placement-manage', 'db', 'sync'] } },
  pods: {
    // It has no health check of its own; the list of versions needs neither token nor database.
    api: uwsgi({ service: 'placement', port: 8778, module: 'placement.wsgi.api:application', health: '/' }),
  },
  config: x => conf('placement', { api: { auth_strategy: 'keystone' } }, authToken(x, 'placement')),
});
