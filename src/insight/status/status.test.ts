import { describe, expect, it } from 'vitest';
import { ageOf } from '../age.ts';
import { type Live, viewOf } from '../view/view.ts';
import { stateOf, statusOf } from './status.ts';
import { linesOf, treeOf } from './tree.ts';

const at = (seconds: number): string => new Date(1_000_000_000_000 + seconds * 1000).toISOString().replace('.000', '');
const owner = (uid: string) => ({
  ownerReferences: [{ apiVersion: 'x', kind: 'x', name: 'x', uid, controller: true }],
});
const ours = (kind: string, name: string, created: number, ready?: number, more: object = {}): Live => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'a', uid: name, generation: 1, creationTimestamp: at(created), ...owner('cloud') },
  status: {
    observedGeneration: 1,
    conditions: [
      ready === undefined
        ? { type: 'Ready', status: 'False', reason: 'Reconciling', message: 'moves', lastTransitionTime: at(created) }
        : { type: 'Ready', status: 'True', reason: 'DeploymentReady', message: '', lastTransitionTime: at(ready) },
    ],
  },
  ...more,
});
const top = {
  ...ours('OpenStackControlPlane', 'cloud', 0),
  metadata: { name: 'cloud', namespace: 'a', uid: 'cloud', generation: 1 },
};
const set = (name: string, of: string, status: object): Live => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name, namespace: 'a', uid: `set-${name}`, generation: 1, ...owner(of) },
  spec: { replicas: 3 },
  status: { observedGeneration: 1, ...status },
});
const pod = (name: string, of: string, ready: boolean): Live => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: name, ...owner(of) },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

describe('status', () => {
  it('tells what rolls, how far, and learns the time that is left', () => {
    const objects = [
      top,
      ours('MariaDB', 'mariadb', 0, 20),
      ours('Memcached', 'memcached', 0, 10),
      ours('RabbitMQ', 'rabbitmq', 0, 30),
      ours('Keystone', 'keystone', 0),
      ours('Glance', 'glance', 0),
      set('mariadb', 'mariadb', { replicas: 3, readyReplicas: 2, updatedReplicas: 1 }),
    ];
    const [cloud] = statusOf(viewOf(objects, Date.parse(at(32))));
    expect(cloud).toMatchObject({ name: 'cloud', ready: 3, wanted: 5, state: 'moving' });
    expect(cloud?.services[0]).toMatchObject({
      name: 'mariadb',
      pods: { wanted: 3, ready: 2 },
      doing: ['mariadb: rolling, 1 of 3 updated'],
    });
    // The median of 10, 20 and 30 is 20: Keystone began at 20 and needs 8 more, then Glance 20.
    expect(cloud?.eta).toEqual({ seconds: 28, learnedFrom: 3 });
  });
  it('has no opinion before two services are ready', () =>
    expect(
      statusOf(viewOf([top, ours('MariaDB', 'mariadb', 0, 20), ours('Keystone', 'keystone', 0)], 0))[0]?.eta,
    ).toBeUndefined());
  it('groups what stands alone by namespace', () => {
    const alone = { ...ours('Memcached', 'm', 0, 1), metadata: { name: 'm', namespace: 'b', generation: 1 } };
    expect(statusOf(viewOf([alone], 0))).toMatchObject([
      { namespace: 'b', ready: 1, wanted: 1, services: [{ name: 'm' }] },
    ]);
  });
  it.each([
    ['unseen', { status: undefined }],
    ['ready', {}],
    ['moving', { metadata: { name: 'x', generation: 2 } }],
    ['deleting', { metadata: { name: 'x', deletionTimestamp: at(0) } }],
    ['paused', { status: { conditions: [{ type: 'Paused', status: 'True' }] } }],
    ['stuck', { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'JobFailed' }] } }],
  ])('%s', (state, more) => expect(stateOf(ours('Keystone', 'x', 0, 1, more))).toBe(state));
});

describe('tree', () => {
  const pods = ['a', 'b', 'c'].map(name => pod(name, 'set-mariadb', name !== 'c'));
  const sick = [
    top,
    ours('MariaDB', 'mariadb', 0),
    ours('Memcached', 'memcached', 0, 1),
    set('mariadb', 'mariadb', { replicas: 3, readyReplicas: 2, updatedReplicas: 3 }),
    ...pods,
  ];
  const draw = (all: boolean) =>
    linesOf(treeOf(viewOf(sick, 0)), all).map(line => `${line.indent}${line.label}: ${line.text}`);
  it('expands trouble and folds equal siblings', () =>
    expect(draw(false)).toEqual([
      'OpenStackControlPlane cloud: Reconciling: moves',
      '├─ MariaDB mariadb: Reconciling: moves',
      '│  └─ StatefulSet mariadb: 2/3, 2 of 3 ready',
      '│     ├─ 2 Pods: Ready: a, b',
      '│     └─ Pod c: Running',
      '└─ Memcached memcached: Ready',
    ]));
  it('shows everything when asked', () => expect(draw(true)).toHaveLength(7));
});

it.each([
  [5_000, '5s'],
  [185_000, '3m5s'],
  [1_200_000, '20m'],
  [8_100_000, '2h15m'],
  [200_000_000, '2d'],
])('age of %d', (ms, text) => expect(ageOf(ms)).toBe(text));
