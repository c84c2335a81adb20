import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { startedAt } from '../lockfile.ts';
import { runPaths } from '../paths.ts';
import { daemon, must, sleep, until } from '../shell.ts';
import { CGROUP, DNS_IP, SYSTEM_CGROUP } from './layout.ts';

/**
 * A host of the lab is a set of namespaces held open by one process, the first of its pid namespace. Ending that
 * process ends everything that was ever started on the host, and its mounts go with it: this is how `lab-down`
 * can promise to leave nothing, whatever state the host was in.
 */
interface Running {
  readonly pid: number;
  readonly started: string;
}

const pidFile = (name: string): string => join(runPaths.pid, `${name}.json`);

function read(name: string): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(pidFile(name), 'utf8')) as Running;
    return startedAt(running.pid) === running.started ? running : undefined;
  } catch {
    return undefined;
  }
}

function write(name: string, pid: number): void {
  mkdirSync(runPaths.pid, { recursive: true });
  writeFileSync(pidFile(name), JSON.stringify({ pid, started: startedAt(pid) ?? '' }));
}

export const pidOf = (name: string): number | undefined => read(name)?.pid;
export const alive = (name: string): boolean => read(name) !== undefined;

/** All names that were ever started in this run, whether they live or not. */
export function started(): string[] {
  if (!existsSync(runPaths.pid)) return [];
  return readdirSync(runPaths.pid).map(file => basename(file, '.json'));
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The process behind `nsenter` or `unshare`, which fork because a pid namespace begins with a child. */
async function childOf(pid: number, what: string): Promise<number> {
  for (let turn = 0; turn < 100; turn++) {
    const child = childrenOf(pid)[0];
    if (child !== undefined) return child;
    if (startedAt(pid) === undefined) break;
    await sleep(20);
  }
  throw new Error(`${what} ended before it began; see ${join(runPaths.log, `${what}.log`)}`);
}

/**
 * The kubelet sets these for the whole machine. On a host of the lab it finds them set already, in files that are
 * bound over the real ones, and so leaves the machine's own values alone.
 */
const KUBELET_SYSCTLS: Record<string, string> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

/** Folders of the machine that pods write to by hostPath; each host has its own on top of the machine's. */
const OWN = ['etc', 'var', 'opt', 'srv', 'home'];

const setup = `
set -eu
mount --make-rprivate /
mount --make-rshared /
mount -t proc proc /proc
hostname "$HOST_NAME"
for name in ${OWN.join(' ')}; do
  if [ -d "/$name" ]; then
    mkdir -p "$HOST_DIR/host/$name" "$HOST_DIR/work/$name"
    mount -t overlay overlay -o "lowerdir=/$name,upperdir=$HOST_DIR/host/$name,workdir=$HOST_DIR/work/$name" "/$name"
  fi
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns
mkdir -p "$HOST_DIR/sysctl"
while read -r file value; do
  if [ -e "/proc/sys/$file" ]; then
    target="$HOST_DIR/sysctl/\${file##*/}"
    echo "$value" >"$target"
    mount --bind "$target" "/proc/sys/$file"
  fi
done <<'EOF'
${Object.entries(KUBELET_SYSCTLS)
  .map(([file, value]) => `${file} ${value}`)
  .join('\n')}
EOF
rm -f /etc/resolv.conf
printf 'search svc.cluster.local cluster.local\\nnameserver ${DNS_IP}\\noptions ndots:5\\n' >/etc/resolv.conf
touch "$HOST_DIR/ready"
exec "$PAUSE"
`;

export interface Host {
  readonly name: string;
  readonly netns: string;
}

const holder = (host: string): string => `host-${host}`;

/** Starts the host unless it runs. `pause` reaps what its containers leave behind. */
export async function startHost(host: Host, pause: string): Promise<void> {
  if (alive(holder(host.name))) return;
  const folder = runPaths.node(host.name);
  mkdirSync(folder, { recursive: true });
  mkdirSync(runPaths.log, { recursive: true });
  // What pods wrote to the host's folders belongs to the host that is gone.
  for (const stale of ['host', 'work', 'ready']) rmSync(join(folder, stale), { recursive: true, force: true });
  const env = { ...process.env, HOST_NAME: host.name, HOST_DIR: folder, PAUSE: pause };
  const unshare = [
    'unshare',
    '--mount',
    '--uts',
    '--ipc',
    '--pid',
    '--fork',
    '--kill-child=SIGKILL',
    'bash',
    '-c',
    setup,
  ];
  const outer = daemon(
    'nsenter',
    [`--net=/run/netns/${host.netns}`, ...unshare],
    join(runPaths.log, `${holder(host.name)}.log`),
    env,
  );
  const inner = await childOf(outer, holder(host.name));
  await until(
    `host ${host.name}`,
    15,
    async () => existsSync(join(folder, 'ready')),
    () => startedAt(inner) !== undefined,
  );
  write(holder(host.name), inner);
}

/** The words in front of a command that make it run on a host of the lab. */
export function enter(host: string): string[] {
  const pid = pidOf(holder(host));
  if (pid === undefined) throw new Error(`host ${host} of the lab does not run; start it with: make lab`);
  return ['nsenter', '-t', String(pid), '--mount', '--uts', '--ipc', '--net', '--pid', '--'];
}

/** Runs a daemon on a host, once. Its log is named after it. */
export async function startDaemon(
  host: string,
  name: string,
  command: readonly string[],
  cgroup = SYSTEM_CGROUP,
): Promise<void> {
  if (alive(name)) return;
  const [program, ...args] = [...enter(host), ...command];
  const outer = daemon(program!, args, join(runPaths.log, `${name}.log`));
  const pid = await childOf(outer, name);
  makeCgroups(cgroup);
  for (const root of cgroupRoots()) writeFileSync(join(root, cgroup, 'cgroup.procs'), String(pid));
  write(name, pid);
}

/** Asks a daemon to end, and ends it after a while. */
export async function stopDaemon(name: string, seconds = 10): Promise<void> {
  const running = read(name);
  if (running !== undefined) {
    process.kill(running.pid, 'SIGTERM');
    const end = Date.now() + seconds * 1000;
    while (alive(name) && Date.now() < end) await sleep(50);
    const stubborn = read(name);
    if (stubborn !== undefined) process.kill(stubborn.pid, 'SIGKILL');
  }
  rmSync(pidFile(name), { force: true });
}

/** Power off: everything on the host dies at once. Also how a story pulls a node's plug. */
export async function killHost(host: string): Promise<void> {
  const running = read(holder(host));
  if (running !== undefined) {
    process.kill(running.pid, 'SIGKILL');
    await until(`end of host ${host}`, 20, async () => startedAt(running.pid) === undefined);
  }
  rmSync(pidFile(holder(host)), { force: true });
}

/** cgroup folders of the lab in every hierarchy of the machine, v1 or v2. */
export function cgroupRoots(): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
    .filter(fields => fields[2] === 'cgroup' || fields[2] === 'cgroup2')
    .map(fields => fields[1]!);
}

/**
 * Of 1024 that every session and every other folder has. The lab: seen, a schema sync with 0 s of CPU after 130 s went
 * through in 30 s. Its daemons: a cluster whose pods want all of the machine must still renew its leases and answer its
 * probes; seen, etcd silent for 10 s and the operator without its lease.
 */
const SHARES: Readonly<Record<string, number>> = { [CGROUP]: 20_000, [SYSTEM_CGROUP]: 10_000 };

/** Two kubelets must never share a cgroup: each deletes what it takes for an orphan of its own. */
export function makeCgroups(cgroup: string): void {
  for (const root of cgroupRoots()) {
    let path = root;
    for (const part of cgroup.split('/')) {
      const parent = path;
      path = join(path, part);
      mkdirSync(path, { recursive: true });
      // A v1 cpuset starts empty, and a process can't enter an empty one.
      for (const file of ['cpuset.cpus', 'cpuset.mems']) {
        const own = join(path, file);
        if (root.endsWith('cpuset') && existsSync(own) && readFileSync(own, 'utf8').trim() === '') {
          writeFileSync(own, readFileSync(join(parent, file), 'utf8'));
        }
      }
      // The kernel may share the machine out by session, whatever `nice` says in each; the lab is one of many then, and its
      // pods, which ask for nothing, starve beside two compilers.
      const shares = SHARES[relative(root, path)];
      if (shares !== undefined && existsSync(join(path, 'cpu.shares')))
        writeFileSync(join(path, 'cpu.shares'), String(shares));
      const control = join(parent, 'cgroup.subtree_control');
      const available = join(parent, 'cgroup.controllers');
      if (existsSync(control) && existsSync(available)) {
        for (const controller of readFileSync(available, 'utf8').trim().split(' ').filter(Boolean)) {
          try {
            writeFileSync(control, `+${controller}`);
          } catch {
            // A controller that v1 has taken can't be given to v2; the kubelet uses the v1 one then.
          }
        }
      }
    }
  }
}

export async function removeCgroups(): Promise<void> {
  for (const root of cgroupRoots()) {
    const top = join(root, CGROUP);
    if (!existsSync(top)) continue;
    // The kernel needs a moment to release the last process of a cgroup.
    await until(`cgroup ${top} to be empty`, 10, async () => {
      await must('find', [top, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).catch(() => '');
      return !existsSync(top);
    });
  }
}
