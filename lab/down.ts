import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killHost, pidOf, removeCgroups, started, stopDaemon } from './cluster/host.ts';
import { removeNetwork } from './cluster/network.ts';
import { paths } from './paths.ts';

/** What a containerd keeps of images; unpacking them again costs a minute, so it outlives the cluster. */
const IMAGES = 'containerd';

/**
 * Back to a machine without a lab, from any state: half started, interrupted, or crashed. Daemons that have files to
 * close are asked first; then each host is switched off, and with it everything on it.
 */
export async function clean(options: { readonly keepImages: boolean }): Promise<void> {
  const names = started();
  const polite = names.filter(name => !name.startsWith('host-') && pidOf(name) !== undefined);
  // etcd last: the others write to it while they end.
  const order = (name: string): number =>
    ['kubelet', 'kube-proxy', 'kube-', 'containerd', 'etcd'].findIndex(start => name.startsWith(start));
  for (const name of polite.sort((a, b) => order(a) - order(b))) await stopDaemon(name, 5);
  for (const name of names.filter(each => each.startsWith('host-'))) await killHost(name.slice('host-'.length));
  await removeCgroups();
  await removeNetwork();
  if (!existsSync(paths.run)) return;
  for (const entry of readdirSync(paths.run, { withFileTypes: true })) {
    const path = join(paths.run, entry.name);
    if (options.keepImages && entry.isDirectory() && existsSync(join(path, IMAGES))) {
      for (const inner of readdirSync(path))
        if (inner !== IMAGES) rmSync(join(path, inner), { recursive: true, force: true });
    } else if (!(options.keepImages && entry.name === 'log')) rmSync(path, { recursive: true, force: true });
  }
}
