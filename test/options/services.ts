/**
 * What `oslo-config-validator` is told about each file: the namespaces of upstream's own config-generator files, as far
 * as our files touch them.
 */
const common = [
  'oslo.log',
  'oslo.concurrency',
  'oslo.db',
  'oslo.policy',
  'oslo.middleware',
  'oslo.messaging',
  'oslo.cache',
];
const token = 'keystonemiddleware.auth_token';

export const namespaces: Readonly<Record<string, readonly string[]>> = {
  keystone: ['keystone', ...common],
  placement: ['placement.conf', 'oslo.log', 'oslo.policy', 'oslo.middleware', token],
  glance: ['glance.api', 'glance.store', 'glance.multi_store', ...common, token],
  nova: ['nova.conf', 'oslo.privsep', 'oslo.service.service', 'os_vif', ...common, token],
  neutron: [
    ...['neutron', 'neutron.agent', 'neutron.base.agent', 'neutron.db', 'neutron.extensions', 'neutron.ml2'],
    ...['neutron.ml2.ovn', 'nova.auth', 'placement.auth', ...common, token],
  ],
  'neutron-ovn-agent': [
    ...['neutron.ml2.ovn.agent', 'neutron.ovn.metadata.agent', 'neutron.agent', 'neutron.base.agent'],
    ...['oslo.log', 'oslo.concurrency'],
  ],
};

/**
 * What the validator finds and is wrong about, each looked at by a person. An entry that nothing needs any more fails
 * the test.
 */
export const falsePositives: readonly { service: string; option: string; releases: readonly string[]; why: string }[] =
  [
    ...['os_glance_staging_store', 'os_glance_tasks_store'].map(group => ({
      service: 'glance',
      option: `${group}/filesystem_store_datadir`,
      releases: ['2025.1', '2025.2', '2026.1'],
      why: 'glance_store registers the options of a store under the name of that store when it starts',
    })),
    {
      service: 'neutron-ovn-agent',
      option: 'agent/extensions',
      releases: ['2025.1', '2025.2'],
      why: 'registered by the manager of extensions when the agent starts, and listed for the generator from 2026.1 on',
    },
  ];

const words = (text: string): string[] => text.split(/\s+/);
const listed = words('oslo.log oslo.concurrency oslo.db oslo.policy oslo.messaging');
const middleware = words('oslo.middleware.cors oslo.middleware.healthcheck oslo.middleware.http_proxy_to_wsgi');

/**
 * For comparing what is known at all: the namespaces of upstream's own config-generator files, and of libraries that our
 * tables have besides, because the service registers their options all the same.
 */
export function validated(release: string): Readonly<Record<string, readonly string[]>> {
  return {
    keystone: words('keystone oslo.log oslo.db oslo.policy oslo.messaging oslo.cache oslo.middleware osprofiler'),
    placement: [...words('placement.conf oslo.log oslo.policy osprofiler'), middleware[0]!, middleware[2]!, token],
    glance: [
      ...words('glance.api glance.store glance.multi_store castellan.config os_brick oslo.limit oslo.reports'),
      ...[...listed, ...middleware, 'osprofiler', token],
    ],
    nova: [
      ...words('nova.conf os_brick os_vif oslo.service.service oslo.service.periodic_task oslo.cache oslo.middleware'),
      ...words('oslo.reports oslo.versionedobjects oslo.privsep oslo.limit osprofiler'),
      ...[...listed.filter(name => name !== 'oslo.db'), token],
    ],
    neutron: [
      ...words('neutron neutron.agent neutron.db neutron.extensions neutron.experimental neutron.ml2 neutron.ml2.ovn'),
      ...words('nova.auth ironic.auth placement.auth designate.auth oslo.cache oslo.reports oslo.versionedobjects'),
      ...words('oslo.privsep oslo.service.service oslo.service.periodic_task oslo.service.wsgi osprofiler'),
      ...[...listed, ...middleware, token],
      // From 2026.1 on no process of Neutron serves TLS by itself.
      ...(release < '2026.1' ? ['oslo.service.sslutils'] : []),
    ],
  };
}
