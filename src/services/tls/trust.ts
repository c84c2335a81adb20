import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { wait } from '../../runtime/plan/unmet.ts';
import { union } from '../../world/x509.ts';
import { servingSecret, tlsOf } from './certificate.ts';

/** In every container the same: URLs with it are stored in Nova's database and read by other pods (cell mappings). */
export const CA_FOLDER = '/etc/openstack-tls/ca';
export const OWN_FOLDER = '/etc/openstack-tls/own';
export const CA_BUNDLE = `${CA_FOLDER}/ca.crt`;
export const OWN_CERTIFICATE = `${OWN_FOLDER}/tls.crt`;
export const OWN_KEY = `${OWN_FOLDER}/tls.key`;

/** Whom an object trusts. */
export interface Trust {
  readonly secret: string;
  /** PEM. */
  readonly text: string;
}

export const bundleSecret = (object: string): string => `${object}-ca-bundle`;

/**
 * The bundle that an object's pods verify others with: the CAs of those it is linked to, its own, and what
 * spec.tls.caBundleSecretName adds. undefined when nobody is named. Pods see a change without a restart.
 */
export async function trust<O extends Managed>(
  cx: Cx<O>,
  ...cas: readonly (string | undefined)[]
): Promise<Trust | undefined> {
  const { caBundleSecretName: extra } = tlsOf(cx.spec);
  if (extra === undefined && cas.every(ca => ca === undefined)) return undefined;
  const more = extra && (await cx.secret(extra, ['ca.crt'], 'spec.tls.caBundleSecretName'))['ca.crt'];
  const secret = bundleSecret(cx.name);
  const text = union(more, ...cas);
  const data = { 'ca.crt': Buffer.from(text).toString('base64') };
  await cx.apply(Secret, { metadata: { name: secret }, type: 'Opaque', data });
  return { secret, text };
}

/** What a client of this server must trust, if it serves over TLS: it must be Ready, so that its Secret exists. */
export async function trustOf<O extends Managed>(
  cx: Cx<O>,
  server: { readonly kind: string; readonly metadata: { readonly name: string }; readonly spec: unknown },
): Promise<string | undefined> {
  if (!tlsOf(server.spec).enabled) return undefined;
  const { kind, metadata } = server;
  const secret = servingSecret(metadata.name);
  const { 'ca.crt': ca } = (await cx.secretIfAny(secret)) ?? {};
  if (ca !== undefined) return ca;
  throw wait({
    reason: 'NotReady',
    about: { kind, name: metadata.name },
    waitsFor: { kind, name: metadata.name },
    what: `Waiting for ${kind} ${metadata.name}: Secret ${secret} with its certificate does not exist yet`,
    who: 'Operator',
  });
}

/** A login of the operator's that may go on to other services, which have certificates of other CAs. */
export const trusting = <L extends { readonly ca: string | undefined }>(link: L, trust: Trust | undefined): L =>
  trust === undefined ? link : { ...link, ca: trust.text };
