/** What the fake servers hold, as plain JSON: it survives their pods the way a volume does. */

export interface SqlUser {
  password: string;
  /** Every right on everything, as root has it. */
  all: boolean;
  databases: string[];
}

export interface Database {
  /** Text of the owner's mark. */
  comment?: string;
  /** Services whose schema has been made here. */
  schemas: string[];
  /** Rows of Keystone, once its schema is here. */
  keystone?: KeystoneRows;
  /** Cell mappings in the database of Nova's API, by name. */
  cells?: Record<string, { url: string; bus?: string; hosts: string[]; servers?: string[] }>;
  /** Extra specs of Cinder's volume types, by name. */
  volumeTypes?: Record<string, Record<string, string>>;
  /** Processes of Nova or Cinder that report here, by program and host; of a compute, what a test says of it. */
  services?: Record<string, { binary: string; host: string; state: string; status?: string }>;
}

export interface SqlServer {
  users: Record<string, SqlUser>;
  databases: Record<string, Database>;
}

export interface BusServer {
  users: Record<string, { password: string; administrator: boolean; vhosts: string[]; mark?: string }>;
  vhosts: string[];
  /** Marks of vhosts by name. */
  descriptions?: Record<string, string>;
}

export interface KeystoneUser {
  password: string;
  enabled: boolean;
  /** By project. */
  roles: Record<string, string[]>;
  ours: boolean;
  owner?: string;
}

export interface KeystoneService {
  name: string;
  type: string;
  description: string;
  ours: boolean;
  owner?: string;
  endpoints: { interface: string; region: string; url: string; ours: boolean; owner?: string }[];
}

export interface KeystoneDomain {
  /** Password by user; each of them has role admin on the domain. */
  users: Record<string, string>;
  ours: boolean;
  owner?: string;
}

export interface KeystoneRows {
  /** Beside Default, whose users are those below. */
  domains?: Record<string, KeystoneDomain>;
  users: Record<string, KeystoneUser>;
  projects: string[];
  roles: string[];
  services: KeystoneService[];
}

/** The certificate that a server shows, PEM; a server without this speaks no TLS. */
interface Shows {
  readonly shows?: (() => string | undefined) | undefined;
}

/** One started server process: dies with its pod, and knows which data it serves. */
export type Served = Shows &
  (
    | {
        readonly is: 'sql';
        readonly volume: string;
        readonly flush?: () => void;
        readonly transport: { required: boolean };
      }
    | { readonly is: 'bus'; readonly volume: string }
    | { readonly is: 'identity'; readonly database: DatabaseUrl | undefined; readonly keys: () => number }
    /** A nova-compute: whom it reports as, and over which vhost. */
    | { readonly is: 'compute'; readonly host: string; readonly vhost: string }
    /** `database`: of a service that has one; it can answer only while that opens. `keystone`: whom it asks for tokens. */
    | { readonly is: 'other'; readonly database?: DatabaseUrl | undefined; readonly keystone?: Caller | undefined }
  );

/** Where a client calls, and whom it trusts: a bundle as it is mounted now. */
export interface Caller {
  readonly url: string;
  readonly trust?: (() => string | undefined) | undefined;
}

export interface DatabaseUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** There when it insists on TLS. */
  readonly trust?: (() => string | undefined) | undefined;
}

/** By volume: a claim's uid, or the pod's where there is none. */
export interface Disks {
  sql: Record<string, SqlServer>;
  bus: Record<string, BusServer>;
  /** By fsid. */
  ceph?: Record<string, CephCluster>;
}

export interface CephCluster {
  /** By name; `owner` is the mark in the pool's application metadata. */
  pools: Record<string, { owner?: string }>;
  users: Record<string, { key: string; pools: string[]; owner?: string }>;
}

/** How one process of the fake world reaches another. */
export interface Net {
  readonly disks: Disks;
  /** The first ready pod behind the address that runs such a server. */
  find<K extends Served['is']>(kind: K, host: string, port: number): Extract<Served, { is: K }> | undefined;
  /** Any ready pod there. */
  answers(host: string, port: number): boolean;
  /** All that were started, of pods that may be gone. */
  started<K extends Served['is']>(kind: K): readonly Extract<Served, { is: K }>[];
  /** Notes that the operator opened a plain way to this server; only if that serves over TLS. */
  plainTo(server: Served | undefined, where: string): void;
  /** Counts a change: at rest there are none. */
  mutated(): void;
}

/** `mysql+pymysql://user:password@host:port/database?...`, as oslo.db reads it. */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const found = /^mysql(?:\+\w+)?:\/\/([^:@/]*):([^@/]*)@([^:/?]+)(?::(\d+))?\/([^?]*)/.exec(text.trim());
  if (!found) return undefined;
  const [, user = '', password = '', host = '', port, database = ''] = found;
  return {
    host,
    port: Number(port ?? 3306),
    user: decodeURIComponent(user),
    password: decodeURIComponent(password),
    database,
  };
}
