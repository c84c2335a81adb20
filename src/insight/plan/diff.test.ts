import { describe, expect, it } from 'vitest';
import { type Live, viewOf } from '../view/view.ts';
import { compare } from './diff.ts';
import { type Moment, momentsOf, precedes, stepsOf } from './rolling.ts';
import { quantity, warningsOf } from './warnings.ts';

const object = (kind: string, name: string, more: object = {}): Live => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'a' },
  ...more,
});
const encoded = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')]));

describe('the difference between two sets of objects', () => {
  it('is blind to the order of fields, in lists too: a real API server answers in its own', () => {
    const list = (...items: object[]) => [object('Deployment', 'd', { spec: { list: items } })];
    expect(compare(list({ a: 1, b: { c: 1, d: 2 } }), list({ b: { d: 2, c: 1 }, a: 1 }))).toEqual([]);
  });

  it('creates, changes and deletes; pods, status and the server’s bookkeeping do not count', () => {
    const before = [
      object('Service', 'old'),
      object('Deployment', 'd', { spec: { replicas: 1, x: 1 }, status: { a: 1 } }),
      object('Pod', 'p'),
    ];
    const after = [
      object('Secret', 'new'),
      {
        ...object('Deployment', 'd', { spec: { replicas: 2, x: 1 }, status: { a: 2 } }),
        metadata: { name: 'd', namespace: 'a', resourceVersion: '9', generation: 4 },
      },
    ];
    expect(compare(before, after)).toEqual([
      { action: 'create', kind: 'Secret', namespace: 'a', name: 'new', fields: [] },
      {
        action: 'change',
        kind: 'Deployment',
        namespace: 'a',
        name: 'd',
        fields: [{ path: 'spec.replicas', before: '1', after: '2' }],
      },
      { action: 'delete', kind: 'Service', namespace: 'a', name: 'old', fields: [] },
    ]);
  });
  it('lists of named things are compared by name', () => {
    const pods = (image: string) =>
      object('Deployment', 'd', {
        spec: {
          containers: [
            { name: 'c', image },
            { name: 'e', image: 'same' },
          ],
        },
      });
    expect(compare([pods('a')], [pods('b')])[0]?.fields).toEqual([
      { path: 'spec.containers.c.image', before: 'a', after: 'b' },
    ]);
  });
  it('config files option by option, and never a secret', () => {
    const files = (expiration: number, password: string) =>
      object('Secret', 's', {
        data: encoded({
          '01-keystone.conf': `[token]\nexpiration = ${expiration}\n[database]\nconnection = mysql+pymysql://u:${password}@h/d\n`,
          password,
        }),
      });
    const [change] = compare([files(1, 'hunter2')], [files(2, 'hunter3')]);
    expect(change?.fields).toEqual([
      { path: '01-keystone.conf [database] connection', before: '(secret)', after: '(secret)' },
      { path: '01-keystone.conf [token] expiration', before: '1', after: '2' },
      { path: 'data.password', before: '(secret)', after: '(secret)' },
    ]);
    expect(JSON.stringify(change)).not.toContain('hunter');
  });
});

describe('what happens to workloads', () => {
  const set = (image: string, ready: number, more: object = {}): Live =>
    object('StatefulSet', 's', {
      spec: { replicas: 1, template: { image } },
      status: { readyReplicas: ready, updatedReplicas: 1, replicas: 1 },
      ...more,
    });
  it('is noted once for each start, roll and end', () => {
    const moments: Moment[] = [];
    let now = 0;
    const see = momentsOf(() => now++, moments);
    see(set('a', 1), 'seen');
    for (const [image, ready] of [
      ['a', 1],
      ['b', 1],
      ['b', 0],
      ['b', 1],
      ['b', 1],
    ] as const)
      see(set(image, ready), 'written');
    see(set('b', 1), 'deleted');
    expect(moments.map(m => m.is)).toEqual(['rolls', 'done', 'deleted']);
  });
  it('a wave begins after what must be done before it', () => {
    const m = (name: string, is: Moment['is'], at: number): Moment => ({ kind: 'Job', name, is, at });
    const moments = [
      m('a', 'created', 0),
      m('b', 'created', 1),
      m('a', 'done', 2),
      m('c', 'created', 3),
      m('b', 'done', 4),
      m('c', 'done', 5),
    ];
    expect(precedes(moments)).toEqual([['Job a', 'Job c']]);
    expect(stepsOf(moments, precedes(moments)).map(step => [step.name, step.wave])).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ]);
  });
});

describe('warnings', () => {
  const none = viewOf([], 0);
  it('data that goes', () => {
    const gone = [
      { action: 'delete', kind: 'PersistentVolumeClaim', namespace: 'a', name: 'data', fields: [] } as const,
    ];
    const effects = [{ method: 'dropDatabase', what: 'glance', at: 'h' }];
    expect(warningsOf(none, none, gone, [], effects)).toEqual([
      'PersistentVolumeClaim data is deleted, and the data on its volume with it',
      'database glance is dropped, and its data with it',
    ]);
  });
  it('room that lacks', () => {
    const node = object('Node', 'n', { status: { allocatable: { cpu: '1', memory: '1Gi' } } });
    const pod = (cpu: string) => object('Pod', 'p', { spec: { containers: [{ resources: { requests: { cpu } } }] } });
    expect(warningsOf(viewOf([node, pod('500m')], 0), viewOf([node, pod('1500m')], 0), [], [], [])).toEqual([
      'pods ask for 1.5 of cpu, and the nodes have 1',
    ]);
    expect(warningsOf(viewOf([node], 0), viewOf([node, pod('900m')], 0), [], [], [])).toEqual([]);
  });
  it.each([
    ['500m', 0.5],
    ['2', 2],
    ['1Gi', 2 ** 30],
    ['128974848', 128974848],
    ['junk', 0],
  ])('%s', (text, value) => expect(quantity(text)).toBe(value));
});
