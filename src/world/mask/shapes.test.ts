import { describe, expect, it } from 'vitest';
import { maskShapes, secretsByShape, soundsSecret } from './shapes.ts';

const KEY = 'AQBkTl5m7Z0kExAAGZkK2h1XbJ4PqvVw0Zc3uA==';
const PEM = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'MIIEpAIBAAKCAQEA7bq',
  'c2VjcmV0c2VjcmV0',
  '-----END RSA PRIVATE KEY-----',
];

describe('by its shape', () => {
  it.each([
    ['mysql+pymysql://nova:s3cret@mariadb/nova?charset=utf8', 'mysql+pymysql://nova:***@mariadb/nova?charset=utf8'],
    ['rabbit://u:p1@a:5672,u2:p2@b/v', 'rabbit://u:***@b/v'],
    ['{"a":"amqp://u:p/@x@h","b":"c@d"}', '{"a":"amqp://u:***@h","b":"c@d"}'],
    ['redis://:pw@host', 'redis://:***@host'],
    ['admin_password = abc\nworkers = 4', 'admin_password = ***\nworkers = 4'],
    ['default_pass = abc\ndefault_user = admin', 'default_pass = ***\ndefault_user = admin'],
    ['  password: two words  ', '  password: ***'],
    ['memcache_secret_key = abc', 'memcache_secret_key = ***'],
    ['metadata_proxy_shared_secret=abc', 'metadata_proxy_shared_secret=***'],
    ['[ldap]\nuser = cn=admin\npassword = bind me', '[ldap]\nuser = cn=admin\npassword = ***'],
    [
      `[client.openstack]\n\tkey = ${KEY}\n\tcaps mon = "allow r"`,
      '[client.openstack]\n\tkey = ***\n\tcaps mon = "allow r"',
    ],
    [`ceph auth: ${KEY} refused`, 'ceph auth: *** refused'],
    [PEM.join('\n'), [PEM[0], '***', '***', PEM[3]].join('\n')],
    [JSON.stringify(PEM.join('\n')), `"${PEM[0]}***${PEM[3]}"`],
    [`${PEM.slice(0, 3).join('\n')}\nnext line`, `${PEM[0]}\n***\n***\nnext line`],
    ['Authorization: Basic YWRtaW46c2VjcmV0', 'Authorization: ***'],
    ['"X-Auth-Token": "gAAAAABl0", "x": 1', '"X-Auth-Token": "***", "x": 1'],
    ['sent Basic YWRtaW46c2VjcmV0 to it', 'sent Basic *** to it'],
    ['Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6', 'Bearer ***'],
    ['token gAAAAABl0Zk1c2VjcmV0c2VjcmV0c2VjcmV0 has ended', 'token *** has ended'],
    ['eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl', '***'],
    ['fernet Jz0yTf5s9y7Zq1w3e5r7t9y1u3i5o7p9a1s3d5f7g9A=', 'fernet ***'],
    ["ALTER USER 'nova'@'%' IDENTIFIED BY 'it''s'; SELECT 1", "ALTER USER 'nova'@'%' IDENTIFIED BY '***'; SELECT 1"],
    ["SET PASSWORD FOR x = PASSWORD('abc')", "SET PASSWORD FOR x = PASSWORD('***')"],
    ["IDENTIFIED VIA mysql_native_password USING '*ABC'", "IDENTIFIED VIA mysql_native_password USING '***'"],
    ["near ''abc'' at line 1", "near ''abc'' at line 1"],
    ['openstack --os-password abc server list', 'openstack --os-password *** server list'],
    ['mariadb -u root -pabc -e "SELECT 1"', 'mariadb -u root -p*** -e "SELECT 1"'],
    ['rabbitmqctl add_user nova abc', 'rabbitmqctl add_user nova ***'],
    ['erl -setcookie abc -name x', 'erl -setcookie *** -name x'],
    ['{"user":"u","password":"a\\"b","x":1}', '{"user":"u","password":"***","x":1}'],
    ["connect(user='u', passwd=u'abc', db='d')", "connect(user='u', passwd=u'***', db='d')"],
    ['{"text":"{\\"password\\":\\"abc\\",\\"x\\":1}"}', '{"text":"{\\"password\\":\\"***\\",\\"x\\":1}"}'],
    ['{"auths":{"r":{"auth":"dTpw"}}}', '{"auths":{"r":{"auth":"***"}}}'],
    ['GET /v3?token=abc failed', 'GET /v3?token=*** failed'],
  ])('hides: %j', (text, expected) => {
    expect(maskShapes(text)).toBe(expected);
    expect(maskShapes(expected), 'a second time').toBe(expected);
    expect(maskShapes(text).split('\n')).toHaveLength(text.split('\n').length);
  });

  it.each([
    'http://keystone-api:5000/v3',
    'password is missing',
    "Access denied for user 'nova'@'10.0.0.1' (using password: YES)",
    'Secret keystone-db, named in spec.secret, does not exist',
    'databaseSecret: nova-db',
    '{"secret":"nova-db","passwordSecret":"x"}',
    'ssl_key_file = /etc/ssl/a.pem',
    'private_key = /etc/octavia/key.pem',
    'Basic authentication is required',
    'mysql://nova:masked-0007@mariadb/nova',
    'rabbit://u:masked-0001@a:5672,u:masked-0001@b/v',
    'password = (secret)',
    'kubectl create secret generic mine --from-literal=password=...',
    'sha256:6d7e3b5c9f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4',
  ])('leaves alone: %s', text => expect(maskShapes(text)).toBe(text));

  it('takes no longer for texts that are made to take long', () => {
    for (const part of [
      'a',
      'a://a:',
      'password',
      "IDENTIFIED BY '",
      '-----BEGIN PRIVATE KEY-----',
      'x_key',
      '"',
      'mysql ',
    ])
      expect(maskShapes(part.repeat(20_000)).length).toBeGreaterThan(0);
  }, 20_000);

  it('tells what it found, as it was before it was put into a URL', () => {
    const text = 'connection = mysql://u:a%40b%2Fc@h/d\ntransport_url = rabbit://u:one@h1,u:two@h2/v\npassword = p$$q';
    expect(secretsByShape(text)).toEqual(expect.arrayContaining(['a@b/c', 'one', 'two', 'p$q']));
  });

  it.each([
    ['connection', true],
    ['memcache_secret_key', true],
    ['rabbit_pass', true],
    ['ssl_key_file', false],
    ['workers', false],
  ])('an option %s sounds secret: %s', (name, expected) => expect(soundsSecret(name)).toBe(expected));
});
