import type { Random } from '../../world/clock.ts';
import { Unquotable } from '../../world/quote/unquotable.ts';

/** Who gets a key of Ceph. nova-compute uses Cinder's: both attach volumes, and libvirt knows a cluster by one secret. */
export const CLIENTS = ['glance', 'cinder', 'cinder-backup'] as const;
export type Client = (typeof CLIENTS)[number];

export const PURPOSES = ['images', 'volumes', 'vms', 'backups'] as const;
export type Purpose = (typeof PURPOSES)[number];

export interface Pool {
  readonly name: string;
  readonly purpose: Purpose;
  readonly replicas?: number | undefined;
  readonly deviceClass?: string | undefined;
}

/**
 * A key as `ceph-authtool --gen-key` makes it: type 1 (AES), time of creation, length, 16 random bytes; little-endian.
 * Made here, so that it is in our hands before Ceph hears of it and no Job needs rights in Kubernetes to bring it back.
 */
export function cephKey(random: Random, nowMs: number): string {
  const key = Buffer.alloc(28);
  key.writeUInt16LE(1, 0);
  key.writeUInt32LE(Math.floor(nowMs / 1000), 2);
  key.writeUInt16LE(16, 10);
  key.set(random.bytes(16), 12);
  return key.toString('base64');
}

const MAY: Readonly<Record<Client, { readonly write: readonly Purpose[]; readonly read: readonly Purpose[] }>> = {
  glance: { write: ['images'], read: [] },
  cinder: { write: ['volumes', 'vms'], read: ['images'] },
  'cinder-backup': { write: ['backups'], read: [] },
};

/** Ceph's keyrings, capabilities and CEPH_ARGS have no escapes: a name that is not plain would become another right. */
export function cephName(name: string, what: string): string {
  if (!/^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(name))
    throw new Unquotable(
      `${what} is no name that Ceph's keyrings can hold: letters, digits, dots, underscores and dashes`,
    );
  return name;
}

/** The capabilities that Ceph's own guide for OpenStack gives (openstack-facts 13). */
export function capsOf(client: Client, pools: readonly Pool[]): Readonly<Record<'mon' | 'osd' | 'mgr', string>> {
  const profile = (name: string, purposes: readonly Purpose[]): string[] =>
    pools
      .filter(pool => purposes.includes(pool.purpose))
      .map(pool => `profile ${name} pool=${cephName(pool.name, 'the name of a pool in spec.pools')}`);
  const { write, read } = MAY[client];
  const writes = profile('rbd', write);
  return { mon: 'profile rbd', osd: [...writes, ...profile('rbd-read-only', read)].join(', '), mgr: writes.join(', ') };
}

export const keyring = (user: string, key: string, caps: Readonly<Record<string, string>> = {}): string =>
  `[client.${user}]\n\tkey = ${key}\n${Object.entries(caps)
    .map(([daemon, cap]) => `\tcaps ${daemon} = "${cap}"\n`)
    .join('')}`;

/** The key in the section of the user, or undefined. */
export function keyIn(text: string, user: string): string | undefined {
  const section = text.split(/^\s*\[/m).find(part => part.startsWith(`client.${user}]`));
  return section && /^\s*key\s*=\s*(\S+)\s*$/m.exec(section)?.[1];
}

/** `fsid` in ceph.conf, also written with quotes or in a section of its own. */
export const fsidIn = (conf: string): string | undefined =>
  /^\s*fsid\s*=\s*"?([0-9a-fA-F-]{36})"?\s*$/m.exec(conf)?.[1];
