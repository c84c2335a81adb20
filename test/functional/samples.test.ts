import { readFileSync } from 'node:fs';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../api/kinds.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { fields } from '../../api/schema/leaves.ts';
import { PLANNED } from '../../api/schema/planned.ts';
import { structural } from '../../api/schema/structural.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Ingress } from '../../src/kube/resource.ts';
import { ownerUid } from '../../src/runtime/plan/dress.ts';
import { nodePodsOf } from '../../src/services/host-access/nodes.ts';
import { samplesIn } from '../fixtures/objects.ts';
import { authority, certManager } from './certificates.ts';
import { Cloud } from './cloud.ts';
import { imagesOf, MIRROR, PRIVATE, podSpecs, TRUSTING } from './pods.ts';
import { violations } from './podsecurity.ts';
import { deployed, GROUND, GROUPS, standsOn } from './samples.ts';

const kindOf = (name: string): AnyKind => KINDS.find(kind => kind.kind === name)!;

const statusLeaves = (kind: AnyKind): string[] =>
  fields(structural(kind.statusSchema))
    .filter(({ leaf }) => leaf)
    .map(({ path }) => path);

/** The object of ours whose templates a workload is made from. */
const ownerOf = (cloud: Cloud, object: AnyObject): AnyObject | undefined =>
  cloud.store
    .objects()
    .find(other => other.metadata.uid === ownerUid(object) && KINDS.some(k => k.kind === other.kind));

/** Whether there is a value at `services[].name`. */
function has(value: unknown, path: string): boolean {
  const [head = '', ...rest] = path.split('.');
  const at = (value as Record<string, unknown> | undefined)?.[head.replace('[]', '')];
  const list = head.endsWith('[]') ? ((at ?? []) as unknown[]) : [at];
  return list.some(each => (rest.length === 0 ? each !== undefined : has(each, rest.join('.'))));
}

/**
 * Written where samples do not go: results of actions (rotation.test.ts), hashes where there are Jobs, the health that Rook
 * tells (ceph.test.ts), metadata of a cell (hosts.test.ts), and why a condition (causes.test.ts) or a line is not ready.
 */
const ELSEWHERE = new RegExp(
  [
    / (actions\[\]\.\w+|hashes)$/,
    / causes\[\]\./,
    / (cells|backends|services)\[\]\.(reason|message)$/,
    // Only when something was lost or handed over (ownership.test.ts, bad-input.test.ts).
    /^\w+ (adopted|lostSince)$/,
    /^CephStorage health$/,
    /^NovaCell metadataConfigSecret$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

const PUBLISHED = [
  'glance-api',
  'heat-api',
  'heat-cfn',
  'horizon',
  'keystone-api',
  'neutron-api',
  'nova-api',
  'nova-cell1-novncproxy',
  'placement-api',
];

describe('samples', () => {
  const written = new Map<string, Set<string>>();

  interface Deployed {
    readonly cloud: Cloud;
    /** What the parts of Nova stand on is no sample. */
    readonly before: ReadonlySet<string>;
  }
  const made = new Map<string, Promise<Deployed>>();
  /** Made once for all that only look at it. */
  const lookedAt = (group: (typeof GROUPS)[number]): Promise<Deployed> => {
    const known = made.get(group.name) ?? privately(group);
    made.set(group.name, known);
    return known;
  };
  async function privately(group: (typeof GROUPS)[number]): Promise<Deployed> {
    let before: ReadonlySet<string> = new Set();
    const cloud = await deployed(group, PRIVATE, { operator: { env: TRUSTING } }, ground => {
      before = new Set(podSpecs(ground).map(([name]) => name));
    });
    return { cloud, before };
  }

  it.each(GROUPS.map(group => [group.name, group] as const))(
    'become Ready, every pod and Job from a private registry: %s',
    async (_, group) => {
      const { cloud, before } = await lookedAt(group);
      for (const { kind, metadata } of group.objects)
        expect([metadata.name, cloud.condition(kindOf(kind), metadata.name)?.status]).toEqual([metadata.name, 'True']);
      const all = podSpecs(cloud).filter(([name]) => !before.has(name));
      expect(all.length).toBeGreaterThan(3);
      for (const [name, spec] of all) {
        expect([name, spec.imagePullSecrets]).toEqual([name, PRIVATE.imagePullSecrets]);
        for (const image of imagesOf(spec)) expect(image, name).toMatch(`${MIRROR}/openstack.kolla/`);
      }
      for (const object of cloud.store.objects()) {
        const kind = KINDS.find(each => each.kind === object.kind && each.group === object.apiVersion.split('/')[0]);
        const seen = written.get(object.kind) ?? new Set();
        for (const leaf of kind ? statusLeaves(kind) : []) if (has(object.status, leaf)) seen.add(leaf);
        if (kind) written.set(object.kind, seen);
      }
    },
    240_000,
  );

  it.each(GROUPS.map(group => [group.name, group] as const))(
    'the table of pods with rights on the node says what the operator makes of: %s',
    async (_, group) => {
      const { cloud } = await lookedAt(group);
      const workloads = cloud.store
        .objects()
        .filter(({ kind }) => ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind));
      expect(workloads.length).toBeGreaterThan(0);
      for (const workload of workloads) {
        const { spec } = (workload.spec as { template: { spec: PodSpec } }).template;
        const owner = ownerOf(cloud, workload)!;
        const nodes = nodePodsOf(owner.kind, owner.spec as Record<string, unknown>);
        const names = spec.containers.map(({ name }) => name);
        const isOrdinary = nodes === undefined || names.every(name => nodes.ordinary.includes(name));
        expect([workload.metadata.name, violations(spec, 'baseline').length === 0]).toEqual([
          workload.metadata.name,
          isOrdinary,
        ]);
      }
      made.delete(group.name);
    },
    240_000,
  );

  it('fill every field of the status of their kinds', () => {
    const silent = KINDS.filter(kind => PLANNED[kind.kind]?.[0]?.fields !== 'all').flatMap(kind =>
      statusLeaves(kind)
        .filter(leaf => !written.get(kind.kind)?.has(leaf) && !ELSEWHERE.test(`${kind.kind} ${leaf}`))
        .map(leaf => `${kind.kind} ${leaf}`),
    );
    expect(silent).toEqual([]);
  });

  it('of kinds without one are in a folder that says so, and say so when they are applied', async () => {
    const cloud = await Cloud.start();
    const objects = samplesIn('config/samples/not-implemented').map(({ object }) => object);
    cloud.apply(...objects);
    await cloud.settle();
    for (const { kind, metadata } of objects)
      expect([kind, cloud.condition(kindOf(kind), metadata.name)?.reason]).toEqual([kind, 'NotImplemented']);
    expect(objects).toHaveLength(9);
  });
});

describe('every sample of a cloud', () => {
  it.each(Object.keys(GROUND))(
    '%s deploys, rests, also right after a restart, and goes without leaving anything but what was there before',
    async name => {
      const text = readFileSync(`config/samples/controlplane_${name}.yaml`, 'utf8');
      const sample = parse(text) as AnyObject & { spec: object };
      const cloud = await Cloud.start(certManager(authority('public')));
      standsOn(cloud, name);
      const before = cloud.left();
      cloud.apply({ ...sample, spec: { ...sample.spec, deletionPolicy: 'Delete' } });
      await cloud.ready(OpenStackControlPlane, name);
      await cloud.settle();
      const published = cloud.hands.list(Ingress, 'openstack').map(({ metadata }) => metadata.name);
      expect(published.sort()).toEqual(name === 'tls' ? PUBLISHED : []);
      const writes = cloud.writes().length;
      await cloud.sim.run(1_800_000);
      cloud.crashOperator();
      cloud.startOperator();
      await cloud.sim.run(1_800_000);
      expect(cloud.writes().slice(writes)).toEqual([]);
      cloud.hands.remove(OpenStackControlPlane, 'openstack', name);
      await cloud.settle();
      // cert-manager leaves the Secrets it made, unless it is told otherwise.
      const ours = cloud.left().filter(each => !/^Secret \S+-(certificate|public-tls)$/.test(each));
      expect(ours).toEqual(before);
    },
    240_000,
  );
});
