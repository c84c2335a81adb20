import { describe, expect, it } from 'vitest';
import { NovaAPI } from '../../api/nova/api.ts';
import { NovaConductor } from '../../api/nova/conductor.ts';
import { NovaScheduler } from '../../api/nova/scheduler.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Heat } from '../../api/openstack/heat.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { DaemonSet, Deployment, Job, Pod, type Resource, Service, StatefulSet } from '../../src/kube/resource.ts';
import { hashOf } from '../../src/runtime/plan/canonical.ts';
import { type Cloud, NS } from './cloud.ts';
import { cloudWith, label, objectOf, readyCloud, template } from './services.ts';
import { ours, slice, Trouble, withSlice } from './stories.ts';

interface PodTemplate {
  metadata: { annotations: Record<string, string>; labels: Record<string, string> };
  spec: {
    containers: { name: string; image: string; env?: object[]; terminationMessagePolicy?: string }[];
    initContainers?: { name: string; image: string; command: string[]; env?: object[] }[];
    volumes: { name: string; secret?: object; emptyDir?: object }[];
    tolerations?: object[];
    terminationGracePeriodSeconds?: number;
  };
}
const podOf = (cloud: Cloud, resource: Resource, name: string) => template(cloud, resource, name) as PodTemplate;
const serviceOf = (cloud: Cloud, name: string) =>
  cloud.get(Service, name) as AnyObject & { spec: Record<string, unknown> & { ports: object[] } };
const uids = (cloud: Cloud): Record<string, string> =>
  Object.fromEntries(cloud.hands.list(Pod, NS).map(pod => [pod.metadata.name, pod.metadata.uid ?? '']));
const jobs = (cloud: Cloud): string[] => cloud.hands.list(Job, NS).map(job => job.metadata.name);
/** Everything that pods are made from, by workload. */
const templates = (cloud: Cloud): Record<string, unknown> =>
  Object.fromEntries(
    [Deployment, StatefulSet, DaemonSet].flatMap(resource =>
      cloud.hands
        .list(resource, NS)
        .map(({ metadata, spec }) => [metadata.name, (spec as { template: unknown }).template]),
    ),
  );
/** Names of workloads whose pods roll between the two. */
const rolled = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  Object.keys(after)
    .filter(name => hashOf(before[name]) !== hashOf(after[name]))
    .sort();

async function edited(cloud: Cloud, change: object): Promise<void> {
  cloud.apply(change);
  await cloud.ready(OpenStackControlPlane, 'slice');
  await cloud.settle();
}

describe('override.podTemplate', { timeout: 120_000 }, () => {
  it('of an API is merged over its pods, which roll alone, and no Job runs again', async () => {
    const { cloud } = await withSlice();
    const [before, pods, done] = [templates(cloud), uids(cloud), jobs(cloud)];
    const sidecar = { name: 'proxy', image: 'example.org/proxy:1' };
    const podTemplate = {
      metadata: { annotations: { 'example.org/scrape': 'yes' }, labels: { team: 'blue' } },
      spec: {
        containers: [{ name: 'keystone', env: [{ name: 'A', value: 'b' }], terminationMessagePolicy: null }, sidecar],
        tolerations: [{ key: 'own', operator: 'Exists' }],
        terminationGracePeriodSeconds: 7,
      },
    };
    const spec = { keystone: { tolerations: [{ key: 'mine', operator: 'Exists' }], override: { podTemplate } } };
    await edited(cloud, slice(spec));
    const pod = podOf(cloud, Deployment, 'keystone-api');
    expect(pod.metadata.annotations).toMatchObject({
      'example.org/scrape': 'yes',
      'openstack.k8s.io/config-hash': expect.any(String),
    });
    expect(pod.metadata.labels).toMatchObject({ team: 'blue', 'app.kubernetes.io/instance': 'keystone' });
    const [main, second] = pod.spec.containers;
    expect(main?.image).toBe((before['keystone-api'] as PodTemplate).spec.containers[0]?.image);
    expect(main?.env).toContainEqual({ name: 'A', value: 'b' });
    // The API server fills in its default for what null took away.
    expect(main?.terminationMessagePolicy).not.toBe('FallbackToLogsOnError');
    expect(second).toMatchObject(sidecar);
    expect(pod.spec.tolerations).toEqual([
      { key: 'mine', operator: 'Exists' },
      { key: 'own', operator: 'Exists' },
    ]);
    expect(pod.spec.terminationGracePeriodSeconds).toBe(7);
    expect(rolled(before, templates(cloud))).toEqual(['keystone-api']);
    expect(jobs(cloud)).toEqual(done);
    const now = uids(cloud);
    const same = Object.keys(pods).filter(name => now[name] === pods[name]);
    expect(same.sort()).toEqual(
      Object.keys(pods)
        .filter(name => !name.startsWith('keystone-api'))
        .sort(),
    );

    await edited(cloud, slice());
    expect(rolled(before, templates(cloud))).toEqual([]);
  });

  it('at rest writes nothing, whatever amounts are written as', async () => {
    const { cloud } = await withSlice();
    const containers = [{ name: 'memcached', resources: { limits: { cpu: 1 } } }];
    await edited(cloud, slice({ memcached: { override: { podTemplate: { spec: { containers } } } } }));
    const writes = cloud.writes().length;
    await cloud.sim.run(3_600_000);
    expect(cloud.writes().length).toBe(writes);
  });

  it('of MariaDB and RabbitMQ reaches their init containers and volumes', async () => {
    const { cloud } = await withSlice();
    const before = templates(cloud);
    const mariadb = { spec: { initContainers: [{ name: 'install', env: [{ name: 'TZ', value: 'UTC' }] }] } };
    const rabbitmq = { spec: { volumes: [{ name: 'cookie', secret: { defaultMode: 0o400 } }] } };
    await edited(
      cloud,
      slice({ mariadb: { override: { podTemplate: mariadb } }, rabbitmq: { override: { podTemplate: rabbitmq } } }),
    );
    const [init] = podOf(cloud, StatefulSet, 'mariadb').spec.initContainers ?? [];
    expect(init?.env).toEqual([{ name: 'TZ', value: 'UTC' }]);
    expect(init?.command).toEqual((before.mariadb as PodTemplate).spec.initContainers?.[0]?.command);
    const cookies = podOf(cloud, StatefulSet, 'rabbitmq').spec.volumes.filter(volume => volume.name === 'cookie');
    expect(cookies).toEqual([
      { name: 'cookie', secret: expect.objectContaining({ secretName: 'rabbitmq-admin', defaultMode: 0o400 }) },
    ]);
    expect(rolled(before, templates(cloud))).toEqual(['mariadb', 'rabbitmq']);
  });

  it('of a template is about its pods, and comes before that of the object', async () => {
    const heat = (spec: object = {}) => cloudWith({ heat: { enabled: true, ...spec } });
    const cloud = await readyCloud({ heat: { enabled: true } });
    const before = templates(cloud);
    const grace = (seconds: number) => ({ podTemplate: { spec: { terminationGracePeriodSeconds: seconds } } });
    const seconds = () =>
      [
        [Deployment, 'heat-api'],
        [Deployment, 'heat-cfn'],
        [StatefulSet, 'heat-engine'],
      ].map(([kind, name]) => podOf(cloud, kind as Resource, name as string).spec.terminationGracePeriodSeconds);
    await edited(cloud, heat({ engineServiceTemplate: { override: grace(11) } }));
    expect(seconds()).toEqual([90, 90, 11]);
    expect(rolled(before, templates(cloud))).toEqual(['heat-engine']);

    await edited(cloud, heat({ override: grace(22), engineServiceTemplate: { override: grace(11) } }));
    expect(seconds()).toEqual([22, 22, 11]);

    // A container of one of its pods: the others do not have it, and stay.
    const containers = [{ name: 'heat-cfn', env: [{ name: 'A', value: 'b' }] }];
    await edited(cloud, heat({ override: { podTemplate: { spec: { containers } } } }));
    expect(rolled(before, templates(cloud))).toEqual(['heat-cfn']);
    expect(podOf(cloud, Deployment, 'heat-cfn').spec.containers.map(c => c.name)).toEqual(['heat-cfn']);
  });

  it('of OVN reaches one of the containers of a node, on both kinds of nodes', async () => {
    const cloud = await readyCloud({}, undefined, { operator: { env: { ALLOW_HOST_ACCESS: 'true' } } });
    label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
    cloud.apply(objectOf(OVNNetwork, 'ovn'));
    await cloud.ready(OVNNetwork, 'ovn');
    const before = templates(cloud);
    const containers = [{ name: 'ovs-vswitchd', env: [{ name: 'A', value: 'b' }] }];
    cloud.apply(objectOf(OVNNetwork, 'ovn', { override: { podTemplate: { spec: { containers } } } }));
    await cloud.ready(OVNNetwork, 'ovn');
    expect(rolled(before, templates(cloud))).toEqual(['ovn-controller', 'ovn-gateway']);
  });

  it('that says nothing changes nothing', async () => {
    const { cloud } = await withSlice();
    const before = templates(cloud);
    await edited(
      cloud,
      slice({
        mariadb: { override: {} },
        rabbitmq: { override: { podTemplate: {}, service: {} } },
        memcached: { override: { podTemplate: { metadata: {}, spec: { containers: [] } } } },
        keystone: { override: { podTemplate: { spec: { containers: [{ name: 'keystone' }], noSuch: null } } } },
      }),
    );
    expect(rolled(before, templates(cloud))).toEqual([]);
  });
});

describe('override.service', { timeout: 120_000 }, () => {
  it('gives a Service annotations and a type, takes them back, and restarts nobody', async () => {
    const { cloud } = await withSlice();
    const before = templates(cloud);
    const own = { metadata: { annotations: { 'example.org/pool': 'blue' } }, spec: { type: 'LoadBalancer' } };
    await edited(cloud, slice({ mariadb: { override: { service: own } }, keystone: { override: { service: own } } }));
    for (const name of ['mariadb', 'keystone-api']) {
      expect(serviceOf(cloud, name).metadata.annotations).toMatchObject({ 'example.org/pool': 'blue' });
      expect(serviceOf(cloud, name).spec).toMatchObject({ type: 'LoadBalancer' });
    }
    // Members find each other by it, and nobody else.
    expect(serviceOf(cloud, 'mariadb-members').spec).toMatchObject({ clusterIP: 'None', type: 'ClusterIP' });
    expect(serviceOf(cloud, 'mariadb-members').metadata.annotations).toBeUndefined();
    expect(rolled(before, templates(cloud))).toEqual([]);

    await edited(cloud, slice());
    expect(serviceOf(cloud, 'keystone-api').spec).toMatchObject({ type: 'ClusterIP' });
    expect(serviceOf(cloud, 'keystone-api').metadata.annotations ?? {}).not.toHaveProperty('example.org/pool');
  });

  it('reaches the only Service of a cache, which has no other', async () => {
    const { cloud } = await withSlice();
    const service = { metadata: { labels: { team: 'blue' } } };
    await edited(cloud, slice({ memcached: { override: { service } } }));
    expect(serviceOf(cloud, 'memcached').metadata.labels).toMatchObject({ team: 'blue' });
    expect(serviceOf(cloud, 'memcached').spec).toMatchObject({ clusterIP: 'None' });
  });

  it("of an object is that of its components, unless their template has one; a template's pods are no matter", async () => {
    const pool = (name: string) => ({ metadata: { annotations: { 'example.org/pool': name } } });
    const cloud = await readyCloud({
      heat: {
        enabled: true,
        override: { service: pool('all') },
        apiServiceTemplate: { override: { podTemplate: { metadata: { annotations: { a: 'b' } } } } },
        cfnServiceTemplate: { override: { service: pool('cfn') } },
      },
    });
    const pools = ['heat-api', 'heat-cfn'].map(
      name => serviceOf(cloud, name).metadata.annotations?.['example.org/pool'],
    );
    expect(pools).toEqual(['all', 'cfn']);
  });
});

describe('an override that can not be', { timeout: 120_000 }, () => {
  const pod = (spec: object) => ({ podTemplate: { spec } });
  const cases: readonly [string, object, string, readonly string[]][] = [
    ['an unknown half', { pod: {} }, 'WorkloadsReady', ['spec.override of Keystone keystone has pod']],
    ['no map', { podTemplate: 'x' }, 'WorkloadsReady', ['spec.override.podTemplate', 'is not a map']],
    [
      'a field too high up',
      { podTemplate: { containers: [] } },
      'WorkloadsReady',
      ['has containers', 'metadata or spec'],
    ],
    ['a name', { service: { metadata: { name: 'x' } } }, 'ExposeReady', ['has name', 'labels or annotations']],
    [
      'a container that is not there',
      pod({ containers: [{ name: 'keystone-api', tty: true }] }),
      'WorkloadsReady',
      ['spec.override.podTemplate of Keystone keystone', 'has keystone-api in containers', 'the pods have keystone'],
    ],
    [
      'a label of the selector',
      { podTemplate: { metadata: { labels: { 'app.kubernetes.io/instance': 'x' } } } },
      'WorkloadsReady',
      ['sets app.kubernetes.io/instance'],
    ],
    [
      'the mark by which pods roll',
      { podTemplate: { metadata: { annotations: { 'openstack.k8s.io/config-hash': null } } } },
      'WorkloadsReady',
      ['sets openstack.k8s.io/config-hash'],
    ],
    ['a selector', { service: { spec: { selector: { a: 'b' } } } }, 'ExposeReady', ['sets spec.selector']],
    [
      'a port more',
      { service: { spec: { ports: [{ name: 'more', port: 1 }] } } },
      'ExposeReady',
      ['makes the names of ports api, more', 'the port that is meant: api'],
    ],
  ];
  it.each(cases)('%s', async (_what, override, type, words) => {
    const story = await withSlice();
    const { cloud } = story;
    const before = templates(cloud);
    const service = serviceOf(cloud, 'keystone-api');
    cloud.apply(slice({ keystone: { override } }));
    await story.tells(Keystone, 'keystone', type, 'InvalidOverride', ...words, 'User: ');
    expect(templates(cloud)).toEqual(before);
    expect(serviceOf(cloud, 'keystone-api')).toEqual(service);
    cloud.apply(slice());
    await story.mends(OpenStackControlPlane, 'slice');
  });

  it('is at rest, and told of at the top', async () => {
    const story = await withSlice();
    story.cloud.apply(slice({ mariadb: { override: pod({ containers: [{ name: 'mysql' }] }) } }));
    await story.tells(MariaDB, 'mariadb', 'WorkloadsReady', 'InvalidOverride', 'has mysql', 'the pods have mariadb');
    await story.tells(OpenStackControlPlane, 'slice', 'MariaDBReady', 'InvalidOverride', 'MariaDB mariadb', 'User: ');
    await story.rests();
  });

  it('names a container of other pods than those of the template, or a Service that there is not', async () => {
    const story = await Trouble.start();
    const { cloud } = story;
    const heat = (template: object) => slice({ heat: { enabled: true, engineServiceTemplate: template } });
    cloud.apply(heat({ override: pod({ containers: [{ name: 'heat-api' }] }) }));
    const words = ['spec.engineServiceTemplate.override.podTemplate of Heat heat', 'the pods have heat-engine. User'];
    await story.tells(Heat, 'heat', 'WorkloadsReady', 'InvalidOverride', ...words);
    cloud.apply(heat({ override: { service: { spec: { type: 'NodePort' } } } }));
    const service = ['spec.engineServiceTemplate.override.service of Heat heat', 'these pods have no Service'];
    await story.waits(Heat, 'heat', 'WorkloadsReady', 'InvalidOverride', ...service);
    cloud.apply(heat({}));
    await story.mends(OpenStackControlPlane, 'slice');
  });
});

describe("Nova's override", { timeout: 120_000 }, () => {
  it('goes to its parts: each gets what is about its own containers, and who has a Service gets that', async () => {
    const { cloud } = await withSlice();
    const containers = ['nova-api', 'nova-conductor'].map(name => ({ name, env: [{ name: 'WHO', value: name }] }));
    const override = {
      podTemplate: { metadata: { annotations: { 'example.org/all': 'yes' } }, spec: { containers } },
      service: { metadata: { labels: { team: 'blue' } } },
    };
    const cellTemplates = { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } };
    const schedulerServiceTemplate = { override: { podTemplate: { metadata: { annotations: { mine: 'yes' } } } } };
    cloud.apply(ours('Nova', 'nova', { cellTemplates, override, schedulerServiceTemplate }));
    await cloud.ready(Nova, 'nova');
    const whoOf = (name: string) =>
      podOf(cloud, StatefulSet, name).spec.containers[0]?.env?.find(e => (e as { name: string }).name === 'WHO');
    expect(whoOf('nova-api')).toEqual({ name: 'WHO', value: 'nova-api' });
    expect(whoOf('nova-cell1-conductor')).toEqual({ name: 'WHO', value: 'nova-conductor' });
    expect(whoOf('nova-metadata')).toBeUndefined();
    const annotations = (name: string) => podOf(cloud, StatefulSet, name).metadata.annotations;
    expect(annotations('nova-metadata')).toMatchObject({ 'example.org/all': 'yes' });
    expect(annotations('nova-scheduler')).toMatchObject({ mine: 'yes' });
    expect(annotations('nova-scheduler')).not.toHaveProperty('example.org/all');
    expect(serviceOf(cloud, 'nova-api').metadata.labels).toMatchObject({ team: 'blue' });
    expect(serviceOf(cloud, 'nova-metadata').metadata.labels).toMatchObject({ team: 'blue' });
    for (const [kind, name] of [
      [NovaAPI, 'nova-api'],
      [NovaScheduler, 'nova-scheduler'],
      [NovaConductor, 'nova-cell1-conductor'],
    ] as const)
      expect(cloud.condition(kind, name)).toMatchObject({ status: 'True' });
  });

  it('refuses a Service for a part that nobody calls', async () => {
    const story = await withSlice();
    const own = { messageBusSecret: 'b', keystoneSecret: 'k', apiDatabaseSecret: 'a', cellDatabaseSecret: 'c' };
    story.cloud.apply(objectOf(NovaScheduler, 'lonely', { ...own, override: { service: { spec: {} } } }));
    const words = ['spec.override.service of NovaScheduler lonely', 'these pods have no Service', 'User: take it out'];
    await story.tells(NovaScheduler, 'lonely', 'ExposeReady', 'InvalidOverride', ...words);
  });
});
