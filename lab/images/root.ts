import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cache, paths } from '../paths.ts';
import { must } from '../shell.ts';

/** A root file system to run commands in: lower folders are only read, what is written goes to `upper`. */
export interface Root {
  readonly lower: readonly string[];
  readonly upper: string;
}

/** Settings of the machine that decide where packages come from; the lab itself names no mirror. */
const PASSED =
  /^(https?_proxy|no_proxy|PIP_(INDEX_URL|EXTRA_INDEX_URL|DEFAULT_TIMEOUT)|UV_(DEFAULT_)?INDEX(_URL)?|GOPROXY)$/i;

export function networkEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => PASSED.test(entry[0]) && entry[1] !== undefined,
  );
  return Object.fromEntries(kept);
}

/**
 * Runs a script inside. Mounts and processes live in namespaces of their own, so nothing of them is left
 * however the script ends, even by SIGKILL.
 */
export async function inside(
  root: Root,
  script: string,
  log: string,
  onLine?: (line: string) => void,
): Promise<string> {
  mkdirSync(root.upper, { recursive: true });
  const work = `${root.upper}.work`;
  const mount = `${root.upper}.mount`;
  for (const folder of [work, mount, join(cache, 'apt'), paths.uv]) mkdirSync(folder, { recursive: true });
  const outer = `
set -euo pipefail
mount --make-rprivate /
if [ -n "$LOWER" ]; then mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK" "$MOUNT"
else mount --bind "$UPPER" "$MOUNT"; fi
cd "$MOUNT"
mount -t proc proc proc
mount -t tmpfs tmpfs tmp; mount -t tmpfs tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
ln -s /proc/self/fd dev/fd; mkdir dev/shm dev/pts
mkdir -p tmp/lab var/cache/apt/archives/partial
mount --bind "$CACHE/apt" var/cache/apt/archives; mkdir -p var/cache/apt/archives/partial
mkdir -p tmp/uv; mount --bind "$UV" tmp/uv
cp /etc/resolv.conf tmp/lab/resolv.conf; cp /etc/hosts tmp/lab/hosts; cp /etc/ssl/certs/ca-certificates.crt tmp/lab/ca.crt
touch etc/resolv.conf; mount --bind tmp/lab/resolv.conf etc/resolv.conf
printf '#!/bin/sh\\nexit 101\\n' >tmp/lab/policy; chmod 755 tmp/lab/policy
touch usr/sbin/policy-rc.d; mount --bind tmp/lab/policy usr/sbin/policy-rc.d
cat >tmp/lab/script
exec chroot . bash -euo pipefail /tmp/lab/script
`;
  const env = {
    ...networkEnvironment(),
    PATH: '/var/lib/kolla/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    LANG: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
    SSL_CERT_FILE: '/tmp/lab/ca.crt',
    PIP_CERT: '/tmp/lab/ca.crt',
    UV_CACHE_DIR: '/tmp/uv',
    LOWER: root.lower.join(':'),
    UPPER: root.upper,
    WORK: work,
    MOUNT: mount,
    CACHE: cache,
    UV: paths.uv,
  };
  const args = ['--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts', 'bash', '-c', outer];
  return must('unshare', args, { env, input: script, log, ...(onLine === undefined ? {} : { onLine }) });
}
