import {
  Certificate,
  ClusterIssuer,
  CustomResourceDefinition,
  Issuer,
  resourceName,
  Secret,
} from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { conditionOf } from '../../runtime/plan/ready.ts';
import { fieldMissing, stall, subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { type CertificateText, endOf, flawOf, union } from '../../world/x509.ts';
import { hostNames } from '../hosts.ts';
import { nextServing, type Serving, TURN_MS } from './serving.ts';

/** spec.tls of every kind that has it; those that only call others have no more than the bundle. */
export interface TlsSpec {
  readonly enabled?: boolean;
  readonly issuerRef?: IssuerRef;
  readonly secretName?: string;
  readonly publicSecretName?: string;
  readonly caBundleSecretName?: string;
}

export interface IssuerRef {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
}

export const tlsOf = (spec: unknown): TlsSpec => (spec as { readonly tls?: TlsSpec }).tls ?? {};

/** Whether an object serves its clients over TLS. */
export const overTls = (spec: unknown): boolean => tlsOf(spec).enabled ?? false;

export const schemeOf = (spec: unknown): 'http' | 'https' => (overTls(spec) ? 'https' : 'http');

/** Marks the Secrets that servers show to their clients: who trusts the cloud reads them all. */
export const SERVING_LABEL = 'openstack.k8s.io/serving';
const SINCE = 'openstack.k8s.io/since';
const NOTICED = 'openstack.k8s.io/renewal-noticed';

export const servingSecret = (object: string): string => `${object}-tls`;

/**
 * The names under which a Service is called, the first being the one in our URLs. For a member behind a headless Service
 * those of all members: more of them need no other certificate.
 */
export function namesOf(host: string): readonly string[] {
  const labels = host.split('.');
  const member = labels.lastIndexOf('svc') > 2;
  const [service, namespace, ...domain] = member ? labels.slice(1) : labels;
  const short = [
    `${service}.${namespace}.${domain.join('.')}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}`,
  ];
  return member ? short.map(name => `*.${name}`) : short;
}

export interface Names {
  /** By which our own URLs call it: a certificate that is not for them is refused. */
  readonly hosts: readonly string[];
  /** Those that no client compares. */
  readonly unchecked?: readonly string[];
  /** It is shown to servers too. */
  readonly client?: boolean;
}

export interface Shown {
  /** Mounted by the pods. */
  readonly secret: string;
  readonly crt: string;
  /** What clients must trust, PEM. */
  readonly trust: string;
}

/**
 * The certificate of a server: from the Secret that the spec names, or by cert-manager. The pods mount a copy, because a
 * new CA must have reached every client before the server shows a certificate of it.
 */
export async function certificate<O extends Managed>(cx: Cx<O>, names: Names): Promise<Shown> {
  const source = await sourceOf(cx, names);
  const name = servingSecret(cx.name);
  const before = cx.list(Secret, { [SERVING_LABEL]: 'true' }).filter(other => other.metadata.name < name);
  const step = nextServing(source, servingIn(cx, name), cx.serverTime(), before.length * TURN_MS);
  const { crt, key, trust, since, noticed } = step.serving;
  await cx.apply(Secret, {
    metadata: {
      name,
      labels: { [SERVING_LABEL]: 'true' },
      annotations: {
        [SINCE]: new Date(since).toISOString(),
        ...(noticed !== undefined && { [NOTICED]: new Date(noticed).toISOString() }),
      },
    },
    type: 'Opaque',
    data: {
      'tls.crt': Buffer.from(crt).toString('base64'),
      'tls.key': Buffer.from(key).toString('base64'),
      'ca.crt': Buffer.from(trust).toString('base64'),
    },
  });
  if (step.again !== undefined) cx.again(Math.max(1000, step.again));
  return { secret: name, crt, trust };
}

function servingIn<O extends Managed>(cx: Cx<O>, name: string): Serving | undefined {
  const found = cx.get(Secret, name);
  const data = found?.data as Readonly<Record<string, string>> | undefined;
  if (data === undefined) return undefined;
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const { [SINCE]: since = '', [NOTICED]: noticed } = found?.metadata.annotations ?? {};
  return {
    crt: text('tls.crt'),
    key: text('tls.key'),
    trust: text('ca.crt'),
    since: Date.parse(since) || 0,
    ...(noticed !== undefined && { noticed: Date.parse(noticed) || 0 }),
  };
}

async function sourceOf<O extends Managed>(cx: Cx<O>, names: Names): Promise<CertificateText> {
  const { secretName, issuerRef } = tlsOf(cx.spec);
  if (secretName !== undefined) return checked(cx, secretName, 'spec.tls.secretName', names);
  if (issuerRef !== undefined) return issued(cx, issuerRef, names);
  throw fieldMissing(
    'spec.tls',
    'spec.tls.enabled is true, and neither spec.tls.issuerRef nor spec.tls.secretName is set',
    'name an issuer of cert-manager, or a Secret with tls.crt, tls.key and ca.crt',
  );
}

/** A day: no timer need be longer, and a certificate that ends later is looked at again. */
const DAY = 86_400_000;
const KEYS = ['tls.crt', 'tls.key', 'ca.crt'] as const;

/** A Secret of the user's, if what is in it will work for these names. */
export async function checked<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
  names: Names,
): Promise<CertificateText> {
  const text = await cx.secret(secret, KEYS, field);
  refuse(cx, text, secret, field, names);
  return text;
}

/** The same for one that the world sees: its CA is the world's, and need not be there. */
export async function checkedPublic<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  field: string,
  names: Names,
): Promise<void> {
  refuse(cx, await cx.secret(secret, ['tls.crt', 'tls.key'], field), secret, field, names);
}

function refuse<O extends Managed>(
  cx: Cx<O>,
  text: Omit<CertificateText, 'ca.crt'> & Partial<CertificateText>,
  secret: string,
  field: string,
  { hosts, client = false }: Names,
): void {
  const now = cx.serverTime();
  const flaw = flawOf(text, { hosts, client, now });
  if (flaw)
    throw stall({
      reason: flaw.reason,
      about: subjectOf(Secret, secret),
      what: `Secret ${secret}, named in ${field}: ${flaw.key} ${flaw.what}`,
      who: 'User',
      next: flaw.next,
    });
  // No watch shows that a certificate has expired.
  cx.again(Math.min(DAY, Math.max(1000, (endOf(text['tls.crt']) ?? now) - now + 1000)));
}

const CERT_MANAGER = 'cert-manager.io';

async function issued<O extends Managed>(cx: Cx<O>, issuerRef: IssuerRef, names: Names): Promise<CertificateText> {
  const secretName = `${cx.name}-certificate`;
  const hosts = [...names.hosts, ...(names.unchecked ?? [])];
  const { dnsNames, ipAddresses } = hostNames(cx.spec);
  const order = {
    dnsNames: [...new Set([...hosts.flatMap(namesOf), ...dnsNames])],
    ...(ipAddresses.length > 0 && { ipAddresses }),
    usages: [...SERVES, 'client auth'],
  };
  const data = await ordered(cx, issuerRef, secretName, order);
  const extra = tlsOf(cx.spec).caBundleSecretName;
  const ca = data['ca.crt'] ?? (extra && (await cx.secretIfAny(extra))?.['ca.crt']);
  if (!ca)
    throw wait({
      reason: 'SecretIncomplete',
      about: { kind: issuerRef.kind, name: issuerRef.name, ...(issuerRef.kind !== Issuer.kind && { namespace: '' }) },
      keys: ['ca.crt'],
      what: `${issuerRef.kind} ${issuerRef.name} gives no ca.crt with its certificates`,
      who: 'User',
      next: 'put its CA into a Secret, key ca.crt, and name that in spec.tls.caBundleSecretName',
    });
  const text = { 'tls.crt': data['tls.crt'], 'tls.key': data['tls.key'], 'ca.crt': union(ca) };
  refuse(cx, text, secretName, 'spec.tls.issuerRef', names);
  return text;
}

/** The certificate of a host that the world sees: it stays where cert-manager puts it, for ingresses to read. */
export async function publicCertificate<O extends Managed>(
  cx: Cx<O>,
  issuerRef: IssuerRef,
  secretName: string,
  host: string,
): Promise<void> {
  await ordered(cx, issuerRef, secretName, { dnsNames: [host], usages: SERVES });
}

const SERVES = ['digital signature', 'key encipherment', 'server auth'];

interface Ordered {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'ca.crt'?: string;
}

/** Asks cert-manager, and gives what it has made. */
async function ordered<O extends Managed>(
  cx: Cx<O>,
  issuerRef: IssuerRef,
  secretName: string,
  order: {
    readonly dnsNames: readonly string[];
    readonly ipAddresses?: readonly string[];
    readonly usages: readonly string[];
  },
): Promise<Ordered> {
  await issuerThere(cx, issuerRef);
  const made = await cx.apply(Certificate, {
    metadata: { name: secretName },
    spec: {
      secretName,
      ...order,
      issuerRef: { name: issuerRef.name, kind: issuerRef.kind, group: issuerRef.group },
      // Erlang, OpenSSL, GnuTLS and Python all take it, which is not so of Ed25519 (openstack-facts 15).
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    },
  });
  const data = await cx.secretIfAny(secretName);
  if (data?.['tls.crt'] === undefined || data['tls.key'] === undefined) {
    const told = conditionOf(made, 'Ready');
    throw wait({
      reason: 'CertificateNotReady',
      about: { kind: 'Certificate', name: secretName },
      said: told?.message,
      what: `Certificate ${secretName} is not Ready${told?.message ? `: ${told.message}` : ''}`,
      who: 'Cluster',
      next: `cert-manager makes Secret ${secretName} by ${issuerRef.kind} ${issuerRef.name}`,
    });
  }
  return { ...data, 'tls.crt': data['tls.crt'], 'tls.key': data['tls.key'] };
}

/** Names what is missing: a Certificate whose issuer does not exist only says that it waits. */
async function issuerThere<O extends Managed>(cx: Cx<O>, { name, kind, group }: IssuerRef): Promise<void> {
  const crd = resourceName(Certificate);
  if (cx.get(CustomResourceDefinition, crd) === undefined)
    throw wait({
      reason: 'CertManagerNotFound',
      about: subjectOf(CustomResourceDefinition, crd),
      what: `CustomResourceDefinition ${crd} does not exist, and spec.tls.issuerRef asks cert-manager`,
      who: 'User',
      next: 'install cert-manager, or name a Secret in spec.tls.secretName',
    });
  const resource = [Issuer, ClusterIssuer].find(each => each.kind === kind);
  if (group !== CERT_MANAGER || resource === undefined) return;
  if (cx.get(resource, name) === undefined)
    throw wait({
      reason: 'IssuerNotFound',
      about: subjectOf(resource, name),
      what: `${kind} ${name}, named in spec.tls.issuerRef, does not exist`,
      who: 'User',
      next: 'create it, or name another one',
    });
}

/** What a plan with a certificate writes and reads beyond Secrets. */
export const MANAGES = [Certificate] as const;
export const READS = [Issuer, ClusterIssuer, CustomResourceDefinition] as const;
