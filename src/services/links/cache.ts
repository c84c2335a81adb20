import type { Release } from '../../../api/blocks/common.ts';
import { Memcached } from '../../../api/openstack/memcached.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { memcachedServers } from '../backends/memcached.ts';
import { servingSecret } from '../tls/certificate.ts';
import { trustOf } from '../tls/trust.ts';
import { caIn } from './given.ts';
import { named } from './server.ts';
import { type CacheSpec, specOf } from './spec.ts';
import type { CacheLink } from './types.ts';

/** Where it caches; nowhere without an instance. */
export async function cache<O extends Managed>(cx: Cx<O>): Promise<CacheLink> {
  const link = await cacheLink(cx);
  const { release } = specOf<CacheSpec>(cx);
  if (link.ca === undefined || cachesOverTls(release)) return link;
  throw stall({
    reason: 'NotSupported',
    field: 'spec.memcachedSecret',
    what: `The way to memcached is encrypted, and the clients of it in ${release} speak no TLS`,
    who: 'User',
    next: 'set tls.enabled of the Memcached to false, or leave spec.memcachedSecret out',
  });
}

/** keystonemiddleware of 2025.1 has no option for it, and the pool of its oslo.cache does not read the one it has. */
export const cachesOverTls = (release: Release): boolean => release >= '2025.2';

async function cacheLink<O extends Managed>(cx: Cx<O>): Promise<CacheLink> {
  const { memcachedServers: servers, memcachedInstance: instance, memcachedSecret: secret } = specOf<CacheSpec>(cx);
  if (servers || !instance) {
    const field = 'spec.memcachedSecret';
    const { ca } = secret ? caIn(await cx.secret(secret, ['ca.crt'], field), secret, field) : {};
    return { servers: servers ?? [], ...(ca !== undefined && { ca }) };
  }
  const server = named(cx, Memcached, instance, 'spec.memcachedInstance or spec.memcachedServers');
  const ca = await trustOf(cx, server);
  return { servers: memcachedServers(server, cx), ...(ca !== undefined && { ca }) };
}

/** The same way for parts that take addresses and Secrets only. */
export const cacheFields = <O extends Managed>(cx: Cx<O>, link: CacheLink) => ({
  memcachedServers: [...link.servers],
  ...(link.ca !== undefined && {
    memcachedSecret: specOf<CacheSpec>(cx).memcachedSecret ?? servingSecret(specOf<CacheSpec>(cx).memcachedInstance!),
  }),
});
