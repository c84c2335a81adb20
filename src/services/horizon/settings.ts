import { type Literal, python } from '../../world/quote/python.ts';
import { urlOf } from '../../world/quote/url.ts';
import type { CacheLink } from '../links/types.ts';
import { CA_BUNDLE } from '../tls/trust.ts';

export const STATIC = '/var/lib/openstack-dashboard/static';

export interface HorizonInput {
  readonly secretKey: string;
  readonly keystone: string;
  /** Of Keystone. */
  readonly ca: string | undefined;
  /** Where it is reached; the last one is the users'. */
  readonly urls: readonly string[];
  /** The user's own settings, last. */
  readonly text: readonly string[];
}

/** Sessions live in the cache, which all pods share; without one they travel in cookies, signed. */
const sessions = ({ servers }: CacheLink): Record<string, Literal> => ({
  SESSION_ENGINE: `django.contrib.sessions.backends.${servers.length > 0 ? 'cache' : 'signed_cookies'}`,
  ...(servers.length > 0 && {
    CACHES: { default: { BACKEND: 'django.core.cache.backends.memcached.PyMemcacheCache', LOCATION: servers } },
  }),
});

/** No literal has it. */
const CACHE_TLS = `import ssl
CACHES["default"]["OPTIONS"] = {"tls_context": ssl.create_default_context(cafile="${CA_BUNDLE}")}
`;

const FROM = 'spec.publicURL, or what spec.ingress makes,';

/** Options and reasons: openstack-facts 12. */
export function settingsText(x: HorizonInput, cache: CacheLink, region: string, tls: boolean): string {
  const outside = x.urls.at(-1) ?? '';
  const settings: Record<string, Literal> = {
    DEBUG: false,
    SECRET_KEY: x.secretKey,
    ALLOWED_HOSTS: [...new Set([...x.urls.map(url => urlOf(url, FROM).hostname), 'localhost'])],
    OPENSTACK_KEYSTONE_URL: `${x.keystone}/v3`,
    OPENSTACK_ENDPOINT_TYPE: 'internalURL',
    ...((tls || x.ca !== undefined) && { OPENSTACK_SSL_CACERT: CA_BUNDLE }),
    OPENSTACK_KEYSTONE_DEFAULT_ROLE: 'member',
    DEFAULT_SERVICE_REGIONS: { '*': region },
    ...sessions(cache),
    STATIC_ROOT: STATIC,
    // Made once before the first request, not by it.
    COMPRESS_OFFLINE: true,
    SECURE_PROXY_SSL_HEADER: ['HTTP_X_FORWARDED_PROTO', 'https'],
    ...(outside.startsWith('https:') && {
      CSRF_TRUSTED_ORIGINS: [urlOf(outside, FROM).origin],
      CSRF_COOKIE_SECURE: true,
      SESSION_COOKIE_SECURE: true,
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${python(value)}\n`);
  if (cache.ca !== undefined) lines.push(CACHE_TLS);
  const own = `# Written by openstack-operator; text of spec.customServiceConfig follows.\n${lines.join('')}`;
  return [own, ...x.text].join('\n');
}
