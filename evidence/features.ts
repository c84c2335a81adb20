/**
 * What the operator can do, and which runs show it. A run is a scenario of the lab (`cloud`) or a test file; all runs
 * that are named for a level must have passed for the level to count as seen. No result stands here: results are in
 * docs/evidence.json, written by the runs.
 */
export interface Feature {
  readonly what: string;
  readonly simulated?: readonly string[];
  readonly api?: readonly string[];
  readonly real?: readonly string[];
  /** Limits of what was seen, for docs/status.md. */
  readonly note?: string;
}

const functional = (...names: string[]): string[] => names.map(name => `test/functional/${name}.test.ts`);
const conformance = (...names: string[]): string[] => names.map(name => `test/conformance/${name}.real.test.ts`);
const contract = (...names: string[]): string[] => names.map(name => `test/contract/${name}.real.test.ts`);

export const kinds: readonly Feature[] = [
  {
    what: 'all CRDs, samples, refusals of bad input',
    simulated: functional('crds', 'samples', 'bad-input', 'bad-input-cloud'),
    api: conformance('crds'),
    real: ['slice'],
  },
  {
    what: 'OpenStackControlPlane (the slice: database, bus, cache, identity)',
    simulated: [...functional('slice'), 'test/e2e/slice.test.ts'],
    api: conformance('slice'),
    real: ['slice'],
  },
  {
    what: 'MariaDB, RabbitMQ (one member), Memcached, Keystone',
    simulated: functional('slice', 'memcached'),
    api: [...conformance('slice'), ...contract('daemons')],
    real: ['slice'],
  },
  {
    what: 'Glance (images on a volume), Placement',
    simulated: functional('glance', 'placement'),
    real: ['cloud'],
  },
  {
    what: 'OVNNetwork (one member, datapath `netdev`), Neutron with OVN',
    simulated: functional('ovn', 'neutron'),
    real: ['cloud'],
  },
  {
    what: 'Nova with cells, each part a kind of its own; NovaCompute `libvirt` in emulation, and `fake`',
    simulated: functional('nova'),
    real: ['cloud', 'secrets'],
  },
  {
    what: 'NovaCompute `ironic`, OVN datapath `system` under guests, KVM',
    simulated: functional('nova', 'ovn'),
    note: 'The machines of the lab have neither hardware virtualisation nor the openvswitch kernel module.',
  },
  { what: 'Heat, Horizon', simulated: functional('heat', 'horizon'), real: ['ceph'] },
  {
    what: 'CephStorage (external); Glance, Cinder with backups and guest disks on Ceph',
    simulated: functional('ceph', 'cinder'),
    real: ['ceph'],
  },
  { what: 'Neutron with ML2/OVS and its agents', simulated: functional('neutron'), real: ['ovs'] },
  {
    what: 'Glance with several stores (Ceph, Swift, a volume), import by `copy-image`; backups in Swift',
    simulated: functional('glance', 'cinder'),
    real: ['stores'],
    note: "On the lab Swift's API is served by Ceph's gateway.",
  },
  {
    what: 'Cinder on NFS, LVM',
    simulated: functional('cinder'),
    note: 'The kernel of the lab has neither NFS nor the device mapper.',
  },
  { what: 'CephStorage by Rook', simulated: functional('ceph'), note: 'Rook itself is simulated.' },
  {
    what: 'data plane kinds, NovaExternalCompute, OVNMetadataAgent, OpenStackAnsibleEE',
    note: 'The CRDs exist, a controller does not: `NotImplemented`.',
  },
];

export const features: readonly Feature[] = [
  {
    what: 'no writes at rest, also after a restart',
    simulated: functional('slice'),
    api: conformance('slice'),
    real: ['slice', 'cloud'],
  },
  {
    what: 'an edit rolls only the pods that read it',
    simulated: functional('roll'),
    api: conformance('slice'),
    real: ['cloud'],
  },
  {
    what: '`deletionPolicy` Retain, and found again',
    simulated: [...functional('leaving'), 'test/e2e/slice.test.ts'],
    real: ['slice'],
  },
  { what: 'fernet rotation on schedule', simulated: functional('rotation'), real: ['slice'] },
  { what: 'a new administrator password in the Secret', simulated: ['test/e2e/slice.test.ts'], real: ['slice'] },
  {
    what: 'external MariaDB and Ceph, shared by two clouds; one goes, the other stays whole',
    simulated: functional('leaving'),
    real: ['shared'],
  },
  { what: 'hand-made Secrets instead of backends', simulated: functional('half', 'rule26-nova'), real: ['cloud'] },
  {
    what: 'a newer operator takes over a cloud without restarting a pod',
    real: ['upgrade'],
  },
  { what: 'pause, adopt, retry, skip-undo', simulated: functional('slice', 'reasons') },
  {
    what: 'leader election, hand-over, fencing',
    simulated: ['src/runtime/lease.test.ts', 'src/runtime/manager.test.ts'],
    api: conformance('runtime'),
  },
  {
    what: 'pod profile `restricted`, seccomp, dropped capabilities, requests',
    simulated: functional('hardening'),
    real: ['slice'],
    note: 'On the lab PodSecurity enforces it for the slice; pods of nodes are exempt everywhere.',
  },
  {
    what: 'pods of the node in a namespace of their own (`nodeNamespace`), PodSecurity enforced on that of the cloud',
    simulated: functional('nodes'),
    real: ['nodes'],
  },
  { what: 'disruption budgets where a service has several pods', simulated: functional('hardening') },
  {
    what: 'old rows removed at night, last result as a condition',
    simulated: functional('housekeeping'),
    real: ['chores'],
  },
  {
    what: 'Ingress per API, dashboard and consoles under a domain, TLS at the ingress, catalog follows',
    simulated: functional('exposure'),
    real: ['ceph'],
    note: 'On the lab the ingress controller is Traefik.',
  },
  {
    what: 'credentials replaced in pairs without a failed request, by action and by schedule',
    simulated: functional('rotation'),
    real: ['living'],
  },
  {
    what: '`ingress.routing: path`: all APIs under one host',
    simulated: functional('exposure'),
    api: contract('path'),
    real: ['outside'],
  },
  {
    what: '`expose` for hosts outside the cluster, `HostsCanReach`',
    simulated: functional('hosts'),
    real: ['outside'],
    note: 'The host outside has no hypervisor: its nova-compute uses the `fake` driver.',
  },
  { what: '`override` of pods and Services', simulated: functional('override') },
  {
    what: 'several clouds in one cluster',
    simulated: functional('namespaces'),
    real: ['two'],
    note: 'The lab has one node, so the computes of the second cloud use the `fake` driver.',
  },
  {
    what: 'a service switched off later; a cell emptied and taken out',
    simulated: functional('leaving', 'nova'),
    real: ['chores'],
  },
  {
    what: 'NetworkPolicies on one switch, enforced by kube-router',
    simulated: functional('hardening'),
    real: ['policies'],
    note: 'The lab has one node, so its host network is always admitted: kube-router lets a node reach its own pods.',
  },
  { what: 'admission webhook with a certificate of its own', api: conformance('webhook') },
  {
    what: '`render --as jobs`: a cloud without the operator',
    simulated: functional('jobs'),
    api: [...conformance('render'), ...contract('jobs')],
    real: ['render'],
  },
  { what: '`why`: root cause and next command', simulated: functional('why', 'why-stranger'), real: ['why'] },
  { what: '`plan` equals what happens', simulated: functional('plan'), real: ['plan'] },
  {
    what: 'the [page](how-to/open-the-page.md)',
    simulated: ['test/page/page.page.test.ts'],
    api: conformance('page'),
  },
  {
    what: 'TLS inside (memcached too, from 2025.2 on): from the start, on, renewed and off on a living cloud',
    simulated: functional('tls'),
    api: contract('tls'),
    real: ['ceph', 'living'],
  },
  {
    what: 'every rendered option is known to the services',
    simulated: ['test/contract/oslo.test.ts'],
    api: ['test/options/options.real.test.ts', 'test/options/lint.real.test.ts'],
  },
  {
    what: 'metrics, alert rules, dashboard',
    simulated: functional('monitoring'),
    api: ['test/alerts/alerts.real.test.ts'],
  },
  { what: "Tempest's smoke set", real: ['tempest'] },
  {
    what: 'the embedded API server answers like a real one',
    api: ['test/conformance'],
  },
  { what: 'three members of MariaDB or RabbitMQ, upgrades of OpenStack' },
];

/** Every run that some feature names, by level. */
export const proofs = (level: 'simulated' | 'api' | 'real'): readonly string[] =>
  [...new Set([...kinds, ...features].flatMap(feature => feature[level] ?? []))].sort();
