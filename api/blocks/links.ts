import { hostPort } from '../schema/forms.ts';
import { fixedField, fixedPresence, list, objectName, type ValidationRule } from '../schema/helpers.ts';

/*
 * Links exist in pairs: a name, and a hand-made Secret (or address) that wins over it. The names are defaulted, so
 * there is no "exactly one" rule: a user who sets a Secret need not clear a name that the API server filled in.
 */
const secretKeys = 'keys hostname, user, password; optional ca.crt, port';

export const database = () => ({
  databaseInstance: objectName('MariaDB object to create the database in.').default('mariadb'),
  databaseSecret: objectName(
    `Secret that opens an existing database (${secretKeys}, database), instead of databaseInstance.`,
  ).optional(),
});

const MOVES = 'data does not move by itself';

/** A service does not move from one server to another by an edit: what it made there would be left behind. */
export const databaseRules = (): readonly ValidationRule[] => [
  fixedField('databaseInstance', 'mariadb', MOVES),
  fixedPresence('databaseSecret', MOVES),
];

export const messageBusRules = (): readonly ValidationRule[] => [
  fixedField('messageBusInstance', 'rabbitmq', MOVES),
  fixedPresence('messageBusSecret', MOVES),
];

export const messageBus = () => ({
  messageBusInstance: objectName('RabbitMQ object to create the user and vhost in.').default('rabbitmq'),
  messageBusSecret: objectName(
    `Secret that opens an existing message bus (${secretKeys}, vhost), instead of messageBusInstance.`,
  ).optional(),
});

export const identity = () => ({
  keystoneInstance: objectName('Keystone object to register the service in.').default('keystone'),
  keystoneSecret: objectName(
    'Secret with a service user of an existing Keystone (keys url, user, password, project, region; optional ca.crt), instead of keystoneInstance.',
  ).optional(),
});

const memcachedSecret = () => ({
  memcachedSecret: objectName(
    'Secret with the CA of memcachedServers, key ca.crt: connections to them are encrypted. Absent: they are not.',
  ).optional(),
});

export const memcached = () => ({
  memcachedInstance: objectName('Memcached object to cache in.').default('memcached'),
  memcachedServers: list(
    hostPort('host:port'),
    'Addresses of existing memcached servers, instead of memcachedInstance.',
    32,
  ).optional(),
  ...memcachedSecret(),
});

/** Links of Nova's processes: Secrets only, so that each works without the objects above it (seed 000, decision 2). */
export const secretLinks = {
  apiDatabase: () => ({
    apiDatabaseSecret: objectName(`Secret that opens the API database (${secretKeys}, database).`).optional(),
  }),
  cellDatabase: () => ({
    cellDatabaseSecret: objectName(`Secret that opens the cell's database (${secretKeys}, database).`).optional(),
  }),
  messageBus: () => ({
    messageBusSecret: objectName(`Secret that opens the message bus (${secretKeys}, vhost).`).optional(),
  }),
  keystone: () => ({
    keystoneSecret: objectName(
      'Secret with the service user (keys url, user, password, project, region; optional ca.crt).',
    ).optional(),
  }),
  memcached: () => ({
    memcachedServers: list(
      hostPort('host:port'),
      'Addresses of memcached servers; without any, nothing is cached.',
      32,
    ).optional(),
    ...memcachedSecret(),
  }),
  cellMappings: () => ({
    cellMappingsSecret: objectName(
      'Secret that names each mapped cell and a hash of its mapping. Pods first start when it is there and restart when it changes, because they remember cells; absent: they start at once.',
    ).optional(),
  }),
  metadata: () => ({
    metadataSecret: objectName(
      'Secret shared with the agents that forward metadata requests, key metadata-secret.',
    ).optional(),
  }),
};
