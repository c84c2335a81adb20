import { describe, expect, it } from 'vitest';
import type { Release } from '../../../api/blocks/common.ts';
import { Cinder } from '../../../api/openstack/cinder.ts';
import { Glance } from '../../../api/openstack/glance.ts';
import { Heat } from '../../../api/openstack/heat.ts';
import { Neutron } from '../../../api/openstack/neutron.ts';
import type { AnyKind } from '../../../api/schema/kind.ts';
import { type Conf, conf } from '../../oslo/conf.ts';
import { lint } from '../../oslo/lint.ts';
import { releases } from '../../oslo/options.ts';
import { write } from '../../oslo/write.ts';
import { backupFiles, cinderConf } from '../cinder/config.ts';
import { glanceConf } from '../glance/index.ts';
import { heatConf } from '../heat/index.ts';
import { cachesOverTls } from '../links/cache.ts';
import { authToken, busSections, databaseSection, logging } from '../links/sections.ts';
import { agentFiles } from '../neutron/agents.ts';
import { ml2File, neutronConf } from '../neutron/config.ts';
import { agentSections } from '../ovn/chassis.ts';
import type { ConfigInput } from '../standard/table.ts';

/** With TLS everywhere: without it there are only options less. */
const ca = { ca: 'pem' };

/** A spec with every default, as a controller reads it. */
const specOf = (kind: AnyKind, spec: object) => kind.specSchema.parse(spec);
const input = (kind: AnyKind, spec: object, more: object = {}) =>
  ({
    name: 'x',
    namespace: 'openstack',
    env: {},
    spec: specOf(kind, spec),
    databases: {},
    bus: undefined,
    identity: { url: 'http://keystone:5000', user: 'x', password: 'p', project: 'service', region: 'RegionOne', ...ca },
    cache: { servers: ['memcached-0:11211'], ...(cachesOverTls((spec as { release: Release }).release) && ca) },
    ...more,
  }) as object as ConfigInput<never, never>;

const ovn = {
  northbound: 'tcp:10.96.0.1:6641',
  southbound: 'tcp:10.96.0.2:6642',
  encapType: 'geneve',
  physicalNetworks: ['physnet1'],
  metadata: true,
  ...ca,
};
const ceph = { name: 'ceph', pool: 'p', user: 'u', key: 'k', conf: '', fsid: '4b5c8c0a-ff60-454b-a1b4-9747aa737d19' };
const stores = {
  stores: [
    { name: 'fast', type: 'ceph' },
    { name: 'files', type: 'pvc' },
    { name: 'far', type: 'swift' },
  ],
};
const opened = stores.stores.map(store => ({ ...store, ...(store.type === 'ceph' && { ceph }) }));
const withLinks = (own: Conf, section: string): string =>
  write(
    conf(
      own.service,
      logging,
      ...own.parts,
      { [section]: databaseSection('mysql+pymysql://u:p@h/d') },
      busSections({ host: 'h', port: 5671, vhost: 'v', user: 'u', password: 'p', ...ca }),
    ).sections,
  );

/** Every oslo file that these services write, as [table of its options, text]. */
const files = (release: string): Record<string, readonly [string, string]> => {
  const neutron = input(Neutron, { release, mtu: 9000, dnsDomain: 'cloud.example.' }, { input: ovn });
  const tunnel = input(Neutron, { release }, { input: { ...ovn, encapType: 'vxlan', physicalNetworks: [] } });
  const agents = input(
    Neutron,
    { release, mechanism: 'ovs', openvswitch: { bridgeMappings: { physnet1: 'br-ex' } } },
    { input: { agents: [] }, bus: { host: 'h', port: 5672, vhost: 'v', user: 'u', password: 'p' } },
  );
  const placement = conf('placement', { api: { auth_strategy: 'keystone' } }, authToken(neutron, 'placement'));
  return {
    placement: [
      'placement',
      withLinks(placement, 'placement_database').replace(/\[oslo_messaging_rabbit\][^[]*|transport_url.*\n/g, ''),
    ],
    glance: [
      'glance',
      withLinks(
        glanceConf(
          input(
            Glance,
            { release, importMethods: ['glance-direct', 'web-download'] },
            { input: [{ name: 'file', type: 'pvc' }] },
          ),
        ),
        'database',
      ),
    ],
    'glance with every store': [
      'glance',
      withLinks(glanceConf(input(Glance, { release, ...stores }, { input: opened })), 'database'),
    ],
    cinder: [
      'cinder',
      withLinks(
        cinderConf(input(Cinder, { release, backends: [{ name: 'a', type: 'ceph' }] }, { input: {} })),
        'database',
      ),
    ],
    'cinder-backup': [
      'cinder',
      backupFiles(input(Cinder, { release, backup: { enabled: true } }, { input: { backups: ceph } }))[0]!.text,
    ],
    heat: [
      'heat',
      withLinks(
        heatConf(
          input(Heat, { release }, { input: { key: 'k', keeper: { user: 'u', password: 'p' }, cfn: 'http://c:8000' } }),
        ),
        'database',
      ),
    ],
    neutron: ['neutron', withLinks(neutronConf(neutron), 'database')],
    'ml2_conf.ini': ['ml2_conf', ml2File(neutron).text],
    'ml2_conf.ini over VXLAN': ['ml2_conf', ml2File(tunnel).text],
    'metadata agent': ['ovn-agent', write(agentSections(ovn.northbound, ovn.southbound, true))],
    'neutron with agents': ['neutron', withLinks(neutronConf(agents), 'database')],
    'ml2_conf.ini with agents': ['ml2_conf', ml2File(agents).text],
    ...Object.fromEntries(
      ['l2', 'l3', 'dhcp', 'metadata-agent'].map(name => [
        `agent ${name}`,
        [`neutron-${name}`, agentFiles(agents, name)[0]!.text] as const,
      ]),
    ),
  };
};

describe('what is generated, read by the tables of each release', () => {
  const cases = releases.flatMap(release =>
    Object.entries(files(release)).map(([name, [service, text]]) => [name, release, service, text] as const),
  );
  it.each(cases)('%s of %s', (_name, release, service, text) => {
    expect(text).toContain('[');
    const found = lint(text, { service, release, from: 'generated' });
    expect(found.map(f => `${f.severity} ${f.code} [${f.section}] ${f.key}: ${f.message}`)).toEqual([]);
  });

  it('would tell of a wrong option', () => {
    const text = `${files('2025.2').neutron![1]}\n[DEFAULT]\nrpc_wokers = 1\n`;
    expect(lint(text, { service: 'neutron', release: '2025.2', from: 'generated' })).toMatchObject([
      { code: 'unknown-option', key: 'rpc_wokers' },
    ]);
  });
});
