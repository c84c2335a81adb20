import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killHost, pidOf, removeCgroups, started, stopDaemon } from './cluster/host.ts';
import { labNamespaces, removeNetwork } from './cluster/network.ts';
import { paths } from './paths.ts';
import { must, until } from './shell.ts';

/** What a containerd keeps of images; unpacking them again costs a minute, so it outlives the cluster. */
const IMAGES = 'containerd';

/** Whatever still runs in the lab's networks: an `up` that was killed had no time to write down what it had started. */
async function endStrays(): Promise<void> {
  await until('the end of the last processes of the lab', 20, async () => {
    const strays: number[] = [];
    for (const name of await labNamespaces())
      strays.push(...(await must('ip', ['netns', 'pids', name])).split('\n').filter(Boolean).map(Number));
    for (const pid of strays) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself meanwhile.
      }
    }
    return strays.length === 0;
  });
}

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
  await endStrays();
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
