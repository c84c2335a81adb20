import { expect, it } from 'vitest';
import { Memcached } from '../../../api/openstack/memcached.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import { Cloud, NS } from '../../../test/functional/cloud.ts';
import { Deployment, Pod, ReplicaSet } from '../../kube/resource.ts';
import type { Body } from '../plan/cx.ts';
import { plan, rowsOf } from '../plan/row.ts';

const row = rowsOf<ObjectOf<typeof Memcached>>();
const labels = { app: 'toy' };
const body = (command: string): Body => ({
  metadata: { name: 'toy' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'toy', image: 'image', command: [command] }] } },
  },
});

it('a workload that runs the form of an earlier version keeps it until its pods are replaced anyway', async () => {
  let forms: readonly [Body, Body?] = [body('old')];
  const pods = row('WorkloadsReady', { run: async cx => void (await cx.workload(Deployment, ...forms)) });
  const toy = { ...plan(Memcached, { pods }), manages: [Deployment], reads: [Pod, ReplicaSet] };
  const cloud = await Cloud.start({ plans: [toy] });
  cloud.apply({ apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Memcached', metadata: { name: 'toy' } });
  await cloud.ready(Memcached, 'toy');
  const command = (): string | undefined => {
    type Spec = { readonly template?: { readonly spec: { readonly containers: readonly { command: string[] }[] } } };
    const { template } = (cloud.get(Deployment, 'toy')?.spec ?? {}) as Spec;
    return template?.spec.containers[0]?.command[0];
  };
  const becomes = async (...next: typeof forms) => {
    forms = next;
    cloud.crashOperator();
    cloud.startOperator();
    await cloud.sim.run(60_000);
    await cloud.ready(Memcached, 'toy');
    return command();
  };
  const uid = () => cloud.hands.list(Pod, NS)[0]?.metadata.uid;
  const first = uid();
  expect(await becomes(body('new'), body('old'))).toBe('old');
  expect(uid()).toBe(first);
  // Another edit, which both forms have: now the pods are replaced, and get the new form.
  expect(await becomes(body('new 2'), body('old 2'))).toBe('new 2');
  expect(await becomes(body('new 2'), body('old 2'))).toBe('new 2');
});
