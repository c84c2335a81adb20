import type { HostAddress } from '../hosts.ts';

/** A way into one database, ready to be written into a config file. */
export interface DatabaseLink {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** Differs when the database was made anew, empty: what was done in it is due again. */
  readonly incarnation?: string;
  /** PEM: the way is encrypted. undefined: it is plain. Never optional, so that nobody forgets it. */
  readonly ca: string | undefined;
}

export interface BusLink {
  readonly host: string;
  readonly port: number;
  readonly vhost: string;
  readonly user: string;
  readonly password: string;
  readonly ca: string | undefined;
  /** Where hosts outside the cluster reach it. */
  readonly outside?: HostAddress;
}

/** A service user of Keystone. */
export interface IdentityLink {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly project: string;
  readonly region: string;
  readonly ca: string | undefined;
  /** Where hosts outside the cluster reach it. */
  readonly outside?: string;
}

export interface CacheLink {
  /** host:port; without any, nothing is cached. */
  readonly servers: readonly string[];
  readonly ca?: string;
}
