import type { Claim, Owner } from './ownership.ts';

/**
 * How the operator reaches what Kubernetes does not show it: the inside of MariaDB, RabbitMQ and Keystone.
 * Ports are declarative: `ensure*` looks first and changes only what differs, so at rest it only reads;
 * `drop*` succeeds when there is nothing, and touches only what carries the owner's mark (ownership.ts). The embedded world and the real one both pass test/contract.
 */
export interface Cloud {
  sql(at: SqlAddress): Sql;
  bus(at: BusAddress): Bus;
  identity(at: IdentityAddress): Identity;
  /** A page that asks for no login; resolves when the answer is 2xx. */
  page(at: PageAddress): Promise<void>;
  /** The same cloud for one object (`Keystone keystone`): a world that keeps a record of calls learns who asks. */
  asked?(by: string): Cloud;
  /** The same cloud for one pass: a world whose calls are several exchanges asks before each, and cuts those under way. */
  during?(term: Term): Cloud;
}

/** How long a pass may act. */
export interface Term {
  /** Aborted when the pass takes too long, the process stops or the lease is lost. */
  readonly signal: AbortSignal;
  /** Throws when leadership is in doubt: the timer that should have noticed may itself be late. */
  readonly fence: () => void;
}

export interface PageAddress {
  readonly url: string;
  readonly ca: string | undefined;
}

export interface SqlAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** PEM: the connection is TLS and verified against it. undefined: plain. Never optional, so that nobody forgets it. */
  readonly ca: string | undefined;
  /** Which server it is: another one may come to have the same address and password. */
  readonly instance?: string;
}

export interface Sql {
  /** Logs in and reads one row. */
  check(): Promise<void>;
  /** Created with its owner's mark; `users` are those that may come to open it, and carry the mark through it. */
  ensureDatabase(name: string, claim: Claim, users: readonly string[]): Promise<Changed>;
  /** A user with every right on these databases and none elsewhere; one of them must list it. */
  ensureUser(user: string, password: string, databases: readonly string[], claim: Claim): Promise<Changed>;
  /** A user who may do everything, as root may. */
  ensureAdmin(user: string, password: string): Promise<Changed>;
  /** Without an owner, for accounts of the server itself, it goes by its name alone. */
  dropUser(user: string, owner: Owner | undefined): Promise<Changed>;
  dropDatabase(name: string, owner: Owner): Promise<Changed>;
  /** What carries the mark of this owner or of its parts. */
  owned(owner: Owner): Promise<{ readonly databases: readonly string[]; readonly users: readonly string[] }>;
  /** What a column of a table holds; for who may read it. */
  column(database: string, table: string, column: string): Promise<readonly string[]>;
  /** The certificate that the server shows has this SHA-256 fingerprint, or it is asked to read its files again. */
  ensureCertificate(fingerprint: string): Promise<Changed>;
  /** Whether the server refuses connections over the network without TLS. Those that are open stay. */
  ensureSecureTransport(wanted: SecureTransport): Promise<Changed>;
  /**
   * The databases by name, system ones left out: the text of their mark, and whether they have any table. `now`: not what
   * was known a moment ago, for decisions that are hard to take back.
   */
  databases(now?: 'now'): Promise<Readonly<Record<string, FoundDatabase>>>;
}

export type SecureTransport = 'ON' | 'OFF';

export interface FoundDatabase {
  readonly mark?: string;
  readonly empty: boolean;
}

export interface BusAddress {
  /** Of the management API, e.g. `http://rabbitmq.openstack.svc:15672`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly ca: string | undefined;
  readonly instance?: string;
}

export interface Bus {
  check(): Promise<void>;
  ensureVhost(name: string, claim: Claim): Promise<Changed>;
  /** A user with every right on this vhost and none elsewhere, without management tags. */
  ensureUser(user: string, password: string, vhost: string, claim: Claim): Promise<Changed>;
  dropUser(user: string, claim: Claim): Promise<Changed>;
  dropVhost(name: string, claim: Claim): Promise<Changed>;
  /** What carries the mark of this owner or of its parts, or carries none, is named after the proof and opens with it. */
  owned(claim: Claim): Promise<{ readonly vhosts: readonly string[]; readonly users: readonly string[] }>;
}

export interface IdentityAddress {
  /** Unversioned, e.g. `http://keystone-api.openstack.svc:5000`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly project: string;
  readonly region: string;
  readonly ca: string | undefined;
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
  ensureUser(user: string, password: string, project: string, roles: readonly string[], claim: Claim): Promise<Changed>;
  dropUser(user: string, owner: Owner): Promise<Changed>;
  ensureRole(name: string): Promise<Changed>;
  /** A domain, and in it a user with role admin on it. */
  ensureDomain(domain: string, admin: string, password: string, claim: Claim): Promise<Changed>;
  /** With everybody in it. */
  dropDomain(domain: string, owner: Owner): Promise<Changed>;
  /**
   * One entry per type. Objects of one kind follow each other in it, so a mark of the same namespace and kind counts as
   * ours: who calls this must be the one that stands in the catalog.
   */
  ensureService(entry: CatalogEntry, claim: Claim): Promise<Changed>;
  dropService(type: string, owner: Owner): Promise<Changed>;
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

/** The server of a call. */
export interface Called {
  readonly server?: string;
  /** Without a port. */
  readonly host?: string;
  readonly user?: string;
  /** The words of that server, or of the system that could not reach it. */
  readonly said?: string;
}

/** Why a call to a backend failed; one value for each remedy. */
export class CloudError extends Error {
  override readonly name = 'CloudError';
  readonly fault: 'unreachable' | 'refused' | 'rejected' | 'taken';
  /** It is unreachable because of the certificate that it shows. */
  readonly untrusted: boolean;
  /** What the call was for, where that is known. */
  readonly called: Called;
  /**
   * `unreachable`: no answer. `refused`: wrong user or password. `rejected`: it answered that it will not.
   * `taken`: the name is somebody else's (ownership.ts).
   */
  constructor(kind: CloudError['fault'], message: string, cause?: unknown, untrusted = false, called: Called = {}) {
    super(message, { cause });
    this.fault = kind;
    this.untrusted = untrusted;
    this.called = called;
  }
}
