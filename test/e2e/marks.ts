import { readMark } from '../../src/cloud/ownership.ts';
import type { LabStage } from './lab.ts';
import type { OpenStack } from './openstack.ts';

/** What the servers of a cloud say of whose each thing is, by its name. */
export interface Marks {
  /** Comment of each database. */
  readonly databases: Readonly<Record<string, string>>;
  /** Description of each vhost. */
  readonly vhosts: Readonly<Record<string, string>>;
  /** Tags of each user of RabbitMQ. */
  readonly busUsers: Readonly<Record<string, readonly string[]>>;
  /** What Keystone keeps of each user beside its own attributes. */
  readonly identityUsers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const SYSTEM = ['information_schema', 'mysql', 'performance_schema', 'sys'];

/** Attributes that Keystone itself gives a user. */
const OWN = [
  'id',
  'name',
  'enabled',
  'domain_id',
  'links',
  'options',
  'password_expires_at',
  'default_project_id',
  'description',
  'email',
];

async function listed<T>(stage: LabStage, ...words: string[]): Promise<readonly T[]> {
  const { code, text } = await stage.tryExec('rabbitmq-0', ['rabbitmqctl', '--quiet', '--formatter=json', ...words]);
  if (code !== 0) throw new Error(`rabbitmqctl ${words.join(' ')} ended with ${code}: ${text.slice(-400)}`);
  return JSON.parse(text) as T[];
}

/** Asks MariaDB, RabbitMQ and Keystone themselves, past the operator. */
export async function ownerMarks(stage: LabStage, os: OpenStack): Promise<Marks> {
  // Not above: it opens the lab, which need not be there for what is pure here.
  const { rowsOf } = await import('./sql.ts');
  const schemata = await rowsOf(
    stage,
    'SELECT SCHEMA_NAME AS name, SCHEMA_COMMENT AS mark FROM information_schema.SCHEMATA',
  );
  const vhosts = await listed<{ name: string; description?: string }>(stage, 'list_vhosts', 'name', 'description');
  const busUsers = await listed<{ user: string; tags: string[] }>(stage, 'list_users');
  const { users } = await os.call<{ users: Record<string, unknown>[] }>('identity', 'GET', '/v3/users');
  const extra = (user: Record<string, unknown>) => Object.entries(user).filter(([key]) => !OWN.includes(key));
  return {
    databases: Object.fromEntries(
      schemata.filter(({ name }) => !SYSTEM.includes(name ?? '')).map(({ name, mark }) => [name, mark ?? '']),
    ),
    vhosts: Object.fromEntries(vhosts.map(({ name, description = '' }) => [name, description])),
    busUsers: Object.fromEntries(busUsers.map(({ user, tags }) => [user, tags])),
    identityUsers: Object.fromEntries(users.map(user => [String(user.name), Object.fromEntries(extra(user))])),
  };
}

/** Users of RabbitMQ that are the server's own. */
const SERVERS_OWN = ['admin', 'guest'];

/** What the operator made and does not carry the mark of its owner (src/cloud/ownership.ts). */
export function unmarked({ databases, vhosts, busUsers, identityUsers }: Marks): string[] {
  const without = (what: string, marks: Readonly<Record<string, string | undefined>>): string[] =>
    Object.entries(marks)
      .filter(([, text]) => readMark(text) === undefined)
      .map(([name, text]) => `${what} ${name}: ${text || 'nothing'}`);
  const ours = Object.entries(identityUsers).filter(([, { managed_by }]) => managed_by === 'openstack-operator');
  const tagged = Object.entries(busUsers).filter(([name]) => !SERVERS_OWN.includes(name));
  return [
    ...without('database', databases),
    ...without('vhost', Object.fromEntries(Object.entries(vhosts).filter(([name]) => name !== '/'))),
    ...without('user of RabbitMQ', Object.fromEntries(tagged.map(([name, tags]) => [name, tags.find(readMark)]))),
    ...without(
      'user of Keystone',
      Object.fromEntries(ours.map(([name, extra]) => [name, String(extra.openstack_operator_owner ?? '')])),
    ),
  ];
}
