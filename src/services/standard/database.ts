import { MariaDB } from '../../../api/openstack/mariadb.ts';
import { Job, Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { databases, dropDatabases, readDatabase, type WantedDatabase } from '../links/database.ts';
import type { DatabaseLink } from '../links/types.ts';
import { databaseNameOf } from '../names.ts';
import { fieldOf, secretIn } from './fields.ts';
import type { Databases } from './table.ts';

/** DatabaseReady: databases and a user for them in the instance that the spec names. */
export function databaseRow<O extends Managed>(needs: {
  readonly name: string;
  readonly databases: readonly string[];
}) {
  const wanted = (cx: Cx<O>): readonly WantedDatabase[] =>
    needs.databases.map(name =>
      name === needs.name
        ? { derived: databaseNameOf(cx.name), given: (cx.spec as { databaseName?: string }).databaseName }
        : { derived: databaseNameOf(`${cx.name}_${name}`) },
    );
  return rowsOf<O>()('DatabaseReady', {
    when: () => needs.databases.length > 0,
    // Jobs that made a schema go with it, when its loss is accepted.
    manages: [Secret, Job],
    // Whether it takes plain connections, also where a Secret opens it.
    reads: needs.databases.length > 0 ? [MariaDB] : [],
    run: async (cx): Promise<Databases> => {
      const links = await databases(cx, wanted(cx));
      return Object.fromEntries(needs.databases.map((name, index) => [name, links[index]!]));
    },
    undo: cx => dropDatabases(cx, wanted(cx)),
  });
}

/** The same from hand-made Secrets, by the fields that name them. */
export const givenDatabaseRow = <O extends Managed>(
  fields: Readonly<Record<string, string>>,
  /** Of those, which may be left empty: the object then does without. */
  optional: readonly string[],
) =>
  rowsOf<O>()('DatabaseReady', {
    when: () => Object.keys(fields).length > 0,
    reads: Object.keys(fields).length > 0 ? [MariaDB] : [],
    run: async (cx): Promise<Databases> => {
      const links: Record<string, DatabaseLink> = {};
      for (const [name, field] of Object.entries(fields))
        if (fieldOf(cx.object, field) || !optional.includes(name))
          links[name] = await readDatabase(cx, secretIn(cx.object, field), `spec.${field}`, name);
      return links;
    },
  });
