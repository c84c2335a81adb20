import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Holder, release, take } from './lockfile.ts';
import { cache, paths, repo } from './paths.ts';
import { phase } from './progress.ts';
import { has, must, run, sleep } from './shell.ts';

/** Kubernetes as a user sees it: `kubectl version`, the node's kubelet version. */
export const KUBERNETES = 'v1.37.1';
const CONTAINERD = '2.4.2';

interface Group {
  readonly programs: readonly string[];
  /** A folder of lab/tools, such a folder that is a module of its own, or a module of somebody else. */
  readonly from:
    | { readonly folder: string }
    | { readonly own: string }
    | { readonly module: string; readonly version: string; readonly package?: string };
  /** Files of a module it is built of that are kept beside the program. */
  readonly files?: { readonly module: string; readonly folder: string; readonly as: string };
  readonly cgo: boolean;
  readonly tags: string;
  /** Header files the compiler needs, by the Debian package that has them. */
  readonly apt: readonly string[];
}

// containerd's file system drivers that want C headers or modules which the lab has no use for.
const PURE = 'no_btrfs no_devmapper no_zfs';

const groups = {
  envtest: {
    programs: ['etcd', 'kube-apiserver', 'kubectl'],
    from: { folder: 'envtest' },
    cgo: false,
    tags: PURE,
    apt: [],
  },
  cluster: {
    programs: ['kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'coredns', 'containerd', 'ctr'],
    from: { folder: 'cluster' },
    cgo: false,
    tags: PURE,
    apt: [],
  },
  shim: { programs: ['containerd-shim-runc-v2'], from: { folder: 'shim' }, cgo: false, tags: PURE, apt: [] },
  oracle: { programs: ['oracle'], from: { folder: 'oracle' }, cgo: false, tags: PURE, apt: [] },
  // Debian's runc 1.1.5 works as well but knows no user namespaces. Seccomp profiles need C.
  runc: {
    programs: ['runc'],
    from: { module: 'github.com/opencontainers/runc', version: 'v1.5.2' },
    cgo: true,
    tags: 'seccomp',
    apt: ['libseccomp-dev', 'gcc', 'libc6-dev', 'pkg-config'],
  },
  'local-path-provisioner': {
    programs: ['local-path-provisioner'],
    from: { module: 'github.com/rancher/local-path-provisioner', version: 'v0.0.30' },
    cgo: false,
    tags: '',
    apt: [],
  },
  traefik: {
    programs: ['traefik'],
    from: { module: 'github.com/traefik/traefik/v3', version: 'v3.6.13', package: './cmd/traefik' },
    cgo: false,
    tags: '',
    apt: [],
  },
  // A graph of its own: in the cluster's, each would decide the versions of the other.
  'cert-manager': {
    programs: ['cert-manager'],
    from: { own: 'cert-manager' },
    files: { module: 'github.com/cert-manager/cert-manager', folder: 'deploy/crds', as: 'crds' },
    cgo: false,
    tags: '',
    apt: [],
  },
  // Its controller of NetworkPolicies under a small main file. No checksum database knows this version: go.sum here does.
  'kube-router': { programs: ['kube-router'], from: { own: 'kube-router' }, cgo: false, tags: '', apt: [] },
} as const satisfies Record<string, Group>;

export type ToolGroup = keyof typeof groups;
export type Tool = (typeof groups)[ToolGroup]['programs'][number];

export const allGroups = Object.keys(groups) as ToolGroup[];

const source = join(repo, 'lab', 'tools');

function versionFlags(): string {
  const set: string[] = [];
  for (const where of ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']) {
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(KUBERNETES) ?? [];
    set.push(`-X ${where}.gitVersion=${KUBERNETES} -X ${where}.gitMajor=${major} -X ${where}.gitMinor=${minor}`);
    // It shows in the user agent of every client, and so in the audit log.
    set.push(`-X ${where}.gitTreeState=clean -X ${where}.gitCommit=lab`);
  }
  set.push(`-X github.com/containerd/containerd/v2/version.Version=${CONTAINERD}`);
  return `-s -w ${set.join(' ')}`;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap(entry => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

let goVersion: string | undefined;

/** Names a build by all that goes into it, so that a change builds anew and nothing else does. */
async function keyOf(name: ToolGroup): Promise<string> {
  goVersion ??= (await must('go', ['env', 'GOVERSION'])).trim();
  const group: Group = groups[name];
  const hash = createHash('sha256').update(JSON.stringify([goVersion, group, versionFlags()]));
  if ('own' in group.from) {
    for (const file of filesBelow(join(source, group.from.own)))
      hash.update(file.slice(source.length)).update(readFileSync(file, 'utf8'));
  }
  if ('folder' in group.from) {
    const files = [join(source, 'go.mod'), join(source, 'go.sum')];
    for (const file of [
      ...files,
      ...filesBelow(join(source, 'multicall')),
      ...filesBelow(join(source, group.from.folder)),
    ]) {
      if (!file.endsWith('_test.go')) hash.update(file.slice(source.length)).update(readFileSync(file, 'utf8'));
    }
  }
  return `${name}-${hash.digest('hex').slice(0, 16)}`;
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

const verified = new Set<string>();

/** A file that has not been touched since its checksum was verified is not read again: 130 MB at each kubectl is felt. */
function untouched(folder: string, name: ToolGroup): string {
  const { mtimeMs, ctimeMs, size, ino } = statSync(join(folder, name));
  return JSON.stringify([mtimeMs, ctimeMs, size, ino]);
}

async function whole(folder: string, name: ToolGroup): Promise<boolean> {
  if (verified.has(folder)) return true;
  const sum = join(folder, 'SHA256');
  if (!existsSync(sum) || !existsSync(join(folder, name))) return false;
  const stamp = join(folder, 'verified');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === untouched(folder, name)) {
    verified.add(folder);
    return true;
  }
  if (readFileSync(sum, 'utf8').trim() !== (await sha256(join(folder, name)))) {
    process.stderr.write(`  ${folder} does not match its checksum: built again\n`);
    rmSync(folder, { recursive: true, force: true });
    return false;
  }
  writeFileSync(stamp, untouched(folder, name));
  verified.add(folder);
  return true;
}

async function ready(name: ToolGroup): Promise<string> {
  const folder = join(paths.bin, await keyOf(name));
  if (await whole(folder, name)) return folder;
  // One Go build already uses all cores and up to 4 GiB; a second one at the same time only makes both slow.
  const lock = join(cache, 'tools.lock');
  let told: Holder | undefined;
  for (let held = take(lock, `build of ${name}`); held !== undefined; held = take(lock, `build of ${name}`)) {
    if (told?.pid !== held.pid) process.stderr.write(`  waiting for process ${held.pid} (${held.what})\n`);
    told = held;
    await sleep(1000);
  }
  try {
    if (!(await whole(folder, name))) {
      await phase(`tools:${name}`, `build ${name} (${groups[name].programs.join(', ')})`.slice(0, 56), note =>
        build(name, folder, note),
      );
    }
  } finally {
    release(lock);
  }
  return folder;
}

async function build(name: ToolGroup, folder: string, note: (text: string) => void): Promise<void> {
  const group: Group = groups[name];
  if (!(await has('go')))
    throw new Error('Go is not installed; the lab builds Kubernetes from Go modules and needs Go 1.26 or later');
  await needPackages(group.apt);
  const work = `${folder}.part`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  let cwd = source;
  let target = '.';
  if ('folder' in group.from) target = `./${group.from.folder}`;
  else if ('own' in group.from) cwd = join(source, group.from.own);
  else {
    // The module's own go.mod and go.sum decide its dependencies; Go checks all of them against the checksum database.
    const where = JSON.parse(
      await must('go', ['mod', 'download', '-json', `${group.from.module}@${group.from.version}`]),
    ) as { Dir: string };
    cwd = join(work, 'source');
    target = group.from.package ?? '.';
    await must('cp', ['-r', where.Dir, cwd]);
    await must('chmod', ['-R', 'u+w', cwd]);
  }
  const flags = [
    'build',
    '-v',
    '-trimpath',
    '-tags',
    group.tags,
    '-ldflags',
    versionFlags(),
    '-o',
    join(work, name),
    target,
  ];
  let packages = 0;
  const ran = await run('go', flags, {
    cwd,
    log: join(cache, `build-${name}.log`),
    env: {
      ...process.env,
      GOCACHE: paths.goBuild,
      GOFLAGS: '-buildvcs=false -mod=readonly',
      CGO_ENABLED: group.cgo ? '1' : '0',
    },
    onLine: line => note(`${++packages} packages, ${line}`),
  });
  if (ran.code !== 0) {
    const words = ran.stderr.trim().split('\n').slice(-8).join('\n');
    throw new Error(`go build of ${name} failed (all of it in ${join(cache, `build-${name}.log`)}):\n${words}`);
  }
  if (group.files !== undefined) {
    const where = await must('go', ['list', '-m', '-f', '{{.Dir}}', group.files.module], { cwd });
    await must('cp', ['-r', join(where.trim(), group.files.folder), join(work, group.files.as)]);
    await must('chmod', ['-R', 'u+w', join(work, group.files.as)]);
  }
  rmSync(join(work, 'source'), { recursive: true, force: true });
  for (const program of group.programs) if (program !== name) symlinkSync(name, join(work, program));
  // Last, because a folder with a checksum is a finished one.
  writeFileSync(join(work, 'SHA256'), `${await sha256(join(work, name))}\n`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(work, folder);
  verified.add(folder);
}

/** Installs what is missing when it may, and names it when it may not. */
export async function needPackages(packages: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of packages) {
    const seen = await run('dpkg', ['-s', name]).catch(() => ({ stdout: '' }));
    if (!seen.stdout.includes('install ok installed')) missing.push(name);
  }
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0)
    throw new Error(
      `these Debian packages are missing: ${missing.join(' ')}. Install them (apt-get install), or run as root`,
    );
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const log = join(cache, 'apt.log');
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if ((await run('apt-get', install, { env, log })).code === 0) return;
  await must('apt-get', ['update'], { env, log });
  await must('apt-get', install, { env, log });
}

/**
 * The path of a program, built first when it is not there. The file is named after the program,
 * so it can be started as it is. `make conformance` needs only etcd, kube-apiserver and kubectl.
 */
export async function tool(program: Tool): Promise<string> {
  const name = allGroups.find(each => (groups[each].programs as readonly string[]).includes(program));
  if (name === undefined) throw new Error(`no group of lab/tools has ${program}`);
  return join(await ready(name), program);
}

/** Builds whole groups, one after the other, and answers with the folder of each. */
export async function tools(names: readonly ToolGroup[] = allGroups): Promise<Record<string, string>> {
  const folders: Record<string, string> = {};
  for (const name of names) folders[name] = await ready(name);
  return folders;
}
