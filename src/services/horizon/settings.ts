import { CA_BUNDLE } from '../tls/trust.ts';

/** Django's settings as data: Horizon reads Python, and Python reads most of JSON. */
type Value = string | boolean | readonly Value[] | { readonly [key: string]: Value };

export const SETTINGS = '/etc/openstack-dashboard/local_settings.py';
export const STATIC = '/var/lib/openstack-dashboard/static';

function python(value: Value): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // JSON's escapes are Python's.
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `(${value.map(item => `${python(item)},`).join(' ')})`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${python(key)}: ${python(item)}`)
    .join(', ')}}`;
}

/** Sessions live in the cache, which all pods share; without one they travel in cookies, signed. */
const sessions = (servers: readonly string[]): Record<string, Value> => ({
  SESSION_ENGINE: `django.contrib.sessions.backends.${servers.length > 0 ? 'cache' : 'signed_cookies'}`,
  ...(servers.length > 0 && {
    CACHES: { default: { BACKEND: 'django.core.cache.backends.memcached.PyMemcacheCache', LOCATION: servers } },
  }),
});

/** Options and reasons: openstack-facts 12. */
export function settingsText(x: {
  readonly secretKey: string;
  readonly keystone: string;
  readonly region: string;
  /** Its requests to services are verified with the bundle. */
  readonly tls: boolean;
  readonly cache: readonly string[];
  /** Where it is reached; the last one is the users'. */
  readonly urls: readonly string[];
}): string {
  const hosts = x.urls.map(url => new URL(url).hostname);
  const outside = x.urls.at(-1) ?? '';
  const settings: Record<string, Value> = {
    DEBUG: false,
    SECRET_KEY: x.secretKey,
    ALLOWED_HOSTS: [...new Set([...hosts, 'localhost'])],
    OPENSTACK_KEYSTONE_URL: `${x.keystone}/v3`,
    OPENSTACK_ENDPOINT_TYPE: 'internalURL',
    ...(x.tls && { OPENSTACK_SSL_CACERT: CA_BUNDLE }),
    OPENSTACK_KEYSTONE_DEFAULT_ROLE: 'member',
    DEFAULT_SERVICE_REGIONS: { '*': x.region },
    ...sessions(x.cache),
    STATIC_ROOT: STATIC,
    // Made once before the first request, not by it.
    COMPRESS_OFFLINE: true,
    SECURE_PROXY_SSL_HEADER: ['HTTP_X_FORWARDED_PROTO', 'https'],
    ...(outside.startsWith('https:') && {
      CSRF_TRUSTED_ORIGINS: [new URL(outside).origin],
      CSRF_COOKIE_SECURE: true,
      SESSION_COOKIE_SECURE: true,
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${python(value)}\n`);
  return `# Written by openstack-operator; text of spec.customServiceConfig follows.\n${lines.join('')}`;
}
