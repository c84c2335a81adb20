import type { Section } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { checkGiven } from '../backends/given.ts';
import type { ConfigFile } from '../config/config.ts';
import { cafile } from './sections.ts';
import type { IdentityLink } from './types.ts';

/** An account of Swift that a Secret names. */
export interface SwiftLink {
  readonly auth_url: string;
  readonly user: string;
  readonly key: string;
}

export async function swiftLink<O extends Managed>(cx: Cx<O>, secret: string, field: string): Promise<SwiftLink> {
  const data = await cx.secret(secret, ['auth_url', 'user', 'key'], field);
  checkGiven(data, secret, field, ['user', 'key']);
  return data;
}

const fileOf = (name: string): string => `/etc/swift/${name}.conf`;

/** Who opens Swift: the service's own user, whose project then holds the data, unless a Secret names another. */
export function swiftFile(name: string, link: IdentityLink, other?: SwiftLink): ConfigFile {
  const own = { auth_url: `${link.url}/v3`, user: `${link.project}:${link.user}`, key: link.password };
  const { auth_url, user, key } = other ?? own;
  const domains = { user_domain_name: 'Default', project_domain_name: 'Default' };
  const section = { auth_version: 3, auth_address: auth_url, user, key, ...domains };
  return { key: `swift-${name}.conf`, path: fileOf(name), text: write({ [name]: section }) };
}

/** Options of glance_store's driver that reads that file. */
export const swiftSection = (name: string, link: IdentityLink): Section => ({
  swift_store_config_file: fileOf(name),
  default_swift_reference: name,
  swift_store_region: link.region,
  swift_store_cacert: cafile(link).cafile,
  swift_store_endpoint_type: 'internalURL',
  swift_store_create_container_on_put: true,
  // A store among several loses the defaults of these, and every download fails (glance_store 5.2 and 5.4).
  swift_store_retry_get_count: 3,
  swift_store_expire_soon_interval: 60,
});
