import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../kube/object.ts';
import { viewOf } from './view/view.ts';
import { cureOf } from './why/cures.ts';
import { why } from './why/why.ts';

/** That programs read fields is proved by test/functional/reworded.test.ts. This keeps the places in sight. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(name => join(folder, name));

describe('sentences are for people', () => {
  it('who must act stands in one place, where messages are written', () => {
    const files = ['src/runtime', 'src/services', 'src/controlplane', 'src/insight', 'src/operator'].flatMap(filesIn);
    const named = files.filter(file => /['"`/][^'"`/\n]*\b(User|Operator|Cluster): /.test(readFileSync(file, 'utf8')));
    expect(named).toEqual([]);
  });

  it('who acts and what comes next are those of the cause', () => {
    const root = { kind: 'Certificate', namespace: 'openstack', name: 'keystone-certificate' };
    const object = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Keystone', metadata: { name: 'keystone' } };
    const cause = { type: 'ConfigReady', reason: 'NoAddress', actor: 'Cluster', object: root, next: 'go on' } as const;
    const message = 'It is so. User: do something else';
    const cure = cureOf(viewOf([], 0), { reason: 'NoAddress', root, object, message, cause });
    expect([cure.who, cure.next]).toEqual(['Cluster', 'go on']);
  });
});

describe('a status that an earlier operator wrote, without causes', () => {
  const object = (kind: string, name: string, status: object): AnyObject => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name, namespace: 'openstack', generation: 1, uid: name },
    spec: kind === 'Keystone' ? { databaseInstance: 'mariadb' } : {},
    status: { observedGeneration: 1, ...status },
  });
  const bad = (type: string, reason: string) => [
    { type: 'Ready', status: 'False', reason, message: 'words', lastTransitionTime: '2026-01-01T00:00:00Z' },
    { type, status: 'False', reason, message: 'words', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];

  it('is explained by reasons, by the table of them, and by what a spec names', () => {
    const mariadb = object('MariaDB', 'mariadb', { conditions: bad('InputReady', 'SecretNotFound') });
    const keystone = object('Keystone', 'keystone', { conditions: bad('DatabaseReady', 'SecretNotFound') });
    const { causes } = why(viewOf([mariadb, keystone], 0));
    expect(causes.map(({ reason, root, who, consequences }) => [reason, root.name, who, consequences])).toEqual([
      ['SecretNotFound', 'mariadb', 'User', ['Keystone keystone']],
    ]);
  });

  it('leads to what it waits for', () => {
    const mariadb = object('MariaDB', 'mariadb', { conditions: bad('ConfigReady', 'InvalidConfig') });
    const keystone = object('Keystone', 'keystone', { conditions: bad('DatabaseReady', 'NotReady') });
    const { causes } = why(viewOf([mariadb, keystone], 0));
    expect(causes.map(({ reason, consequences }) => [reason, consequences])).toEqual([
      ['InvalidConfig', ['Keystone keystone']],
    ]);
  });
});
