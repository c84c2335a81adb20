import { describe, expect, it } from 'vitest';
import type { Release } from '../../../api/blocks/common.ts';
import { type Conf, conf } from '../../oslo/conf.ts';
import { lint } from '../../oslo/lint.ts';
import { releases } from '../../oslo/options.ts';
import { write } from '../../oslo/write.ts';
import { cachesOverTls } from '../links/cache.ts';
import { databaseUrl } from '../links/database.ts';
import { busSections, databaseSection, logging } from '../links/sections.ts';
import {
  apiConf,
  computeConf,
  conductorConf,
  consoleConf,
  hostConf,
  metadataAgentConf,
  metadataConf,
  schedulerConf,
} from './config.ts';
import { manageConf } from './manage.ts';

const identity = {
  url: 'http://keystone:5000',
  user: 'nova',
  password: 'p$w#d',
  project: 'service',
  region: 'RegionOne',
  ca: undefined,
};
const bus = { host: 'rabbitmq', port: 5672, vhost: 'nova', user: 'nova', password: 'a/b', ca: undefined };
const database = { host: 'mariadb', port: 3306, database: 'nova_api', user: 'nova', password: 'a@b', ca: undefined };
const ceph = { name: 'ceph', pool: 'vms', user: 'u', key: 'k', conf: '', fsid: '4b5c8c0a-ff60-454b-a1b4-9747aa737d19' };
const ca = (tls: boolean) => ({ ca: tls ? 'pem' : undefined });
const inputs = (release: Release, tls = false) => ({
  spec: { release },
  identity: { ...identity, ...ca(tls) },
  cache: { servers: ['memcached-0:11211'], ...(tls && cachesOverTls(release) && { ca: 'pem' }) },
  tls,
});
const x = inputs('2026.1');

/** As serve() adds them for processes that may see both databases. */
const linkedBy =
  (tls: boolean) =>
  (own: Conf): Conf =>
    conf(own.service, logging, ...own.parts, {
      api_database: databaseSection(databaseUrl({ ...database, ...ca(tls) })),
      database: databaseSection(databaseUrl(database)),
      ...busSections({ ...bus, ...ca(tls) }),
    });

const files = (
  x: ReturnType<typeof inputs>,
  linked = linkedBy(x.tls),
): Readonly<Record<string, { readonly conf: Conf; readonly service?: string }>> => ({
  api: { conf: linked(apiConf(x)) },
  scheduler: { conf: linked(schedulerConf(x, 60)) },
  'scheduler that never discovers': { conf: linked(schedulerConf({ ...x, cache: { servers: [] } }, 0)) },
  conductor: { conf: linked(conductorConf(x)) },
  'global metadata': { conf: linked(metadataConf(x, 'secret', false)) },
  'metadata of a cell': { conf: linked(metadataConf(x, 'secret', true)) },
  novncproxy: { conf: linked(consoleConf(x)) },
  libvirt: { conf: computeConf({ ...x, driver: 'libvirt', virtType: 'qemu', consoleURL: 'http://console:6080' }) },
  'libvirt without console': { conf: computeConf({ ...x, driver: 'libvirt' }) },
  'libvirt with Ceph': { conf: computeConf({ ...x, driver: 'libvirt', ceph, disks: true }) },
  ironic: { conf: computeConf({ ...x, driver: 'ironic', host: 'nova-cell1-bm' }) },
  fake: { conf: computeConf({ ...x, driver: 'fake' }) },
  'host outside the cluster': {
    conf: hostConf({ ...x, bus: { ...bus, ...ca(x.tls) }, consoleURL: 'http://console:6080' }),
  },
  'manage job': { conf: manageConf({ api: database, cell: database, bus }) },
  'metadata agent': {
    conf: metadataAgentConf('nova-metadata', 'secret', x.tls),
    service: 'neutron_ovn_metadata_agent',
  },
});

describe('files of Nova', () => {
  for (const [release, tls] of releases.flatMap(each => [[each, false] as const, [each, true] as const]))
    it.each(Object.entries(files(inputs(release as Release, tls))))(
      `%s${tls ? ' over TLS' : ''}: every option exists in ${release}, with a value it takes`,
      (_name, file) => {
        const found = lint(write(file.conf.sections), { service: file.service ?? 'nova', release, from: 'generated' });
        const bad = found.filter(f => f.severity === 'error' || f.code === 'no-table' || f.code === 'renamed');
        expect(bad.map(f => `[${f.section}] ${f.key}: ${f.message}`)).toEqual([]);
      },
    );

  it('lint would find an option that is not there', () => {
    const wrong = conf('nova', ...apiConf(x).parts, { DEFAULT: { osapi_compute_listen: '::' } });
    const found = lint(write(wrong.sections), { service: 'nova', release: '2026.1', from: 'generated' });
    expect(found.map(f => f.code)).toContain('unknown-option');
  });

  it.each(['libvirt', 'ironic', 'fake'] as const)('shows a %s compute no database', driver => {
    const text = write(computeConf({ ...x, driver }).sections);
    expect(text).not.toMatch(/^\[(api_)?database\]/m);
    expect(text).not.toContain('metadata_proxy_shared_secret');
  });

  it('verifies whom it calls, and shows the console over TLS only', () => {
    const all = files(inputs('2025.2', true));
    const text = (name: string): string => write(all[name]!.conf.sections);
    // keystone_authtoken, service_user, placement, neutron, glance, cinder.
    expect(text('api').match(/^cafile = \/etc\/openstack-tls\/ca\/ca\.crt$/gm)).toHaveLength(6);
    expect(text('api')).toContain('&ssl_ca=/etc/openstack-tls/ca/ca.crt');
    expect(text('api')).toMatch(/^ssl = true$/m);
    expect(text('novncproxy')).toMatch(/^ssl_only = true$/m);
    expect(text('metadata agent')).toMatch(/^nova_metadata_protocol = https$/m);
    const plain = Object.values(files(x)).map(file => write(file.conf.sections));
    expect(plain.join('\n')).not.toMatch(/cafile|ssl|openstack-tls/);
  });

  it('says never in the words of Nova', () => {
    expect(write(schedulerConf(x, 0).sections)).toContain('discover_hosts_in_cells_interval = -1');
  });
});
