import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { Row } from '../../runtime/plan/row.ts';
import { busServer, dropBus, ensureBus } from '../links/bus.ts';
import type { Account } from '../links/credentials.ts';
import { identityAdmin, keystoneServer } from '../links/identity.ts';
import { accountsOf } from '../links/spec.ts';
import { type Credentials, credentialsRow, givenCredentialsRow } from './credentials.ts';
import { databaseRow, givenDatabaseRow } from './database.ts';
import { givenIdentityRow, identityRow } from './identity.ts';
import { givenMessageBusRow, messageBusRow } from './message-bus.ts';
import type { Databases } from './table.ts';

/** The first half of a service: where its links come from. The second half (serve) does not care which it is. */
export interface Source<O extends Managed> {
  readonly rows: {
    /** Known before bus and Keystone run: config and schema need not wait for them. */
    readonly credentials: Row<O, Credentials | undefined>;
    readonly database: Row<O, Databases | undefined>;
    /** The servers know of them. */
    readonly messageBus: Row<O, unknown>;
    readonly identity: Row<O, unknown>;
  };
  /** Throws while bus or Keystone, of which first pods ask something at once, is not Ready. */
  readonly edges?: (cx: Cx<O>) => void;
  /** Keystone with the rights to write the catalog, where this source has them. */
  readonly admin?: typeof identityAdmin;
  /** Logins that were made here, and can be replaced. */
  readonly accounts?: (cx: Cx<O>) => readonly Account[];
}

export interface Needs {
  /** Names; the one that is called like the service is the object's own, others get the object's name before theirs. */
  readonly databases: readonly string[];
  readonly bus: boolean;
  /** The service's name. */
  readonly name: string;
}

/** Registers the object with MariaDB, RabbitMQ and Keystone; each may instead be a hand-made Secret in the spec. */
export function register<O extends Managed>(needs: Needs): Source<O> {
  const credentials = credentialsRow<O>(needs);
  const database = databaseRow<O>(needs);
  const messageBus = messageBusRow<O, Credentials>(
    { credentials },
    { when: () => needs.bus, ensure: async (cx, { bus }) => bus && ensureBus(cx, bus), drop: dropBus },
  );
  const identity = identityRow<O>({ credentials });
  return {
    rows: { credentials, database, messageBus, identity },
    edges: cx => {
      if (needs.bus) busServer(cx);
      keystoneServer(cx);
    },
    admin: identityAdmin,
    accounts: cx => accountsOf(cx, { database: needs.databases.length > 0, bus: needs.bus, identity: true }),
  };
}

/** Fields of a spec that name Secrets. */
export interface SecretFields {
  /** By the name that the service's table gives the database. */
  readonly databases?: Readonly<Record<string, string>>;
  /** Those of the databases whose field may be left empty: the object then does without. */
  readonly optional?: readonly string[];
  readonly bus?: string;
  readonly identity?: string;
}

/** The same links from hand-made Secrets alone: for objects that work without anything above them. */
export function linked<O extends Managed>(fields: SecretFields): Source<O> {
  const messageBus = givenMessageBusRow<O>(fields.bus);
  const identity = givenIdentityRow<O>(fields.identity);
  const isOn = () => fields.bus !== undefined || fields.identity !== undefined;
  const credentials = givenCredentialsRow<O>({ messageBus, identity }, isOn);
  const database = givenDatabaseRow<O>(fields.databases ?? {}, fields.optional ?? []);
  return { rows: { credentials, database, messageBus, identity } };
}
