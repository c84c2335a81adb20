import type { DeepReadonly } from '../../kube/object.ts';
import { shell } from '../../world/quote/shell.ts';
import type { ConfigFile } from '../config/config.ts';
import { OVS_RUN } from '../pods/node.ts';
import { overTls } from '../tls/certificate.ts';
import { CA_BUNDLE, OWN_CERTIFICATE, OWN_KEY } from '../tls/trust.ts';
import { NB_PORT, type OVNObject, SB_PORT } from './address.ts';

/** Start scripts. They run in Kolla's images without Kolla's own, which expect the host to be prepared by Ansible. */

type Spec = DeepReadonly<OVNObject['spec']>;

const FOLDER = '/scripts';
const script = (name: string, ...lines: readonly string[]): ConfigFile => ({
  key: `${name}.sh`,
  path: `${FOLDER}/${name}.sh`,
  text: `set -eu\n${lines.filter(line => line !== '').join('\n')}\n`,
});
export const scriptArgv = (name: string): string[] => ['sh', `${FOLDER}/${name}.sh`];

export const DATABASES = {
  nb: { port: NB_PORT, schema: 'OVN_Northbound', global: 'NB_Global', tool: 'ovn-nbctl', image: 'ovn-nb-db-server' },
  sb: { port: SB_PORT, schema: 'OVN_Southbound', global: 'SB_Global', tool: 'ovn-sbctl', image: 'ovn-sb-db-server' },
} as const;
export type DatabaseName = keyof typeof DATABASES;

/** Each reads its files again when they change. */
const SSL = `--private-key=${OWN_KEY} --certificate=${OWN_CERTIFICATE} --ca-cert=${CA_BUNDLE}`;
const ssl = (tls: boolean): string => (tls ? ` ${SSL}` : '');

export const DATA = '/var/lib/ovn';
export const OVN_RUN = '/run/ovn';

export function databaseScript(name: DatabaseName, spec: Spec): ConfigFile {
  const tls = overTls(spec);
  const { port, schema, global, tool } = DATABASES[name];
  const [file, blueprint] = [`${DATA}/${name}.db`, `/usr/share/ovn/ovn-${name}.ovsschema`];
  const socket = `${OVN_RUN}/ovn${name}_db.sock`;
  return script(
    name,
    // A file of no bytes is what a full disk leaves; the server does not start on it.
    `[ -s ${file} ] || { rm -f ${file}; ovsdb-tool create ${file} ${blueprint}; }`,
    `[ "$(ovsdb-tool needs-conversion ${file} ${blueprint})" = no ] || ovsdb-tool convert ${file} ${blueprint}`,
    // The probe interval is a property of a row, so the port is opened by a row too.
    `(until ${tool} --timeout=5 --no-leader-only --db=unix:${socket} --inactivity-probe=${spec.inactivityProbeMS} set-connection ${tls ? 'pssl' : 'ptcp'}:${port}:0.0.0.0; do sleep 0.3; done) &`,
    `exec ovsdb-server ${file} -vconsole:info -vsyslog:off --remote=punix:${socket} --remote=db:${schema},${global},connections --unixctl=${OVN_RUN}/ovn${name}_db.ctl${ssl(tls)}`,
  );
}

export const northdScript = (northbound: string, southbound: string, tls: boolean): ConfigFile =>
  script(
    'northd',
    `exec ovn-northd -vconsole:info -vsyslog:off --pidfile=${OVN_RUN}/ovn-northd.pid --ovnnb-db=${northbound} --ovnsb-db=${southbound}${ssl(tls)}`,
  );

const SOCKET = `unix:${OVS_RUN}/db.sock`;
export const VSWITCHD_CTL = `${OVS_RUN}/ovs-vswitchd.ctl`;

export const ovsdbScript = (): ConfigFile =>
  script(
    'ovsdb',
    '[ -e /etc/openvswitch/conf.db ] || ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema',
    `exec ovsdb-server /etc/openvswitch/conf.db -vconsole:info -vsyslog:off --remote=punix:${OVS_RUN}/db.sock --pidfile=${OVS_RUN}/ovsdb-server.pid --unixctl=${OVS_RUN}/ovsdb-server.ctl`,
  );

/** `key=value` lines of the user's; the CRD calls them external-ids. */
export function externalIds(
  text: string | undefined,
): readonly string[] | { readonly wrong: string; readonly line: number } {
  const ids: string[] = [];
  for (const [index, raw] of (text ?? '').split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (!/^[\w.-]+=.+$/.test(line)) return { wrong: line, line: index + 1 };
    ids.push(line);
  }
  return ids;
}

/** What makes a node a chassis: written at each start, so that an edit of the spec reaches a node that has data. */
export function vswitchdScript(spec: Spec, gateway: boolean, southbound: string, own: readonly string[]): ConfigFile {
  const { bridgeMappings = {}, bridgePorts = {}, datapath, encapType, inactivityProbeMS } = spec;
  const mappings = Object.entries(bridgeMappings).sort();
  const ids = [
    `ovn-remote=${southbound}`,
    `ovn-encap-type=${encapType}`,
    `ovn-bridge-datapath-type=${datapath}`,
    'ovn-monitor-all=true',
    `ovn-remote-probe-interval=${inactivityProbeMS}`,
    ...(mappings.length > 0 ? [`ovn-bridge-mappings=${mappings.map(pair => pair.join(':')).join(',')}`] : []),
    ...(gateway ? ['ovn-cms-options=enable-chassis-as-gw'] : []),
    ...own,
  ];
  const absent = ['ovn-bridge-mappings', 'ovn-cms-options'].filter(key => !ids.some(id => id.startsWith(`${key}=`)));
  return script(
    gateway ? 'vswitchd-gateway' : 'vswitchd',
    INIT,
    // The names by which Nova and Neutron know this node.
    'ovs-vsctl --no-wait set open . external-ids:system-id="$NODE_NAME" external-ids:hostname="$NODE_NAME" external-ids:ovn-encap-ip="$NODE_IP"',
    ...ids.map(id => `ovs-vsctl --no-wait set open . ${shell(`external-ids:${id}`)}`),
    ...absent.map(key => `ovs-vsctl --no-wait remove open . external-ids ${key}`),
    ...plugged({ bridgeMappings, bridgePorts, datapath }),
    tapsUp(datapath),
    VSWITCHD,
  );
}

/** Bridges of a node and what is plugged into them. */
export interface Plugs {
  readonly bridgeMappings?: Readonly<Record<string, string>>;
  readonly bridgePorts?: Readonly<Record<string, string>>;
  readonly datapath: string;
}

const INIT = 'until ovs-vsctl --no-wait init; do sleep 0.3; done';
const VSWITCHD = `exec ovs-vswitchd ${SOCKET} -vconsole:info -vsyslog:off --pidfile=${OVS_RUN}/ovs-vswitchd.pid --unixctl=${VSWITCHD_CTL}`;

/**
 * A switch in userspace sets flags of a tap, as libvirt does, and each writes all of them as it had read them: on the lab 2
 * of 20 guests were left with a tap that was down, and without an address.
 */
const tapsUp = (datapath: string): string =>
  datapath === 'netdev'
    ? '(while sleep 2; do for tap in $(ovs-vsctl --timeout=5 --bare --columns=name find interface admin_state=down external_ids:iface-status=active); do ip link set "$tap" up || :; done; done) &'
    : '';

function plugged({ bridgeMappings = {}, bridgePorts = {}, datapath }: Plugs): readonly string[] {
  const bridges = [...new Set([...Object.values(bridgeMappings), ...Object.keys(bridgePorts)])].sort();
  return [
    ...bridges.map(
      bridge =>
        `ovs-vsctl --no-wait --may-exist add-br ${shell(bridge)} -- set bridge ${shell(bridge)} datapath_type=${datapath}`,
    ),
    ...Object.entries(bridgePorts)
      .sort()
      .map(([bridge, port]) => `ovs-vsctl --no-wait --may-exist add-port ${shell(bridge)} ${shell(port)}`),
  ];
}

/** The switch without OVN: who makes flows in it is somebody else's matter. */
export const switchScript = (plugs: Plugs): ConfigFile =>
  script('vswitchd', INIT, ...plugged(plugs), tapsUp(plugs.datapath), VSWITCHD);

export const controllerScript = (tls: boolean): ConfigFile =>
  script(
    'controller',
    // Without an address it would wait for one, and say nothing.
    'until ovs-vsctl --no-wait get open . external-ids:ovn-remote >/dev/null 2>&1; do sleep 0.3; done',
    `exec ovn-controller ${SOCKET} -vconsole:info -vsyslog:off --pidfile=${OVN_RUN}/ovn-controller.pid${ssl(tls)}`,
  );
