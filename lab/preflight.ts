import { mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { cache } from './paths.ts';
import { has } from './shell.ts';

export interface Machine {
  readonly root: boolean;
  readonly os: string;
  readonly osName: string;
  readonly debian: number;
  readonly architecture: string;
  readonly memoryGiB: number;
  readonly freeDiskGiB: number;
  readonly cores: number;
  readonly go: boolean;
}

/**
 * Measured: daemons 1.3 GB, all services of a cloud 3.3 GB, one guest 0.3 GB, and a Go build on the side up to 4 GB.
 * Disk, cold: Go modules and build cache 7 GB, one release 4 GB as roots and layers and 4 GB unpacked, volumes.
 */
export const NEEDS = { memoryGiB: 6, diskGiB: 20, diskWarmGiB: 5 } as const;

/** Every reason why it can't work here, at once, so that nobody fixes them one by one. */
export function refusals(machine: Machine, warm: boolean): string[] {
  const reasons: string[] = [];
  if (machine.os !== 'linux') return [`this is ${machine.os}; the lab is made of Linux namespaces`];
  if (!machine.root) reasons.push('not root: the lab makes network namespaces, cgroups and mounts. Run it with sudo');
  if (machine.debian < 12)
    reasons.push(`this is ${machine.osName}, not Debian 12 or later: the lab installs Debian packages`);
  if (machine.architecture !== 'x64')
    reasons.push(`the processor is ${machine.architecture}; images and guests are built for x86-64 only`);
  const disk = warm ? NEEDS.diskWarmGiB : NEEDS.diskGiB;
  if (machine.freeDiskGiB < disk) {
    reasons.push(
      `${machine.freeDiskGiB.toFixed(1)} GiB are free below ${cache}; ${disk} GiB are needed (OPENSTACK_OPERATOR_CACHE can point elsewhere)`,
    );
  }
  if (machine.memoryGiB < NEEDS.memoryGiB)
    reasons.push(`${machine.memoryGiB.toFixed(1)} GiB of memory; ${NEEDS.memoryGiB} GiB are needed`);
  if (!warm && !machine.go)
    reasons.push('Go is not on PATH: Kubernetes is built from Go modules and needs Go 1.26 or later');
  return reasons;
}

export const ELSEWHERE =
  'The operator itself does not need the lab: any cluster will do. Point KUBECONFIG at one (kind, k3s, a real one) and use `make run`, or `make cloud` for the embedded world.';

/** PRETTY_NAME and the number; a derivative that is not Debian has no number of Debian's. */
export function distribution(osRelease: string): { readonly name: string; readonly debian: number } {
  const field = (name: string): string => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(osRelease)?.[1] ?? '';
  const version = Number.parseInt(field('VERSION_ID'), 10);
  return {
    name: field('PRETTY_NAME') || 'an unknown system',
    debian: field('ID') === 'debian' && !Number.isNaN(version) ? version : 0,
  };
}

export async function look(): Promise<Machine> {
  let release = '';
  try {
    release = readFileSync('/etc/os-release', 'utf8');
  } catch {
    // Then it is no Debian.
  }
  const { name, debian } = distribution(release);
  mkdirSync(cache, { recursive: true });
  const disk = statfsSync(cache);
  return {
    root: process.getuid?.() === 0,
    os: process.platform,
    osName: name,
    debian,
    architecture: process.arch,
    memoryGiB: totalmem() / 2 ** 30,
    freeDiskGiB: (disk.bavail * disk.bsize) / 2 ** 30,
    cores: cpus().length,
    go: await has('go'),
  };
}
