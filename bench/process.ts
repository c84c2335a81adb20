import { createOperator } from '../src/operator/operator.ts';
import { PLANS } from '../src/operator/plans.ts';
import { realClock, realRandom } from '../src/real/clock.ts';
import { realCloud } from '../src/real/cloud.ts';
import { loadCredentials } from '../src/real/credentials.ts';
import { createLog } from '../src/real/log.ts';
import { connect } from '../src/real/transport.ts';
import { informersAlive, watchLoop } from '../src/runtime/health.ts';
import { prometheusMetrics } from '../src/runtime/metrics/prometheus.ts';
import { createProbeServer } from '../src/server/http.ts';
import { bridgedCloud } from './bridge.ts';
import { five } from './toy.ts';

/**
 * The operator as `openstack-operator run` puts it together (log, metrics, probe server, lease), in a process of its own,
 * with one difference: calls of the cloud ports go over a bridge to the fake backends of the parent, because no
 * MariaDB, RabbitMQ or Keystone runs here. The real ports are made all the same, so that their code is in memory.
 */
const log = createLog('warn');
const metrics = prometheusMetrics({ process: true });
const cluster = connect(loadCredentials({ kubeconfig: process.env.BENCH_KUBECONFIG, env: {} }), {
  userAgent: 'operator',
});
const real = realCloud({ clock: realClock });
const stop = new AbortController();
const operator = createOperator({
  world: {
    cluster,
    cloud: process.env.BENCH_BRIDGE ? bridgedCloud(process.env.BENCH_BRIDGE) : real,
    clock: realClock,
    random: realRandom,
  },
  plans: process.env.BENCH_PLANS === 'five' ? [...PLANS, five] : PLANS,
  log,
  metrics,
  env: {},
  servers: [
    createProbeServer({
      port: 0,
      host: '127.0.0.1',
      health: {
        live: { informers: informersAlive(realClock, () => operator.informers) },
        ready: { manager: () => operator.manager.ready() },
      },
      metrics,
    }),
  ],
  election: { namespace: 'openstack-operator-system', name: 'openstack-operator', identity: 'bench' },
});
process.on('SIGTERM', () => stop.abort(new Error('SIGTERM')));
watchLoop(realClock, log, metrics, stop.signal);

/** Both: on a shared machine a long gap may be somebody else's work; the CPU time in it is ours alone. */
const BEAT_MS = 5;
let [gap, work] = [0, 0];
let [at, cpu] = [performance.now(), process.cpuUsage()];
setInterval(() => {
  const [now, used] = [performance.now(), process.cpuUsage()];
  gap = Math.max(gap, now - at - BEAT_MS);
  work = Math.max(work, (used.user - cpu.user + used.system - cpu.system) / 1000);
  [at, cpu] = [now, used];
}, BEAT_MS).unref();
const beats = setInterval(() => {
  const { heapUsed, external } = process.memoryUsage();
  const synced = operator.informers.every(informer => informer.hasSynced());
  process.send?.({ gap, work, heapUsed, external, synced, ready: operator.manager.ready() === undefined });
}, 250);
process.on('message', message => {
  if (message === 'reset') [gap, work] = [0, 0];
});

await operator.manager.run(stop.signal).finally(() => Promise.all([real.close(), cluster.close()]));
clearInterval(beats);
process.disconnect?.();
