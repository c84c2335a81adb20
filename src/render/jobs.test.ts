import { describe, expect, it } from 'vitest';
import type { Call } from '../cloud/calls.ts';
import type { AnyObject } from '../kube/object.ts';
import { effectJobs, patient, policyForJobs, RETRY } from './jobs.ts';

const at = { host: 'mariadb.openstack.svc.cluster.local', port: 3306, user: 'root', password: 'a"b\\c #d' };
const bus = { url: 'https://bus.example.com:15671', user: 'admin', password: 'p', ca: 'PEM' };
const around = {
  namespace: 'openstack',
  env: {},
  objects: [
    {
      apiVersion: 'x/v1',
      kind: 'MariaDB',
      metadata: { name: 'mariadb' },
      spec: { podProfile: 'kolla', release: '2025.2' },
    },
    {
      apiVersion: 'x/v1',
      kind: 'RabbitMQ',
      metadata: { name: 'theirs' },
      spec: {
        podProfile: 'restricted',
        release: '2026.1',
        external: { managementURL: bus.url },
        image: 'own/rabbit:1',
      },
    },
    { kind: 'Secret', metadata: { name: 'openstack-hash-key' }, data: { key: 'YWJj' } },
  ] as AnyObject[],
};
const call = (more: Partial<Call>): Call => ({ port: 'sql', address: at, by: 'Glance glance', ...more }) as Call;
const CLAIM = { owner: { id: 'aa11bb22cc33dd44', object: 'Glance/glance' } };
const filesOf = (secret: AnyObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secret.data as Record<string, string>).map(([k, v]) => [k, Buffer.from(v, 'base64').toString()]),
  );

describe('Jobs for what rows do outside of Kubernetes', () => {
  const databases = [
    call({ method: 'ensureDatabase', args: ['glance_db', CLAIM, ['openstack-glance']] }),
    call({ method: 'ensureUser', args: ['openstack-glance', 'secret', ['glance_db'], CLAIM] }),
  ];

  it('one Job per object and server, with statements that may run twice', () => {
    const [one, other, ...more] = effectJobs(
      [...databases, call({ by: 'Nova nova', method: 'ensureDatabase', args: ['nova', CLAIM, []] })],
      around,
    );
    expect(more).toEqual([]);
    expect(other?.by).toBe('Nova nova');
    const [secret, job] = one!.objects;
    expect(filesOf(secret)['setup.sql']?.split('\n')).toEqual([
      "CREATE DATABASE IF NOT EXISTS `glance_db` CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci COMMENT 'openstack-operator:aa11bb22cc33dd44:Glance/glance:openstack-glance';",
      "CREATE USER IF NOT EXISTS 'openstack-glance'@'%' IDENTIFIED VIA mysql_native_password USING '*14E65567ABDB5135D0CFD9A70B3032C179A49EE7';",
      "ALTER USER 'openstack-glance'@'%' IDENTIFIED VIA mysql_native_password USING '*14E65567ABDB5135D0CFD9A70B3032C179A49EE7';",
      "GRANT ALL PRIVILEGES ON `glance\\_db`.* TO 'openstack-glance'@'%';",
      '',
    ]);
    expect(filesOf(secret)['client.cnf']).toContain('password="a\\"b\\\\c #d"\nskip-ssl\n');
    expect(job.metadata.name).toMatch(/^glance-database-[0-9a-f]{8}$/);
    expect(JSON.stringify(job)).toContain('mariadb-server:2025.2-');
  });

  it('takes the image of a server outside from the object that stands for it, and its CA along', () => {
    const address = { port: 'bus', address: bus } as const;
    const calls = [call({ ...address, method: 'ensureVhost', args: ['v'] })];
    const [
      {
        objects: [secret, job],
      },
    ] = effectJobs(calls, around) as [ReturnType<typeof effectJobs>[0]];
    expect(JSON.parse(filesOf(secret)['effects.json'] ?? '')).toMatchObject({
      port: 'bus',
      at: bus,
      steps: [{ what: 'v' }],
    });
    expect(JSON.stringify(job)).toContain('"image":"own/rabbit:1"');
  });

  it('another desired state is another Job', () => {
    const name = (calls: readonly Call[]) => effectJobs(calls, around)[0]?.objects[1].metadata.name;
    expect(name(databases)).toBe(name(databases));
    expect(name(databases)).not.toBe(name(databases.slice(1)));
  });

  it('refuses a call that nothing stands for, rather than to leave it out', () => {
    const living = ['ensureCertificate', 'ensureSecureTransport'].map(method => call({ method, args: ['OFF'] }));
    expect(effectJobs(living, around)).toEqual([]);
    expect(() => effectJobs([call({ method: 'ensureQuota', args: ['x'] })], around)).toThrow(
      'no statement stands for ensureQuota',
    );
    const nowhere = { ...at, host: 'db.example.com' };
    expect(() =>
      effectJobs([call({ address: nowhere as never, method: 'ensureDatabase', args: ['x', CLAIM, []] })], around),
    ).toThrow('db.example.com');
  });
});

describe('a Job that waits for what it needs', () => {
  const job = (command: readonly string[]): AnyObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'keystone-db-sync-0123abcd' },
    spec: { backoffLimit: 4, template: { spec: { containers: [{ name: 'db-sync', command }] } } },
  });
  const commandOf = (object: AnyObject) =>
    (object.spec as { template: { spec: { containers: { command: string[] }[] } } }).template.spec.containers[0]
      ?.command;

  it('tries again under the same first process', () => {
    const waiting = patient(job(['dumb-init', '--single-child', '--', 'kolla_start']));
    expect(commandOf(waiting)).toEqual([
      'dumb-init',
      '--single-child',
      '--',
      'sh',
      '-c',
      RETRY,
      'retry',
      'kolla_start',
    ]);
    expect(commandOf(patient(job(['a', '--', 'b'])))).toEqual(['sh', '-c', RETRY, 'retry', 'a', '--', 'b']);
    expect(waiting.metadata.name).toMatch(/^keystone-db-sync-[0-9a-f]{8}$/);
    expect(waiting.metadata.name).not.toBe('keystone-db-sync-0123abcd');
  });
});

describe('a NetworkPolicy without an operator', () => {
  const operator = {
    namespaceSelector: {},
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'openstack-operator' } },
  };
  const client = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'glance' } } };
  const node = { ipBlock: { cidr: '192.0.2.7/32' } };
  const of = (...ingress: object[]) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'mariadb' },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress },
  });

  it('admits the Jobs instead, no node of the embedded cluster, and everybody only where it did before', () => {
    const jobs = {
      podSelector: {
        matchExpressions: [
          { key: 'app.kubernetes.io/component', operator: 'In', values: ['database', 'message-bus', 'identity'] },
        ],
      },
    };
    expect(policyForJobs(of({ from: [client, node, operator] }, { ports: [] }, { from: [node] }))).toEqual(
      of({ from: [client, jobs] }, { ports: [] }),
    );
  });
});
