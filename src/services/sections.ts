import type { Section, Sections } from '../oslo/model.ts';

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

export const cacheSection = (servers: readonly string[]): Section => ({
  enabled: servers.length > 0,
  backend: 'oslo_cache.memcache_pool',
  memcache_servers: servers.length > 0 ? [...servers] : undefined,
  // With the defaults an API stalls for minutes when a memcached pod dies.
  memcache_dead_retry: 30,
  memcache_socket_timeout: 0.5,
});
