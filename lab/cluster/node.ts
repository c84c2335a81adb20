import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { small } from '../images/names.ts';
import { runPaths } from '../paths.ts';
import { must, run, until } from '../shell.ts';
import { tool } from '../tools.ts';
import { alive, enter, makeCgroups, startDaemon } from './host.ts';
import { DNS_IP, type LabNode, POD_CIDR } from './layout.ts';

const below = (node: LabNode, ...parts: string[]): string => join(runPaths.node(node.name), ...parts);
export const socket = (node: LabNode): string => below(node, 'containerd.sock');

async function containerdConfig(node: LabNode): Promise<string> {
  return `version = 3
root = "${below(node, 'containerd')}"
state = "${below(node, 'containerd-state')}"
oom_score = 0
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs", "io.containerd.differ.v1.erofs"]
[grpc]
  address = "${socket(node)}"
[ttrpc]
  address = "${socket(node)}.ttrpc"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${small.pause}"
[plugins.'io.containerd.cri.v1.runtime']
  # Where CAP_SYS_RESOURCE is missing, a negative oom_score_adj is refused and every pod would fail with it.
  restrict_oom_score_adj = true
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  disable_hugetlb_controller = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "${below(node, 'cni')}"
    max_conf_num = 1
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      runtime_path = "${await tool('containerd-shim-runc-v2')}"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = "${await tool('runc')}"
        Root = "${below(node, 'runc')}"
        SystemdCgroup = false
[plugins.'io.containerd.grpc.v1.cri']
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
`;
}

/** A pod's default route comes from the address plug-in; the bridge plug-in must not add it a second time. */
function cniConfig(node: LabNode): string {
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'lab',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: below(node, 'cni-data'),
          ranges: [[{ subnet: node.podCidr }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
}

function kubeletConfig(node: LabNode): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${node.cgroup}`,
    enforceNodeAllocatable: ['pods'],
    containerRuntimeEndpoint: `unix://${socket(node)}`,
    imageServiceEndpoint: `unix://${socket(node)}`,
    address: '0.0.0.0',
    port: 10250,
    readOnlyPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: '30s' },
      x509: { clientCAFile: join(runPaths.pki, 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: join(runPaths.pki, `kubelet-${node.name}-server.crt`),
    tlsPrivateKeyFile: join(runPaths.pki, `kubelet-${node.name}-server.key`),
    clusterDNS: [DNS_IP],
    clusterDomain: 'cluster.local',
    // Nothing outside can be reached, so nothing outside is asked for names.
    resolvConf: below(node, 'resolv.conf'),
    podLogsDir: below(node, 'pod-logs'),
    oomScoreAdj: 0,
    failSwapOn: false,
    maxOpenFiles: 20_000,
    maxPods: 200,
    serializeImagePulls: false,
    // A changed Secret is seen by a pod within seconds: fernet keys and certificates reload live.
    syncFrequency: '5s',
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    nodeStatusUpdateFrequency: '4s',
    nodeLeaseDurationSeconds: 12,
    // Imported images can't be pulled again: never collect them.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    containerLogMaxSize: '20Mi',
    // Stories kill the operator every few seconds: it must be back before the next kill.
    crashLoopBackOff: { maxContainerRestartPeriod: '1s' },
  });
}

function proxyConfig(node: LabNode): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: join(runPaths.kubeconfigs, 'kube-proxy.conf') },
    clusterCIDR: POD_CIDR,
    hostnameOverride: node.name,
    bindAddress: '0.0.0.0',
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    // Zero leaves the machine's connection tracking as it is.
    conntrack: { maxPerCore: 0, min: 0 },
    oomScoreAdj: 0,
  });
}

/** A running kube-proxy ends when its file is touched, though nothing in it changed. */
function writeNew(file: string, text: string): void {
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

export async function ctr(node: LabNode, ...args: string[]): Promise<string> {
  const [program, ...rest] = [...enter(node.name), await tool('ctr'), '-a', socket(node), '-n', 'k8s.io', ...args];
  return must(program!, rest);
}

/** Containers of an earlier cluster that nobody will ever ask for again, with their file systems. */
async function forgetOldContainers(node: LabNode): Promise<void> {
  const old = (await ctr(node, 'containers', 'list', '-q')).split('\n').filter(Boolean);
  for (let at = 0; at < old.length; at += 50) await ctr(node, 'containers', 'delete', ...old.slice(at, at + 50));
}

export async function startContainerd(node: LabNode, fresh: boolean): Promise<void> {
  for (const folder of ['containerd', 'cni', 'cni-data', 'kubelet', 'pod-logs', 'certs'])
    mkdirSync(below(node, folder), { recursive: true });
  writeFileSync(below(node, 'containerd.toml'), await containerdConfig(node));
  writeFileSync(below(node, 'cni', '10-lab.conflist'), cniConfig(node));
  writeFileSync(below(node, 'resolv.conf'), '');
  makeCgroups(node.cgroup);
  const name = `containerd-${node.name}`;
  const was = alive(name);
  const command = [await tool('containerd'), '--config', below(node, 'containerd.toml'), '--log-level', 'warn'];
  await startDaemon(node.name, name, command);
  const up = async (): Promise<boolean> => {
    const [program, ...args] = [...enter(node.name), await tool('ctr'), '-a', socket(node), 'version'];
    return (await run(program!, args)).code === 0;
  };
  await until(name, 60, up, () => alive(name));
  if (fresh && !was) await forgetOldContainers(node);
}

export async function startKubelet(node: LabNode): Promise<void> {
  writeNew(below(node, 'kubelet.yaml'), kubeletConfig(node));
  writeNew(below(node, 'kube-proxy.yaml'), proxyConfig(node));
  const kubelet = [
    await tool('kubelet'),
    `--config=${below(node, 'kubelet.yaml')}`,
    `--kubeconfig=${join(runPaths.kubeconfigs, `kubelet-${node.name}.conf`)}`,
    `--root-dir=${below(node, 'kubelet')}`,
    `--cert-dir=${below(node, 'certs')}`,
    `--hostname-override=${node.name}`,
    `--node-ip=${node.ip}`,
    `--node-labels=topology.kubernetes.io/zone=zone-${node.name}`,
    '--v=2',
  ];
  await startDaemon(node.name, `kubelet-${node.name}`, kubelet);
  await startDaemon(node.name, `kube-proxy-${node.name}`, [
    await tool('kube-proxy'),
    `--config=${below(node, 'kube-proxy.yaml')}`,
    '--v=2',
  ]);
}
