import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { KINDS } from '../../api/kinds.ts';
import { createBackends } from '../embedded/backends/backends.ts';
import { conditionsOf, hands, install } from '../embedded/cluster.ts';
import { type Pretenders, pretend } from '../embedded/pretend/pretend.ts';
import { serve } from '../embedded/serve/serve.ts';
import { createStore, type Store } from '../embedded/store/store.ts';
import type { AnyObject } from '../kube/object.ts';
import { createOperator } from '../operator/operator.ts';
import { realClock, realRandom } from '../real/clock.ts';
import { loadCredentials } from '../real/credentials.ts';
import { createLog } from '../real/log.ts';
import { connect } from '../real/transport.ts';
import { PLANS } from '../services/list.ts';
import type { Clock } from '../world/world.ts';
import { type Line, Live } from './live.ts';
import { SLICE } from './slice.ts';

export interface CloudOptions {
  readonly file?: string;
  readonly namespace: string;
  readonly once?: boolean;
  readonly port: string;
  readonly speed: string;
  readonly verbose?: boolean;
}

/** Pretended work takes a fraction of its time; leases and watches run on the true clock. */
const faster = (clock: Clock, factor: number): Clock => ({
  ...clock,
  timer: (ms, run, options) => clock.timer(ms / factor, run, options),
});

const PATIENCE_MS = 300_000;

export async function cloud(options: CloudOptions): Promise<void> {
  const { namespace } = options;
  const objects = wanted(options);
  const dir = mkdtempSync(join(tmpdir(), 'openstack-cloud-'));
  const store = createStore({ clock: realClock, random: realRandom });
  install(store, namespace);
  const server = await serve(store, { port: Number(options.port), dir });
  const connection = () => connect(loadCredentials({ kubeconfig: server.kubeconfig, env: {} }));
  const [forPretenders, forOperator] = [connection(), connection()];

  let pretenders: Pretenders | undefined;
  const backends = createBackends({ resolve: (host, port) => pretenders?.resolve(host, port) ?? [] });
  const factor = Number(options.speed);
  if (!(factor > 0)) throw new Error('--speed must be a number above 0');
  pretenders = pretend({
    transport: forPretenders,
    clock: faster(realClock, factor),
    random: realRandom,
    programs: backends.programs,
  });
  await pretenders.start();

  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const operator = createOperator({
    world: { cluster: forOperator, cloud: backends.cloud, clock: realClock, random: realRandom },
    plans: PLANS,
    log: createLog(options.verbose ? 'info' : 'error'),
  });
  const running = operator.manager.run(stop.signal);

  const live = new Live(process.stdout);
  const admin = hands(store);
  for (const object of objects)
    admin.apply({ ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace } });
  const ready = await watch(store, namespace, live, stop.signal);
  if (ready) live.say(lookAround(server.kubeconfig, namespace, options.once));
  else if (!stop.signal.aborted) live.say(`Not Ready after ${PATIENCE_MS / 1000} s; the table says why.`);
  if (!options.once && !stop.signal.aborted)
    await new Promise<void>(resolve => stop.signal.addEventListener('abort', () => resolve(), { once: true }));

  stop.abort();
  await running;
  await pretenders.stop();
  await Promise.all([forPretenders.close(), forOperator.close()]);
  await server.close();
  rmSync(dir, { recursive: true, force: true });
  if (!ready && options.once) process.exitCode = 1;
}

function wanted(options: CloudOptions): AnyObject[] {
  if (options.file === undefined) return [SLICE];
  const text = readFileSync(options.file, 'utf8');
  return text
    .split(/^---$/m)
    .map(document => parse(document, { version: '1.1' }) as AnyObject | null)
    .filter(document => document !== null);
}

const OURS = new Set(KINDS.map(kind => kind.kind));

function linesOf(store: Store, namespace: string): Line[] {
  return store
    .objects()
    .filter(object => OURS.has(object.kind) && object.metadata.namespace === namespace)
    .map(object => {
      const ready = conditionsOf(object).find(condition => condition.type === 'Ready');
      return {
        kind: object.kind,
        name: object.metadata.name,
        ready: ready?.status ?? 'Unknown',
        reason: ready?.reason ?? '',
        message: ready?.status === 'True' ? '' : (ready?.message ?? ''),
      };
    });
}

/** Repaints until every object is Ready; false when that takes too long or somebody stopped us. */
async function watch(store: Store, namespace: string, live: Live, signal: AbortSignal): Promise<boolean> {
  const end = realClock.now() + PATIENCE_MS;
  for (;;) {
    const lines = linesOf(store, namespace);
    live.show(lines);
    if (lines.length > 0 && lines.every(line => line.ready === 'True')) return true;
    if (signal.aborted || realClock.now() > end) return false;
    await new Promise<void>(resolve => void realClock.timer(150, resolve));
  }
}

const lookAround = (kubeconfig: string, namespace: string, once: boolean | undefined): string =>
  once
    ? 'The cloud is Ready.'
    : `
The cloud is Ready. Look around from another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get openstack -n ${namespace}
  kubectl describe keystone keystone -n ${namespace}
  kubectl get secret keystone-config-data -n ${namespace} -o yaml
  kubectl edit openstackcontrolplane -n ${namespace}      # and watch what changes here

Ctrl-C ends it and leaves nothing behind.`;
