import { createBackends } from '../embedded/backends/backends.ts';
import { hands, install } from '../embedded/cluster.ts';
import { type Pretenders, pretend } from '../embedded/pretend/pretend.ts';
import { Sim } from '../embedded/sim/sim.ts';
import { createStore } from '../embedded/store/store.ts';
import type { AnyObject } from '../kube/object.ts';
import { Node } from '../kube/resource.ts';
import { createOperator } from '../operator/operator.ts';
import { PLANS } from '../services/list.ts';
import { SLICE } from './slice.ts';

/** The labels by which nodes become hypervisors and gateways: one node has them, as in a small cluster. */
const ROLES = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };

/** An embedded cluster and the real operator on virtual time: minutes of a cloud's life pass in seconds. */
export async function embeddedCloud(
  objects: readonly AnyObject[] = [SLICE],
  namespace = 'openstack',
  /** Seconds of its time; else until nothing moves. */
  after?: number,
): Promise<{ readonly objects: readonly AnyObject[]; readonly now: number }> {
  const sim = new Sim(1);
  const { clock, random } = sim;
  const store = createStore({ clock, random });
  install(store, namespace);
  const kubelet = sim.process('pretenders');
  let pretenders: Pretenders | undefined;
  const backends = createBackends({ resolve: (host, port) => pretenders?.resolve(host, port) ?? [] });
  pretenders = pretend({
    transport: kubelet.transport(store),
    clock: kubelet.clock,
    random: kubelet.random,
    programs: backends.programs,
  });
  let started = false;
  void pretenders.start().then(() => {
    started = true;
  });
  await sim.until(() => started);
  const admin = hands(store);
  const [node] = admin.list(Node);
  if (node) admin.patch(Node, '', node.metadata.name, { metadata: { labels: ROLES } });
  const process = sim.process('operator');
  const operator = createOperator({
    world: { cluster: process.transport(store), cloud: backends.cloud, clock: process.clock, random: process.random },
    plans: PLANS,
  });
  let failure: unknown;
  operator.manager.run(process.signal).catch(error => {
    failure = error;
  });
  for (const object of objects)
    admin.apply({ ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace } });
  if (after === undefined) await sim.settle();
  else await sim.run(after * 1000);
  if (failure) throw failure;
  return { objects: store.objects(), now: clock.wall() };
}
