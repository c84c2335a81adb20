import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OUTSIDE } from '../../lab/cluster/layout.ts';
import { netnsPath } from '../../lab/cluster/network.ts';
import { releaseRoot } from '../../lab/images/build.ts';
import type { Release } from '../../lab/images/names.ts';
import { run } from '../../lab/shell.ts';

/** The host beyond the external bridge, which is no part of the cluster: what a person on the internet would be. */
export const fromOutside = (...command: string[]): [string, string[]] => [
  'nsenter',
  [`--net=${netnsPath(OUTSIDE)}`, ...command],
];

/** What a command says there, in at most a minute. */
export const saidOutside = async (...command: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(...fromOutside('timeout', '60', ...command));
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${(stderr || stdout).trim().slice(-600)}`);
  return stdout;
};

/** A root of its own from the layers of the images, with the given files on top; nothing of it outlives the process. */
const script = `
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$PLACE"
mkdir "$PLACE/up" "$PLACE/work" "$PLACE/root"
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$PLACE/up,workdir=$PLACE/work" "$PLACE/root"
cd "$PLACE/root"
mount -t proc proc proc
mount --bind /dev dev
tar -xf "$FILES"
exec chroot . "$@"
`;

export interface Running {
  readonly log: () => string;
  stop(): Promise<void>;
}

/** Runs a program of the release's images on that host, as installed there with these files. */
export async function runOutside(
  release: Release,
  files: Readonly<Record<string, string>>,
  command: readonly string[],
): Promise<Running> {
  const roots = await releaseRoot(release);
  const folder = mkdtempSync(join(tmpdir(), 'outside-'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'files', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const [place, archive, log] = [join(folder, 'place'), join(folder, 'files.tar'), join(folder, 'log')];
  mkdirSync(place);
  await run('tar', ['-C', join(folder, 'files'), '-cf', archive, '.']);
  const out = openSync(log, 'w');
  const unshared = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'bash', '-c', script, 'bash', ...command];
  const child: ChildProcess = spawn(...fromOutside(...unshared), {
    stdio: ['ignore', out, out],
    env: {
      LANG: 'C.UTF-8',
      HOME: '/root',
      PATH: '/var/lib/kolla/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      PLACE: place,
      FILES: archive,
      LOWER: `${join(roots.release, 'root')}:${roots.debian}`,
    },
  });
  const ended = new Promise<void>(resolve => child.on('close', () => resolve()));
  return {
    log: () => readFileSync(log, 'utf8').slice(-3000),
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
