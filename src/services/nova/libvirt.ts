import type { CephLink } from '../ceph/link.ts';
import type { ConfigFile } from '../config/config.ts';
import { fieldOf } from '../env.ts';
import type { ProcessVolume } from '../pods/pod.ts';
import { STATE } from './config.ts';

/** Nodes that run guests. */
export const COMPUTE_LABEL = 'openstack.k8s.io/compute';

const START = '/var/lib/openstack/libvirt';
/** The user of emulators; Kolla's image has it, and kolla-ansible runs them so. */
const GUESTS = 'nova';
const file = (key: string, path: string, lines: readonly string[]): ConfigFile => ({
  key,
  path,
  text: `${lines.join('\n')}\n`,
});

/** Only through the socket of the node: whoever opens that is root there already. */
export const libvirtFiles: readonly ConfigFile[] = [
  file('libvirtd.conf', '/etc/libvirt/libvirtd.conf', [
    'listen_tls = 0',
    'listen_tcp = 0',
    'unix_sock_group = "root"',
    'auth_unix_ro = "none"',
    'auth_unix_rw = "none"',
    // The default of five starves nova-compute while one call hangs.
    'max_client_requests = 20',
  ]),
  file('qemu.conf', '/etc/libvirt/qemu.conf', [
    // A guest that breaks out of its emulator is nobody on the node. Guests that were started as root stay so until they stop.
    `user = "${GUESTS}"`,
    `group = "${GUESTS}"`,
    // nova-compute is root, and so are the disks that it makes: libvirt gives them away for as long as a guest runs.
    'dynamic_ownership = 1',
    'remember_owner = 0',
    'security_driver = "none"',
    'security_default_confined = 0',
    // The pod's cgroup dies with the pod; guests live outside of it, where nothing limits them twice.
    'cgroup_controllers = [ ]',
    'namespaces = [ ]',
    'seccomp_sandbox = 1',
    'set_process_name = 1',
    'max_core = 0',
    // The log daemon is a pod of its own, so consoles go on when this one restarts.
    'stdio_handler = "logd"',
  ]),
  file('libvirt-start.sh', `${START}/libvirt-start.sh`, [
    'set -eu',
    '# Out of the pod in every hierarchy: what is started from here outlives the pod.',
    'leave() {',
    `  group=$1\${2%%/kubepods*}/openstack-guests`,
    '  mkdir -p "$group"',
    '  # Version 1 takes nobody into a group without processors and memory of its own.',
    '  for limit in cpuset.cpus cpuset.mems; do',
    `    above=$(cat "\${group%/*}/$limit" 2>/dev/null || true)`,
    '    if [ -n "$above" ] && [ -z "$(cat "$group/$limit")" ]; then echo "$above" >"$group/$limit"; fi',
    '  done',
    '  echo 0 >"$group/cgroup.procs"',
    '}',
    'try() { leave "$1" "$2" || echo "guests stay in $1$2 and end with this pod" >&2; }',
    '# Read whole: each step out changes the file.',
    'groups=$(cat /proc/self/cgroup)',
    'while IFS=: read -r _ names path; do',
    '  case $path in */kubepods*) ;; *) continue ;; esac',
    '  if [ -z "$names" ]; then',
    '    if [ -e /sys/fs/cgroup/unified/cgroup.procs ]; then try /sys/fs/cgroup/unified "$path"',
    '    elif [ -e /sys/fs/cgroup/cgroup.controllers ]; then try /sys/fs/cgroup "$path"; fi',
    `  elif [ -d "/sys/fs/cgroup/\${names#name=}" ]; then try "/sys/fs/cgroup/\${names#name=}" "$path"`,
    '  fi',
    'done <<<"$groups"',
    '# The device belongs to a group of the node, which may have another number here.',
    'if [ -c /dev/kvm ]; then',
    '  group=$(stat -c %g /dev/kvm)',
    `  if [ "$group" != 0 ]; then echo "node-kvm:x:$group:${GUESTS}" >>/etc/group; fi`,
    `  setpriv --reuid ${GUESTS} --regid ${GUESTS} --init-groups test -w /dev/kvm ||`,
    `    echo "user ${GUESTS} may not open /dev/kvm, so guests with virtType kvm do not start: give it to group kvm on the node, mode 0660" >&2`,
    'fi',
    'until [ -S /run/libvirt/virtlogd-sock ]; do sleep 0.2; done',
    'mkdir -p /var/lib/libvirt/images /var/cache/libvirt',
    '# Nova asks libvirt for the name of the node, and a pod on the host network has the name of the machine.',
    'exec unshare --uts bash -c \'hostname "$NODE_NAME"; exec libvirtd -p /run/libvirt/libvirtd.pid\'',
  ]),
];

/** The key under which guests open their disks in Ceph; libvirt reads it at its start. */
export const libvirtSecret = ({ fsid, user, key }: CephLink): readonly ConfigFile[] => [
  file('ceph-secret.xml', `/etc/libvirt/secrets/${fsid}.xml`, [
    "<secret ephemeral='no' private='no'>",
    `  <uuid>${fsid}</uuid>`,
    `  <usage type='ceph'><name>client.${user} secret</name></usage>`,
    '</secret>',
  ]),
  { key: 'ceph-secret.base64', path: `/etc/libvirt/secrets/${fsid}.base64`, text: key },
];

export const virtlogdFiles: readonly ConfigFile[] = [
  file('virtlogd-start.sh', `${START}/virtlogd-start.sh`, [
    'set -eu',
    'mkdir -p /var/log/libvirt/qemu',
    'exec virtlogd -p /run/libvirt/virtlogd.pid',
  ]),
];

/** The node's name and address are the pod's to know; they come first, so that the user's text wins. */
export const computeFiles: readonly ConfigFile[] = [
  file('compute-start.sh', `${START}/compute-start.sh`, [
    'set -eu',
    // Without it the resource tracker finds no disk and reports nothing (lab.md 5, trap 5).
    `mkdir -p ${STATE}/instances ${STATE}/tmp`,
    'printf \'[DEFAULT]\\nhost = %s\\nmy_ip = %s\\n\' "$NODE_NAME" "$NODE_IP" >/tmp/node.conf',
    'exec nova-compute --config-file /tmp/node.conf --config-dir /etc/nova/nova.conf.d',
  ]),
];

export const startArgv = (name: 'libvirt' | 'virtlogd' | 'compute'): readonly string[] => [
  'bash',
  `${START}/${name}-start.sh`,
];

export const nodeEnv = [fieldOf('NODE_NAME', 'spec.nodeName'), fieldOf('NODE_IP', 'status.hostIP')];

const folder = (name: string, path: string, more: Partial<ProcessVolume> = {}): ProcessVolume => ({
  name,
  hostPath: { path, type: 'DirectoryOrCreate' },
  mountPath: path,
  ...more,
});

const shared: readonly ProcessVolume[] = [
  folder('run-libvirt', '/run/libvirt'),
  folder('var-libvirt', '/var/lib/libvirt'),
  // Mounts that nova-compute makes for volumes must be seen by the hypervisor, and the other way round.
  folder('var-nova', STATE, { mountPropagation: 'Bidirectional' }),
  folder('run-ovs', '/run/openvswitch'),
  // Nova looks for the guests' terminals by the names libvirt gives (lab.md 5, trap 6).
  { name: 'dev', hostPath: { path: '/dev', type: 'Directory' }, mountPath: '/dev' },
];

export const computeVolumes = shared;
export const libvirtVolumes: readonly ProcessVolume[] = [
  ...shared,
  folder('log-libvirt', '/var/log/libvirt'),
  { name: 'cgroup', hostPath: { path: '/sys/fs/cgroup', type: 'Directory' }, mountPath: '/sys/fs/cgroup' },
];

/** On the node's own network: migration and consoles use its address, and a restart of the pod changes neither. */
export const onNode = { hostNetwork: true, hostPID: true, dnsPolicy: 'ClusterFirstWithHostNet' } as const;
