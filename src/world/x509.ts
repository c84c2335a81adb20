import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Certificates as text: what is in a Secret, whether it will work, and what to say when it will not. */

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, each as it stands there without blanks around it. */
export const blocks = (pem: string): readonly string[] =>
  [...pem.matchAll(BLOCK)].map(([block]) => block.replaceAll('\r', ''));

/** All certificates of these texts, each once, in an order that does not depend on theirs. */
export const union = (...pems: readonly (string | undefined)[]): string =>
  [...new Set(pems.flatMap(pem => blocks(pem ?? '')))]
    .sort()
    .map(block => `${block}\n`)
    .join('');

export const includes = (pem: string, part: string): boolean => {
  const all = new Set(blocks(pem));
  return blocks(part).every(block => all.has(block));
};

function parsed(pem: string): readonly X509Certificate[] | undefined {
  try {
    const found = blocks(pem).map(block => new X509Certificate(block));
    return found.length > 0 ? found : undefined;
  } catch {
    return undefined;
  }
}

/** When the first certificate of the text ends, in milliseconds; undefined when there is none. */
export const endOf = (pem: string): number | undefined => {
  const [leaf] = parsed(pem) ?? [];
  return leaf && Date.parse(leaf.validTo);
};

/** What a server shows of itself, as TLS libraries print it. */
export const fingerprint = (pem: string): string | undefined => parsed(pem)?.[0]?.fingerprint256;

/** Whether the first certificate of `pem` leads to one of `cas`, over those that come after it. */
export function leadsTo(pem: string, cas: string): boolean {
  const [leaf, ...between] = parsed(pem) ?? [];
  const roots = parsed(cas) ?? [];
  let at = leaf;
  // Each step takes one of those between, so a ring of them ends too.
  for (const left = [...between]; at !== undefined; ) {
    const from = at;
    if (roots.some(root => root.fingerprint256 === from.fingerprint256 || signs(root, from))) return true;
    const next = left.findIndex(each => signs(each, from));
    at = next < 0 ? undefined : left.splice(next, 1)[0];
  }
  return false;
}

const signs = (issuer: X509Certificate, certificate: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

export interface CertificateText {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'ca.crt': string;
}

/** Why a certificate can't be used: which key of its Secret, what is wrong with it, and the cure. */
export interface Flaw {
  readonly reason: 'CertificateInvalid' | 'CertificateExpired';
  readonly key: keyof CertificateText;
  readonly what: string;
  readonly next: string;
}

export interface Wanted {
  /** Names under which clients call the server. */
  readonly hosts: readonly string[];
  /** It also shows who it is where it is the client: OVN asks for that. */
  readonly client?: boolean;
  readonly now: number;
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export function flawOf(
  text: Omit<CertificateText, 'ca.crt'> & { readonly 'ca.crt'?: string },
  { hosts, client, now }: Wanted,
): Flaw | undefined {
  const invalid = (key: Flaw['key'], what: string, next: string): Flaw => ({
    reason: 'CertificateInvalid',
    key,
    what,
    next,
  });
  const [leaf] = parsed(text['tls.crt']) ?? [];
  if (leaf === undefined) return invalid('tls.crt', 'holds no certificate', 'put a PEM certificate there');
  const ca = text['ca.crt'];
  if (ca !== undefined && parsed(ca) === undefined)
    return invalid('ca.crt', 'holds no certificate', 'put the PEM certificate of the CA there');
  if (!fits(leaf, text['tls.key']))
    return invalid(
      'tls.key',
      'is not the key of tls.crt',
      'put there the PEM key, without a passphrase, that tls.crt was made for',
    );
  const end = Date.parse(leaf.validTo);
  if (end <= now)
    return { reason: 'CertificateExpired', key: 'tls.crt', what: `expired at ${iso(end)}`, next: 'renew it' };
  const start = Date.parse(leaf.validFrom);
  if (start > now) return invalid('tls.crt', `is not valid before ${iso(start)}`, 'wait, or use another one');
  const missing = hosts.find(host => leaf.checkHost(host) === undefined);
  if (missing) return invalid('tls.crt', `is not for ${missing}`, `have it made for ${hosts.join(', ')}`);
  if (client && leaf.keyUsage && !leaf.keyUsage.includes(CLIENT_AUTH))
    return invalid('tls.crt', 'is for servers only', 'have it made for client authentication too');
  if (ca !== undefined && !leadsTo(text['tls.crt'], ca))
    return invalid('ca.crt', 'did not sign tls.crt', 'put there the CA that did, and those between into tls.crt');
  return undefined;
}

function fits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
