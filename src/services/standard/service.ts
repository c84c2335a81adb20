import type { AnyKind, ObjectOf, SpecOf } from '../../../api/schema/kind.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { assertReady } from '../../runtime/plan/ready.ts';
import { type Plan, plan, type Row } from '../../runtime/plan/row.ts';
import { networkPolicyRow, open } from '../exposure/network.ts';
import { rotationRow } from '../links/credentials.ts';
import { answeringRow } from './answering.ts';
import { serviceCertificateRow } from './certificate.ts';
import { resourcesOf, wantedPods } from './components.ts';
import { configRow } from './config.ts';
import { configValidRow } from './config-valid.ts';
import { serviceSyncRow } from './database-sync.ts';
import { catalogOf, endpointsRow } from './endpoints.ts';
import { exposeRow } from './expose.ts';
import { housekeepingRow, serviceCleaner } from './housekeeping.ts';
import { inputRow } from './input.ts';
import { jobsRow } from './jobs.ts';
import { withRelease } from './release.ts';
import { linked, register, type SecretFields, type Source } from './source.ts';
import type { Service } from './table.ts';
import { workloadsRow } from './workloads.ts';

/** The rows of a service, each after what it needs: links -> config, schema, pods, catalog, proof. */
export function serve<K extends AnyKind, I = void>(
  kind: K,
  service: Service<ObjectOf<K> & Managed, SpecOf<K>, I>,
  from: Source<ObjectOf<K> & Managed>,
) {
  type O = ObjectOf<K> & Managed;
  const { credentials, database, messageBus, identity } = from.rows;
  const input = inputRow(service);
  const configValid = configValidRow<O>({
    name: service.name,
    overwrites: service.overwrites,
    oslo: service.config !== undefined,
    pods: cx => wantedPods(cx, service),
  });
  const certificate = serviceCertificateRow(service);
  const config = configRow(service, { input, database, credentials, configValid, certificate });
  const databaseSync = serviceSyncRow(service, { config, database });
  const jobs = jobsRow(service, { config, databaseSync, database });
  const housekeeping = housekeepingRow(service, { config, databaseSync }, serviceCleaner<O, SpecOf<K>, I>);
  const expose = exposeRow(service);
  const workloads = workloadsRow(
    { config, databaseSync },
    {
      resources: resourcesOf(service),
      pods: (_cx, { pods, peers }) => pods.map(each => ({ ...each, peers })),
      edges: async cx => {
        from.edges?.(cx);
        await service.after?.(cx);
      },
    },
  );
  const endpoints = endpointsRow({ expose, identity }, { kind, admin: from.admin, ...catalogOf(service) });
  const answering = answeringRow(service, { config, workloads, endpoints, expose, credentials });
  const networkPolicy = networkPolicyRow<O>(cx => [
    open(wantedPods(cx, service).flatMap(([, { ports }]) => Object.values(ports ?? {}))),
  ]);
  const rotation = from.accounts && rotationRow<O>(from.accounts, { database, credentials });
  return {
    credentials,
    database,
    messageBus,
    identity,
    input,
    configValid,
    certificate,
    config,
    databaseSync,
    jobs,
    housekeeping,
    expose,
    workloads,
    endpoints,
    answering,
    networkPolicy,
    ...(rotation && { rotation }),
  };
}

type AlsoRows<K extends AnyKind, I> = (
  rows: ReturnType<typeof serve<K, I>>,
) => Readonly<Record<string, Row<ObjectOf<K> & Managed, unknown>>>;

/** A service that registers itself with MariaDB, RabbitMQ and Keystone. */
export function openstackService<K extends AnyKind, I = void>(
  kind: K,
  service: Service<ObjectOf<K> & Managed, SpecOf<K>, I>,
  /** Rows that only this service has, from those that all have. */
  also?: AlsoRows<K, I>,
): Plan<ObjectOf<K> & Managed> {
  const needs = { name: service.name, databases: Object.keys(service.databases ?? {}), bus: service.bus ?? false };
  return planOf(kind, service, register(needs), also);
}

/** A service that is handed its links in Secrets, or has none. */
export function linkedService<K extends AnyKind, I = void>(
  kind: K,
  service: Service<ObjectOf<K> & Managed, SpecOf<K>, I>,
  fields: SecretFields,
  also?: AlsoRows<K, I>,
): Plan<ObjectOf<K> & Managed> {
  return planOf(kind, service, linked(fields), also);
}

function planOf<K extends AnyKind, I>(
  kind: K,
  service: Service<ObjectOf<K> & Managed, SpecOf<K>, I>,
  from: Source<ObjectOf<K> & Managed>,
  also: AlsoRows<K, I> = () => ({}),
): Plan<ObjectOf<K> & Managed> {
  const rows = serve(kind, service, from);
  return withRelease(plan(kind, { ...rows, ...also(rows) }, { external: true }));
}

/** Every object of these kinds in the namespace must be Ready; one that is not there is somebody else's business. */
export const neighbours =
  (...kinds: readonly AnyKind[]) =>
  <O extends Managed>(cx: Cx<O>): void => {
    for (const kind of kinds) for (const other of cx.list(kind, {})) assertReady(other);
  };
