import type { Release } from '../../../api/blocks/common.ts';
import { at, type Part } from '../../oslo/conf.ts';
import type { Section, Sections } from '../../oslo/model.ts';
import { hashOf } from '../../runtime/plan/canonical.ts';
import { CA_BUNDLE } from '../tls/trust.ts';
import { busUrl } from './bus.ts';
import type { BusLink, CacheLink, IdentityLink } from './types.ts';

/** Sections that services share. Options and reasons: openstack-facts 1.1. */

/** Containers log to stderr; a log file would fill a layer that nobody reads. */
export const logging: Sections = { DEFAULT: { use_stderr: true } };

export const databaseSection = (connection: string): Section => ({
  connection,
  // Keep trying at the start: the server may come a moment later.
  max_retries: -1,
  // Below every idle timeout between here and the server.
  connection_recycle_time: 280,
});

/** The CA file of every client over TLS: the one place that names it. */
const verified = (link: { readonly ca?: string }): string | undefined =>
  link.ca === undefined ? undefined : CA_BUNDLE;

/** Under keystoneauth's name of the option. */
export const cafile = (link: { readonly ca?: string }): Section => ({ cafile: verified(link) });
/** Under the name that older clients have for it. */
export const caFile = (link: { readonly ca?: string }): Section => ({ ca_file: verified(link) });

/** Quorum queues, because classic mirrored ones are gone from RabbitMQ 4. */
export const busSections = (link: BusLink): Sections => ({
  DEFAULT: { transport_url: busUrl(link) },
  oslo_messaging_rabbit: {
    rabbit_quorum_queue: true,
    ssl: link.ca === undefined ? undefined : true,
    ssl_ca_file: verified(link),
  },
});

export const cacheSection = ({ servers, ca }: CacheLink, release: Release): Section => ({
  enabled: servers.length > 0,
  backend: 'oslo_cache.memcache_pool',
  memcache_servers: servers.length > 0 ? [...servers] : undefined,
  ...(ca !== undefined && { tls_enabled: true, tls_cafile: CA_BUNDLE }),
  // With the defaults an API stalls for minutes when a memcached pod dies.
  memcache_dead_retry: 30,
  // Renamed in 2026.1.
  [release === '2026.1' ? 'socket_timeout' : 'memcache_socket_timeout']: 0.5,
});

/** Who somebody is, without a project. */
export const loginSection = (link: Pick<IdentityLink, 'url' | 'user' | 'password' | 'ca'>): Section => ({
  auth_type: 'password',
  auth_url: link.url,
  username: link.user,
  password: link.password,
  user_domain_name: 'Default',
  ...cafile(link),
});

/** How a service logs in as its own user, to call another one. */
export const userSection = (link: IdentityLink): Section => ({
  ...loginSection(link),
  project_name: link.project,
  project_domain_name: 'Default',
  region_name: link.region,
});

/** How a service asks Keystone whose token it was shown. */
export const authTokenSection = (link: IdentityLink, { servers, ca }: CacheLink, type: string): Section => ({
  ...userSection(link),
  www_authenticate_uri: link.url,
  interface: 'internal',
  service_type: type,
  // Without it a stolen user token with an expired life could be renewed by anybody (CVE-2023-2088).
  service_token_roles_required: true,
  memcached_servers: servers.length > 0 ? [...servers] : undefined,
  memcache_pool_dead_retry: 10,
  ...(ca !== undefined && { memcache_tls_enabled: true, memcache_tls_cafile: CA_BUNDLE }),
  ...(ca === undefined && link.ca !== undefined && servers.length > 0 && sealed(link)),
});

/** In a cloud with TLS whose way to memcached is plain, what is kept there of tokens is not: only the pods of this service know the key. */
const sealed = (link: IdentityLink): Section => ({
  memcache_security_strategy: 'ENCRYPT',
  memcache_secret_key: hashOf(['memcached', link.password]).slice(0, 32),
});

/** The section by which an API asks Keystone, from the links of a service of this catalog type. */
export const authToken = (x: { readonly identity: IdentityLink; readonly cache: CacheLink }, type: string): Part =>
  at('topology', { keystone_authtoken: authTokenSection(x.identity, x.cache, type) });
