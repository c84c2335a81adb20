import { viewOf } from '../../insight/view/view.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Transport } from '../../kube/transport.ts';
import { realClock } from '../../real/clock.ts';
import { pageAssets } from '../../server/page/assets.ts';
import { loopbackGuard, tokenGuard } from '../../server/page/guard.ts';
import { createPage } from '../../server/page/page.ts';
import { createPageServer, isLoopback, type PageServer } from '../../server/page/serve.ts';
import type { Log } from '../../world/log.ts';
import { createSecretMemory } from '../source/secrets.ts';
import { readCluster, type Snapshot, type Source } from '../source/source.ts';
import { answersOf } from './answers.ts';

export interface OperatorPageOptions {
  readonly port: number;
  readonly host: string;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly transport: Transport;
  /** By which tokens are checked. */
  readonly reviews: Transport;
  readonly log: Log;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** The page of the operator itself: on 127.0.0.1 for who may forward ports to it, elsewhere for who brings a token. */
export async function operatorPage(options: OperatorPageOptions): Promise<PageServer> {
  const { port, host, namespaces, transport, reviews, log, tls } = options;
  const page = createPage({
    answers: answersOf(sourceOf(transport, namespaces), realClock, { plans: false }),
    assets: await pageAssets(),
    guard: isLoopback(host) ? loopbackGuard : tokenGuard({ transport: reviews, clock: realClock, namespaces }),
    clock: realClock,
    log,
    // It looks at the whole cluster, in a process that has other things to do.
    intervalMs: 3000,
  });
  if (!isLoopback(host) && !tls)
    log.warn('Page serves tokens without TLS: give --page-cert and --page-key, or put something with TLS before it');
  return createPageServer({ page, port, host, ...(tls && { tls }) });
}

/** As the operator sees it. What it may not list is said on the page. */
function sourceOf(transport: Transport, namespaces: readonly string[]): Source {
  const where = 'the cluster of this operator';
  const memories = new Map((namespaces.length > 0 ? namespaces : ['']).map(name => [name, createSecretMemory()]));
  return {
    live: true,
    async read(depth, namespace) {
      const wanted = namespace === undefined ? namespaces : [namespace];
      if (wanted.length < 2) return readCluster(transport, wanted[0], depth, where, memories.get(wanted[0] ?? ''));
      return joined(await Promise.all(wanted.map(one => readCluster(transport, one, depth, where, memories.get(one)))));
    },
  };
}

/** Several namespaces as one look; what has no namespace is in each of them. */
function joined(snapshots: readonly Snapshot[]): Snapshot {
  const [first] = snapshots as readonly [Snapshot, ...Snapshot[]];
  const keyOf = ({ kind, metadata }: AnyObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  const objects = new Map(
    snapshots.flatMap(({ view }) => view.objects as readonly AnyObject[]).map(object => [keyOf(object), object]),
  );
  return {
    ...first,
    view: viewOf([...objects.values()], first.view.now),
    namespace: undefined,
    notes: [...new Set(snapshots.flatMap(({ notes }) => notes))],
    hide: text => snapshots.reduce((hidden, { hide }) => hide(hidden), text),
  };
}
