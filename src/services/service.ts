import type { AnyKind, ObjectOf, SpecOf } from '../../api/kind.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import type { DeepReadonly } from '../kube/object.ts';
import {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  ReplicaSet,
  type Resource,
  Secret,
  Service as ServiceResource,
  StatefulSet,
} from '../kube/resource.ts';
import { at, type Conf, conf } from '../oslo/conf.ts';
import type { Sections } from '../oslo/model.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { assertReady } from '../runtime/plan/ready.ts';
import { type Plan, plan, type Row, rowsOf } from '../runtime/plan/row.ts';
import { stall } from '../runtime/plan/unmet.ts';
import { standsInCatalog } from './catalog.ts';
import {
  type ConfigFile,
  configSecrets,
  generatedFile,
  overwrittenFiles,
  overwrittenStart,
  START,
  userFiles,
} from './config.ts';
import { rotation, USERS } from './credentials.ts';
import { applyService, endpointsOf } from './expose.ts';
import { clean, cleaningScript } from './housekeeping.ts';
import { type Beside, type Exposed, PUBLISHING_MANAGES, PUBLISHING_READS, prefixOf, publish } from './ingress.ts';
import { type BusLink, type CacheLink, cache, type DatabaseLink, databaseUrl, type IdentityLink } from './links.ts';
import { memberHosts, podLabels, serviceHost, workloadName } from './names.ts';
import { isolation, open } from './network.ts';
import { overrideOf, type Peer, withoutService } from './override.ts';
import {
  AWAITED,
  kollaStart,
  type PodBlock,
  type Process,
  type ProcessVolume,
  podSpec,
  type Requests,
  withoutKolla,
} from './pod.ts';
import { type Databases, linked, register, type SecretFields, type Source } from './register.ts';
import { changesRelease, withRelease } from './release.ts';
import { busSections, databaseSection, logging } from './sections.ts';
import { certificate, MANAGES, overTls, READS } from './tls/certificate.ts';
import { isBundle, tlsVolumes, trust, trusting } from './tls/trust.ts';
import { blockOf, homeOf, processOf, replicasOf, runWorkload, type Workload } from './workload.ts';

/** What a service's config is made of. `input` is what its own input hook gave. */
export interface ConfigInput<S, I = void> {
  readonly name: string;
  readonly namespace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly spec: DeepReadonly<S>;
  readonly databases: Databases;
  readonly bus: BusLink | undefined;
  /** Present unless the service's table has no Keystone at all. */
  readonly identity: IdentityLink;
  readonly cache: CacheLink;
  /** Its own pods serve over TLS. */
  readonly tls: boolean;
  readonly input: I;
}

interface CatalogLine {
  readonly type: string;
  /** The service's, unless given. */
  readonly name?: string;
  /** After host and port of every endpoint. */
  readonly path?: string;
}

/** An OpenStack service as data: its folder is this table and pure functions. */
export interface Service<O extends Managed, S, I = void> {
  /** Names its user, its folder under /etc and its config files: `placement`. */
  readonly name: string;
  /** uid = gid in the image. */
  readonly user: number;
  readonly image: string;
  readonly catalog?: CatalogLine & {
    /** An authenticated GET on this path reads the database: the proof that it answers. */
    readonly check: string;
  };
  /** Instead of a catalog, for what people visit: the component, and a page of it that shows that it answers. */
  readonly front?: { readonly component: string; readonly page: string };
  /** What else it has in the catalog: other names of its API, or APIs of other components. */
  readonly alsoCatalog?: readonly (CatalogLine & { readonly component: string })[];
  /** The section that gets its URL, and what makes its schema; safe to run twice. */
  readonly databases?: Readonly<Record<string, { readonly section: string; readonly sync?: readonly string[] }>>;
  readonly bus?: boolean;
  /** Work that is done once, when the schemas are there; no pod waits for it. */
  readonly jobs?: Readonly<Record<string, readonly string[]>>;
  /** Lines of shell that remove rows older than $days from its database; each may run at any time. */
  readonly housekeeping?: readonly string[];
  /** By component; `api` is the one that the catalog names. */
  readonly pods: Readonly<Record<string, Workload<S>>>;
  /** Pods that rows of its own run. */
  readonly alsoPods?: (spec: DeepReadonly<S>) => readonly Peer[];
  /** Refuses what can't work, and reads or makes what only this service has. */
  readonly input?: (cx: Cx<O>) => Promise<I>;
  /** Takes back what `input` made outside of owned objects. */
  readonly leave?: (cx: Cx<O>) => Promise<void>;
  /** Throws while something that must be Ready before the first pod starts is not, beyond what the links name. */
  readonly after?: (cx: Cx<O>) => void | Promise<void>;
  /** `[section]`s of its own; those of its links (URLs of databases and bus) are added. Absent: it does not read oslo's. */
  readonly config?: (x: ConfigInput<S, I>) => Conf;
  /** More files than that. */
  readonly files?: (x: ConfigInput<S, I>) => readonly ConfigFile[];
  /** Files that only the pods of one component read. */
  readonly partFiles?: (x: ConfigInput<S, I>, component: string) => readonly ConfigFile[];
  /** CAs of servers that its input names, PEM. */
  readonly trusts?: (input: I) => readonly (string | undefined)[];
  /** Its certificate is also shown to servers that ask who calls. */
  readonly client?: boolean;
  /** Names for spec.defaultConfigOverwrite. */
  readonly overwrites?: readonly string[];
  /** Resources that `input` writes or reads, beyond those of all services. */
  readonly manages?: readonly Resource[];
  readonly reads?: readonly Resource[];
}

/** The second half of a service: links -> config, schema, pods, catalog, proof. */
export function serve<K extends AnyKind, I = void>(
  kind: K,
  service: Service<ObjectOf<K> & Managed, SpecOf<K>, I>,
  from: Source<ObjectOf<K> & Managed>,
) {
  type O = ObjectOf<K> & Managed;
  const row = rowsOf<O>();
  const labels = (cx: Cx<O>, component: string) => podLabels(kind.kind, cx.name, component);
  const syncs = Object.entries(service.databases ?? {}).flatMap(([name, { sync }]) =>
    sync ? [[name, sync] as const] : [],
  );
  const jobs = { ...Object.fromEntries(syncs.map(([name, argv]) => [stepOf(name), argv])), ...service.jobs };
  const serves = Object.values(service.pods).some(workload => workload.overTls);
  const wanted = (cx: Cx<O>) =>
    Object.entries(service.pods)
      .filter(([, w]) => w.when?.(cx.spec as never) ?? true)
      .map(([component, w]) => [component, (overTls(cx.spec) && w.overTls?.()) || w] as const)
      .map(([component, w]) => {
        const line = reached.find(each => each.component === component && each.type !== undefined);
        const prefix = line === undefined ? '' : prefixOf(cx.spec as Exposed, besideOf(line));
        return [component, (prefix !== '' && w.under?.(prefix)) || w] as const;
      });

  /** What is reached from outside, the main one first. */
  const reached: readonly (Partial<CatalogLine> & { readonly component: string })[] = [
    ...(service.front ? [{ component: service.front.component }] : []),
    ...(service.catalog ? [{ ...service.catalog, component: 'api' }] : []),
    ...(service.alsoCatalog ?? []),
  ];
  const besideOf = ({ component, type = '' }: (typeof reached)[number]): Beside | undefined =>
    component === reached[0]?.component ? undefined : { component, type };

  /** `db-sync` for the only database, `db-sync-api` where there are several. */
  function stepOf(name: string): string {
    return syncs.length > 1 ? `db-sync-${name}` : 'db-sync';
  }

  const input = row('InputReady', {
    when: () => service.input !== undefined,
    run: cx => service.input!(cx),
    undo: async cx => service.leave?.(cx),
  });
  const custom = row('ConfigValid', {
    run: async cx => {
      const allowed = [...(service.overwrites ?? ['policy.yaml']), START];
      const found: Record<string, { readonly files: readonly ConfigFile[]; readonly start: string | undefined }> = {};
      const all = wanted(cx);
      for (const [index, [component, { template, direct }]] of all.entries()) {
        const files = [
          ...(service.config ? await userFiles(cx, service.name, template) : []),
          ...overwrittenFiles(cx, service.name, allowed, template),
        ];
        const peers = all.filter(([, other]) => template !== undefined && other.template === template).length;
        const without =
          withoutKolla((cx.spec as unknown as PodBlock).podProfile, direct) ??
          (peers > 1 ? `spec.${template} is about containers with different commands` : undefined);
        found[component] = { files, start: overwrittenStart(cx, { template, main: index === 0, without }) };
      }
      return found;
    },
  });
  const own = row('CertificateReady', {
    when: object => serves && overTls(object.spec),
    run: cx => certificate(cx, { hosts: hostsOf(cx), client: service.client ?? false }),
  });
  const hostsOf = (cx: Cx<O>): string[] =>
    wanted(cx).flatMap(([component, workload]) => {
      const name = workloadName(cx.name, component);
      if (workload.ports === undefined) return [];
      const members = workload.members ? replicasOf(cx, workload) : 0;
      return [serviceHost(cx, name), ...memberHosts(cx, name, members, `${name}-members`)];
    });
  const config = row('ConfigReady', {
    needs: { input, databases: from.databases, logins: from.logins, custom, own },
    run: async (cx, d) => {
      const cached = await cache(cx);
      const links = [...Object.values(d.databases ?? {}), d.logins?.bus, d.logins?.identity, cached];
      const cas = links.map(link => link?.ca);
      const trusted = await trust(cx, ...cas, d.own?.trust, ...(service.trusts?.(d.input as I) ?? []));
      const mounts = tlsVolumes(trusted, d.own);
      const x: ConfigInput<SpecOf<K>, I> = {
        name: cx.name,
        namespace: cx.namespace,
        env: cx.env,
        spec: cx.spec as DeepReadonly<SpecOf<K>>,
        databases: d.databases ?? {},
        bus: d.logins?.bus,
        identity: d.logins?.identity as IdentityLink,
        cache: cached,
        tls: d.own !== undefined,
        input: d.input as I,
      };
      const own = service.config?.(x);
      const urls = at('topology', linkSections(service.databases ?? {}, x));
      const main = own ? [generatedFile(conf(own.service, logging, ...own.parts, urls))] : [];
      const base = [...main, ...(service.files?.(x) ?? [])];
      const pods = wanted(cx).map(([component, workload], index) => {
        const process = processOf(cx, service, component, workload, workload.bare === true ? [] : mounts);
        const { files: custom, start } = d.custom[component] ?? { files: [], start: undefined };
        const shared = workload.bare === true ? [] : [...(workload.bare ? [] : base), ...custom];
        const files = [...shared, ...(workload.files ?? []), ...(service.partFiles?.(x, component) ?? [])];
        // Jobs read what the first pods read.
        const more =
          index > 0 ? [] : Object.entries(jobs).map(([step, argv]) => kollaStart(jobOf(process, step, argv), files));
        return { component, workload, process, files, starts: [kollaStart(process, files, start), ...more] };
      });
      const configs = await configSecrets(
        cx,
        pods.map(({ files, starts }) => [...files, ...starts]),
      );
      const made = pods.map((pod, index) => ({ ...pod, config: configs[index]! }));
      const peers = [
        ...pods.map(({ workload: { template }, process }) => ({
          containers: [process.name],
          ...(template !== undefined && { template }),
        })),
        ...(service.alsoPods?.(x.spec) ?? []),
      ];
      return { pods: made, peers, base, input: x, mounts, trusted };
    },
  });

  const jobOf = (
    {
      name: _n,
      ports: _p,
      startup: _s,
      readiness: _r,
      liveness: _l,
      volumes = [],
      drain: _d,
      requests: _q,
      ...main
    }: Process,
    step: string,
    argv: readonly string[],
  ): Process => ({ ...main, name: step, argv, ...bundled(volumes) });
  const bundled = (volumes: readonly ProcessVolume[]) => {
    const bundle = volumes.filter(isBundle);
    return bundle.length > 0 ? { volumes: bundle } : {};
  };
  const runJob = async (
    cx: Cx<O>,
    step: string,
    argv: readonly string[],
    pods: Pods,
    inputs: readonly unknown[],
    requests?: Requests,
  ) => {
    const [first] = pods;
    if (first === undefined) return;
    const job = { ...jobOf(first.process, step, argv), ...(requests && { requests }) };
    const pod = podSpec(blockOf(cx, first.workload), job, first.config, labels(cx, step));
    await cx.job({ step, image: job.image, argv, inputs, labels: labels(cx, step), pod });
  };
  type Pods = typeof config extends Row<O, infer T extends { pods: unknown }> ? T['pods'] : never;

  const schema = row('DatabaseSyncReady', {
    needs: { config, databases: from.databases },
    when: () => syncs.length > 0,
    run: async (cx, { config, databases }) => {
      // A database without a sync of its own is made by that of the others.
      const shared = Object.keys(service.databases ?? {}).filter(name => !syncs.some(([own]) => own === name));
      const open = syncs.map(([name, argv]) => {
        const inputs = [name, ...shared].flatMap(each => placeOf(databases?.[each]));
        return runJob(cx, stepOf(name), argv, config.pods, inputs, AWAITED);
      });
      await cx.all(open);
    },
  });
  const work = row('JobsReady', {
    needs: { config, schema, databases: from.databases },
    when: () => Object.keys(service.jobs ?? {}).length > 0,
    run: async (cx, { config, databases }) => {
      const places = Object.values(databases ?? {}).map(({ host, port, database }) => [host, port, database]);
      await cx.all(
        Object.entries(service.jobs ?? {}).map(([step, argv]) => runJob(cx, step, argv, config.pods, places)),
      );
    },
  });
  /** Beside Ready: a service whose old rows stay is none the worse for its users. */
  const cleaning = row('HousekeepingReady', {
    needs: { config, schema },
    when: () => service.housekeeping !== undefined,
    aside: true,
    run: async (cx, { config: { pods } }) => {
      const [first] = pods;
      if (first === undefined) return;
      const process = jobOf(first.process, 'housekeeping', []);
      const script = cleaningScript(service.name, service.housekeeping ?? []);
      await clean(cx, script, process, first.files, blockOf(cx, first.workload));
    },
  });
  const expose = row('ExposeReady', {
    run: async cx => {
      const unserved = wanted(cx).some(([, { ports }]) => ports) ? undefined : overrideOf(cx, 'service');
      if (unserved) throw withoutService(unserved);
      for (const [component, { ports, members, template }] of wanted(cx)) {
        const name = workloadName(cx.name, component);
        const selector = labels(cx, component);
        if (ports) await applyService(cx, { name, ports, selector, template });
        if (ports && members) await applyService(cx, { name: `${name}-members`, ports, selector, headless: true });
      }
      if (service.front && prefixOf(cx.spec as Exposed) !== '')
        throw stall({
          reason: 'NotSupported',
          field: 'spec.ingress.path',
          what: `spec.ingress.path is ${(cx.spec as Exposed).ingress?.path}, and ${service.name} works at the root of a host only`,
          who: 'User',
          next: 'leave it out, and give it a name of its own in spec.ingress.hostname',
        });
      const entries = reached.map(line => {
        const { type, name = service.name, path = '', component } = line;
        const [port] = Object.values(service.pods[component]?.ports ?? {});
        const { internal, outside } = endpointsOf(cx, component, port ?? 80, besideOf(line)?.type);
        return { type, name, internal: `${internal}${path}`, public: outside(path) };
      });
      for (const [component, line] of new Map(reached.map(line => [line.component, line]))) {
        const [port] = Object.keys(service.pods[component]?.ports ?? {});
        await publish(cx, { service: workloadName(cx.name, component), port }, besideOf(line));
      }
      const [main] = entries;
      if (main) cx.report({ endpoints: { internal: main.internal, public: main.public } } as never);
      return entries;
    },
  });
  const pods = row('WorkloadsReady', {
    needs: { config, schema },
    run: async (cx, { config }) => {
      const started = config.pods.some(({ component, workload }) =>
        homeOf(cx, workload).get(workload.as ?? Deployment, workloadName(cx.name, component)),
      );
      // Edges gate the first start and a new release: an edit never waits for a neighbour (rule 9).
      if (!started || changesRelease(cx.object)) {
        from.edges?.(cx);
        await service.after?.(cx);
      }
      const counts = await cx.all(
        config.pods.map(w => runWorkload(cx, w.component, w.workload, w.process, w.config, config.peers)),
      );
      const sum = (of: 'wanted' | 'ready') => counts.reduce((total, count) => total + count[of], 0);
      cx.report({ replicas: sum('wanted'), readyReplicas: sum('ready') } as never);
    },
  });
  const catalog = row('EndpointsReady', {
    needs: { expose, identity: from.identity },
    when: () => service.catalog !== undefined && from.admin !== undefined,
    run: async (cx, { expose }) => {
      const admin = await from.admin?.(cx);
      if (admin && (await standsInCatalog(cx, kind)))
        for (const { type = '', name, ...endpoints } of expose)
          await admin.ensureService({ name, type, endpoints }, await cx.claim());
    },
    undo: async cx => {
      const admin = cx.acted() ? await from.admin?.(cx, true) : undefined;
      for (const { type } of [...(service.catalog ? [service.catalog] : []), ...(service.alsoCatalog ?? [])])
        await admin?.dropService(type, await cx.owner());
    },
  });
  const answering = row('Answering', {
    needs: { config, pods, catalog, expose, logins: from.logins },
    when: () => reached.length > 0,
    run: async (cx, { config: { trusted }, expose: [main], logins }) => {
      const { front, catalog } = service;
      if (main && front) await cx.cloud.page({ url: `${main.internal}${front.page}`, ca: trusted?.text });
      // As the service's own user: the same password that its config holds.
      if (main && catalog && logins?.identity)
        await cx.cloud.identity(trusting(logins.identity, trusted)).get(main.internal, catalog.check);
    },
  });
  const network = isolation<O>(cx => [open(wanted(cx).flatMap(([, { ports }]) => Object.values(ports ?? {})))]);
  const { accounts } = from;
  const rotating = accounts && { rotation: rotation<O>(accounts, { databases: from.databases, logins: from.logins }) };
  return {
    ...rowsIn(from),
    input,
    custom,
    own,
    config,
    schema,
    work,
    cleaning,
    expose,
    pods,
    catalog,
    answering,
    network,
    ...rotating,
  };
}

const placeOf = (link: DatabaseLink | undefined): unknown[] =>
  link === undefined ? [] : [link.host, link.port, link.database, ...(link.incarnation ? [link.incarnation] : [])];

const rowsIn = <O extends Managed>({ logins, databases, bus, identity }: Source<O>) => ({
  logins,
  databases,
  bus,
  identity,
});

function linkSections(
  databases: Readonly<Record<string, { readonly section: string }>>,
  x: { readonly databases: Databases; readonly bus: BusLink | undefined },
): Sections {
  const sections: Record<string, Sections[string]> = {};
  for (const [name, { section }] of Object.entries(databases)) {
    const link = x.databases[name];
    if (link) sections[section] = databaseSection(databaseUrl(link));
  }
  return { ...sections, ...(x.bus && busSections(x.bus)) };
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
  const used = Object.values(service.pods).map(workload => workload.as ?? Deployment);
  const kinds = [Deployment, StatefulSet, DaemonSet].filter(resource => used.includes(resource));
  const rows = serve(kind, service, from);
  const serving = Object.values(service.pods).some(workload => workload.overTls);
  const published = service.catalog !== undefined || service.front !== undefined;
  const made = plan(
    kind,
    { ...rows, ...also(rows) },
    {
      manages: [
        PodDisruptionBudget,
        NetworkPolicy,
        Secret,
        ServiceResource,
        Job,
        ...(service.housekeeping ? [CronJob] : []),
        ...(published ? PUBLISHING_MANAGES : []),
        ...(serving ? MANAGES : []),
        ...kinds,
        ...(service.manages ?? []),
      ],
      reads: [
        ...USERS,
        ReplicaSet,
        ...(published ? PUBLISHING_READS : []),
        ...(serving ? READS : []),
        ...(service.catalog ? [kind] : []),
        // Whether it takes plain connections, also where a Secret opens it.
        ...(service.databases ? [MariaDB] : []),
        ...(service.reads ?? []),
      ],
      external: true,
    },
  );
  return withRelease(made);
}

/** Every object of these kinds in the namespace must be Ready; one that is not there is somebody else's business. */
export const neighbours =
  (...kinds: readonly AnyKind[]) =>
  <O extends Managed>(cx: Cx<O>): void => {
    for (const kind of kinds) for (const other of cx.list(kind, {})) assertReady(other);
  };
