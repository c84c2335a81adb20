import type { SpecOf } from '../../../api/kind.ts';
import type { Neutron } from '../../../api/openstack/neutron.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import type { Section } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import type { ConfigFile } from '../config.ts';
import type { OvnLink } from '../ovn/address.ts';
import { authToken, userSection } from '../sections.ts';
import type { ConfigInput } from '../service.ts';
import { PROCESSES } from '../uwsgi.ts';

type Input = ConfigInput<SpecOf<typeof Neutron>, OvnLink>;

export const STATE = '/var/lib/neutron';
const ML2 = 'plugins/ml2/ml2_conf.ini';

/** Neutron looks for two files by name and fails without the first; all that we write besides is in its folder. */
export const CONFIG_FILES = { name: 'OS_NEUTRON_CONFIG_FILES', value: ML2 } as const;

export const neutronConf = (x: Input): Conf =>
  conf(
    'neutron',
    {
      DEFAULT: {
        core_plugin: 'ml2',
        service_plugins: ['qos', 'ovn-router', 'trunk', 'segments', 'port_forwarding'],
        auth_strategy: 'keystone',
        state_path: STATE,
        // Each worker has a place in the ring that shares out OVN's events; the ring counts them by this number.
        api_workers: PROCESSES,
        // OVN has no agents that would call in.
        rpc_workers: 0,
        rpc_state_report_workers: 0,
        dhcp_agent_notification: false,
        dns_domain: x.spec.dnsDomain,
        global_physnet_mtu: x.spec.mtu,
      },
      oslo_concurrency: { lock_path: `${STATE}/lock` },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', {
      // Tells Nova that a port is up: without it a server waits for its network until it fails.
      nova: { ...userSection(x.identity), endpoint_type: 'internal' },
      placement: { ...userSection(x.identity), endpoint_type: 'internal' },
    }),
    authToken(x, 'network'),
  );

/** The tunnels: OVN's identifiers are shorter in VXLAN, which leaves 4096 networks. */
const TUNNELS: Readonly<Record<OvnLink['encapType'], Section>> = {
  geneve: { vni_ranges: '1:65536', max_header_size: 38 },
  vxlan: { vni_ranges: '1:4096' },
};

export function ml2File(x: Input): ConfigFile {
  const { northbound, southbound, encapType, physicalNetworks, metadata } = x.input;
  // Renamed in 2026.1.
  const tenants = x.spec.release === '2026.1' ? 'project_network_types' : 'tenant_network_types';
  const text = write({
    ml2: {
      mechanism_drivers: ['ovn'],
      type_drivers: ['local', 'flat', 'vlan', encapType],
      [tenants]: [encapType],
      extension_drivers: ['port_security', 'qos'],
      overlay_ip_version: 4,
    },
    [`ml2_type_${encapType}`]: TUNNELS[encapType],
    ...(physicalNetworks.length > 0 && { ml2_type_vlan: { network_vlan_ranges: [...physicalNetworks] } }),
    securitygroup: { enable_security_group: true },
    ovn: {
      // Addresses, not names: the Python client resolves none (lab.md 5, trap 1).
      ovn_nb_connection: northbound,
      ovn_sb_connection: southbound,
      ovn_metadata_enabled: metadata,
      ovsdb_probe_interval: 60_000,
    },
  });
  return { key: 'ml2_conf.ini', path: `/etc/neutron/${ML2}`, text };
}
