import { KINDS } from '../../../api/kinds.ts';
import { conditionsOf } from '../../embedded/cluster.ts';
import type { Store } from '../../embedded/store/store.ts';
import { realClock } from '../../real/clock.ts';
import { createLog } from '../../real/log.ts';
import { portOf, readObjects } from '../input/yaml.ts';
import { SLICE } from '../simulation/slice.ts';
import { type Line, Live } from '../terminal/live.ts';
import { startLiveCloud } from './live-cloud.ts';
import { servePage } from './ui.ts';

export interface CloudOptions {
  readonly file?: string;
  readonly namespace: string;
  readonly once?: boolean;
  readonly port: string;
  readonly pagePort: string;
  readonly speed: string;
  readonly verbose?: boolean;
}

const PATIENCE_MS = 300_000;

export async function cloud(options: CloudOptions): Promise<void> {
  const { namespace } = options;
  const objects = options.file === undefined ? [SLICE] : readObjects(options.file);
  const pagePort = portOf(options.pagePort, '--page-port');
  const cloud = await startLiveCloud({
    namespace,
    port: portOf(options.port, '--port'),
    speed: Number(options.speed),
    log: createLog(options.verbose ? 'info' : 'error'),
  });
  const page = options.once ? undefined : await servePage(cloud.source, pagePort);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());

  const live = new Live(process.stdout);
  if (page) live.say(`Watch it come up in a browser: ${page.url}\n`);
  cloud.apply(...objects);
  const ready = await watch(cloud.store, namespace, live, stop.signal);
  if (ready) live.say(lookAround(cloud.kubeconfig, namespace, options.once));
  else if (!stop.signal.aborted) live.say(`Not Ready after ${PATIENCE_MS / 1000} s; the table says why.`);
  if (!options.once && !stop.signal.aborted)
    await new Promise<void>(resolve => stop.signal.addEventListener('abort', () => resolve(), { once: true }));

  await page?.stop();
  await cloud.stop();
  if (!ready && options.once) process.exitCode = 1;
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
