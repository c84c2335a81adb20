import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Everything the lab keeps lies in one folder, so that removing it removes the lab. */
export const cache = process.env.OPENSTACK_OPERATOR_CACHE ?? join(homedir(), '.cache', 'openstack-operator');

export const repo = dirname(dirname(fileURLToPath(import.meta.url)));

/** Several labs can run side by side, each in its own namespaces; tests of the lab itself use another name. */
export const labName = process.env.LAB_NAME ?? 'oslab';
if (!/^[a-z][a-z0-9]{1,9}$/.test(labName))
  throw new Error(`LAB_NAME must be 2 to 10 letters and digits, not ${labName}`);

export const paths = {
  bin: join(cache, 'bin'),
  goBuild: join(cache, 'go-build'),
  images: join(cache, 'images'),
  uv: join(cache, 'uv'),
  history: join(cache, 'history.json'),
  /** The running cluster: kept short, because unix sockets below it may have 107 bytes at most. */
  run: join(cache, labName === 'oslab' ? 'lab' : labName),
} as const;

export const runPaths = {
  pki: join(paths.run, 'pki'),
  kubeconfigs: join(paths.run, 'kubeconfig'),
  log: join(paths.run, 'log'),
  pid: join(paths.run, 'pid'),
  etcd: join(paths.run, 'etcd'),
  volumes: join(paths.run, 'volumes'),
  lock: join(cache, `${labName}.lock`),
  node: (name: string): string => join(paths.run, name),
} as const;

/** What a person or a test points KUBECONFIG at (from inside the lab's network namespace). */
export const adminKubeconfig = join(runPaths.kubeconfigs, 'admin.conf');
