import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate as Certified,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** Authorities and what they sign: keys and signatures by Node, all of X.509 by a library (docs/decisions/0024). */
export interface Certificate {
  /** PEM of the authority. */
  readonly ca: string;
  /** PEM of the certificate and its key. */
  readonly cert: string;
  readonly key: string;
}

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });

const commonName = (name: string): Name => {
  const value = new AttributeValue({ utf8String: name });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
};
const extension = (extnID: string, value: unknown, critical = false): Extension =>
  new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
/** Of a public key. */
const identifierOf = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
const bytes = (buffer: Buffer): ArrayBuffer => new Uint8Array(buffer).buffer;

const DAY = 86_400_000;

interface Subject {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Extension[];
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

function issue(subject: Subject, issuer: { name: string; privateKey: KeyObject }): string {
  const spki = subject.publicKey.export({ type: 'spki', format: 'der' });
  const signer = new KeyIdentifier(identifierOf(createPublicKey(issuer.privateKey)));
  const serial = randomBytes(16);
  // The first bit must be 0, or the serial number would be negative; and the first byte not, or it would be shorter.
  serial[0] = (serial[0]! & 0x7f) | 0x01;
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: bytes(serial),
    signature: ECDSA_WITH_SHA256,
    issuer: commonName(issuer.name),
    validity: new Validity({ notBefore: new Date(subject.from), notAfter: new Date(subject.to) }),
    subject: commonName(subject.name),
    subjectPublicKeyInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
    extensions: new Extensions([
      ...subject.extensions,
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(identifierOf(subject.publicKey))),
      // Who verifies strictly (RFC 5280 4.2.1.1), as Python does from 3.13 on, asks for it.
      extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: signer })),
    ]),
  });
  const signatureValue = bytes(sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), issuer.privateKey));
  const whole = new Certified({ tbsCertificate, signatureAlgorithm: ECDSA_WITH_SHA256, signatureValue });
  const lines =
    Buffer.from(AsnConvert.serialize(whole))
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const USAGES = { server: id_kp_serverAuth, client: id_kp_clientAuth } as const;

export interface Order {
  /** DNS names, or addresses of version 4. */
  readonly names: readonly string[];
  readonly usages?: readonly (keyof typeof USAGES)[];
  /** Milliseconds since 1970; a day back and a year ahead of the authority's time unless given. */
  readonly from?: number;
  readonly to?: number;
}

export interface Authority {
  readonly ca: string;
  /** PEM of its own key. */
  readonly key: string;
  issue(order: Order): Certificate;
}

const nameOf = (name: string): GeneralName =>
  new GeneralName(/^\d+(\.\d+){3}$/.test(name) ? { iPAddress: name } : { dNSName: name });

/** `now` in milliseconds since 1970. */
export function makeAuthority(name: string, now: number): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name, privateKey: keys.privateKey };
  // A day back: clocks of containers differ.
  const life = { from: now - DAY, to: now + 365 * DAY };
  const ca = issue(
    {
      ...life,
      to: now + 3650 * DAY,
      name,
      publicKey: keys.publicKey,
      extensions: [
        extension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), true),
        extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign), true),
      ],
    },
    issuer,
  );
  return signer(issuer, ca, life);
}

/** One that was made before. */
export const authorityFrom = (name: string, ca: string, key: string, now: number): Authority =>
  signer({ name, privateKey: createPrivateKey(key) }, ca, { from: now - DAY, to: now + 365 * DAY });

function signer(
  issuer: { readonly name: string; readonly privateKey: KeyObject },
  ca: string,
  life: { readonly from: number; readonly to: number },
): Authority {
  return {
    ca,
    key: issuer.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    issue: ({ names, usages = ['server', 'client'], from = life.from, to = life.to }) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const purposes = usages.map(usage => USAGES[usage]);
      const cert = issue(
        {
          name: (names[0] ?? issuer.name).slice(0, 64),
          publicKey: own.publicKey,
          from,
          to,
          extensions: [
            extension(id_ce_extKeyUsage, new ExtendedKeyUsage(purposes)),
            extension(id_ce_subjectAltName, new SubjectAlternativeName(names.map(nameOf))),
          ],
        },
        issuer,
      );
      return { ca, cert, key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
    },
  };
}

export interface CertificateOptions {
  /** DNS names it is good for. */
  readonly names?: readonly string[];
  readonly days?: number;
  /** Of the authority: two that trust each other's certificates must not have the same. */
  readonly authority?: string;
}

/** Of an authority that nobody keeps. Also good for 127.0.0.1. */
export function makeCertificate(now: number, options: CertificateOptions = {}): Certificate {
  const { names = ['localhost'], days = 365, authority = 'openstack-operator embedded' } = options;
  const order = { names: [...names, '127.0.0.1'], usages: ['server'] as const, to: now + days * DAY };
  return makeAuthority(authority, now).issue(order);
}
