import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ISSUER, NAMESPACE } from './cluster/certificates.ts';
import { enter } from './cluster/host.ts';
import { node } from './cluster/layout.ts';
import { releaseRoot } from './images/build.ts';
import type { Release } from './images/names.ts';
import { kubectl, tryKubectl } from './kubectl.ts';
import { runPaths } from './paths.ts';

interface SecretList {
  readonly items: readonly {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly data?: Record<string, string>;
  }[];
}

/** What the operator wrote for people: the Secret `openstack-clouds` of the namespace, or of the only one that has it. */
async function cloudsFile(namespace: string | undefined): Promise<string> {
  const where = namespace === undefined ? ['-A'] : ['-n', namespace];
  const list = JSON.parse(
    await kubectl(['get', 'secrets', ...where, '--field-selector=metadata.name=openstack-clouds', '-o', 'json']),
  ) as SecretList;
  const [found, ...others] = list.items;
  if (found === undefined)
    throw new Error(
      'no Secret openstack-clouds in the cluster: no control plane has a Keystone yet. See: kubectl get openstackcontrolplanes -A',
    );
  if (others.length > 0)
    throw new Error(
      `several clouds: set LAB_NAMESPACE to one of ${list.items.map(each => each.metadata.namespace).join(', ')}`,
    );
  return Buffer.from(found.data?.['clouds.yaml'] ?? '', 'base64').toString('utf8');
}

/** Who signs the certificates of published clouds; empty when the lab has no such authority. */
async function authority(): Promise<string> {
  const read = ['-n', NAMESPACE, 'get', 'secret', ISSUER, '-o', 'jsonpath={.data.tls\\.crt}'];
  const { code, stdout } = await tryKubectl(read);
  return code === 0 ? Buffer.from(stdout, 'base64').toString('utf8') : '';
}

/**
 * The client of the images' own virtualenv, on node n1, where Service names resolve. It sees the image's files
 * read-only and the folder you are in as its own, so that `image create --file` works.
 */
const script = `
set -eu
mount --make-rprivate /
cd "$CLIENT"
mount -t overlay overlay -o "lowerdir=$LOWER" .
cd "$CLIENT"
mount -t proc proc proc
mount -t tmpfs tmpfs tmp; mount -t tmpfs tmpfs root; mount --bind /dev dev
mount --bind /etc/resolv.conf etc/resolv.conf
mkdir tmp/work; mount --bind "$HERE" tmp/work
(umask 077; printf '%s' "$CLOUDS" >tmp/clouds.yaml)
if [ -n "$AUTHORITY" ]; then printf '%s' "$AUTHORITY" >tmp/ca.crt; export OS_CACERT=/tmp/ca.crt; fi
unset CLOUDS AUTHORITY
exec chroot . sh -c 'cd /tmp/work; exec "$@"' sh "$@"
`;

export async function clientWords(
  release: Release,
  command: readonly string[],
): Promise<{ words: [string, string[]]; env: NodeJS.ProcessEnv }> {
  const roots = await releaseRoot(release);
  const clouds = await cloudsFile(process.env.LAB_NAMESPACE);
  const names = Object.keys((parse(clouds) as { clouds?: Record<string, unknown> } | null)?.clouds ?? {});
  if (names[0] === undefined) throw new Error('the Secret openstack-clouds has no cloud in clouds.yaml');
  const client = join(runPaths.node(node(1).name), 'client');
  mkdirSync(client, { recursive: true });
  const env = {
    TERM: process.env.TERM,
    LANG: 'C.UTF-8',
    HOME: '/root',
    PATH: '/var/lib/kolla/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    PYTHONWARNINGS: 'ignore',
    OS_CLIENT_CONFIG_FILE: '/tmp/clouds.yaml',
    OS_CLOUD: process.env.OS_CLOUD ?? names[0],
    CLOUDS: clouds,
    AUTHORITY: await authority(),
    CLIENT: client,
    // Entering another mount namespace leaves the folder one was in.
    HERE: process.cwd(),
    LOWER: `${join(roots.release, 'root')}:${roots.debian}`,
  };
  const [program, ...rest] = [...enter(node(1).name), 'unshare', '--mount', 'bash', '-c', script, 'bash', ...command];
  return { words: [program!, rest], env };
}
