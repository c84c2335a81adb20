import type { DeepReadonly } from '../kube/object.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../runtime/plan/row.ts';
import { fieldMissing } from '../runtime/plan/unmet.ts';
import type { Account } from './credentials.ts';
import {
  accountsOf,
  type BusLink,
  busLink,
  busServer,
  type DatabaseLink,
  databases,
  dropBus,
  dropDatabases,
  dropIdentity,
  ensureBus,
  ensureIdentity,
  type IdentityLink,
  identityAdmin,
  identityLink,
  keystoneServer,
  readBus,
  readDatabase,
  readIdentity,
  type WantedDatabase,
} from './links.ts';
import { databaseNameOf } from './names.ts';

/** By the name that the service's table gives each database. */
export type Databases = Readonly<Record<string, DatabaseLink>>;

/** The ways to bus and Keystone. */
export interface Logins {
  readonly bus: BusLink | undefined;
  readonly identity: IdentityLink | undefined;
}

/** The first half of a service: where its links come from. The second half (serve) does not care which it is. */
export interface Source<O extends Managed> {
  /** Known before bus and Keystone run: config and schema need not wait for them. */
  readonly logins: Row<O, Logins | undefined>;
  readonly databases: Row<O, Databases | undefined>;
  /** The servers know of them. */
  readonly bus: Row<O, unknown>;
  readonly identity: Row<O, unknown>;
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
  const row = rowsOf<O>();
  const wanted = (cx: Cx<O>): readonly WantedDatabase[] =>
    needs.databases.map(name =>
      name === needs.name
        ? { derived: databaseNameOf(cx.name), given: (cx.spec as { databaseName?: string }).databaseName }
        : { derived: databaseNameOf(`${cx.name}_${name}`) },
    );
  const logins = row('CredentialsReady', {
    run: async cx => {
      const [bus, identity] = await cx.all([needs.bus ? busLink(cx) : Promise.resolve(undefined), identityLink(cx)]);
      return { bus, identity };
    },
  });
  return {
    logins,
    databases: row('DatabaseReady', {
      when: () => needs.databases.length > 0,
      run: async (cx): Promise<Databases> => {
        const links = await databases(cx, wanted(cx));
        return Object.fromEntries(needs.databases.map((name, index) => [name, links[index]!]));
      },
      undo: cx => dropDatabases(cx, wanted(cx)),
    }),
    bus: row('MessageBusReady', {
      needs: { logins },
      when: () => needs.bus,
      run: async (cx, { logins: { bus } }) => bus && ensureBus(cx, bus),
      undo: cx => dropBus(cx),
    }),
    identity: row('IdentityReady', {
      needs: { logins },
      run: async (cx, { logins: { identity } }) => identity && ensureIdentity(cx, identity),
      undo: cx => dropIdentity(cx),
    }),
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
  const row = rowsOf<O>();
  const { databases = {}, optional = [], bus, identity } = fields;
  const busRow = row('MessageBusReady', {
    when: () => bus !== undefined,
    run: cx => readBus(cx, secretIn(cx.object, bus ?? ''), `spec.${bus}`),
  });
  const identityRow = row('IdentityReady', {
    when: () => identity !== undefined,
    run: cx => readIdentity(cx, secretIn(cx.object, identity ?? ''), `spec.${identity}`),
  });
  return {
    logins: row('CredentialsReady', {
      needs: { bus: busRow, identity: identityRow },
      when: () => bus !== undefined || identity !== undefined,
      run: async (_cx, logins) => logins,
    }),
    bus: busRow,
    identity: identityRow,
    databases: row('DatabaseReady', {
      when: () => Object.keys(databases).length > 0,
      run: async cx => {
        const links: Record<string, DatabaseLink> = {};
        for (const [name, field] of Object.entries(databases))
          if (fieldOf(cx.object, field) || !optional.includes(name))
            links[name] = await readDatabase(cx, secretIn(cx.object, field), `spec.${field}`, name);
        return links;
      },
    }),
  };
}

const fieldOf = (object: DeepReadonly<Managed>, field: string): string | undefined =>
  (object.spec as Record<string, string | undefined>)[field];

function secretIn(object: DeepReadonly<Managed>, field: string): string {
  const name = fieldOf(object, field);
  if (name) return name;
  throw fieldMissing(`spec.${field}`, `spec.${field} is not set`, 'name a Secret in it');
}
