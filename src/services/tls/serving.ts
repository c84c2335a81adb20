import type { CertificateText } from './x509.ts';
import { endOf, includes, union } from './x509.ts';

/** What the pods of a server mount: its certificate, and the CAs that its clients must trust meanwhile. */
export interface Serving {
  readonly crt: string;
  readonly key: string;
  readonly trust: string;
  /** When one of these last changed, in milliseconds. */
  readonly since: number;
}

export interface Step {
  readonly serving: Serving;
  /** Milliseconds until the next step is due. */
  readonly again?: number;
}

/**
 * A mounted Secret reaches a pod within two minutes at most (the kubelet's minute and its cache); until then a client
 * does not know a new CA, or a server still shows its old certificate. We allow five, as for token keys.
 */
export const SPREAD_MS = 300_000;

/**
 * A new CA comes in three steps: everybody trusts both, then the server shows the new certificate, then the old CA goes.
 * A new certificate of the same CA is one step. Each step waits until the one before has reached every pod.
 */
export function nextServing(source: CertificateText, serving: Serving | undefined, now: number): Step {
  const { 'tls.crt': crt, 'tls.key': key } = source;
  const ca = union(source['ca.crt']);
  if (serving === undefined) return { serving: { crt, key, trust: ca, since: now } };
  // Nobody accepts it any more: there is nothing to be careful with.
  const lost = (endOf(serving.crt) ?? 0) <= now;
  if (!includes(serving.trust, ca) && !lost)
    return { serving: { ...serving, trust: union(serving.trust, ca), since: now }, again: SPREAD_MS };
  const spread = serving.since + SPREAD_MS - now;
  const overlap = serving.trust !== ca;
  if (serving.crt !== crt || serving.key !== key) {
    if (overlap && spread > 0 && !lost) return { serving, again: spread };
    const trust = union(serving.trust, ca);
    return { serving: { crt, key, trust, since: now }, ...(trust !== ca && { again: SPREAD_MS }) };
  }
  if (!overlap) return { serving };
  return spread > 0 ? { serving, again: spread } : { serving: { crt, key, trust: ca, since: now } };
}
