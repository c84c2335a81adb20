import type { Probe } from 'kubernetes-types/core/v1.d.ts';
import type { Release } from '../../api/blocks/common.ts';
import type { AnyKind, ObjectOf, SpecOf } from '../../api/kind.ts';
import type { DeepReadonly } from '../kube/object.ts';
import { Deployment, Job, Pod, ReplicaSet, Secret, Service as ServiceResource } from '../kube/resource.ts';
import type { Conf } from '../oslo/conf.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { assertReady } from '../runtime/plan/ready.ts';
import { type Plan, plan, type Row, rowsOf } from '../runtime/plan/row.ts';
import { configSecret, generatedFile, userFiles } from './config.ts';
import { applyService } from './expose.ts';
import { imageOf } from './images.ts';
import {
  type BusLink,
  bus,
  cache,
  type DatabaseLink,
  database,
  dropBus,
  dropDatabase,
  dropIdentity,
  type IdentityLink,
  identity,
  identityAdmin,
} from './links.ts';
import { databaseNameOf, podLabels, serviceHost } from './names.ts';
import { kollaStart, type PodBlock, type Process, podSpec, podTemplate } from './pod.ts';
import { type Uwsgi, uwsgiArgv, uwsgiFile } from './uwsgi.ts';

/** What a service's config is made of. */
export interface ConfigInput<S> {
  readonly spec: DeepReadonly<S>;
  readonly database: DatabaseLink | undefined;
  readonly bus: BusLink | undefined;
  readonly identity: IdentityLink;
  readonly cache: readonly string[];
}

/** An OpenStack service with one API, as data. About 150 lines in one folder, and a line in the list. */
export interface Service<S> {
  /** Names its user, its config files and its database: `placement`. */
  readonly name: string;
  /** uid = gid in the image. */
  readonly user: number;
  readonly image: string;
  readonly catalog: {
    readonly type: string;
    /** After host and port of every endpoint. */
    readonly path?: string;
    /** An authenticated GET on this path reads the database: the proof that it answers. */
    readonly check: string;
  };
  /** Makes the schema; safe to run twice. */
  readonly sync?: readonly string[];
  readonly bus?: boolean;
  readonly api: Omit<Uwsgi, 'service'> & { readonly health: string };
  /** Kinds that must be Ready before the first pod starts, beyond those the links name. */
  readonly after?: readonly AnyKind[];
  readonly config: (x: ConfigInput<S>) => Conf;
}

interface Spec extends PodBlock {
  readonly release: Release;
  readonly replicas: number;
  readonly region: string;
  readonly databaseName?: string;
  readonly publicURL?: string;
  readonly image?: string;
  readonly images?: Readonly<Record<string, string>>;
}

/** The standard rows: register (database, bus, identity), then serve (config, schema, pods, catalog, proof). */
export function openstackService<K extends AnyKind>(kind: K, service: Service<SpecOf<K>>): Plan<ObjectOf<K> & Managed> {
  type O = ObjectOf<K> & Managed;
  const row = rowsOf<O>();
  const spec = (cx: Cx<O>): Spec => cx.spec as unknown as Spec;
  const databaseName = (cx: Cx<O>): string => spec(cx).databaseName ?? databaseNameOf(cx.name);
  const labels = (cx: Cx<O>, component: string) => podLabels(kind.kind, cx.name, component);
  const internalUrl = (cx: Cx<O>): string => `http://${serviceHost(cx, `${cx.name}-api`)}:${service.api.port}`;

  const db = row('DatabaseReady', {
    when: () => service.sync !== undefined,
    run: cx => database(cx, databaseName(cx)),
    undo: cx => dropDatabase(cx, databaseName(cx)),
  });
  const messageBus = row('MessageBusReady', {
    when: () => service.bus === true,
    run: cx => bus(cx),
    undo: cx => dropBus(cx),
  });
  const user = row('IdentityReady', {
    run: cx => identity(cx),
    undo: cx => dropIdentity(cx),
  });
  const custom = row('ConfigValid', { run: cx => userFiles(cx, service.name) });
  const config = row('ConfigReady', {
    needs: { db, messageBus, user, custom },
    run: async (cx, d) => {
      const links = { database: d.db, bus: d.messageBus, identity: d.user, cache: cache(cx) };
      const base = { image: imageOf(service.image, spec(cx), cx.env), user: service.user, userName: service.name };
      const health: Probe = { httpGet: { path: service.api.health, port: service.api.port } };
      const api: Process = {
        ...base,
        name: `${service.name}-api`,
        argv: uwsgiArgv(service.name),
        ports: { api: service.api.port },
        startup: { ...health, periodSeconds: 2, failureThreshold: 150 },
        readiness: { ...health, periodSeconds: 10, timeoutSeconds: 5 },
        liveness: { ...health, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 4 },
      };
      const sync: Process = { ...base, name: 'db-sync', argv: service.sync ?? [] };
      const files = [generatedFile(service.config({ spec: cx.spec as never, ...links })), ...d.custom];
      const served = [...files, uwsgiFile({ ...service.api, service: service.name })];
      const starts = [kollaStart(api, served), ...(service.sync ? [kollaStart(sync, files)] : [])];
      return { api, sync, config: await configSecret(cx, [...served, ...starts]) };
    },
  });
  const schema = row('DatabaseSyncReady', {
    needs: { config, db },
    when: () => service.sync !== undefined,
    run: async (cx, { config: { sync, config }, db }) => {
      const pod = podSpec(spec(cx), sync, config, labels(cx, 'db-sync'));
      const inputs = [db?.host, db?.port, db?.database];
      await cx.job({ step: 'db-sync', image: sync.image, argv: sync.argv, inputs, labels: labels(cx, 'db-sync'), pod });
    },
  });
  const expose = row('ExposeReady', {
    run: async cx => {
      await applyService(cx, { name: `${cx.name}-api`, ports: { api: service.api.port }, selector: labels(cx, 'api') });
      const internal = `${internalUrl(cx)}${service.catalog.path ?? ''}`;
      const endpoints = { internal, public: spec(cx).publicURL ?? internal };
      cx.report({ endpoints, release: spec(cx).release } as never);
      return endpoints;
    },
  });
  const pods = row('WorkloadsReady', {
    needs: { config, schema },
    run: async (cx, { config: { api, config } }) => {
      const name = `${cx.name}-api`;
      // Edges gate the first start only: an edit never waits for a neighbour (rule 9).
      if (cx.get(Deployment, name) === undefined) for (const other of service.after ?? []) neighbours(cx, other);
      const live = await cx.workload(Deployment, {
        metadata: { name },
        spec: {
          replicas: spec(cx).replicas,
          revisionHistoryLimit: 3,
          selector: { matchLabels: labels(cx, 'api') },
          template: podTemplate(spec(cx), api, config, labels(cx, 'api'), { graceSeconds: 90 }),
        },
      });
      cx.report({
        replicas: spec(cx).replicas,
        readyReplicas: (live.status as { readyReplicas?: number }).readyReplicas ?? 0,
      } as never);
    },
  });
  const catalog = row('EndpointsReady', {
    needs: { expose, user },
    run: async (cx, { expose }) => {
      const admin = await identityAdmin(cx);
      await admin?.ensureService({ name: service.name, type: service.catalog.type, endpoints: expose });
    },
    undo: async cx => void (await (await identityAdmin(cx, true))?.dropService(service.catalog.type)),
  });
  const answering = row('Answering', {
    needs: { pods, catalog, expose },
    run: async (cx, { expose }) => void (await (await identityAdmin(cx))?.get(expose.internal, service.catalog.check)),
  });
  const rows: Record<string, Row<O, unknown>> = {
    db,
    messageBus,
    user,
    custom,
    config,
    schema,
    expose,
    pods,
    catalog,
    answering,
  };
  return plan<O>(kind, rows, {
    manages: [Secret, ServiceResource, Deployment, Job],
    reads: [Pod, ReplicaSet],
    external: true,
  });
}

/** A neighbour that is there must be Ready; one that is not there is somebody else's business. */
function neighbours<O extends Managed>(cx: Cx<O>, kind: AnyKind): void {
  for (const other of cx.list(kind, {})) assertReady(other);
}
