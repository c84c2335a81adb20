import { X509Certificate } from 'node:crypto';
import { blocks, leadsTo } from '../../world/x509.ts';
import type { Served } from './state.ts';

/** How a client opens the way: plain, or over TLS with whom it trusts. */
export interface Opening {
  readonly host: string;
  readonly tls: boolean;
  readonly ca?: string | undefined;
}

/** Why two ends do not meet, in the words of the real client; undefined when they do. */
export function misfit(server: Served, { host, tls, ca }: Opening): string | undefined {
  const shown = server.shows?.();
  // MariaDB takes both on one port, and refuses what is plain when it has logged in (sql.ts); all others take one.
  if (!tls) return shown === undefined || server.is === 'sql' ? undefined : 'the connection broke';
  if (shown === undefined) return 'TLS: ERR_SSL_WRONG_VERSION_NUMBER';
  if (!leadsTo(shown, ca ?? '')) return 'TLS: UNABLE_TO_VERIFY_LEAF_SIGNATURE';
  const [leaf = ''] = blocks(shown);
  return new X509Certificate(leaf).checkHost(host) === undefined ? 'TLS: ERR_TLS_CERT_ALTNAME_INVALID' : undefined;
}

export const openingOf = (url: string, ca: string | undefined): Opening & { readonly port: number } => {
  const { hostname, port, protocol } = new URL(url);
  const tls = protocol === 'https:';
  return { host: hostname, port: Number(port || (tls ? 443 : 80)), tls, ca };
};
