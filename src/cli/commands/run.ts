import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import { KINDS } from '../../../api/kinds.ts';
import { createClient } from '../../kube/client.ts';
import type { Transport } from '../../kube/transport.ts';
import { plansOf } from '../../operator/manifests.ts';
import { createOperator } from '../../operator/operator.ts';
import { PLANS } from '../../operator/plans.ts';
import { clashOf, leaseName, type Scope, scopeAnnotations } from '../../operator/scope.ts';
import { WEBHOOK_NAME } from '../../operator/webhook.ts';
import { realClock, realRandom } from '../../real/clock.ts';
import { realCloud } from '../../real/cloud.ts';
import { loadCredentials } from '../../real/credentials.ts';
import { createLog, type Level } from '../../real/log.ts';
import { connect } from '../../real/transport.ts';
import { informersAlive, watchLoop } from '../../runtime/health.ts';
import type { Server } from '../../runtime/manager.ts';
import { prometheusMetrics } from '../../runtime/metrics/prometheus.ts';
import { OPERATOR_NAMESPACE } from '../../runtime/plan/names.ts';
import { createProbeServer } from '../../server/http.ts';
import { uuid } from '../../world/clock.ts';
import type { Log } from '../../world/log.ts';
import { KnownSecrets } from '../../world/mask/known.ts';
import { portOf, UsageError } from '../input/yaml.ts';
import { endOnFatal } from '../terminal/fatal.ts';
import { settingsBy } from '../terminal/settings.ts';

interface RunOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespaces?: string;
  readonly kinds?: string;
  readonly leaderElect?: boolean;
  readonly leaseNamespace?: string;
  readonly port: string;
  readonly host: string;
  readonly pagePort?: string;
  readonly pageHost: string;
  readonly pageCert?: string;
  readonly pageKey?: string;
  readonly webhookPort?: string;
  readonly allowHostAccess?: boolean;
  readonly trustedRegistries?: string;
  readonly logLevel: Level;
}

/**
 * Any client of the page may send tokens, any client of the webhook reviews, and each costs API calls: they have
 * these, and the passes and the lease keep theirs.
 */
const REVIEW_CONNECTIONS = 2;

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];

export function runCommand(program: Command): void {
  program
    .command('run')
    .description('reconcile the objects of a cluster until stopped')
    .option('--kubeconfig <file>', 'which cluster; else KUBECONFIG, the service account of the pod, ~/.kube/config')
    .option('--context <name>', 'which context of the kubeconfig')
    .option('--namespaces <list>', 'only these, comma-separated; all unless given')
    .option('--kinds <list>', 'only the controllers of these kinds, comma-separated; all unless given')
    .option('--leader-elect', 'work only while holding the Lease, so that several replicas may run')
    .option('--lease-namespace <name>', 'where the Lease is', OPERATOR_NAMESPACE)
    .option('--port <port>', 'of /healthz, /readyz and /metrics; 0 chooses a free one', '8080')
    .option(
      '--host <address>',
      'the address they listen on',
      process.env.KUBERNETES_SERVICE_HOST ? '0.0.0.0' : '127.0.0.1',
    )
    .option('--page-port <port>', 'serve the read-only page; off unless given')
    .option('--page-host <address>', 'the address it listens on; others than 127.0.0.1 ask for a token', '127.0.0.1')
    .option('--page-cert <file>', 'certificate for it (PEM), with --page-key')
    .option('--page-key <file>', 'its private key (PEM)')
    .option('--webhook-port <port>', 'answer admission reviews there; config/webhook asks for it')
    .option('--allow-host-access', 'let specs give pods rights on the node: privileged, hostPath, tokens and the like')
    .option(
      '--trusted-registries <list>',
      'where specs may take images of pods with rights on the node from, beside the own',
    )
    .addOption(new Option('--log-level <level>', 'level of detail of its log').choices(LEVELS).default('info'))
    .addHelpText(
      'after',
      `
Examples:
  openstack-operator run                                  the cluster of your kubeconfig
  openstack-operator run --namespaces cloud-a,cloud-b     only these namespaces
  openstack-operator run --kinds keystone,mariadb --leader-elect`,
    )
    .action(run);
}

async function run(options: RunOptions): Promise<void> {
  // What is wrong with the command line is reported before any request to a cluster.
  const plans = chosen(options.kinds);
  const port = portOf(options.port, '--port');
  const env = { ...process.env, ...settingsBy(options) };
  const known = new KnownSecrets();
  const log = createLog(options.logLevel, undefined, text => known.mask(text));
  const metrics = prometheusMetrics({ process: true });
  const credentials = loadCredentials({ kubeconfig: options.kubeconfig, context: options.context, env: process.env });
  const cluster = connect(credentials);
  const reviews = connect(credentials, { connections: REVIEW_CONNECTIONS });
  const cloud = realCloud({ clock: realClock });
  const stop = new AbortController();
  const scope: Scope = {
    namespaces: listOf(options.namespaces),
    kinds: listOf(options.kinds).map(kind => kind.toLowerCase()),
  };
  const health = {
    live: {
      loop: () => undefined,
      election: () => operator.election?.check(),
      informers: informersAlive(realClock, () => operator.informers),
    },
    ready: { manager: () => operator.manager.ready() },
  };
  const probes = createProbeServer({ port, host: options.host, health, metrics });
  const webhook = options.webhookPort && (await openWebhook(options, reviews, env, log, stop.signal));
  const operator = createOperator({
    world: { cluster, cloud, clock: realClock, random: realRandom },
    plans,
    log,
    known,
    metrics,
    env,
    namespaces: scope.namespaces,
    instance: process.env.POD_NAME ?? hostname(),
    servers: [
      probes,
      ...(webhook ? [webhook] : []),
      ...(options.pagePort === undefined
        ? []
        : [await pageServer(options, options.pagePort, { cluster, reviews }, log)]),
    ],
    ...(options.leaderElect && {
      election: {
        namespace: options.leaseNamespace ?? OPERATOR_NAMESPACE,
        name: leaseName(scope),
        annotations: scopeAnnotations(scope),
        clash: lease => clashOf(scope, lease),
        // A pod's name is never used twice, and its container starts again only when the last process is dead: after a
        // crash the same name finds its own lease and need not wait for it to expire.
        identity: process.env.POD_NAME ?? `${hostname()}_${uuid(realRandom)}`,
      },
    }),
  });
  endOnFatal({
    process,
    log,
    clock: realClock,
    halt: reason => stop.abort(reason),
    release: async () => operator.election?.release(),
  });
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // Who asks twice does not want to wait.
      if (++signals > 1) process.exit(130);
      stop.abort(new Error(signal));
    });
  watchLoop(realClock, log, metrics, stop.signal);
  log.info('Operator started', { cluster: credentials.source, kinds: plans.map(plan => plan.kind.kind) });
  // Idle connections would keep the process alive until the kubelet kills it.
  await operator.manager.run(stop.signal).finally(() => Promise.all([cloud.close(), cluster.close(), reviews.close()]));
}

/** Without plans: one takes a whole core for seconds, in which nothing would be reconciled. */
async function pageServer(
  options: RunOptions,
  port: string,
  { cluster: transport, reviews }: { readonly cluster: Transport; readonly reviews: Transport },
  log: Log,
): Promise<Server> {
  const { pageHost: host, pageCert, pageKey } = options;
  const namespaces = listOf(options.namespaces);
  if ((pageCert === undefined) !== (pageKey === undefined))
    throw new UsageError('--page-cert and --page-key go together');
  const { operatorPage } = await import('./operator-page.ts');
  return operatorPage({
    port: portOf(port, '--page-port'),
    host,
    namespaces,
    transport,
    reviews,
    log,
    ...(pageCert && pageKey && { tls: { cert: readFileSync(pageCert, 'utf8'), key: readFileSync(pageKey, 'utf8') } }),
  });
}

/** With a certificate from the start: without one nobody could talk to it. */
async function openWebhook(
  { webhookPort, host, namespaces, leaseNamespace = OPERATOR_NAMESPACE }: RunOptions,
  cluster: Transport,
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  signal: AbortSignal,
): Promise<Server> {
  const [{ createWebhook }, { keep, keeping }] = await Promise.all([
    import('../../server/webhook.ts'),
    import('../../server/keeper.ts'),
  ]);
  const client = createClient(cluster, realClock);
  const keeper = { client, clock: realClock, log, namespace: leaseNamespace, name: WEBHOOK_NAME };
  const certificate = await keep(keeper);
  const webhook = createWebhook({
    port: portOf(webhookPort, '--webhook-port'),
    host,
    certificate,
    env,
    clock: realClock,
    log,
    namespaces: listOf(namespaces),
    neighbours: {
      list: async (kind, namespace) => (await client.list(KINDS.find(one => one.kind === kind)!, { namespace })).items,
    },
  });
  void keeping(keeper, certificate, renewed => webhook.renew(renewed), signal).catch(() => undefined);
  return webhook;
}

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '');

function chosen(kinds: string | undefined): typeof PLANS {
  const wanted = listOf(kinds).map(kind => kind.toLowerCase());
  for (const name of wanted)
    if (!PLANS.some(plan => plan.kind.kind.toLowerCase() === name))
      throw new UsageError(
        `--kinds: there is no kind ${name}; there are ${PLANS.map(plan => plan.kind.kind.toLowerCase()).join(', ')}`,
      );
  return plansOf(PLANS, wanted);
}
