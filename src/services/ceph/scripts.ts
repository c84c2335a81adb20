import { shell } from '../../world/quote/shell.ts';
import type { ConfigFile } from '../config/config.ts';
import { type Client, cephName, type Pool, type Purpose } from './keys.ts';

export const SCRIPTS = '/var/lib/openstack/ceph';

/** A Job that finds a pool or a user of somebody else ends with this code. */
export const TAKEN = 77;

/**
 * Whose a pool is stands in its application metadata, whose a user is in the monitors' key-value store. Setting the mark
 * of a pool takes several commands, so who begins says so in that store first: a Job that was cut off goes on.
 * What carries no mark is ours if one of our keys, which only our Secrets hold, is known to Ceph and opens it.
 */
const OWNERSHIP = `set -eu
taken() {
  if [ -n "$3" ]; then
    echo "$1 $2 belongs to $(echo "$3" | cut -d= -f3-4 | tr = ' ') of owner $(echo "$3" | cut -d= -f2)" >&2
  else echo "$1 $2 carries no owner mark of this operator" >&2
  fi
  exit ${TAKEN}
}
adopted() {
  case ",$ADOPT," in *",$1,"*) return 0 ;; esac
  id=$(echo "$2" | cut -d= -f2)
  [ -n "$id" ] || return 1
  case ",$ADOPT," in *",$id,"*) return 0 ;; esac
  return 1
}
note() { ceph config-key get "openstack-operator/$1" 2>/dev/null || true; }
key() { awk -v s="[client.$1]" '$0 == s { f = 1; next } /^\\[/ { f = 0 } f && $1 == "key" { print $3 }' /etc/ceph/clients.keyring; }
known() {
  mine=$(key "$1")
  [ -n "$mine" ] && [ "$(ceph auth get-key "client.$1" 2>/dev/null || true)" = "$mine" ]
}
opens() {
  for user in $USERS; do
    if known "$user" && ceph auth get "client.$user" 2>/dev/null | tr ',"' '\\n\\n' | sed 's/^ *//' |
      grep -qxF "profile rbd pool=$1"; then return 0; fi
  done
  return 1
}
exists() { ceph osd pool ls | grep -qxF "$1"; }
mark() { ceph osd pool application get "$1" rbd openstack_operator_owner 2>/dev/null || true; }
`;

/** Every step looks first or may be repeated: a Job may run twice. */
const SETUP = `claim() {
  if exists "$1"; then
    have=$(mark "$1")
    if [ "$have" = "$OWNER" ]; then return; fi
    if adopted "$1" "$have"; then return; fi
    if [ -n "$have" ]; then taken pool "$1" "$have"; fi
    if [ "$(note "pool/$1")" = "$OWNER" ] || opens "$1"; then return; fi
    taken pool "$1" ""
  fi
  begun=$(note "pool/$1")
  if [ -n "$begun" ] && [ "$begun" != "$OWNER" ] && ! adopted "$1" "$begun"; then taken pool "$1" "$begun"; fi
  ceph config-key set "openstack-operator/pool/$1" "$OWNER"
  ceph osd pool create "$1"
}
pool() {
  claim "$1"
  if [ -n "$3" ]; then
    ceph osd crush rule create-replicated "openstack-$3" default host "$3"
    ceph osd pool set "$1" crush_rule "openstack-$3"
  fi
  if [ "$2" = 1 ]; then ceph osd pool set "$1" size 1 --yes-i-really-mean-it
  elif [ -n "$2" ]; then ceph osd pool set "$1" size "$2"; fi
  rbd pool init "$1"
  ceph osd pool application set "$1" rbd openstack_operator_owner "$OWNER"
  ceph config-key rm "openstack-operator/pool/$1" || true
}
user() {
  have=$(note "user/$1")
  if [ "$have" != "$OWNER" ] && ceph auth get-key "client.$1" >/dev/null 2>&1; then
    if [ -n "$have" ]; then adopted "$1" "$have" || taken user "client.$1" "$have"
    else known "$1" || adopted "$1" "" || taken user "client.$1" ""; fi
  fi
  ceph config-key set "openstack-operator/user/$1" "$OWNER"
}
`;

/**
 * Only what carries our mark or was begun by us; of pools of before there were marks only those that the spec names, if
 * our keys open them: an administrator may have given our keys a pool of somebody else. Ceph itself asks twice.
 */
const DROP = `drop_pool() {
  ceph osd pool rm "$1" "$1" --yes-i-really-really-mean-it
  ceph config-key rm "openstack-operator/pool/$1" || true
}
marked() {
  have=$(mark "$1")
  if [ "$have" = "$OWNER" ] || { [ -z "$have" ] && [ "$(note "pool/$1")" = "$OWNER" ]; }; then drop_pool "$1"; fi
}
older() {
  if exists "$1" && [ -z "$(mark "$1")" ] && opens "$1"; then drop_pool "$1"; fi
}
drop_user() {
  if [ "$(note "user/$1")" = "$OWNER" ] || known "$1"; then
    ceph auth rm "client.$1"
    ceph config-key rm "openstack-operator/user/$1" || true
  fi
}
there=$(ceph osd pool ls)
echo "$there" | while read -r name; do marked "$name"; done
`;
const DROP_USERS = `for user in $USERS; do drop_user "$user"; done
`;

export interface CephOwner {
  /** The text that marks what is ours. */
  readonly mark: string;
  readonly adopt?: string;
}

/** Names of users are made of names that Kubernetes allows: none has a blank. */
const header = ({ mark, adopt = '' }: CephOwner, users: readonly string[]): string =>
  `OWNER=${shell(mark)}\nADOPT=${shell(adopt)}\nUSERS=${shell(users.join(' '))}\n`;

/** What a key must open for its service to work. */
const USES: Readonly<Record<Client, readonly Purpose[]>> = {
  glance: ['images'],
  cinder: ['volumes', 'vms'],
  'cinder-backup': ['backups'],
};

interface User {
  readonly client: Client;
  readonly user: string;
}

export function setupScript(
  admin: boolean,
  pools: readonly Pool[],
  users: readonly User[],
  owner: CephOwner,
): { readonly script: string; readonly inputs: readonly unknown[] } {
  const line = (pool: Pool) => `pool ${shell(pool.name)} '${pool.replicas ?? ''}' ${shell(pool.deviceClass ?? '')}\n`;
  const names = users.map(({ user }) => user);
  const claims = names.map(name => `user ${shell(name)}\n`).join('');
  const make = `${header(owner, names)}${OWNERSHIP}${SETUP}${pools.map(line).join('')}${claims}ceph auth import -i /etc/ceph/clients.keyring\n`;
  const looks = users.flatMap(({ client, user }) =>
    pools
      .filter(pool => USES[client].includes(pool.purpose))
      .map(pool => `rbd --id ${shell(user)} --keyring /etc/ceph/clients.keyring ls ${shell(pool.name)} >/dev/null\n`),
  );
  const script = admin ? make : `set -eu\n${looks.join('')}`;
  // Whom an annotation hands something over is an input: without it a Job that was refused would not run again.
  return { script, inputs: [admin, pools, users, ...(admin ? [owner] : [])] };
}

/** Only where the policy says Delete. Pools that were taken out of the spec carry the mark too. */
export const dropScript = (users: readonly string[], pools: readonly string[], owner: CephOwner): string =>
  [header(owner, users), OWNERSHIP, DROP, ...pools.map(name => `older ${shell(name)}\n`), DROP_USERS].join('');

export function setupFiles(
  conf: string,
  admin: { readonly user: string; readonly keyring: string } | undefined,
  rings: string,
  script: string,
): readonly ConfigFile[] {
  const file = (key: string, path: string, text: string): ConfigFile => ({ key, path, text });
  // Without the limits a cluster that does not answer would hold the Job for five minutes a try.
  const limits = '--client_mount_timeout=30 --rados_mon_op_timeout=30 --rados_osd_op_timeout=30';
  const login = admin
    ? `--id ${cephName(admin.user, 'spec.external.adminUser')} --keyring /etc/ceph/admin.keyring `
    : '';
  const args = `export CEPH_ARGS=${shell(`${login}${limits}`)}\n`;
  return [
    file('ceph.conf', '/etc/ceph/ceph.conf', conf),
    ...(admin ? [file('admin.keyring', '/etc/ceph/admin.keyring', admin.keyring)] : []),
    file('clients.keyring', '/etc/ceph/clients.keyring', rings),
    file('ceph.sh', `${SCRIPTS}/ceph.sh`, `${args}${script}`),
  ];
}
