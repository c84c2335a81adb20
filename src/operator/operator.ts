import { termed } from '../cloud/during.ts';
import { remembering } from '../cloud/remember.ts';
import type { Informer } from '../kube/cache/cache.ts';
import { createCache } from '../kube/cache/cache.ts';
import { createClient } from '../kube/client.ts';
import type { AnyObject, DeepReadonly } from '../kube/object.ts';
import { CustomResourceDefinition, type Resource, resourceName, Secret } from '../kube/resource.ts';
import { Controller } from '../runtime/controller.ts';
import { type Engine, reconcile } from '../runtime/engine/engine.ts';
import { createRecorder } from '../runtime/events.ts';
import { Gate } from '../runtime/gate.ts';
import { type ElectionOptions, electionTimeout, LeaderElection } from '../runtime/lease.ts';
import { Manager, type Server } from '../runtime/manager.ts';
import { exportInformers, type Metrics, noMetrics } from '../runtime/metrics/metrics.ts';
import { MANAGED_LABEL, MANAGER } from '../runtime/plan/names.ts';
import { INSTANCE_INDEX, instanceIndex, OWNER_INDEX, ownerIndex } from '../runtime/plan/pass/indexes.ts';
import { learn, Memory } from '../runtime/plan/pass/memory.ts';
import { isReady } from '../runtime/plan/ready.ts';
import type { Plan } from '../runtime/plan/row.ts';
import { Tracker } from '../runtime/plan/tracker.ts';
import { changedByOthers, watchOwn } from '../runtime/sources.ts';
import { type Log, silent } from '../world/log.ts';
import type { KnownSecrets } from '../world/mask/known.ts';
import type { World } from './world.ts';

export interface OperatorOptions {
  readonly world: World;
  readonly plans: readonly Plan<never>[];
  readonly log?: Log;
  readonly metrics?: Metrics;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Empty: all. */
  readonly namespaces?: readonly string[];
  /** Without one this process leads at once. */
  readonly election?: ElectionOptions;
  readonly servers?: readonly Server[];
  /** Which replica speaks in events. */
  readonly instance?: string;
  /** To be shared with the log, so that no line holds a value of a Secret. */
  readonly known?: KnownSecrets;
  readonly onRow?: Engine['onRow'];
  readonly lens?: Engine['lens'];
  readonly reword?: Engine['reword'];
}

export interface Operator {
  readonly manager: Manager;
  readonly election: LeaderElection | undefined;
  readonly informers: readonly Informer[];
}

/**
 * What cannot be watched, a backend that is away, is tried again after two minutes at the latest. client-go's 1000 s
 * would leave a cloud broken for a quarter of an hour after it was fixed.
 */
const BACKOFF = { max: 120_000 };

/** Passes of one kind at the same time. A pass waits for the network most of its time. */
const WORKERS = 4;

/** Puts the parts together: one cache, one tracker, one controller per kind. Runs by `manager.run(signal)`. */
export function createOperator(options: OperatorOptions): Operator {
  const { world, plans, log = silent, metrics = noMetrics, namespaces = [] } = options;
  const { clock, random, cluster: transport } = world;
  const cloud = termed(remembering(world.cloud, clock));
  const instance = options.instance ?? options.election?.identity ?? 'openstack-operator';

  const electionClient = createClient(transport, clock, {
    readTimeout: electionTimeout(options.election?.renewDeadline),
    writeTimeout: electionTimeout(options.election?.renewDeadline),
    retries: 0,
  });
  const election =
    options.election && new LeaderElection(options.election, { client: electionClient, clock, random, log, metrics });
  const requests = {
    onRequest: (info: Parameters<Metrics['request']>[0]) => metrics.request(info),
    onWarning: (text: string) => log.warn('API server warned', { text }),
  };
  const fence = (): void => election?.fence();
  const client = createClient(transport, clock, { ...requests, fence });
  const events = createRecorder({
    client: createClient(transport, clock, requests),
    clock,
    random,
    log,
    metrics,
    controller: 'openstack-operator',
    instance,
  });

  const cache = createCache({ transport, clock, random, log: (level, text, fields) => log[level](text, fields) });
  const watch = ({ resource, ours }: Watched): Informer =>
    cache.informer({
      resource,
      namespaces: resource.namespaced ? namespaces : [],
      ...(ours ? {} : resource.namespaced && { labelSelector: `${MANAGED_LABEL}=true` }),
      keepManagers: [MANAGER],
      indexers: { [OWNER_INDEX]: ownerIndex, [INSTANCE_INDEX]: instanceIndex },
      // Which there are is all that we ask.
      ...(resource === CustomResourceDefinition && { metadataOnly: true }),
    });
  const wanted = watched(plans);
  const informers = wanted.filter(({ resource }) => !resource.optional).map(watch);
  const secrets = cache.informer({ resource: Secret, namespaces, metadataOnly: true });

  exportInformers(metrics, () => cache.all());
  metrics.gauge('object_ready', () =>
    plans.flatMap(({ kind }) =>
      cache
        .for(kind)
        .list()
        .map(object => ({
          labels: { namespace: object.metadata.namespace ?? '', kind: kind.kind, object: object.metadata.name },
          value: isReady(object) ? 1 : 0,
        })),
    ),
  );

  const tracker = new Tracker();
  const gate = new Gate(clock, metrics);
  const memory = new Memory(options.known);
  const engine: Engine = {
    client,
    cache,
    secrets,
    gate,
    cloud,
    fence,
    clock,
    random,
    env: options.env ?? {},
    namespaces,
    memory,
    tracker,
    events,
    onRow: (kind, row, outcome) => {
      metrics.step(kind, row, outcome);
      options.onRow?.(kind, row, outcome);
    },
    lens: options.lens,
    reword: options.reword,
  };

  const manager = new Manager({ clock, log, cache, servers: options.servers, election, flush: () => events.flush() });
  const controllers = new Map<string, Controller>();
  for (const plan of plans) {
    const controller = new Controller(
      {
        name: plan.kind.kind,
        workers: WORKERS,
        backoff: BACKOFF,
        sources: [watchOwn(cache.for(plan.kind))],
        reconcile: (key, cx) => reconcile(engine, plan, key, cx.signal),
      },
      { clock, random, log, metrics },
    );
    controllers.set(resourceName(plan.kind), controller);
    manager.add('leader', controller);
  }

  /** Each owner once: an idle worker takes the first call at once, and a second one would make it run twice. */
  const wake = (resource: Resource, ...states: DeepReadonly<AnyObject>[]): void => {
    const [before, after] = states;
    const statusOnly = before !== undefined && after !== undefined && !changedByOthers(before, after);
    const concerned = states.flatMap(object => [...tracker.concerned(resource, object.metadata, statusOnly)]);
    for (const owner of new Set(concerned)) {
      const cut = owner.indexOf(' ');
      controllers.get(owner.slice(0, cut))?.enqueue(owner.slice(cut + 1));
    }
  };
  const follow = (informer: Informer): void => {
    // A Secret of ours is in both informers; one of them is enough to wake its readers.
    const counts = (object: DeepReadonly<AnyObject>) =>
      informer !== secrets || object.metadata.labels?.[MANAGED_LABEL] !== 'true';
    const tell = (...states: DeepReadonly<AnyObject>[]) => wake(informer.resource, ...states.filter(counts));
    // Also those that no pass reads: another object's pod may print their values.
    const knows = (object: DeepReadonly<AnyObject>): void => {
      if (informer.resource === Secret && informer !== secrets) learn(memory.known, object);
    };
    informer.onChange({
      added: object => {
        knows(object);
        tell(object);
      },
      deleted: object => {
        const { namespace = '', name, uid = '' } = object.metadata;
        memory.forget(informer.resource, { namespace, name });
        gate.forget(uid);
        tell(object);
      },
      updated: (before, after) => {
        knows(after);
        tell(before, after);
      },
    });
  };
  for (const informer of [...informers, secrets]) follow(informer);
  // Kinds of others are watched while their CRD exists.
  for (const each of wanted.filter(({ resource }) => resource.optional)) {
    const name = resourceName(each.resource);
    let informer: Informer | undefined;
    cache.for(CustomResourceDefinition).onChange({
      added: crd => {
        if (crd.metadata.name !== name || informer) return;
        informer = watch(each);
        follow(informer);
        informer.start();
      },
      deleted: crd => {
        if (crd.metadata.name !== name || !informer) return;
        void cache.drop(informer);
        informer = undefined;
      },
    });
  }
  return { manager, election, informers: [...informers, secrets] };
}

interface Watched {
  readonly resource: Resource;
  /** Without our label. */
  readonly ours: boolean;
}

/** Every resource that some plan reconciles, writes or reads. Own kinds are cached whole, built-ins by label (rule 2). */
function watched(plans: readonly Plan<never>[]): Watched[] {
  const own = new Set(plans.map(plan => resourceName(plan.kind)));
  const written = new Set(plans.flatMap(plan => plan.manages.map(resourceName)));
  const found = new Map<string, Resource>();
  for (const plan of plans)
    for (const resource of [plan.kind, ...plan.manages, ...plan.reads, Secret])
      found.set(resourceName(resource), resource);
  return [...found.values()].map(resource => ({
    resource,
    ours:
      own.has(resourceName(resource)) ||
      // Others make them, and never with our label.
      (resource.optional === true && !written.has(resourceName(resource))) ||
      resource.group.endsWith('openstack.org') ||
      resource.group === 'openstack.k8s.io',
  }));
}
