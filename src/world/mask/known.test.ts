import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from './known.ts';
import { Matcher } from './matcher.ts';
import { secretsOf } from './secret.ts';

const hide = (values: readonly string[]) => {
  const matcher = new Matcher();
  for (const value of values) matcher.add(value);
  return (text: string) => matcher.replace(text, () => '#');
};

describe('by its value', () => {
  const password = `a'b"c$d%e\\f@g:h/i j`;
  it.each([
    ['plain', password],
    ['SQL, doubled', password.replaceAll("'", "''")],
    ['SQL, backslashes', password.replace(/['"\\]/g, '\\$&')],
    ['JSON', JSON.stringify(password).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(password)).slice(3, -3)],
    ['URL', encodeURIComponent(password)],
    ['a form', new URLSearchParams({ p: password }).toString().slice(2)],
    ['oslo', password.replaceAll('$', '$$$$')],
    ['shell', password.replaceAll("'", `'\\''`)],
  ])('%s', (_form, text) => expect(hide([password])(`<${text}>`)).toBe('<#>'));

  it.each([0, 1, 2, 3])('inside base64, after %i characters, also without padding', skip => {
    const text = Buffer.from(`${'x'.repeat(skip)}:correct horse:y`).toString('base64');
    expect(hide(['correct horse'])(`Basic ${text} sent`)).toBe(`Basic #${/=*$/.exec(text)![0]} sent`);
    expect(hide(['correct horse'])(Buffer.from('correct horse').toString('base64url'))).toBe('#');
  });

  it('values that overlap or hold each other leave nothing behind', () => {
    expect(hide(['abcdefgh', 'efghijkl', 'abcdefghij'])('<abcdefghijkl> abcdefgh')).toBe('<#> #');
  });

  it('what was removed is known no longer, as often as it was added', () => {
    const matcher = new Matcher();
    matcher.add('correct horse');
    matcher.add('correct horse');
    matcher.remove('correct horse');
    expect(matcher.replace('correct horse', () => '#')).toBe('#');
    matcher.remove('correct horse');
    expect(matcher.isEmpty).toBe(true);
    expect(matcher.replace('correct horse', () => '#')).toBe('correct horse');
  });

  it('whatever the values and the text, none is left and lines stay lines', () => {
    const value = fc.string({ minLength: 8, maxLength: 20, unit: fc.constantFrom(...`ab'$%"\\ü `) }).map(v => v.trim());
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), fc.array(fc.oneof(value, fc.string())), (values, words) => {
        const long = values.filter(one => one.length >= 8);
        const text = [...words, ...long].join('\n');
        const out = hide(long)(text);
        for (const one of long) expect(out).not.toContain(one);
        expect(out.split('\n')).toHaveLength(text.split('\n').length);
      }),
    );
  });
});

describe('what of a Secret is secret', () => {
  const of = (data: Record<string, string>, made = false) => secretsOf(data, { made, files: true });
  it.each<[string, Record<string, string>, readonly string[]]>([
    ['a value', { password: 'correct horse' }, ['correct horse']],
    ['not a short one', { password: 'hunter2' }, []],
    ['not a word of every answer', { password: 'keystone', other: '********' }, []],
    ['not where it is', { hostname: 'db.example.org', user: 'openstack-nova' }, []],
    ['a password in an address', { url: 'mysql://u:correct-horse@h/d' }, ['correct-horse']],
    [
      'every line of a key',
      { 'tls.key': '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n' },
      ['MIIEvQIBADANBg', 'kqhkiG9w0BAQ'],
    ],
    ['no certificate', { 'ca.crt': '-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBg\n-----END CERTIFICATE-----\n' }, []],
    [
      'values of options, not their names, files and addresses',
      { ldap: '[ldap]\nuser_tree_dn = ou=People\npassword = correct horse\nca = /etc/ssl/ca.pem\nurl = ldap://h' },
      ['ou=People', 'correct horse'],
    ],
    [
      'leaves of JSON',
      { '.dockerconfigjson': '{"auths":{"r":{"username":"somebody","password":"correct horse"}}}' },
      ['correct horse'],
    ],
  ])('%s', (_what, data, expected) => expect(of(data)).toEqual(expected));

  it('in a file that the operator made only what looks like one', () => {
    const file = {
      '01-nova.conf': '[database]\nconnection = mysql://u:correct-horse@h/d\nmax_retries = forever and ever',
    };
    expect(of(file, true)).toEqual(['correct-horse']);
    expect(secretsOf(file, { made: true, files: false })).toEqual([]);
    expect(of({ '03-00-ldap.conf': '[x]\nword = correct horse' }, true)).toEqual(['correct horse']);
  });
});

describe('what a process knows', () => {
  it('is hidden in its own namespace and in the log, and not told to another', () => {
    const known = new KnownSecrets();
    known.learn({ namespace: 'a', name: 's' }, '1', () => ['correct horse']);
    expect(known.mask('correct horse', 'a')).toBe('***');
    expect(known.mask('correct horse')).toBe('***');
    expect(known.mask('correct horse', 'b')).toBe('correct horse');
  });

  it('is taken once per version, when somebody asks, and kept when it changes', () => {
    const known = new KnownSecrets();
    const taken: string[] = [];
    const learn = (version: string, value: string) =>
      known.learn({ namespace: 'a', name: 's' }, version, () => {
        taken.push(version);
        return [value];
      });
    learn('1', 'correct horse');
    expect(taken).toEqual([]);
    expect(known.mask('correct horse', 'a')).toBe('***');
    learn('1', 'correct horse');
    learn('2', 'battery staple');
    expect(known.mask('correct horse, battery staple', 'a')).toBe('***, ***');
    expect(taken).toEqual(['1', '2']);
  });
});
