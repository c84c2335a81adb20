import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../api/openstack/controlplane.ts';
import type { AnyObject } from '../src/kube/object.ts';
import { RealCluster } from '../test/conformance/cluster.ts';
import { serveCloud } from './bridge.ts';
import { OperatorProcess, pause } from './child.ts';
import { type Figure, figure, MIB } from './figures.ts';

/** The bundled operator beside a Ready slice on a real kube-apiserver, after some minutes in which nothing happens. */
export async function idle(seconds: number): Promise<Figure[]> {
  const cluster = await RealCluster.start();
  const bridge = await serveCloud(cluster.backends.cloud);
  const operator = new OperatorProcess({
    BENCH_KUBECONFIG: cluster.server.kubeconfig('operator'),
    BENCH_BRIDGE: bridge.url,
  });
  try {
    await operator.synced();
    const started = performance.now();
    await cluster.apply(
      OpenStackControlPlane,
      parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject,
    );
    await operator.during(cluster.ready(OpenStackControlPlane, 'slice', 300));
    const ready = (performance.now() - started) / 1000;
    await pause(5000);
    const [writes, cpu] = [cluster.writes().length, operator.cpuSeconds()];
    await operator.during(pause(seconds * 1000));
    return [
      figure(`idle RSS, slice Ready, after ${seconds} s`, operator.rss() / MIB, 'MiB', 100),
      figure('idle heap in use', (operator.last?.heapUsed ?? 0) / MIB, 'MiB'),
      figure('peak RSS since start', operator.peak() / MIB, 'MiB'),
      figure('idle CPU', ((operator.cpuSeconds() - cpu) / seconds) * 1000, 'ms/s'),
      figure('writes while idle', cluster.writes().length - writes, '', 0),
      figure('slice to Ready on a real kube-apiserver, pretended pods', ready, 's'),
    ];
  } finally {
    await operator.stop();
    bridge.close();
    await cluster.stop();
  }
}
