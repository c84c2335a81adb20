import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cephRoots } from '../images/ceph.ts';
import { pauseProgram } from '../images/small.ts';
import { runPaths } from '../paths.ts';
import { must, until } from '../shell.ts';
import { alive, enter, startDaemon, startHost, stopDaemon } from './host.ts';
import { CGROUP, NETNS, node } from './layout.ts';

/**
 * One monitor, one manager, one OSD with its data in a sparse file: all that RBD needs. They share the address of node
 * n1, so pods and hypervisors reach them like any host of the network that the cluster is in.
 */
const HOST = 'ceph';
const CGROUP_HERE = `${CGROUP}/${HOST}`;
const folder = runPaths.node(HOST);
/** Where the host sees a root of its own, with Ceph's packages. */
const ROOT = join(folder, 'root');

/** Sparse: it takes what is written. */
const DISK_BYTES = 12 * 2 ** 30;

const conf = (fsid: string): string => `[global]
fsid = ${fsid}
mon_initial_members = a
mon_host = ${node(1).ip}
public_network = ${node(1).ip}/24
ms_bind_ipv6 = false
auth_allow_insecure_global_id_reclaim = false
# One disk: a copy of everything is all there can be.
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_allow_pool_delete = true
mon_warn_on_pool_no_redundancy = false
# Of the disk that the lab shares with all else on the machine.
mon_data_avail_warn = 2
mon_data_avail_crit = 1
[mgr]
mgr_initial_modules =
[osd]
osd_objectstore = bluestore
osd_memory_target = 939524096
bluestore_block_size = ${DISK_BYTES}
bluestore_block_create = true
bluestore_cache_autotune = false
bluestore_cache_size = 67108864
`;

/** Every step looks first, so that a start that was cut off is finished by the next. */
const setup = `
set -eu
mkdir -p "$ROOT" "$UPPER" "$WORK"
mountpoint -q "$ROOT" || mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK" "$ROOT"
cd "$ROOT"
for name in proc dev sys tmp run; do mkdir -p $name; done
mountpoint -q proc || mount -t proc proc proc
for name in dev sys; do mountpoint -q $name || mount --rbind /$name $name; done
mountpoint -q tmp || mount -t tmpfs tmpfs tmp
mountpoint -q run || mount -t tmpfs tmpfs run
exec chroot . bash -euo pipefail <<'EOF'
mkdir -p /etc/ceph /var/lib/ceph/mon/ceph-a /var/lib/ceph/mgr/ceph-x /var/lib/ceph/osd/ceph-0 /var/log/ceph /run/ceph
cd /etc/ceph
[ -e fsid ] || cat /proc/sys/kernel/random/uuid >fsid
cat >ceph.conf <<END
${conf('$(cat fsid)')}
END
if [ ! -e ceph.client.admin.keyring ]; then
  ceph-authtool --create-keyring admin.part --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mds 'allow *' --cap mgr 'allow *'
  mv admin.part ceph.client.admin.keyring
fi
if [ ! -e /var/lib/ceph/mon/ceph-a/done ]; then
  rm -rf /var/lib/ceph/mon/ceph-a/*
  ceph-authtool --create-keyring /tmp/mon.keyring --gen-key -n mon. --cap mon 'allow *'
  ceph-authtool /tmp/mon.keyring --import-keyring ceph.client.admin.keyring
  monmaptool --create --clobber --addv a '[v2:${node(1).ip}:3300,v1:${node(1).ip}:6789]' --fsid "$(cat fsid)" /tmp/monmap
  ceph-mon --mkfs -i a --monmap /tmp/monmap --keyring /tmp/mon.keyring
  touch /var/lib/ceph/mon/ceph-a/done
fi
EOF
`;

/** With a monitor: names for the others. */
const members = `
set -eu
ceph auth get-or-create mgr.x mon 'allow profile mgr' osd 'allow *' mds 'allow *' >/var/lib/ceph/mgr/ceph-x/keyring
osd=/var/lib/ceph/osd/ceph-0
if [ ! -e $osd/done ]; then
  [ -e $osd/uuid ] || cat /proc/sys/kernel/random/uuid >$osd/uuid
  [ -e $osd/keyring ] || ceph-authtool --create-keyring $osd/keyring --gen-key --name osd.0
  key=$(ceph-authtool --print-key --name osd.0 $osd/keyring)
  printf '{"cephx_secret": "%s"}' "$key" | ceph osd new "$(cat $osd/uuid)" -i -
  rm -f $osd/block
  ceph-osd -i 0 --mkfs --osd-uuid "$(cat $osd/uuid)"
  touch $osd/done
fi
`;

const inside = (...command: string[]): [string, string[]] => {
  const [program, ...rest] = [...enter(HOST), 'chroot', ROOT, ...command];
  return [program!, rest];
};

/** `ceph ARGUMENTS` as its administrator. */
export async function ceph(...args: string[]): Promise<string> {
  return must(...inside('ceph', '--connect-timeout', '10', ...args));
}

/** `rbd ARGUMENTS`, the same way. */
export async function rbd(...args: string[]): Promise<string> {
  return must(...inside('rbd', ...args));
}

const daemon = (name: string, ...command: string[]): Promise<void> =>
  startDaemon(HOST, `ceph-${name}`, ['chroot', ROOT, ...command], CGROUP_HERE);

async function answers(): Promise<boolean> {
  return ceph('status').then(
    () => true,
    () => false,
  );
}

export async function startCeph(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await startHost({ name: HOST, netns: NETNS }, await pauseProgram());
  const env = {
    ...process.env,
    ROOT,
    UPPER: join(folder, 'disk'),
    WORK: join(folder, 'disk.work'),
    LOWER: (await cephRoots()).join(':'),
  };
  const [program, ...rest] = [...enter(HOST), 'bash', '-c', setup];
  const log = join(runPaths.log, 'ceph-setup.log');
  await must(program!, rest, { env, log });
  await daemon('mon', 'ceph-mon', '-f', '-i', 'a');
  await until("Ceph's monitor", 60, answers, () => alive('ceph-mon'));
  await must(...inside('bash', '-c', members), { log });
  await daemon('mgr', 'ceph-mgr', '-f', '-i', 'x');
  await daemon('osd', 'ceph-osd', '-f', '-i', '0');
  await until(
    "Ceph's disk",
    120,
    async () => /"num_up_osds":\s*1\b/.test(await ceph('osd', 'stat', '-f', 'json')),
    () => alive('ceph-osd') && alive('ceph-mgr'),
  );
}

const GATEWAY = `${node(1).ip}:7480`;
/** Where the gateway serves the data of a project, for the catalog. */
export const OBJECTS = `http://${GATEWAY}/swift/v1/AUTH_%(project_id)s`;

/** Swift's API over this Ceph, for clients with a token of that Keystone: the object store of a site, and no part of the cloud. */
export async function startGateway(keystone: { readonly url: string; readonly password: string }): Promise<void> {
  const settings = `[client.rgw]
rgw_frontends = beast endpoint=${GATEWAY}
rgw_keystone_url = ${keystone.url}
rgw_keystone_api_version = 3
rgw_keystone_admin_user = admin
rgw_keystone_admin_password = ${keystone.password}
rgw_keystone_admin_project = admin
rgw_keystone_admin_domain = Default
rgw_keystone_accepted_roles = admin, member
# It knows the authorities of its own root only.
rgw_keystone_verify_ssl = false
rgw_swift_account_in_url = true
# As in Swift, each project has names of its own for containers.
rgw_keystone_implicit_tenants = true
keyring = /etc/ceph/ceph.client.rgw.keyring
`;
  const script = `
set -eu
cd /etc/ceph
ceph auth get-or-create client.rgw mon 'allow rw' osd 'allow rwx' mgr 'allow rw' >ceph.client.rgw.keyring
(umask 077; { cat ceph.conf; printf %s "$SETTINGS"; } >gateway.conf)
`;
  await stopDaemon('ceph-rgw');
  await must(...inside('bash', '-c', script), { env: { ...process.env, SETTINGS: settings } });
  await daemon('rgw', 'radosgw', '-f', '-n', 'client.rgw', '-c', '/etc/ceph/gateway.conf');
  await until(
    "Ceph's gateway",
    120,
    async () => (await fetch(`http://${GATEWAY}/swift/healthcheck`).catch(() => undefined))?.ok === true,
    () => alive('ceph-rgw'),
  );
}

/** What a cloud is told of it: config/samples/controlplane_ceph.yaml. */
export function cephSecret(): object {
  const read = (name: string): string => readFileSync(join(folder, 'disk', 'etc', 'ceph', name), 'utf8');
  const files = ['ceph.conf', 'ceph.client.admin.keyring'];
  const stringData = Object.fromEntries(files.map(name => [name, read(name)]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ceph-admin' }, type: 'Opaque', stringData };
}
