import { messageBus } from '../../../api/blocks/links.ts';
import { apiService, apiServiceRules } from '../../../api/blocks/service.ts';
import { kind } from '../../../api/schema/kind.ts';
import { at, conf } from '../../../src/oslo/conf.ts';
import { authToken, cacheSection } from '../../../src/services/links/sections.ts';
import { uwsgi } from '../../../src/services/pods/workload.ts';
import { openstackService } from '../../../src/services/standard/service.ts';

export const Toy = kind({
  in: { group: 'toy.openstack.org', version: 'v1alpha1' },
  kind: 'Toy',
  plural: 'toys',
  shortNames: [],
  description: 'A service that exists in tests only: what a new one takes.',
  spec: () => ({ ...apiService(), ...messageBus() }),
  rules: apiServiceRules(),
});

export const toy = openstackService(Toy, {
  name: 'toy',
  user: 42499,
  image: 'toy-api',
  catalog: { type: 'toybox', path: '/v1', check: '/toys?limit=1' },
  databases: { toy: { section: 'database', sync: ['toy-manage', 'db', 'sync'] } },
  bus: true,
  pods: { api: uwsgi({ service: 'toy', port: 9999, module: 'toy.wsgi:application', health: '/healthcheck' }) },
  config: x => conf('toy', authToken(x, 'toybox'), at('topology', { cache: cacheSection(x.cache, x.spec.release) })),
});
