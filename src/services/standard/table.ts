import type { DeepReadonly } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Conf } from '../../oslo/conf.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { ConfigFile } from '../config/config.ts';
import type { BusLink, CacheLink, DatabaseLink, IdentityLink } from '../links/types.ts';
import type { Peer } from '../pods/override.ts';
import type { Workload } from '../pods/workload.ts';

/** By the name that the service's table gives each database. */
export type Databases = Readonly<Record<string, DatabaseLink>>;

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

export interface CatalogLine {
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
