import { CloudError } from '../../src/cloud/ports.ts';
import type { BackendCall } from '../../src/embedded/backends/backends.ts';
import type { Outcome, Run } from '../../src/embedded/controllers/program.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { secret } from './services.ts';

/** Known secrets, planted wherever a secret can stand, and how each may be written. The forms are told here once more on
 * purpose: a form that the product forgets must be found. */

const KEY_LINES = [1, 2, 3].map(line => `canaryTlsKeyLine${line}${'Kq7Zp3'.repeat(7)}`);
const PEM = ['-----BEGIN PRIVATE KEY-----', ...KEY_LINES, '-----END PRIVATE KEY-----'].join('\n');
const CEPH_KEY = 'AQCanaryCephKeyringAAAAAAAAAAAAAAAAAAA==';

/** What no answer may hold, by the place where it stands. */
export const PLANTED: Readonly<Record<string, string>> = {
  'admin password, hostile': `c4n'ary"$adm%in @:/\\ü#1`,
  'root password, hostile': `canary-ro'ot$$"%\\pw2`,
  'LDAP bind password in customServiceConfigSecrets': 'canary-ldap-bind-3',
  'LDAP bind password with blanks': 'canary ldap bind 4',
  'option without a telling name in customServiceConfigSecrets': 'canary-unnamed-option-5',
  'URL in customServiceConfigSecrets': 'canary-url-6',
  'password in customServiceConfig': 'canary-plain-config-7',
  'token in customServiceConfig': 'canary-plain-token-8',
  'Ceph keyring': CEPH_KEY,
  'hand-made database connection': 'canary-hand-db-9',
  'hand-made bus connection': 'canary%hand$bus-10',
  'hand-made Keystone connection': 'canary-hand-identity-11',
  'registry password': 'canary-registry-12',
  'registry auth': Buffer.from('puller:canary-registry-12').toString('base64'),
  'TLS key, line 1': KEY_LINES[0]!,
  'TLS key, line 2': KEY_LINES[1]!,
  'TLS key, line 3': KEY_LINES[2]!,
  'S3 secret key': 'canary/s3+key-13',
  'Swift store key': 'canary-swift-14',
  'webhook token': 'canary-token-15',
  'SSH passphrase': 'canary ssh passphrase 16',
  'JSON file, nested': 'canary-json-17',
  'YAML file': 'canary-yaml-18',
  'trailing newline': 'canary-newline-19',
  'not ASCII': 'canary-пароль-20',
  'basic-auth Secret': 'canary-basic-21',
  'SSH key, a line': `canarySshKeyLine${'b3BlbnNzaC1r'.repeat(4)}`,
  'token in a kubeconfig': 'canary-kubeconfig-22',
  'Fernet key': 'Y2FuYXJ5LWZlcm5ldC1rZXktb2YtMzItYnl0ZXMtMDE=',
  'second Fernet key': 'Y2FuYXJ5LWZlcm5ldC1rZXktb2YtMzItYnl0ZXMtMDI=',
  'password in an env file': 'canary env 23',
  'password in a CSV line': 'canary;csv,24',
};

const IN_CONFIG = ['password in customServiceConfig', 'token in customServiceConfig'];
const p = (place: keyof typeof PLANTED): string => PLANTED[place] ?? '';

/** The user's own text, which everybody who may read the object may read. */
export const CUSTOM_CONFIG = `[ldap]\npassword = ${p('password in customServiceConfig')}\n[auth]\nwebhook_token = ${p('token in customServiceConfig')}\n`;
export const isInSpec = (value: string): boolean => IN_CONFIG.some(place => p(place) === value);

export const KEYSTONE = {
  customServiceConfig: CUSTOM_CONFIG,
  customServiceConfigSecrets: ['keystone-ldap'],
  adminPasswordSecret: 'admin-password',
};

export const secrets = (): AnyObject[] =>
  [
    secret('admin-password', { password: p('admin password, hostile') }),
    secret('root-password', { password: p('root password, hostile') }),
    secret('keystone-ldap', {
      ldap: `[ldap]\nurl = ldap://cn=admin:${p('URL in customServiceConfigSecrets')}@ldap.example.org\npassword = ${p('LDAP bind password in customServiceConfigSecrets')}\n[other]\nbind_word = ${p('option without a telling name in customServiceConfigSecrets')}\npassword = ${p('LDAP bind password with blanks')}\n`,
    }),
    secret('ceph-admin', {
      'ceph.conf': '[global]\nfsid = 6a4f0e0e-6f0b-4e0e-9d0e-0a0b0c0d0e0f\nmon_host = [v2:10.1.0.1:3300]\n',
      'ceph.client.admin.keyring': `[client.admin]\n\tkey = ${CEPH_KEY}\n`,
    }),
    secret('hand-db', { hostname: 'db.example.org', user: 'hand', password: p('hand-made database connection') }),
    secret('hand-bus', { url: `rabbit://hand:${encodeURIComponent(p('hand-made bus connection'))}@bus.example.org/` }),
    secret('hand-identity', { url: 'https://id.example.org', user: 'x', password: p('hand-made Keystone connection') }),
    {
      ...secret('registry', {
        '.dockerconfigjson': JSON.stringify({
          auths: {
            'registry.example.org': {
              username: 'puller',
              password: p('registry password'),
              auth: p('registry auth'),
            },
          },
        }),
      }),
      type: 'kubernetes.io/dockerconfigjson',
    },
    { ...secret('web-tls', { 'tls.crt': 'not looked at', 'tls.key': `${PEM}\n` }), type: 'kubernetes.io/tls' },
    secret('s3', { access_key: 'canary-access', secret_key: p('S3 secret key') }),
    secret('swift', { auth_url: 'https://swift.example.org', user: 'x', key: p('Swift store key') }),
    secret('webhook', { token: p('webhook token'), passphrase: p('SSH passphrase') }),
    secret('files', {
      'a.json': JSON.stringify({ list: [{ deep: p('JSON file, nested') }] }),
      'b.yaml': `user: x\ncredentials:\n  value: ${p('YAML file')}\n`,
      'c.txt': `${p('trailing newline')}\n`,
      d: p('not ASCII'),
      'e.env': `HOST=x\nDB_PASSWORD="${p('password in an env file')}"\n`,
      'f.csv': `${p('password in a CSV line')}\nother line\n`,
      kubeconfig: `users:\n- name: x\n  user:\n    token: ${p('token in a kubeconfig')}\n`,
    }),
    { ...secret('basic', { username: 'x', password: p('basic-auth Secret') }), type: 'kubernetes.io/basic-auth' },
    {
      ...secret('ssh', {
        'ssh-privatekey': `-----BEGIN OPENSSH PRIVATE KEY-----\n${p('SSH key, a line')}\n-----END OPENSSH PRIVATE KEY-----\n`,
      }),
      type: 'kubernetes.io/ssh-auth',
    },
    secret('fernet', { 0: p('Fernet key'), 1: p('second Fernet key') }),
  ] as AnyObject[];

const SEVERAL = '$&';
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  plain: text => text,
  'SQL, doubled': text => text.replaceAll("'", "''"),
  'SQL, backslashes': text => text.replace(/['"\\]/g, `\\${SEVERAL}`),
  'my.cnf': text => text.replace(/["\\]/g, `\\${SEVERAL}`),
  JSON: text => JSON.stringify(text).slice(1, -1),
  URL: text => encodeURIComponent(text),
  oslo: text => text.replaceAll('$', '$$$$'),
  base64: text => Buffer.from(text).toString('base64'),
  'base64 of a login': text => Buffer.from(`admin:${text}`).toString('base64'),
};

/** A message such as programs print, for each secret in each form. */
export const printed = (values: readonly string[]): string[] =>
  values.flatMap(value =>
    [...new Set(Object.values(FORMS).map(form => form(value)))].map(form => `refused: ${form} (1045)`),
  );

/** What to look for: of base64 only what does not depend on what comes after. */
const needlesOf = (value: string): readonly string[] => {
  const whole = (bytes: Buffer): string => bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
  const plain = Object.entries(FORMS).flatMap(([name, form]) => (name.startsWith('base64') ? [] : [form(value)]));
  const login = whole(Buffer.from(`admin:${value}`)).slice(('admin:'.length / 3) * 4);
  const nested = plain.map(form => JSON.stringify(form).slice(1, -1));
  return [...new Set([...plain, ...nested, whole(Buffer.from(value)), login])].filter(needle => needle.length >= 8);
};

/** An object as it is sent, and its texts as whoever reads it sees them. */
export const textOf = (object: unknown): string => {
  const texts: string[] = [];
  const json = JSON.stringify(object, (_key, value: unknown) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  return [json, ...texts].join('\n');
};

/** The secrets that a text holds. */
export const leaks = (text: string, values: readonly string[]): string[] =>
  values.flatMap(value =>
    needlesOf(value)
      .filter(needle => text.includes(needle))
      .map(needle => `${value} as ${needle}`),
  );

/** What the operator generated, by what Secrets hold in the end. */
export const generated = (objects: readonly AnyObject[]): string[] => [
  ...new Set(
    objects
      .filter(({ kind, metadata }) => kind === 'Secret' && metadata.labels?.['openstack.k8s.io/managed'] === 'true')
      .filter(({ metadata }) => metadata.name !== 'openstack-owner')
      .flatMap(({ data }) => Object.entries((data ?? {}) as Record<string, string>))
      .filter(([key]) => /password|key|secret|cookie|token|^\d+$/.test(key) && !/\./.test(key))
      .map(([, value]) => Buffer.from(value, 'base64').toString())
      .filter(value => value.length >= 16 && !value.includes('\n')),
  ),
];

/** Programs that end and print one message after the other, and servers that repeat what they were sent. */
export function talkative(messages: () => readonly string[], broken: () => boolean) {
  let next = 0;
  const say = (): string => {
    const all = messages();
    return all[next++ % all.length] ?? '';
  };
  return {
    programs: (run: Run): Outcome | undefined =>
      broken() && /keystone|placement|glance|heat/.test(run.pod.metadata.name)
        ? { exit: 1, after: 500, message: `${say()}\n${say()}` }
        : undefined,
    backendFaults: ({ port }: BackendCall): void => {
      if (!broken() || next % 3 === 0) return;
      const what =
        port === 'sql' ? `You have an error in your SQL syntax near '${say()}'` : `GET http://x/?q=${say()}: 500`;
      throw new CloudError('rejected', `${port}: ${what}`);
    },
  };
}
