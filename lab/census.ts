import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { cgroupRoots } from './cluster/host.ts';
import { CGROUP, NETNS } from './cluster/layout.ts';
import { labNamespaces } from './cluster/network.ts';
import { cache, paths } from './paths.ts';
import { must } from './shell.ts';

/** What the lab could leave behind on the machine, named, so that a difference says what it is. */
export interface Census {
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly namespaces: readonly string[];
  readonly links: readonly string[];
  readonly cgroups: readonly string[];
  readonly sysctls: Readonly<Record<string, string>>;
  readonly tables: string;
}

/**
 * Daemons name the run folder in their arguments, the process that holds a host has it in its environment, and
 * everything in a pod is in a cgroup of the lab. Programs of the same cache that others run (`make conformance`, a build
 * of images, another lab) are not this lab's.
 */
function labProcesses(): string[] {
  const found: string[] = [];
  const group = new RegExp(`:/${CGROUP}(/|$)`, 'm');
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const program = readlinkSync(`/proc/${pid}/exe`);
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8');
      const ours = program.startsWith(`${cache}/`) && words.includes(`${paths.run}/`);
      if (ours || group.test(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))) found.push(`${pid} ${program}`);
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

function labMounts(): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '');
  return mounts.filter(
    at => at.startsWith(`${paths.run}/`) || at === `/run/netns/${NETNS}` || at.startsWith(`/run/netns/${NETNS}-`),
  );
}

function labCgroups(): string[] {
  return cgroupRoots()
    .map(root => `${root}/${CGROUP}`)
    .filter(path => existsSync(path));
}

/** Values that change by themselves, with no lab anywhere. */
const RESTLESS =
  /^(fs\.(dentry|file|inode|aio)-|kernel\.(random|ns_last_pid|pty\.nr)|net\.netfilter\.nf_conntrack_count|fs\.quota|kernel\.sched_domain)/;

async function sysctls(): Promise<Record<string, string>> {
  const listed = await must('sysctl', ['-a', '--ignore']).catch(() => '');
  const pairs = listed
    .split('\n')
    .map((line): [string, string] => [line.split(' = ')[0] ?? '', line.split(' = ')[1] ?? '']);
  return Object.fromEntries(pairs.filter(([name]) => name !== '' && !RESTLESS.test(name)));
}

export async function census(): Promise<Census> {
  const links = JSON.parse(await must('ip', ['-j', 'link', 'show'])) as { ifname: string }[];
  return {
    processes: labProcesses(),
    mounts: labMounts(),
    namespaces: await labNamespaces(),
    links: links.map(each => each.ifname).sort(),
    cgroups: labCgroups(),
    sysctls: await sysctls(),
    tables: await must('nft', ['list', 'tables']).catch(() => ''),
  };
}

/** One line for each thing that is there after and was not before, or the other way round. */
export function differences(before: Census, after: Census): string[] {
  const said: string[] = [];
  for (const kind of ['processes', 'mounts', 'namespaces', 'links', 'cgroups'] as const) {
    for (const each of after[kind]) if (!before[kind].includes(each)) said.push(`${kind}: left behind ${each}`);
    for (const each of before[kind]) if (!after[kind].includes(each)) said.push(`${kind}: lost ${each}`);
  }
  for (const name of new Set([...Object.keys(before.sysctls), ...Object.keys(after.sysctls)])) {
    const [was, is] = [before.sysctls[name], after.sysctls[name]];
    if (was !== is) said.push(`sysctl ${name}: was ${was ?? 'absent'}, is ${is ?? 'absent'}`);
  }
  if (before.tables !== after.tables)
    said.push(`nftables: was ${JSON.stringify(before.tables)}, is ${JSON.stringify(after.tables)}`);
  return said;
}
