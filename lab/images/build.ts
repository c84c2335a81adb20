import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { paths, repo } from '../paths.ts';
import { phase } from '../progress.ts';
import { bash, must } from '../shell.ts';
import { needPackages } from '../tools.ts';
import { KOLLA_GROUP, type Release, releaseFacts, users } from './names.ts';
import { buildPackages, runtimePackages } from './packages.ts';
import { inside, type Root } from './root.ts';

const SUITE = 'bookworm';
export const log = join(paths.images, 'build.log');

export const keyOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);

/** A folder that is either whole or absent: built beside its place and moved there at the end. */
export async function once(
  name: string,
  title: string,
  key: string,
  make: (part: string, note: (text: string) => void) => Promise<void>,
): Promise<string> {
  const folder = join(paths.images, `${name}-${key}`);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  await phase(`images:${name}`, title, async note => {
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    await make(part, note);
    for (const leftover of ['.work', '.mount']) rmSync(`${part}/root${leftover}`, { recursive: true, force: true });
    renameSync(part, folder);
  });
  return folder;
}

/** The archive this machine itself uses, so that mirrors and proxies of the site hold for the images as well. */
async function archives(): Promise<{ readonly main: string; readonly sources: string }> {
  const format = '$(REPO_URI) $(RELEASE)';
  const listed = await must('apt-get', ['indextargets', '--format', format, 'Created-By: Packages', 'Component: main']);
  const pairs = [...new Set(listed.trim().split('\n'))].map(line => line.split(' ') as [string, string]);
  const security = pairs.find(([, release]) => release.endsWith('-security'));
  const main = pairs.find(([, release]) => /^[a-z]+$/.test(release));
  if (main === undefined)
    throw new Error('apt knows no Debian archive: /etc/apt has no source with the component main');
  const lines = [`deb ${main[0]} ${SUITE} main`, `deb ${main[0]} ${SUITE}-updates main`];
  if (security !== undefined) lines.push(`deb ${security[0]} ${SUITE}-security main`);
  return { main: main[0], sources: `${lines.join('\n')}\n` };
}

function userCommands(): string {
  const lines = [
    `groupadd --gid ${KOLLA_GROUP} kolla`,
    `useradd -l -M --shell /usr/sbin/nologin --uid ${KOLLA_GROUP} --gid kolla kolla`,
  ];
  for (const [name, { id, home }] of Object.entries(users)) {
    const folder = home ?? `/var/lib/${name}`;
    lines.push(`groupadd --gid ${id} ${name}`);
    lines.push(
      `useradd -l -M --home ${folder} --shell /usr/sbin/nologin --uid ${id} --gid ${id} --groups kolla ${name}`,
    );
    lines.push(`mkdir -p ${folder} && chown ${id}:${id} ${folder}`);
  }
  for (const [name, { groups }] of Object.entries(users))
    for (const group of groups ?? []) lines.push(`usermod --append --groups ${group} ${name}`);
  return lines.join('\n');
}

/** Debian with the runtime packages of every image. The same for all releases. */
export async function debianRoot(): Promise<string> {
  const finish = `
# Packages leave data, keys and caches behind that belong to one installation, not to an image.
rm -rf /var/lib/mysql/* /var/lib/rabbitmq/* /var/lib/rabbitmq/.erlang.cookie /etc/ssh/ssh_host_* /etc/openvswitch/* /var/lib/ovn/* /var/lib/openvswitch/*
rm -f /etc/libvirt/qemu/networks/default.xml /etc/libvirt/qemu/networks/autostart/default.xml /etc/machine-id
rm -rf /usr/share/doc/* /usr/share/man/* /usr/share/info/* /var/lib/apt/lists/* /var/log/*.log /var/log/apt /usr/share/locale/*
mkdir -p /usr/lib/rabbitmq/plugins /var/log/kolla /etc/kolla/defaults /var/lib/kolla/config_files
/usr/lib/rabbitmq/bin/rabbitmq-plugins enable --offline rabbitmq_management rabbitmq_prometheus
chown :kolla /var/log/kolla && chmod 2775 /var/log/kolla
rm -rf /run/*; mkdir -p /run/lock /run/mysqld /run/memcache /run/openvswitch /run/ovn /run/sshd
chown mysql /run/mysqld; chown memcached:memcached /run/memcache; chmod 1777 /run/lock
for name in mysql rabbitmq; do chown -R $name:$name /var/lib/$name; done
printf '%s\\n' '127.0.0.1 localhost' '::1 localhost' >/etc/hosts
`;
  const key = keyOf(SUITE, runtimePackages, users, finish, 1);
  return once('debian', 'Debian root with all runtime packages', key, async (part, note) => {
    await needPackages(['debootstrap']);
    const archive = await archives();
    const root = join(part, 'root');
    const debs = join(paths.images, '..', 'apt');
    mkdirSync(debs, { recursive: true });
    note('debootstrap');
    await must(
      'debootstrap',
      ['--variant=minbase', `--cache-dir=${debs}`, '--include=ca-certificates', SUITE, root, archive.main],
      {
        log,
        onLine: note,
      },
    );
    writeFileSync(join(root, 'etc/apt/sources.list'), archive.sources);
    writeFileSync(
      join(root, 'etc/apt/apt.conf.d/90lab'),
      'APT::Install-Recommends "false";\nAPT::Keep-Downloaded-Packages "true";\n',
    );
    writeFileSync(
      join(root, 'etc/dpkg/dpkg.cfg.d/lab'),
      'path-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\nforce-unsafe-io\n',
    );
    const install = `
${userCommands()}
# Packages ask for "their" system user and refuse one whose id is not in the system's range.
printf 'LAST_SYSTEM_UID=49999\\nLAST_SYSTEM_GID=49999\\n' >>/etc/adduser.conf
apt-get -q update
apt-get -q install -y ${runtimePackages.join(' ')}
# noVNC's pages without its dependencies, which are a second websockify and numpy.
cd /tmp/lab && apt-get -q download novnc && dpkg -x novnc_*.deb /tmp/lab/novnc && cp -r /tmp/lab/novnc/usr/share/novnc /usr/share/
${finish}`;
    await inside({ lower: [], upper: root }, install, log, note);
  });
}

/** The same with compilers, on top, so that nothing of it gets into an image. */
async function compilerRoot(debian: string): Promise<Root> {
  const key = keyOf(debian, buildPackages, 1);
  const folder = await once('compilers', 'compilers for the packages without wheels', key, async (part, note) => {
    const script = `apt-get -q update && apt-get -q install -y ${buildPackages.join(' ')}`;
    await inside({ lower: [join(debian, 'root')], upper: join(part, 'root') }, script, log, note);
  });
  return { lower: [join(folder, 'root'), join(debian, 'root')], upper: '' };
}

/** uv installs 260 packages in half a minute where pip takes five; itself it comes from PyPI like the rest. */
export async function uv(): Promise<string> {
  const version = '0.13.7';
  const folder = await once('uv', 'uv, the installer of Python packages', version, async part => {
    await bash(
      `cd "$1" && python3 -m pip download -q --no-deps --only-binary :all: -d . uv==${version} && python3 -m zipfile -e uv-*.whl x && install -m 755 "$(find x -name uv -type f)" uv && rm -r x`.replaceAll(
        '$1',
        part,
      ),
      {
        log,
      },
    );
  });
  return join(folder, 'uv');
}

const lockPath = (release: Release): string => join(repo, 'lab', 'images', `lock-${release}.txt`);

/** Horizon's old dependencies still ask for pkg_resources when they are built. */
export const BUILD_CONSTRAINTS = 'setuptools<81\n';

/** Resolves requirements-<release>.in anew; versions already in the lock file are kept where they still fit. */
export async function lock(release: Release): Promise<string> {
  const root = await compilerRoot(await debianRoot());
  const work = join(paths.images, 'lock');
  const binary = readFileSync(await uv()).toString('base64');
  const text = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const script = `
cd /tmp/lab
base64 -d >uv <<'EOF'
${binary}
EOF
chmod 755 uv
cat >in.txt <<'EOF'
${text(join(repo, 'lab', 'images', `requirements-${release}.in`))}
EOF
cat >lock.txt <<'EOF'
${text(lockPath(release))}
EOF
cat >build.txt <<'EOF'
${BUILD_CONSTRAINTS}
EOF
./uv pip compile -q --no-header --no-annotate --python /usr/bin/python3 --build-constraints build.txt -o lock.txt in.txt >/dev/null
cat lock.txt`;
  const resolved = await phase('images:lock', `lock file of ${release}`, note =>
    inside({ ...root, upper: join(work, 'root') }, script, log, note),
  );
  rmSync(work, { recursive: true, force: true });
  writeFileSync(
    lockPath(release),
    `# Resolved from requirements-${release}.in by \`npx tsx lab/main.ts lock ${release}\`; Python 3.11 on Debian 12.\n${resolved}`,
  );
  return lockPath(release);
}

/** Folders of /etc that Kolla fills from each project's sources; ours come with the wheel as venv/etc and share. */
const PROJECTS = ['keystone', 'glance', 'placement', 'nova', 'neutron', 'cinder', 'heat'];

/** The virtualenv of one release with every service, and what Kolla's base images put beside it. */
export async function releaseRoot(release: Release): Promise<{ readonly debian: string; readonly release: string }> {
  const debian = await debianRoot();
  const { kolla, apache } = releaseFacts[release];
  const apacheFiles = `
cd /tmp/lab && apt-get -q download apache2 && dpkg -x apache2_*.deb apache && mkdir -p /etc/apache2 && cp apache/etc/apache2/envvars /etc/apache2/
install -m 644 $docker/httpd_setup.sh $bin/kolla_httpd_setup
`;
  const locked = readFileSync(lockPath(release), 'utf8');
  const finish = `
venv=/var/lib/kolla/venv
for name in ${PROJECTS.join(' ')}; do
  mkdir -p /etc/$name
  if [ -d $venv/etc/$name ]; then cp -rn $venv/etc/$name/. /etc/$name/; fi
  chown root:$name /etc/$name; chmod 750 /etc/$name
  if [ -f /etc/$name/rootwrap.conf ]; then sed -i 's|^exec_dirs.*|exec_dirs=/var/lib/kolla/venv/bin,/sbin,/usr/sbin,/bin,/usr/bin,/usr/local/bin,/usr/local/sbin|' /etc/$name/rootwrap.conf; fi
done
# Horizon reads its settings from /etc, as in Kolla's image.
dashboard=$($venv/bin/python -c 'import importlib.util,os;print(os.path.dirname(importlib.util.find_spec("openstack_dashboard").origin))')
mkdir -p /etc/openstack-dashboard/local_settings.d
if [ -d $dashboard/conf ]; then cp -r $dashboard/conf/. /etc/openstack-dashboard/; fi
if [ -f $dashboard/local/local_settings.py.example ]; then cp $dashboard/local/local_settings.py.example /etc/openstack-dashboard/local_settings.py; fi
rm -rf $dashboard/local/local_settings.py $dashboard/local/local_settings.d
ln -s /etc/openstack-dashboard/local_settings.py $dashboard/local/local_settings.py
ln -s /etc/openstack-dashboard/local_settings.d $dashboard/local/local_settings.d
if [ ! -f $venv/bin/manage.py ]; then printf '%s\\n' '#!/var/lib/kolla/venv/bin/python' 'import os, sys' 'from django.core.management import execute_from_command_line' 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openstack_dashboard.settings")' 'execute_from_command_line(sys.argv)' >$venv/bin/manage.py; chmod 755 $venv/bin/manage.py; fi
ln -sfn python3.11 $venv/lib/python3
# Kolla's start files, from Kolla's own package.
docker=/tmp/lab/kolla/share/kolla/docker/base
bin=/usr/local/bin
mkdir -p $bin
for pair in start.sh:kolla_start set_configs.py:kolla_set_configs copy_cacerts.sh:kolla_copy_cacerts install_projects.sh:kolla_install_projects; do
  install -m 755 $docker/\${pair%%:*} $bin/\${pair##*:}
done
install -m 755 $docker/healthcheck_* $bin/
install -m 644 /dev/null $bin/kolla_extend_start
install -m 440 $docker/sudoers /etc/sudoers
mkdir -p /etc/sudoers.d; chmod 750 /etc/sudoers.d
# Packed files get a fixed time, so byte code must not look at times. The first start of each pod is seconds faster with it.
$venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash $venv/lib >/dev/null || true
mkdir -p /opt/kolla && cp -r /tmp/lab/kolla/share/kolla/docker /opt/kolla/docker
${apache ? apacheFiles : ''}`;
  const key = keyOf(debian, buildPackages, locked, kolla, finish, 1);
  const folder = await once(`release-${release}`, `OpenStack ${release} from PyPI`, key, async (part, note) => {
    const compilers = await compilerRoot(debian);
    const binary = readFileSync(await uv()).toString('base64');
    const script = `
cd /tmp/lab
base64 -d >uv <<'EOF'
${binary}
EOF
chmod 755 uv
cat >lock.txt <<'EOF'
${locked}
EOF
cat >build.txt <<'EOF'
${BUILD_CONSTRAINTS}
EOF
mkdir -p /var/lib/kolla
./uv venv -q --python /usr/bin/python3 /var/lib/kolla/venv
export VIRTUAL_ENV=/var/lib/kolla/venv UV_LINK_MODE=copy
./uv pip install --no-deps --build-constraints build.txt -r lock.txt
./uv pip install -q setuptools pip wheel 'setuptools<81'
./uv pip install -q --no-deps --target /tmp/lab/kolla-lib kolla==${kolla}
mkdir -p /tmp/lab/kolla; cp -r /tmp/lab/kolla-lib/share /tmp/lab/kolla/
${finish}`;
    await inside({ ...compilers, upper: join(part, 'root') }, script, log, note);
    // Kolla's templates serve the build of the thin layers and are no part of an image.
    renameSync(join(part, 'root/opt/kolla/docker'), join(part, 'kolla'));
    rmSync(join(part, 'root/opt'), { recursive: true, force: true });
  });
  return { debian: join(debian, 'root'), release: folder };
}
