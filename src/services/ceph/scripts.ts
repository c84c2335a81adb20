import type { ConfigFile } from '../config.ts';
import type { Client, Pool, Purpose } from './keys.ts';

export const SCRIPTS = '/var/lib/openstack/ceph';

/** Names come from the spec, whose schema does not forbid quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Every step looks first or may be repeated: a Job may run twice. */
const SETUP = `set -eu
pool() {
  ceph osd pool ls | grep -qxF "$1" || ceph osd pool create "$1"
  if [ -n "$3" ]; then
    ceph osd crush rule create-replicated "openstack-$3" default host "$3"
    ceph osd pool set "$1" crush_rule "openstack-$3"
  fi
  if [ "$2" = 1 ]; then ceph osd pool set "$1" size 1 --yes-i-really-mean-it
  elif [ -n "$2" ]; then ceph osd pool set "$1" size "$2"; fi
  rbd pool init "$1"
}
`;

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
): { readonly script: string; readonly inputs: readonly unknown[] } {
  const line = (pool: Pool) => `pool ${quoted(pool.name)} '${pool.replicas ?? ''}' ${quoted(pool.deviceClass ?? '')}\n`;
  const make = `${SETUP}${pools.map(line).join('')}ceph auth import -i /etc/ceph/clients.keyring\n`;
  const looks = users.flatMap(({ client, user }) =>
    pools
      .filter(pool => USES[client].includes(pool.purpose))
      .map(pool => `rbd --id ${quoted(user)} --keyring /etc/ceph/clients.keyring ls ${quoted(pool.name)} >/dev/null\n`),
  );
  const script = admin ? make : `set -eu\n${looks.join('')}`;
  return { script, inputs: [admin, pools, users] };
}

/** Only where the policy says Delete. Ceph itself asks twice. */
export const dropScript = (pools: readonly Pool[], users: readonly string[]): string =>
  `set -eu\n${pools
    .map(({ name }) => quoted(name))
    .map(name => `ceph osd pool rm ${name} ${name} --yes-i-really-really-mean-it\n`)
    .join('')}${users.map(user => `ceph auth rm client.${quoted(user)}\n`).join('')}`;

export function setupFiles(
  conf: string,
  admin: { readonly user: string; readonly keyring: string } | undefined,
  rings: string,
  script: string,
): readonly ConfigFile[] {
  const file = (key: string, path: string, text: string): ConfigFile => ({ key, path, text });
  // Without the limits a cluster that does not answer would hold the Job for five minutes a try.
  const limits = '--client_mount_timeout=30 --rados_mon_op_timeout=30 --rados_osd_op_timeout=30';
  const login = admin ? `--id ${admin.user} --keyring /etc/ceph/admin.keyring ` : '';
  const args = `export CEPH_ARGS=${quoted(`${login}${limits}`)}\n`;
  return [
    file('ceph.conf', '/etc/ceph/ceph.conf', conf),
    ...(admin ? [file('admin.keyring', '/etc/ceph/admin.keyring', admin.keyring)] : []),
    file('clients.keyring', '/etc/ceph/clients.keyring', rings),
    file('ceph.sh', `${SCRIPTS}/ceph.sh`, `${args}${script}`),
  ];
}
