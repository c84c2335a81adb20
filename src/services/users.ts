import type { AnyKind } from '../../api/kind.ts';
import { KINDS } from '../../api/kinds.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';

/*
 * Which objects use a backend: its deletion waits for them, because they have data or users in it. Found by the fields of
 * their specs, so that no backend has a list of the services.
 */

interface Reference {
  /** The field that names the backend, at any depth of a spec: a cell of Nova has one of its own. */
  readonly field: string;
  /** Whether what surrounds the field uses the backend of this name. */
  readonly uses: (around: Around, name: string) => boolean;
}

type Around = Readonly<Record<string, unknown>>;

/** Kinds whose objects may use it: a plan must read them. */
export const usersWith = (field: string): readonly AnyKind[] => KINDS.filter(kind => kind.specFields.includes(field));

/** Fields that name Secrets which open a database. */
export const DATABASE_SECRETS = ['databaseSecret', 'apiDatabaseSecret', 'cellDatabaseSecret'] as const;
/** Fields that make a kind a client of a database. */
export const DATABASE_FIELDS = ['databaseInstance', ...DATABASE_SECRETS] as const;

interface User {
  readonly kind: AnyKind;
  readonly name: string;
}

export const usersOf = <O extends Managed>(cx: Cx<O>, { field, uses }: Reference): readonly User[] =>
  usersWith(field).flatMap(kind =>
    cx
      .wishes(kind)
      .filter(object => mentions(object.spec, around => uses(around, cx.name)))
      .map(object => ({ kind, name: object.metadata.name })),
  );

export const usersBy =
  <O extends Managed>(reference: Reference) =>
  (cx: Cx<O>): readonly string[] =>
    usersOf(cx, reference).map(({ kind, name }) => `${kind.kind} ${name}`);

/** What these fields hold, at any depth of a spec. */
export function valuesOf(value: unknown, fields: readonly string[]): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' ? (fields.includes(key) ? [inner] : []) : valuesOf(inner, fields),
  );
}

function mentions(value: unknown, uses: (around: Around) => boolean, above: Around = {}): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // What a part leaves out is that of the whole.
  const own: Around = { ...above, ...(value as Around) };
  return (
    (!Array.isArray(value) && uses(own)) || Object.values(value).some(inner => mentions(inner, uses, inherited(own)))
  );
}

/** Of what surrounds a part only the names of backends are meant for it too. */
const inherited = ({ cephStorage }: Around): Around => (cephStorage === undefined ? {} : { cephStorage });

/** A backend that is named by a field, unless a Secret beside it says otherwise. */
export const namedBy = (field: string, instead: string): Reference => ({
  field,
  uses: (around, name) => around[field] === name && around[instead] === undefined,
});

/** Data in Ceph: of a store or a backend of that type, of backups, of the disks of guests. */
export const CEPH_USERS: Reference = {
  field: 'cephStorage',
  uses: ({ cephStorage = 'ceph', type, driver, storageType, ephemeralStorage, enabled }, name) =>
    cephStorage === name && enabled !== false && [type, driver, storageType, ephemeralStorage].includes('ceph'),
};
