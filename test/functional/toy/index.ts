import { messageBus } from '../../../api/blocks/links.ts';
import { apiService, apiServiceRules } from '../../../api/blocks/service.ts';
import { kind } from '../../../api/kind.ts';
import { at, conf } from '../../../src/oslo/conf.ts';
import { busUrl, databaseUrl } from '../../../src/services/links.ts';
import { authTokenSection, cacheSection, databaseSection, logging } from '../../../src/services/sections.ts';
import { openstackService } from '../../../src/services/service.ts';

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
  sync: ['toy-manage', 'db', 'sync'],
  bus: true,
  api: { port: 9999, module: 'toy.wsgi:application', health: '/healthcheck' },
  config: x =>
    conf(
      'toy',
      logging,
      at('topology', {
        ...(x.bus && { DEFAULT: { transport_url: busUrl(x.bus) } }),
        ...(x.database && { database: databaseSection(databaseUrl(x.database)) }),
        keystone_authtoken: authTokenSection(x.identity, x.cache, 'toybox'),
        cache: cacheSection(x.cache),
      }),
    ),
});
