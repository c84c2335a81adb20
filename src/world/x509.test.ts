import { describe, expect, it } from 'vitest';
import { type Authority, makeAuthority, type Order } from '../real/certificate.ts';
import { endOf, type Flaw, fingerprint, flawOf, includes, leadsTo, union } from './x509.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const DAY = 86_400_000;
const HOST = 'keystone-api.openstack.svc.cluster.local';
const [ours, theirs] = [makeAuthority('ours', NOW), makeAuthority('theirs', NOW)];
const textOf = (from: Authority, order: Partial<Order> = {}) => {
  const { ca, cert, key } = from.issue({ names: [HOST], ...order });
  return { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca };
};
const good = textOf(ours);
const wanted = { hosts: [HOST], now: NOW };

describe('a certificate', () => {
  it('that fits has no flaw, by its name or by a wildcard', () => {
    expect(flawOf(good, wanted)).toBeUndefined();
    expect(flawOf(textOf(ours, { names: ['*.openstack.svc.cluster.local'] }), wanted)).toBeUndefined();
    expect(flawOf({ ...good, 'ca.crt': union(theirs.ca, ours.ca) }, { ...wanted, client: true })).toBeUndefined();
  });

  it.each<[string, typeof good, boolean, Partial<Flaw>]>([
    ['no PEM', { ...good, 'tls.crt': 'c' }, false, { key: 'tls.crt', what: 'holds no certificate' }],
    ['no CA', { ...good, 'ca.crt': '' }, false, { key: 'ca.crt', what: 'holds no certificate' }],
    ['no key', { ...good, 'tls.key': 'k' }, false, { key: 'tls.key', what: 'is not the key of tls.crt' }],
    ['the key of another', { ...good, 'tls.key': textOf(ours)['tls.key'] }, false, { key: 'tls.key' }],
    [
      'expired',
      textOf(ours, { from: NOW - 2 * DAY, to: NOW - DAY }),
      false,
      { reason: 'CertificateExpired', key: 'tls.crt', what: 'expired at 2026-05-31T00:00:00Z' },
    ],
    ['not yet valid', textOf(ours, { from: NOW + DAY }), false, { what: 'is not valid before 2026-06-02T00:00:00Z' }],
    ['for another name', textOf(ours, { names: ['x.example.org'] }), false, { what: `is not for ${HOST}` }],
    ['for servers only', textOf(ours, { usages: ['server'] }), true, { what: 'is for servers only' }],
    ['of another CA', { ...good, 'ca.crt': theirs.ca }, false, { key: 'ca.crt', what: 'did not sign tls.crt' }],
  ])('with %s is refused, and the key of the Secret is named', (_name, text, client, flaw) => {
    const found = flawOf(text, { ...wanted, client });
    expect(found).toMatchObject({ reason: 'CertificateInvalid', ...flaw });
    expect(found?.next).not.toBe('');
  });

  it('leads to its CA and to no other', () => {
    expect(leadsTo(good['tls.crt'], ours.ca)).toBe(true);
    expect(leadsTo(good['tls.crt'], theirs.ca)).toBe(false);
    expect(leadsTo('', ours.ca)).toBe(false);
  });

  it('tells its end and what it looks like', () => {
    expect(endOf(good['tls.crt'])).toBe(NOW + 365 * DAY);
    expect(endOf('nothing')).toBeUndefined();
    expect(fingerprint(good['tls.crt'])).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  });
});

describe('a bundle', () => {
  it('has each certificate once, whatever the order and the line ends', () => {
    const all = union(ours.ca, theirs.ca, ours.ca.replaceAll('\n', '\r\n'));
    expect(all).toBe(union(theirs.ca, ours.ca));
    expect(all.match(/BEGIN/g)).toHaveLength(2);
    expect(includes(all, ours.ca) && !includes(ours.ca, theirs.ca)).toBe(true);
    expect(union(undefined, '')).toBe('');
  });
});
