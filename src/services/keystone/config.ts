import type { DeepReadonly } from '../../kube/object.ts';
import { at, conf } from '../../oslo/conf.ts';
import type { KeystoneObject } from '../backends/keystone.ts';
import { databaseUrl } from '../links/database.ts';
import { cacheSection, databaseSection, logging } from '../links/sections.ts';
import type { CacheLink, DatabaseLink } from '../links/types.ts';

export const FERNET_KEYS = '/etc/keystone/fernet-keys';
export const CREDENTIAL_KEYS = '/etc/keystone/credential-keys';

export const keystoneConf = (
  spec: DeepReadonly<KeystoneObject['spec']>,
  links: { readonly database: DatabaseLink; readonly cache: CacheLink },
) =>
  conf(
    'keystone',
    {
      ...logging,
      token: { provider: 'fernet', expiration: spec.tokenExpiration },
      fernet_tokens: { key_repository: FERNET_KEYS, max_active_keys: spec.fernetRotation.maxActiveKeys },
      credential: { key_repository: CREDENTIAL_KEYS },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', {
      database: databaseSection(databaseUrl(links.database)),
      cache: cacheSection(links.cache, spec.release),
    }),
  );
