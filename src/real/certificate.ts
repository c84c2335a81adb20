import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Authorities and what they sign, without a program or a library: just enough DER (X.690, RFC 5280) for that. */
export interface Certificate {
  /** PEM of the authority. */
  readonly ca: string;
  /** PEM of the certificate and its key. */
  readonly cert: string;
  readonly key: string;
}

const tlv = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts);
const set = (...parts: Uint8Array[]) => tlv(0x31, ...parts);
const octets = (content: Uint8Array) => tlv(0x04, content);
const text = (value: string) => tlv(0x0c, Buffer.from(value));
const time = (date: Date) => tlv(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
/** An object identifier, given by its encoded bytes. */
const oid = (...bytes: number[]) => tlv(0x06, Buffer.from(bytes));
const TRUE = tlv(0x01, Buffer.from([0xff]));

const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = (name: string) => sequence(set(sequence(oid(0x55, 0x04, 0x03), text(name))));
const extension = (id: Uint8Array, critical: boolean, value: Uint8Array) =>
  sequence(id, ...(critical ? [TRUE] : []), octets(value));
const keyId = (key: Uint8Array) => createHash('sha1').update(key).digest();

const DAY = 86_400_000;

interface Subject {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly extensions: (spki: Buffer) => Uint8Array[];
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

function issue(subject: Subject, issuer: { name: string; privateKey: KeyObject }): string {
  const spki = subject.publicKey.export({ type: 'spki', format: 'der' });
  // The first bit must be 0, or the serial number would be negative.
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x01;
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    ECDSA_WITH_SHA256,
    commonName(issuer.name),
    sequence(time(new Date(subject.from)), time(new Date(subject.to))),
    commonName(subject.name),
    spki,
    tlv(0xa3, sequence(...subject.extensions(spki))),
  );
  const signature = sign('sha256', body, issuer.privateKey);
  const whole = sequence(body, ECDSA_WITH_SHA256, tlv(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const identifier = (spki: Buffer) => extension(oid(0x55, 0x1d, 0x0e), false, octets(keyId(spki)));
const USAGES = { server: 1, client: 2 } as const;

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

const nameOf = (name: string): Buffer =>
  /^\d+(\.\d+){3}$/.test(name) ? tlv(0x87, Buffer.from(name.split('.').map(Number))) : tlv(0x82, Buffer.from(name));

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
      extensions: spki => [
        extension(oid(0x55, 0x1d, 0x13), true, sequence(TRUE)),
        // keyCertSign
        extension(oid(0x55, 0x1d, 0x0f), true, tlv(0x03, Buffer.from([2, 0x04]))),
        identifier(spki),
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
      const purposes = usages.map(usage => oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, USAGES[usage]));
      const cert = issue(
        {
          name: (names[0] ?? issuer.name).slice(0, 64),
          publicKey: own.publicKey,
          from,
          to,
          extensions: spki => [
            extension(oid(0x55, 0x1d, 0x25), false, sequence(...purposes)),
            extension(oid(0x55, 0x1d, 0x11), false, sequence(...names.map(nameOf))),
            identifier(spki),
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
