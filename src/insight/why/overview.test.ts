import { describe, expect, it } from 'vitest';
import { detailOf, eventsBelow } from '../status/detail.ts';
import { groupsOf } from '../status/status.ts';
import { timelineOf } from '../status/timeline.ts';
import { topologyOf } from '../status/topology.ts';
import { type Live, viewOf } from '../view/view.ts';
import { overviewOf } from './overview.ts';

const BEGAN = 1_000_000_000_000;
const ms = (seconds: number): number => BEGAN + seconds * 1000;
const at = (seconds: number): string => new Date(ms(seconds)).toISOString().replace('.000', '');
const owner = (uid: string) => ({
  ownerReferences: [{ apiVersion: 'x', kind: 'x', name: 'x', uid, controller: true }],
});
const ready = (when: number | undefined, created: number) => [
  when === undefined
    ? { type: 'Ready', status: 'False', reason: 'Reconciling', message: 'moves', lastTransitionTime: at(created) }
    : { type: 'Ready', status: 'True', reason: 'DeploymentReady', message: '', lastTransitionTime: at(when) },
];
const service = (kind: string, created: number, when?: number, of: string | undefined = 'cloud', spec = {}): Live => {
  const name = kind.toLowerCase();
  return {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: {
      name,
      namespace: 'a',
      uid: name,
      generation: 1,
      creationTimestamp: at(created),
      ...(of && owner(of)),
    },
    spec,
    status: { observedGeneration: 1, conditions: ready(when, created) },
  };
};
const top: Live = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'cloud', namespace: 'a', uid: 'cloud', generation: 1, creationTimestamp: at(0) },
  status: { observedGeneration: 1, conditions: ready(undefined, 0) },
};
const job = (name: string, of: string, from: number, to?: number): Live => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'a', uid: name, creationTimestamp: at(from), ...owner(of) },
  status: { startTime: at(from), ...(to !== undefined && { completionTime: at(to) }) },
});
const workload = (name: string, of: string): Live => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name, namespace: 'a', uid: name, generation: 1, ...owner(of) },
});
const pod = (name: string, of: string, from: number, when?: number): Live => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: name, creationTimestamp: at(from), ...owner(of) },
  status: {
    conditions: [
      { type: 'Ready', status: when === undefined ? 'False' : 'True', lastTransitionTime: at(when ?? from) },
    ],
  },
});
const group = (objects: readonly Live[], now: number) => {
  const view = viewOf(objects, ms(now));
  return { view, group: groupsOf(view)[0]! };
};

describe('topology', () => {
  it('has the edges of the control plane between what is there, and tells which follow from others', () => {
    const { view, group: cloud } = group(
      [top, service('MariaDB', 0, 5), service('Memcached', 0, 3), service('Keystone', 0), service('Glance', 0)],
      10,
    );
    const { edges, phases } = topologyOf(view, cloud);
    expect(phases).toEqual(['Infrastructure', 'Identity', 'CoreServices']);
    expect(edges.map(edge => `${edge.from} ${edge.implied ? '..' : '->'} ${edge.to}`)).toEqual([
      'MariaDB/mariadb -> Keystone/keystone',
      'Memcached/memcached -> Keystone/keystone',
      'MariaDB/mariadb .. Glance/glance',
      'Keystone/keystone -> Glance/glance',
    ]);
  });

  it('has the parts of a service, however deep', () => {
    const cell = { ...service('NovaCell', 0, 5, 'nova'), metadata: { ...service('NovaCell', 0, 5, 'nova').metadata } };
    const { view, group: cloud } = group(
      [top, service('Nova', 0), cell, service('NovaConductor', 0, 9, 'novacell')],
      10,
    );
    const [nova] = topologyOf(view, cloud).nodes;
    expect(nova?.parts.map(part => `${part.kind} ${part.state}`)).toEqual(['NovaCell ready', 'NovaConductor ready']);
  });

  it('of services that stand alone comes from the names in their specs', () => {
    const { view, group: alone } = group(
      [service('MariaDB', 0, 5, ''), service('Keystone', 0, undefined, '', { databaseInstance: 'mariadb' })],
      10,
    );
    expect(topologyOf(view, alone)).toMatchObject({
      phases: [],
      edges: [{ from: 'MariaDB/mariadb', to: 'Keystone/keystone', implied: false }],
    });
  });

  it('an object that only has the name of a section is not in the table', () => {
    const odd = { ...service('Heat', 0), metadata: { ...service('Heat', 0).metadata, name: 'keystone' } };
    const { view, group: cloud } = group([top, service('MariaDB', 0, 5), odd], 10);
    expect(topologyOf(view, cloud).edges).toEqual([]);
  });
});

describe('the timeline', () => {
  const done = [
    top,
    service('MariaDB', 0, 20),
    service('Memcached', 0, 5),
    service('Keystone', 0, 45),
    service('Glance', 0, 60),
    service('Placement', 0, 55),
    job('keystone-db-sync', 'keystone', 21, 30),
    workload('keystone-api', 'keystone'),
    pod('keystone-0', 'keystone-api', 31, 40),
    pod('keystone-1', 'keystone-api', 32, 44),
  ];

  it('has for each service how long it waited and worked, its Jobs and its workloads', () => {
    const { view, group: cloud } = group(done, 100);
    const timeline = timelineOf(view, cloud)!;
    expect([timeline.from, timeline.to, timeline.open]).toEqual([ms(0), ms(60), false]);
    const keystone = timeline.rows.find(row => row.id === 'Keystone/keystone');
    expect(keystone).toMatchObject({
      waits: { from: ms(0), to: ms(20) },
      works: { from: ms(20), to: ms(45) },
      critical: true,
      steps: [
        { what: 'Job keystone-db-sync', from: ms(21), to: ms(30) },
        { what: 'StatefulSet keystone-api', from: ms(31), to: ms(44) },
      ],
    });
  });

  it('the critical path goes from what was ready last to what it waited for longest', () => {
    const { view, group: cloud } = group(done, 100);
    expect(timelineOf(view, cloud)?.path).toEqual(['MariaDB/mariadb', 'Keystone/keystone', 'Glance/glance']);
  });

  it('under way: open ends, and the path leads through what is open', () => {
    const { view, group: cloud } = group(
      [
        top,
        service('MariaDB', 0, 20),
        service('RabbitMQ', 0),
        service('Memcached', 0, 5),
        service('Keystone', 0),
        service('Glance', 0),
      ],
      30,
    );
    const timeline = timelineOf(view, cloud)!;
    expect([timeline.open, timeline.to]).toEqual([true, ms(30)]);
    expect(timeline.path).toEqual(['MariaDB/mariadb', 'Keystone/keystone', 'Glance/glance']);
    expect(timeline.rows.find(row => row.id === 'Keystone/keystone')?.works).toEqual({ from: ms(20) });
  });

  it('of days ago is not mixed with an edit of today', () => {
    const day = 86_400;
    const { view, group: cloud } = group(
      [
        top,
        service('MariaDB', 0, 20),
        service('Memcached', 0, 5),
        service('Keystone', 0, 45),
        workload('keystone-api', 'keystone'),
        pod('keystone-0', 'keystone-api', day, day + 12),
      ],
      day + 100,
    );
    const timeline = timelineOf(view, cloud)!;
    expect([timeline.from, timeline.to]).toEqual([ms(day), ms(day + 12)]);
    const rows = timeline.rows.map(row => `${row.id} ${row.works ? 'works' : 'rests'} ${row.steps.length}`);
    expect(rows).toEqual(['MariaDB/mariadb rests 0', 'Memcached/memcached rests 0', 'Keystone/keystone rests 1']);
    expect(timeline.path).toEqual([]);
  });

  it('of nothing is nothing', () => {
    const view = viewOf([top], ms(10));
    expect(timelineOf(view, groupsOf(view)[0]!)).toBeUndefined();
  });
});

describe('the first screen', () => {
  it('is the status, the topology, the timeline and the causes of the same view', () => {
    const view = viewOf([top, service('MariaDB', 0, 5), service('Memcached', 0)], ms(10));
    const { clouds, why } = overviewOf(view);
    expect(clouds).toMatchObject([{ name: 'cloud', wanted: 2, ready: 1, topology: { nodes: [{}, {}] }, timeline: {} }]);
    expect(why.causes).toEqual([]);
    expect(why.moving).toContain('Memcached memcached: moves');
    expect(clouds[0]).not.toHaveProperty('why');
  });

  it('gives each of several clouds its own why', () => {
    const other = (object: Live): Live => ({ ...object, metadata: { ...object.metadata, namespace: 'b' } });
    const [here, there] = [service('Memcached', 0, undefined, ''), other(service('RabbitMQ', 0, undefined, ''))];
    const { clouds, why } = overviewOf(viewOf([here, there], ms(5)));
    expect(why.moving).toEqual(['RabbitMQ rabbitmq: moves', 'Memcached memcached: moves']);
    expect(clouds.map(cloud => [cloud.namespace, cloud.why?.moving])).toEqual([
      ['a', ['Memcached memcached: moves']],
      ['b', ['RabbitMQ rabbitmq: moves']],
    ]);
  });
});

describe('one object', () => {
  const event = (uid: string, text: string): Live => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${uid}.1`, namespace: 'a', creationTimestamp: at(1) },
    type: 'Warning',
    reason: 'Failed',
    message: text,
    involvedObject: { kind: 'Pod', name: uid, namespace: 'a', uid },
  });
  const keystone = service('Keystone', 0);
  const objects = [
    top,
    keystone,
    workload('keystone-api', 'keystone'),
    pod('keystone-0', 'keystone-api', 1),
    event('keystone-0', 'mysql://keystone:hunter22@db is not there'),
    event('mariadb-0', 'of another'),
  ];

  it('has its conditions, what is below it and what happened there, without passwords', () => {
    const view = viewOf(objects, ms(10));
    const detail = detailOf(view, keystone);
    expect(detail).toMatchObject({
      kind: 'Keystone',
      state: 'moving',
      conditions: [{ type: 'Ready', status: 'False', reason: 'Reconciling' }],
      tree: { children: [{ kind: 'StatefulSet', children: [{ kind: 'Pod', name: 'keystone-0' }] }] },
    });
    expect(detail.events.map(one => one.text)).toEqual(['mysql://keystone:***@db is not there']);
    expect(eventsBelow(view, keystone)).toHaveLength(1);
  });
});
