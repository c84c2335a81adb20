import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackends } from '../../embedded/backends/backends.ts';
import { type Hands, hands, install } from '../../embedded/cluster.ts';
import { type Pretenders, pretend } from '../../embedded/controllers/controllers.ts';
import { serve } from '../../embedded/serve/serve.ts';
import { createStore, type Store } from '../../embedded/store/store.ts';
import type { AnyObject } from '../../kube/object.ts';
import { createOperator } from '../../operator/operator.ts';
import { PLANS } from '../../operator/plans.ts';
import { makeCertificate } from '../../real/certificate.ts';
import { realClock, realRandom } from '../../real/clock.ts';
import { loadCredentials } from '../../real/credentials.ts';
import { connect } from '../../real/transport.ts';
import type { Clock } from '../../world/clock.ts';
import type { Log } from '../../world/log.ts';
import { UsageError } from '../input/yaml.ts';
import { inNamespace } from '../simulation/simulation.ts';
import { type Source, snapshotOf } from '../source/source.ts';

export interface LiveCloudOptions {
  readonly namespace: string;
  /** Of the API server; 0 takes a free one. */
  readonly port: number;
  /** How much faster than real pods the simulated ones start. */
  readonly speed: number;
  readonly log: Log;
}

/** An embedded cluster and the real operator on the true clock, behind an API server that kubectl can speak to. */
export interface LiveCloud {
  readonly store: Store;
  readonly admin: Hands;
  readonly kubeconfig: string;
  /** For the page: looks at the store itself. */
  readonly source: Source;
  apply(...objects: AnyObject[]): void;
  stop(): Promise<void>;
}

/** Simulated work takes a fraction of its time; leases and watches run on the true clock. */
const faster = (clock: Clock, factor: number): Clock => ({
  ...clock,
  timer: (ms, run, options) => clock.timer(ms / factor, run, options),
});

export async function startLiveCloud({ namespace, port, speed, log }: LiveCloudOptions): Promise<LiveCloud> {
  if (!(speed > 0)) throw new UsageError('--speed must be a number above 0');
  const dir = mkdtempSync(join(tmpdir(), 'openstack-cloud-'));
  const store = createStore({ clock: realClock, random: realRandom });
  install(store, namespace);
  const server = await serve(store, { port, dir, certificate: makeCertificate(Date.now()) });
  const connection = () => connect(loadCredentials({ kubeconfig: server.kubeconfig, env: {} }));
  const [forPretenders, forOperator] = [connection(), connection()];

  let pretenders: Pretenders | undefined;
  const backends = createBackends({ resolve: (host, at) => pretenders?.resolve(host, at) ?? [] });
  pretenders = pretend({
    transport: forPretenders,
    clock: faster(realClock, speed),
    random: realRandom,
    programs: backends.programs,
  });
  await pretenders.start();

  const stop = new AbortController();
  const operator = createOperator({
    world: { cluster: forOperator, cloud: backends.cloud, clock: realClock, random: realRandom },
    plans: PLANS,
    log,
  });
  const running = operator.manager.run(stop.signal);
  const admin = hands(store);
  return {
    store,
    admin,
    kubeconfig: server.kubeconfig,
    source: {
      live: true,
      read: async (_depth, within = namespace) => ({
        ...snapshotOf(store.objects() as AnyObject[], realClock.wall(), within, 'the embedded world'),
        transport: forOperator,
      }),
    },
    apply: (...objects) => {
      for (const object of objects) admin.apply(inNamespace(object, namespace));
    },
    async stop() {
      stop.abort();
      await running;
      await pretenders.stop();
      await Promise.all([forPretenders.close(), forOperator.close()]);
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
