import { groupId } from './model.ts';

/** An option that the operator sets from what it manages; a user's value wins, with a consequence that he should know. */
export interface Owned {
  /** Section names, or '*' for every section. */
  readonly sections: readonly string[];
  readonly keys: readonly string[];
  readonly consequence: string;
}

const databases = ['database', 'api_database', 'placement_database'];

export const owned: readonly Owned[] = [
  {
    sections: ['DEFAULT', 'oslo_messaging_notifications'],
    keys: ['transport_url'],
    consequence:
      'the service leaves the message bus that the operator manages, and keeps this password when it is rotated',
  },
  {
    sections: databases,
    keys: ['connection', 'slave_connection'],
    consequence:
      'the service leaves the database that the operator creates and upgrades: schema syncs and rotated passwords miss it',
  },
  {
    sections: ['keystone_authtoken', 'service_user'],
    keys: ['auth_url', 'username', 'password', 'project_name', 'user_domain_name', 'project_domain_name', 'auth_type'],
    consequence:
      'the service stops using the Keystone user that the operator keeps, and fails when its password is rotated',
  },
  {
    sections: ['keystone_authtoken'],
    keys: ['www_authenticate_uri', 'memcached_servers', 'cafile', 'region_name', 'interface'],
    consequence:
      'tokens are checked elsewhere than where the operator says, also after addresses or certificates change',
  },
  {
    sections: ['oslo_messaging_rabbit'],
    keys: ['rabbit_quorum_queue', 'rabbit_transient_quorum_queue', 'rabbit_stream_fanout', 'amqp_durable_queues'],
    consequence:
      'queues that exist with other properties refuse the service (PRECONDITION_FAILED): it needs an empty virtual host',
  },
  {
    sections: ['DEFAULT'],
    keys: ['host', 'my_ip'],
    consequence: 'every pod reports the same identity: agents and services overwrite each other',
  },
  {
    sections: ['DEFAULT'],
    keys: ['log_file', 'log_dir', 'use_stderr', 'use_syslog', 'use_journal'],
    consequence:
      'messages may no longer reach the container log, so kubectl logs and the causes that the operator shows',
  },
  {
    sections: ['oslo_concurrency'],
    keys: ['lock_path'],
    consequence: 'the folder must exist and be writable in the container',
  },
  {
    sections: ['ovn', 'ovs'],
    keys: ['ovn_nb_connection', 'ovn_sb_connection', 'ovsdb_connection'],
    consequence: 'the service talks to another OVN than the one that the operator runs',
  },
  {
    sections: ['neutron', 'DEFAULT'],
    keys: ['metadata_proxy_shared_secret'],
    consequence: 'guests get no metadata unless Nova and every agent have the same secret',
  },
  {
    sections: ['fernet_tokens', 'credential', 'fernet_receipts'],
    keys: ['key_repository', 'max_active_keys'],
    consequence: 'the keys that the operator rotates are not the ones in use, or expire too early',
  },
  {
    sections: ['DEFAULT'],
    keys: ['auth_encryption_key'],
    consequence: 'what Heat has encrypted with the former key can no longer be read',
  },
];

export function ownerOf(section: string, key: string, table: readonly Owned[] = owned): Owned | undefined {
  const id = groupId(section);
  return table.find(
    entry => entry.keys.includes(key) && entry.sections.some(name => name === '*' || groupId(name) === id),
  );
}
