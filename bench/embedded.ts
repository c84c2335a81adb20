import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../api/openstack/controlplane.ts';
import { Sim } from '../src/embedded/sim/sim.ts';
import { createStore } from '../src/embedded/store/store.ts';
import { ConfigMap, Namespace, pathOf } from '../src/kube/resource.ts';
import { Cloud } from '../test/functional/cloud.ts';
import { type Figure, figure } from './figures.ts';

const cpuSeconds = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

/** Requests that the embedded API server answers per second of CPU: half gets, four tenths applies, the rest lists of 100. */
export function storeSpeed(requests: number): Figure[] {
  const { clock, random } = new Sim(1);
  const store = createStore({ clock, random });
  store.handle({
    method: 'POST',
    path: pathOf(Namespace, ''),
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } },
  });
  const name = (index: number) => `map-${index % 1000}`;
  const apply = (index: number) =>
    store.handle(
      {
        method: 'PATCH',
        path: pathOf(ConfigMap, 'ns', name(index)),
        query: { fieldManager: 'bench', force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: name(index), namespace: 'ns', labels: { group: `${index % 10}` } },
          data: { a: 'text', b: `${index}` },
        },
      },
      'bench',
    );
  for (let index = 0; index < 1000; index++) apply(index);
  const started = process.cpuUsage();
  let failed = 0;
  for (let index = 0; index < requests; index++) {
    const kind = index % 10;
    const { status } =
      kind < 5
        ? store.handle({ method: 'GET', path: pathOf(ConfigMap, 'ns', name(index * 7)) })
        : kind < 9
          ? apply(index * 3)
          : store.handle({ method: 'GET', path: pathOf(ConfigMap, 'ns'), query: { limit: '100' } });
    if (status >= 300) failed++;
  }
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return [figure('Store, mixed get / apply / list', requests / cpuSeconds(started), 'requests per CPU second')];
}

/** One object to a Ready cloud in the embedded world, the third time: compilers are warm then. */
export async function sliceCost(): Promise<Figure[]> {
  const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as object;
  let [cpu, virtual, requests] = [0, 0, 0];
  for (let round = 0; round < 3; round++) {
    const cloud = await Cloud.start();
    const [started, from] = [process.cpuUsage(), cloud.sim.clock.now()];
    cloud.apply(slice);
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    [cpu, virtual] = [cpuSeconds(started), (cloud.sim.clock.now() - from) / 1000];
    requests = cloud.sim.journal.filter(line => /operator\S* \S+ .* commit$/.test(line)).length;
  }
  return [
    figure('slice in the embedded world, CPU', cpu, 's'),
    figure('slice in the embedded world, virtual time', virtual, 's'),
    figure('slice in the embedded world, requests of the operator', requests, ''),
  ];
}
