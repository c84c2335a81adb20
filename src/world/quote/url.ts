import { Unquotable } from './unquotable.ts';

/** A part of a URL, e.g. a password or a path's word: SQLAlchemy and oslo.messaging decode it. */
export const urlWord = (text: string): string => encodeURIComponent(text);

const NAME = /^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$/;
const IPV6 = /^(?=.*:.*:)[0-9a-fA-F:.]+$/;

/** Whether it is a name or an address, and nothing else: no language has an escape for a host. */
export function isHost(text: string): boolean {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (IPV6.test(bare)) return URL.canParse(`http://[${bare}]/`);
  // What ends in a number is an address of IPv4 to every URL parser, 300.1.1.1 too.
  return NAME.test(text) && URL.canParse(`http://${text}/`);
}

/** A host of a URL: an address of IPv6 stands in brackets. */
export function urlHost(host: string): string {
  if (!isHost(host)) throw new Unquotable('a host of a URL is neither a name nor an address');
  return IPV6.test(host) ? `[${host}]` : host;
}

/** A whole URL of a user's; `what` it is called in a message. */
export function urlOf(text: string, what: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new Unquotable(`${what} is no URL`);
}
