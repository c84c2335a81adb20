import { namespacesOf } from '../../lab/oslo/namespaces.ts';

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

/**
 * For comparing what is known at all: the namespaces that the tables are made of. neutron-server reads ml2_conf.ini
 * beside neutron.conf.
 */
export function validated(release: string): Readonly<Record<string, readonly string[]>> {
  const files = namespacesOf(release);
  const of = (...names: string[]): string[] => [...new Set(names.flatMap(name => files[name] ?? []))];
  return {
    ...Object.fromEntries(['cinder', 'heat', 'keystone', 'nova', 'placement'].map(name => [name, of(name)])),
    glance: of('glance-api'),
    neutron: of('neutron', 'ml2_conf'),
  };
}
