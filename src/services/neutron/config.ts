import type { Neutron } from '../../../api/openstack/neutron.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import type { Section } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import type { ConfigFile } from '../config/config.ts';
import { authToken, userSection } from '../links/sections.ts';
import { clientSection, type OvnLink } from '../ovn/address.ts';
import { PROCESSES } from '../pods/uwsgi.ts';
import type { ConfigInput } from '../standard/table.ts';

/** The fabric, or with agents what those of metadata must know. */
export type NeutronInput = OvnLink | { readonly agents: readonly ConfigFile[]; readonly ca?: string };
type Input = ConfigInput<SpecOf<typeof Neutron>, NeutronInput>;

export const isOvs = (spec: { readonly mechanism: string }): boolean => spec.mechanism === 'ovs';

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
        service_plugins: ['qos', isOvs(x.spec) ? 'router' : 'ovn-router', 'trunk', 'segments', 'port_forwarding'],
        auth_strategy: 'keystone',
        state_path: STATE,
        // Each worker has a place in the ring that shares out OVN's events; the ring counts them by this number.
        api_workers: PROCESSES,
        ...(isOvs(x.spec) ? WITH_AGENTS : WITHOUT_AGENTS),
        dns_domain: x.spec.dnsDomain,
        global_physnet_mtu: x.spec.mtu,
      },
      oslo_concurrency: { lock_path: `${STATE}/lock` },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', {
      // Notifies Nova that a port is up: without it a server waits for its network until it fails.
      nova: { ...userSection(x.identity), endpoint_type: 'internal' },
      placement: { ...userSection(x.identity), endpoint_type: 'internal' },
    }),
    authToken(x, 'network'),
  );

/** OVN has no agents that would call in. */
const WITHOUT_AGENTS: Section = { rpc_workers: 0, rpc_state_report_workers: 0, dhcp_agent_notification: false };
/** A router moves to another gateway when the agent of its own falls silent. */
const WITH_AGENTS: Section = { rpc_workers: 1, rpc_state_report_workers: 1, allow_automatic_l3agent_failover: true };

/** The tunnels: OVN's identifiers are shorter in VXLAN, which leaves 4096 networks. */
const TUNNELS: Readonly<Record<OvnLink['encapType'], Section>> = {
  geneve: { vni_ranges: '1:65536', max_header_size: 38 },
  vxlan: { vni_ranges: '1:4096' },
};

interface Layer2 {
  readonly drivers: readonly string[];
  readonly tunnel: OvnLink['encapType'];
  readonly vnis: Section;
  readonly physicalNetworks: readonly string[];
}

function layer2(x: Input): Layer2 {
  if ('agents' in x.input) {
    const physicalNetworks = Object.keys(x.spec.openvswitch.bridgeMappings ?? {}).sort();
    const vnis = { vni_ranges: '1:65536' };
    return { drivers: ['openvswitch', 'l2population'], tunnel: 'vxlan', vnis, physicalNetworks };
  }
  const { encapType: tunnel, physicalNetworks } = x.input;
  return { drivers: ['ovn'], tunnel, vnis: TUNNELS[tunnel], physicalNetworks };
}

const ovnSection = ({ northbound, southbound, metadata, ca }: OvnLink): Section => ({
  // Addresses, not names: the Python client resolves none (lab.md 5, trap 1).
  ovn_nb_connection: northbound,
  ovn_sb_connection: southbound,
  ovn_metadata_enabled: metadata,
  ovsdb_probe_interval: 60_000,
  ...(ca !== undefined && clientSection()),
});

export function ml2File(x: Input): ConfigFile {
  const { drivers, tunnel, vnis, physicalNetworks } = layer2(x);
  // Renamed in 2026.1.
  const tenants = x.spec.release === '2026.1' ? 'project_network_types' : 'tenant_network_types';
  const text = write({
    ml2: {
      mechanism_drivers: [...drivers],
      type_drivers: ['local', 'flat', 'vlan', tunnel],
      [tenants]: [tunnel],
      extension_drivers: ['port_security', 'qos'],
      overlay_ip_version: 4,
    },
    [`ml2_type_${tunnel}`]: vnis,
    ...(physicalNetworks.length > 0 && { ml2_type_vlan: { network_vlan_ranges: [...physicalNetworks] } }),
    securitygroup: { enable_security_group: true },
    ...('agents' in x.input ? {} : { ovn: ovnSection(x.input) }),
  });
  return { key: 'ml2_conf.ini', path: `/etc/neutron/${ML2}`, text };
}
