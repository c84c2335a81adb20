/**
 * How the operator reaches what Kubernetes does not show it: the inside of MariaDB, RabbitMQ and Keystone.
 * Ports are declarative: `ensure*` looks first and changes only what differs, so at rest it only reads;
 * `drop*` succeeds when there is nothing. The embedded world and the real one both pass test/contract.
 */
export interface Cloud {
  sql(at: SqlAddress): Sql;
  bus(at: BusAddress): Bus;
  identity(at: IdentityAddress): Identity;
  /** A page that asks for no login; resolves when the answer is 2xx. */
  page(at: PageAddress): Promise<void>;
  /** The same cloud for one object (`Keystone keystone`): a world that keeps a record of calls learns who asks. */
  asked?(by: string): Cloud;
}

export interface PageAddress {
  readonly url: string;
  readonly ca?: string;
}

export interface SqlAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** PEM; when present the connection is TLS and verified against it. */
  readonly ca?: string;
  /** Which server it is: another one may come to have the same address and password. */
  readonly instance?: string;
}

export interface Sql {
  /** Logs in and reads one row. */
  check(): Promise<void>;
  ensureDatabase(name: string): Promise<Changed>;
  /** A user with every right on these databases and none elsewhere. */
  ensureUser(user: string, password: string, databases: readonly string[]): Promise<Changed>;
  /** A user who may do everything, as root may. */
  ensureAdmin(user: string, password: string): Promise<Changed>;
  dropUser(user: string): Promise<Changed>;
  dropDatabase(name: string): Promise<Changed>;
  /** What a column of a table holds; for who may read it. */
  column(database: string, table: string, column: string): Promise<readonly string[]>;
  /** The certificate that the server shows has this SHA-256 fingerprint, or it is told to read its files again. */
  ensureCertificate(fingerprint: string): Promise<Changed>;
  /** Names of the databases, system ones left out. */
  databases(): Promise<readonly string[]>;
}

export interface BusAddress {
  /** Of the management API, e.g. `http://rabbitmq.openstack.svc:15672`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly ca?: string;
  readonly instance?: string;
}

export interface Bus {
  check(): Promise<void>;
  ensureVhost(name: string): Promise<Changed>;
  /** A user with every right on this vhost and none elsewhere, without management tags. */
  ensureUser(user: string, password: string, vhost: string): Promise<Changed>;
  dropUser(user: string): Promise<Changed>;
  dropVhost(name: string): Promise<Changed>;
}

export interface IdentityAddress {
  /** Unversioned, e.g. `http://keystone-api.openstack.svc:5000`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly project: string;
  readonly region: string;
  readonly ca?: string;
}

export interface CatalogEntry {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  /** URL by interface. */
  readonly endpoints: Readonly<Partial<Record<'public' | 'internal' | 'admin', string>>>;
}

export interface Identity {
  /** Issues a token: proves the database, the fernet keys and the password. */
  check(): Promise<void>;
  ensureProject(name: string): Promise<Changed>;
  /** A user in the Default domain with these roles on the project. */
  ensureUser(user: string, password: string, project: string, roles: readonly string[]): Promise<Changed>;
  dropUser(user: string): Promise<Changed>;
  ensureRole(name: string): Promise<Changed>;
  /** A domain, and in it a user with role admin on it. */
  ensureDomain(domain: string, admin: string, password: string): Promise<Changed>;
  /** With everybody in it. */
  dropDomain(domain: string): Promise<Changed>;
  ensureService(entry: CatalogEntry): Promise<Changed>;
  dropService(type: string): Promise<Changed>;
  /**
   * An authenticated GET on a service of the catalog, by its internal endpoint, in which `%(project_id)s` stands for the
   * project of the login as in the catalog; resolves when the answer is 2xx.
   */
  get(serviceUrl: string, path: string): Promise<unknown>;
  /** The same with a body, for what only a service's own API can make. */
  post(serviceUrl: string, path: string, body: unknown): Promise<unknown>;
}

/** Whether the call changed anything: at rest every `ensure` answers false. */
export type Changed = boolean;

/** Why a call to a backend failed, told apart because the cure differs. */
export class CloudError extends Error {
  override readonly name = 'CloudError';
  readonly fault: 'unreachable' | 'refused' | 'rejected';
  /** `unreachable`: no answer. `refused`: wrong user or password. `rejected`: it answered that it will not. */
  constructor(kind: 'unreachable' | 'refused' | 'rejected', message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = kind;
  }
}
