import type { DeepReadonly } from '../../kube/object.ts';
import { Job, Pod, ReplicaSet, Secret } from '../../kube/resource.ts';
import { at, conf } from '../../oslo/conf.ts';
import type { Sections } from '../../oslo/model.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { type Config, type ConfigFile, configSecrets, generatedFile } from '../config/config.ts';
import { cache } from '../links/cache.ts';
import { databaseUrl } from '../links/database.ts';
import { busSections, databaseSection, logging } from '../links/sections.ts';
import type { BusLink, IdentityLink } from '../links/types.ts';
import type { Peer } from '../pods/override.ts';
import { kollaStart, type Process, type ProcessVolume } from '../pods/pod.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { processOf, type Workload } from '../pods/workload.ts';
import type { Shown } from '../tls/certificate.ts';
import { type Trust, trust } from '../tls/trust.ts';
import { stepsOf, wantedPods } from './components.ts';
import type { Custom } from './config-valid.ts';
import type { Credentials } from './credentials.ts';
import { jobProcess } from './run-job.ts';
import type { ConfigInput, Databases, Service } from './table.ts';

/** One component with all that its pods read. */
export interface ConfiguredPods<S> {
  readonly component: string;
  readonly workload: Workload<S>;
  readonly process: Process;
  readonly files: readonly ConfigFile[];
  readonly config: Config;
}

export interface Configured<S, I> {
  readonly pods: readonly ConfiguredPods<S>[];
  readonly peers: readonly Peer[];
  /** Files that all components read. */
  readonly base: readonly ConfigFile[];
  readonly input: ConfigInput<S, I>;
  readonly mounts: readonly ProcessVolume[];
  readonly trusted: Trust | undefined;
}

interface Needed<I> {
  readonly input: I | undefined;
  readonly database: Databases | undefined;
  readonly credentials: Credentials | undefined;
  readonly configValid: Readonly<Record<string, Custom>>;
  readonly certificate: Shown | undefined;
}

/** ConfigReady: what each component's pods run and read, in Secrets. */
export const configRow = <O extends Managed, S, I>(
  service: Service<O, S, I>,
  needs: { readonly [K in keyof Needed<I>]: Row<O, Needed<I>[K]> },
) =>
  rowsOf<O>()('ConfigReady', {
    needs,
    manages: [Secret],
    reads: [Pod, ReplicaSet, Job],
    run: async (cx, needed): Promise<Configured<S, I>> => {
      const d: Needed<I> = needed;
      const cached = await cache(cx);
      const links = [...Object.values(d.database ?? {}), d.credentials?.bus, d.credentials?.identity, cached];
      const cas = links.map(link => link?.ca);
      const trusted = await trust(cx, ...cas, d.certificate?.trust, ...(service.trusts?.(d.input as I) ?? []));
      const mounts = tlsVolumes(trusted, d.certificate);
      const x: ConfigInput<S, I> = {
        name: cx.name,
        namespace: cx.namespace,
        env: cx.env,
        spec: cx.spec as DeepReadonly<S>,
        databases: d.database ?? {},
        bus: d.credentials?.bus,
        identity: d.credentials?.identity as IdentityLink,
        cache: cached,
        tls: d.certificate !== undefined,
        input: d.input as I,
      };
      const base = baseFiles(service, x);
      const pods = wantedPods(cx, service).map(([component, workload], index) => {
        const process = processOf(cx, service, component, workload, workload.bare === true ? [] : mounts);
        const { files: custom, start } = d.configValid[component] ?? { files: [], start: undefined };
        const shared = workload.bare === true ? [] : [...(workload.bare ? [] : base), ...custom];
        const files = [...shared, ...(workload.files ?? []), ...(service.partFiles?.(x, component) ?? [])];
        // Jobs read what the first pods read.
        const steps = index > 0 ? [] : Object.entries(stepsOf(service));
        const more = steps.map(([step, argv]) => kollaStart(jobProcess(process, step, argv), files));
        return { component, workload, process, files, starts: [kollaStart(process, files, start), ...more] };
      });
      const configs = await configSecrets(
        cx,
        pods.map(({ files, starts }) => [...files, ...starts]),
      );
      const made = pods.map((pod, index) => ({ ...pod, config: configs[index]! }));
      return { pods: made, peers: peersOf(service, x, pods), base, input: x, mounts, trusted };
    },
  });

/** The generated file, with the URLs of the links in it, and the service's own beside it. */
function baseFiles<O extends Managed, S, I>(service: Service<O, S, I>, x: ConfigInput<S, I>): readonly ConfigFile[] {
  const own = service.config?.(x);
  const urls = at('topology', linkSections(service.databases ?? {}, x));
  const main = own ? [generatedFile(conf(own.service, logging, ...own.parts, urls))] : [];
  return [...main, ...(service.files?.(x) ?? [])];
}

const peersOf = <O extends Managed, S, I>(
  service: Service<O, S, I>,
  x: ConfigInput<S, I>,
  pods: readonly Pick<ConfiguredPods<S>, 'workload' | 'process'>[],
): readonly Peer[] => [
  ...pods.map(({ workload: { template }, process }) => ({
    containers: [process.name],
    ...(template !== undefined && { template }),
  })),
  ...(service.alsoPods?.(x.spec) ?? []),
];

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
