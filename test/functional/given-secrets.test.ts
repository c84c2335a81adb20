import { describe, it } from 'vitest';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Placement } from '../../api/openstack/placement.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { secret } from './services.ts';
import { ours, Trouble } from './stories.ts';

/** Values of Secrets that a file or a URL can't carry are refused by the names of Secret and key, and never written. */
describe('a Secret with a value that can not be written', () => {
  const database = { hostname: 'db.example.org', user: 'keystone', password: 'p@ss:w/rd' };
  const cases: [string, object, string][] = [
    ['a host with a newline at its end', { hostname: 'db.example.org\n' }, 'key hostname ends with a newline'],
    ['a host that is more than one', { hostname: 'db/x@evil' }, 'key hostname is neither a host name nor an address'],
    ['a port that is none', { port: '3306 ' }, 'key port is not a port'],
    ['a user with a newline', { user: 'a\nb' }, 'key user is empty, holds a control character'],
  ];
  for (const [what, wrong, words] of cases)
    it(what, async () => {
      const story = await Trouble.start();
      story.cloud.apply(
        secret('db', { ...database, ...wrong }),
        ours('Keystone', 'keystone', { databaseSecret: 'db', memcachedServers: ['cache:11211'] }),
      );
      const named = 'Secret db, named in spec.databaseSecret';
      await story.tells(Keystone, 'keystone', 'DatabaseReady', 'SecretInvalid', named, words);
      await story.rests();
    });

  it('a password of a service user with a newline at its end, and one that is not UTF-8', async () => {
    const story = await Trouble.start();
    const login = { url: 'http://keystone.example.org:5000', user: 'placement', password: 'secret-password\n' };
    const whole = { ...login, project: 'service', region: 'RegionOne' };
    const links = { databaseSecret: 'db', keystoneSecret: 'login', memcachedServers: ['cache:11211'] };
    story.cloud.apply(secret('db', database), secret('login', whole), ours('Placement', 'placement', links));
    const named = 'Secret login, named in spec.keystoneSecret: key password';
    await story.tells(
      Placement,
      'placement',
      'CredentialsReady',
      'SecretInvalid',
      `${named} ends with a newline`,
      'printf',
    );
    const bytes = {
      ...secret('login', whole),
      stringData: undefined,
      data: encoded({ ...whole, password: [0xff, 0x61] }),
    };
    story.cloud.apply(bytes);
    await story.waits(Placement, 'placement', 'CredentialsReady', 'SecretInvalid', `${named} is not UTF-8 text`);
    story.keepsSecrets();
  });

  it('a password of a bus that rabbitmq.conf would read otherwise', async () => {
    const story = await Trouble.start();
    const mine = secret('rabbitmq-admin', { user: 'admin', password: 'before#after', cookie: 'abcdefghijkl' });
    const adopted = { ...mine, metadata: { ...mine.metadata, annotations: { 'openstack.k8s.io/adopt': 'true' } } };
    story.cloud.apply(adopted, ours('RabbitMQ', 'rabbitmq'));
    await story.tells(RabbitMQ, 'rabbitmq', 'ConfigReady', 'ValueRefused', 'key password of Secret rabbitmq-admin');
    await story.rests();
  });
});

const encoded = (values: Readonly<Record<string, string | readonly number[]>>) =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value as string).toString('base64')]),
  );
