import type { CertificateText } from '../../world/x509.ts';
import { endOf, includes, union } from '../../world/x509.ts';

/** What the pods of a server mount: its certificate, and the CAs that its clients must trust meanwhile. */
export interface Serving {
  readonly crt: string;
  readonly key: string;
  readonly trust: string;
  /** When one of these last changed, in milliseconds. */
  readonly since: number;
  /** When a renewed certificate was first seen whose turn has not come yet. */
  readonly noticed?: number;
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
 * An API loads anew for a renewed certificate, which takes half a minute when all of a cloud do on a small machine; an
 * ingress controller waits ten for a handshake (Traefik). So they take turns.
 */
export const TURN_MS = 15_000;

/**
 * A new CA comes in three steps: everybody trusts both, then the server shows the new certificate, then the old CA goes.
 * A new certificate of the same CA is one step. Each step waits until the one before has reached every pod, and another
 * certificate is shown `turn` milliseconds after that.
 */
export function nextServing(source: CertificateText, serving: Serving | undefined, now: number, turn = 0): Step {
  const { 'tls.crt': crt, 'tls.key': key } = source;
  const ca = union(source['ca.crt']);
  if (serving === undefined) return { serving: { crt, key, trust: ca, since: now } };
  // Nobody accepts it any more: there is nothing to be careful with.
  const lost = (endOf(serving.crt) ?? 0) <= now;
  if (!includes(serving.trust, ca) && !lost)
    return { serving: { ...serving, trust: union(serving.trust, ca), since: now }, again: SPREAD_MS };
  const overlap = serving.trust !== ca;
  const spreadAt = serving.since + SPREAD_MS;
  if (serving.crt !== crt || serving.key !== key) {
    const noticed = serving.noticed ?? now;
    const left = (overlap ? spreadAt : noticed) + turn - now;
    if (left > 0 && !lost)
      return { serving: overlap || serving.noticed === noticed ? serving : { ...serving, noticed }, again: left };
    const trust = union(serving.trust, ca);
    return { serving: { crt, key, trust, since: now }, ...(trust !== ca && { again: SPREAD_MS }) };
  }
  if (!overlap) return { serving: { crt, key, trust: ca, since: serving.since } };
  return spreadAt > now ? { serving, again: spreadAt - now } : { serving: { crt, key, trust: ca, since: now } };
}
