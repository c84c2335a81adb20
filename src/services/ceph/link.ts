import { CephStorage } from '../../../api/openstack/cephstorage.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { fieldMissing, wait } from '../../runtime/plan/unmet.ts';
import type { ConfigFile } from '../config/config.ts';
import { type Client, keyring, type Pool, PURPOSES, type Purpose } from './keys.ts';

type Ceph = DeepReadonly<ObjectOf<typeof CephStorage>>;

/** A way into one pool, ready to be written into config files. */
export interface CephLink {
  /** The CephStorage object; names the files. */
  readonly name: string;
  readonly pool: string;
  readonly user: string;
  readonly key: string;
  readonly conf: string;
  /** Also the UUID of the secret that libvirt keeps the key under. */
  readonly fsid: string;
}

/** Pools that the user does not name have a suffix on a cluster that others use too. */
export const poolsOf = (ceph: Ceph, suffix = ''): readonly Pool[] =>
  ceph.spec.pools ?? PURPOSES.map(purpose => ({ name: suffix === '' ? purpose : `${purpose}-${suffix}`, purpose }));

/** Where the key of a service lies, for the service to read. */
export const clientSecret = (ceph: string, client: Client): string => `${ceph}-${client}`;

/** Keys of that Secret. */
export const CLIENT_KEYS = ['user', 'key', 'conf', 'fsid'] as const;
/** Another one, absent where pools have no suffix. */
export const POOL_SUFFIX = 'poolSuffix';

/** What a CephStorage that `field` names has for this service. An existing key is used also while Ceph is being changed. */
export async function cephLink<O extends Managed>(
  cx: Cx<O>,
  name: string,
  field: string,
  client: Client,
  purpose: Purpose,
  pool?: string,
): Promise<CephLink> {
  const ceph = cx.get(CephStorage, name) ?? cx.ready(CephStorage, name, field);
  const poolWith = (suffix?: string) => pool ?? poolsOf(ceph, suffix).find(each => each.purpose === purpose)?.name;
  if (poolWith() === undefined)
    throw fieldMissing(
      field,
      `CephStorage ${name}, named in ${field}, has no pool for ${purpose}`,
      `add one with purpose ${purpose} to its spec.pools`,
    );
  const secret = clientSecret(name, client);
  const data = await cx.secretIfAny(secret);
  if (data === undefined) {
    cx.ready(CephStorage, name, field);
    throw wait({
      reason: 'SecretNotFound',
      what: `CephStorage ${name} has no key for ${client}`,
      who: 'User',
      next: `add ceph.client.${client}.keyring to the Secret of its spec.external.keyringsSecret`,
    });
  }
  return { name, pool: poolWith(data[POOL_SUFFIX]) ?? '', ...(await cx.secret(secret, CLIENT_KEYS, field)) };
}

/** The same where its absence holds nobody up. */
export async function cephLinkIfAny<O extends Managed>(
  cx: Cx<O>,
  name: string,
  ...rest: [field: string, client: Client, purpose: Purpose, pool?: string | undefined]
): Promise<CephLink | undefined> {
  const found = cx.get(CephStorage, name) && (await cx.secretIfAny(clientSecret(name, rest[1])));
  return found && cephLink(cx, name, ...rest);
}

export const confPath = (link: Pick<CephLink, 'name'>): string => `/etc/ceph/${link.name}.conf`;

/** The files of these links, each once. The conf says where the keys are, so that nobody has to pass them on. */
export function cephFiles(links: readonly CephLink[]): readonly ConfigFile[] {
  const files = new Map<string, ConfigFile>();
  const own = new Map<string, string>();
  for (const link of links) {
    // Cinder's backups look for the key of a volume under this name, and read no conf (os-brick).
    const ring = `${link.name}.client.${link.user}.keyring`;
    own.set(ring, `\n[client.${link.user}]\nkeyring = /etc/ceph/${ring}\n`);
    const users = [...own].filter(([key]) => key.startsWith(`${link.name}.client.`)).map(([, section]) => section);
    const conf = `${link.name}.conf`;
    files.set(conf, { key: conf, path: confPath(link), text: `${link.conf.trimEnd()}\n${users.join('')}` });
    files.set(ring, { key: ring, path: `/etc/ceph/${ring}`, text: keyring(link.user, link.key) });
  }
  return [...files.values()];
}
