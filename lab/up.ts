import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addonDeployments, addons } from './cluster/addons.ts';
import { CONTROL, startControllers, startControlPlane } from './cluster/control.ts';
import { alive, startHost } from './cluster/host.ts';
import { type LabNode, NETNS, nodeLabels, nodesOf } from './cluster/layout.ts';
import { makeNetwork } from './cluster/network.ts';
import { startContainerd, startKubelet } from './cluster/node.ts';
import { makePki } from './cluster/pki.ts';
import { clean } from './down.ts';
import { importImages } from './images/import.ts';
import type { Release } from './images/names.ts';
import { openstackImages } from './images/openstack.ts';
import { clusterImages, pauseProgram } from './images/small.ts';
import { kubectl, tryKubectl } from './kubectl.ts';
import { deployOperator } from './operator.ts';
import { paths, runPaths } from './paths.ts';
import { phase } from './progress.ts';
import { until } from './shell.ts';
import { needPackages, tools } from './tools.ts';

/** Programs of Debian that the cluster itself calls. */
const PACKAGES = [
  'iproute2',
  'nftables',
  'iptables',
  'conntrack',
  'ethtool',
  'containernetworking-plugins',
  'openssl',
  'openssh-client',
  'iputils-ping',
  'curl',
  'procps',
  'mount',
  'util-linux',
];

/** A cluster counts as running when its hosts and its API server do; anything less is cleaned and begun anew. */
export function isRunning(nodes: readonly LabNode[]): boolean {
  return (
    existsSync(`/run/netns/${NETNS}`) &&
    alive(`host-${CONTROL}`) &&
    nodes.every(each => alive(`host-${each.name}`)) &&
    alive('kube-apiserver')
  );
}

async function startNode(node: LabNode): Promise<void> {
  await startKubelet(node);
  await until(
    `node ${node.name}`,
    120,
    async () => (await tryKubectl(['get', 'node', node.name])).code === 0,
    () => alive(`kubelet-${node.name}`),
  );
  await kubectl(['label', '--overwrite', 'node', node.name, ...nodeLabels]);
  await kubectl(['wait', '--for=condition=Ready', `node/${node.name}`, '--timeout=120s']);
}

export interface UpOptions {
  readonly nodes: number;
  readonly releases: readonly Release[];
  readonly operator: boolean;
}

export async function up(options: UpOptions): Promise<void> {
  const nodes = nodesOf(options.nodes);
  await needPackages(PACKAGES);
  await tools(['envtest', 'cluster', 'shim', 'runc', 'local-path-provisioner']);
  const fresh = !isRunning(nodes);
  if (fresh) await clean({ keepImages: true });
  mkdirSync(runPaths.log, { recursive: true });
  await phase('cluster:hosts', 'certificates, network, hosts', async () => {
    await makePki(nodes);
    await makeNetwork(nodes);
    const pause = await pauseProgram();
    await startHost({ name: CONTROL, netns: NETNS }, pause);
    for (const node of nodes) await startHost(node, pause);
  });
  await phase('cluster:control', 'etcd, kube-apiserver, controllers', async () => {
    await startControlPlane();
    await startControllers();
  });
  await phase('cluster:containerd', 'containerd', async () => {
    for (const node of nodes) await startContainerd(node, fresh);
  });
  await phase('cluster:images', 'images of the cluster itself', async () => importImages(nodes, await clusterImages()));
  await phase('cluster:nodes', 'nodes Ready', async () => {
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(addons));
    await Promise.all(nodes.map(startNode));
  });
  await phase('cluster:addons', 'DNS and storage', async () => {
    for (const [namespace, name] of addonDeployments) {
      await kubectl(['-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=180s']);
    }
  });
  for (const release of options.releases) {
    const images = await openstackImages(release);
    await phase(`cluster:import-${release}`, `import ${images.length} images of ${release}`, note =>
      importImages(nodes, images, note),
    );
  }
  if (options.operator) await deployOperator(nodes);
  writeFileSync(join(paths.run, 'up'), `${new Date().toISOString()}\n`);
}
