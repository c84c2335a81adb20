import type { Release } from '../../../api/blocks/common.ts';
import { at, type Conf, conf, type Part } from '../../oslo/conf.ts';
import { type Section, type Sections, template } from '../../oslo/model.ts';
import { type CephLink, confPath } from '../ceph/link.ts';
import { authToken, busSections, cacheSection, cafile, logging, userSection } from '../links/sections.ts';
import type { BusLink, CacheLink, IdentityLink } from '../links/types.ts';
import { CA_BUNDLE, OWN_CERTIFICATE, OWN_KEY } from '../tls/trust.ts';

/** What all of Nova's processes know: Keystone, and by its catalog everything else. */
interface Linked {
  readonly spec: { readonly release: Release };
  readonly identity: IdentityLink;
  readonly cache: CacheLink;
  /** By which endpoints of the catalog it calls the others. */
  readonly interface?: 'internal' | 'public';
}

export const STATE = '/var/lib/nova';
export const API_PORT = 8774;
export const METADATA_PORT = 8775;
export const CONSOLE_PORT = 6080;
export const CONSOLE_PAGE = '/vnc_lite.html';
/** Where the hypervisor's switch listens, on every node that runs OVN. */
export const OVS_SOCKET = '/run/openvswitch/db.sock';
export const LIBVIRT_SOCKET = '/run/libvirt/libvirt-sock';

/** How Nova itself logs in, in every section that asks for it. */
const login = userSection;

const everywhere: Sections = {
  DEFAULT: { state_path: STATE },
  oslo_concurrency: { lock_path: `${STATE}/tmp` },
  // Old computes may still run after an upgrade: speak what the oldest one understands.
  upgrade_levels: { compute: 'auto' },
};

const neighbours = ({ spec, identity: link, cache, interface: by = 'internal' }: Linked): Part =>
  at('topology', {
    // Without it volumes of servers stay attached when they should not (CVE-2023-2088).
    service_user: { send_service_user_token: true, ...login(link), region_name: undefined },
    placement: { ...login(link), valid_interfaces: [by] },
    neutron: { ...login(link), valid_interfaces: [by] },
    glance: { region_name: link.region, valid_interfaces: [by], ...cafile(link) },
    // Its own login for what it does on nobody's behalf: periodic tasks on the volumes of guests.
    cinder: {
      ...login(link),
      region_name: undefined,
      catalog_info: `volumev3::${by}URL`,
      os_region_name: link.region,
    },
    cache: cacheSection(cache, spec.release),
  });

/** The base of every process. URLs of databases and bus are added by whoever may know them. */
const base = (x: Linked, ...more: (Sections | Part)[]): Conf =>
  conf('nova', everywhere, authToken(x, 'compute'), neighbours(x), ...more);

export const apiConf = (x: Linked): Conf =>
  base(x, { oslo_middleware: { enable_proxy_headers_parsing: true }, api: { local_metadata_per_cell: false } });

/** Since 2026.1 it sleeps this long at its end, whatever it has to do, and by default for 160 s; a choice takes two. */
const SCHEDULER_STOP = 10;

export const schedulerConf = (x: Linked, discoverSeconds: number): Conf =>
  base(x, {
    DEFAULT: { manager_shutdown_timeout: x.spec.release >= '2026.1' ? SCHEDULER_STOP : undefined },
    scheduler: {
      // Pods are scaled, not workers.
      workers: 1,
      max_attempts: 10,
      // Nova's way of saying never is -1; 0 would mean its own default.
      discover_hosts_in_cells_interval: discoverSeconds > 0 ? discoverSeconds : -1,
    },
    // Computes can't call up into the API's cell, so they can't tell of changes.
    filter_scheduler: { track_instance_changes: false },
  });

/** As before 2026.1, which waits three minutes where the bus is gone or an answer never comes. */
const CONDUCTOR_STOP = 60;

export const conductorConf = (x: Linked): Conf =>
  base(x, { DEFAULT: { graceful_shutdown_timeout: CONDUCTOR_STOP }, conductor: { workers: 1 } });

export const metadataConf = (x: Linked, secret: string, perCell: boolean): Conf =>
  base(
    x,
    { api: { local_metadata_per_cell: perCell } },
    at('security', { neutron: { service_metadata_proxy: true, metadata_proxy_shared_secret: secret } }),
  );

/** Never at debug: it would log all that people type. */
export const consoleConf = (x: Linked & { readonly tls: boolean }): Conf =>
  base(x, {
    // Both files are read for each connection.
    DEFAULT: { debug: false, ...(x.tls && { ssl_only: true, cert: OWN_CERTIFICATE, key: OWN_KEY }) },
    console: { ssl_minimum_version: x.tls ? 'tlsv1_2' : undefined },
    vnc: { enabled: true, novncproxy_host: '0.0.0.0', novncproxy_port: CONSOLE_PORT },
  });

export interface ComputeInput extends Linked {
  readonly driver: 'libvirt' | 'ironic' | 'fake';
  readonly virtType?: 'kvm' | 'qemu' | undefined;
  readonly consoleURL?: string | undefined;
  /** Ironic: the service keeps its name whichever pod runs it. */
  readonly host?: string;
  /** libvirt: what opens volumes in Ceph. */
  readonly ceph?: CephLink;
  /** libvirt: the disks of guests live there too. */
  readonly disks?: boolean;
}

const consoles = (url: string | undefined): Section =>
  url === undefined
    ? { enabled: false }
    : {
        enabled: true,
        server_listen: '0.0.0.0',
        server_proxyclient_address: template('$my_ip'),
        novncproxy_base_url: `${url}${CONSOLE_PAGE}`,
      };

const inCeph = (link: CephLink): Section => ({
  images_type: 'rbd',
  images_rbd_pool: link.pool,
  images_rbd_ceph_conf: confPath(link),
  hw_disk_discard: 'unmap',
  disk_cachemodes: ['network=writeback'],
});

const drivers: Readonly<Record<ComputeInput['driver'], (x: ComputeInput) => Sections>> = {
  libvirt: x => ({
    DEFAULT: { compute_driver: 'libvirt.LibvirtDriver', instances_path: `${STATE}/instances` },
    libvirt: {
      virt_type: x.virtType,
      // An emulated CPU has no host model.
      cpu_mode: x.virtType === 'qemu' ? 'none' : undefined,
      connection_uri: `qemu+unix:///system?socket=${LIBVIRT_SOCKET}`,
      ...(x.ceph && { rbd_user: x.ceph.user, rbd_secret_uuid: x.ceph.fsid }),
      ...(x.ceph && x.disks && inCeph(x.ceph)),
    },
    os_vif_ovs: { ovsdb_connection: `unix:${OVS_SOCKET}` },
    vnc: consoles(x.consoleURL),
  }),
  ironic: x => ({
    DEFAULT: { compute_driver: 'ironic.IronicDriver', reserved_host_memory_mb: 0, host: x.host },
    ironic: { ...login(x.identity), valid_interfaces: ['internal'] },
    vnc: { enabled: false },
  }),
  fake: () => ({ DEFAULT: { compute_driver: 'fake.FakeDriver' }, vnc: { enabled: false } }),
};

/** It caches nothing, and from the network of a node memcached need not be reached. */
const uncached = <X extends Omit<Linked, 'cache'>>(x: X): X & Linked => ({ ...x, cache: { servers: [] } });

/** A compute sees no database at all: the conductor is its only way in. */
export const computeConf = (x: ComputeInput): Conf =>
  base(uncached(x), drivers[x.driver](x), { workarounds: { disable_group_policy_check_upcall: true } });

/** For hosts outside the cluster: what a libvirt compute needs, but its own name and address. */
export const hostConf = (
  x: Omit<Linked, 'cache'> & { readonly bus: BusLink; readonly consoleURL?: string | undefined },
): Conf => {
  const { parts } = base(uncached(x), { workarounds: { disable_group_policy_check_upcall: true } });
  const own: Sections = {
    DEFAULT: { compute_driver: 'libvirt.LibvirtDriver' },
    vnc: consoles(x.consoleURL),
  };
  return conf('nova', logging, ...parts, own, at('topology', busSections(x.bus)));
};

/** Read by the agents that forward what guests ask at 169.254.169.254. */
export const metadataAgentConf = (host: string, secret: string, tls: boolean, port = METADATA_PORT): Conf =>
  conf('neutron', {
    DEFAULT: {
      nova_metadata_host: host,
      nova_metadata_port: port,
      nova_metadata_protocol: tls ? 'https' : 'http',
      auth_ca_cert: tls ? CA_BUNDLE : undefined,
      metadata_proxy_shared_secret: secret,
    },
  });
