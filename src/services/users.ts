import { KINDS } from '../../api/kinds.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { specLeaves } from '../../api/schema/planned.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import type { Users } from '../runtime/plan/row.ts';

/*
 * Which objects use a backend: its deletion waits for them, because they have data or users in it. Found by the fields of
 * their specs, so that no backend has a list of the services.
 */

export interface Reference {
  /** The field that names the backend, at any depth of a spec: a cell of Nova has one of its own. */
  readonly field: string;
  /** Whether what surrounds the field uses the backend of this name. */
  readonly uses: (around: Around, name: string) => boolean;
}

type Around = Readonly<Record<string, unknown>>;

/** By the last word of each field at any depth, e.g. cephStorage of spec.backends[]: kinds that have such a field. */
let kindsByField: ReadonlyMap<string, readonly AnyKind[]> | undefined;

function fieldsOfKinds(): ReadonlyMap<string, readonly AnyKind[]> {
  const found = new Map<string, AnyKind[]>();
  // What a control plane says, its children say as well.
  for (const kind of KINDS.filter(each => each !== OpenStackControlPlane))
    for (const field of new Set(specLeaves(kind).map(leaf => leaf.split('.').at(-1) ?? '')))
      found.set(field, [...(found.get(field) ?? []), kind]);
  return found;
}

/** Kinds whose objects may use it: a plan must read them. */
export function usersWith(field: string): readonly AnyKind[] {
  kindsByField ??= fieldsOfKinds();
  return kindsByField.get(field) ?? [];
}

/** Fields that name Secrets which open a database. */
export const DATABASE_SECRETS = ['databaseSecret', 'apiDatabaseSecret', 'cellDatabaseSecret'] as const;
/** Fields that make a kind a client of a database. */
export const DATABASE_FIELDS = ['databaseInstance', ...DATABASE_SECRETS] as const;

export interface User {
  readonly kind: AnyKind;
  readonly name: string;
  /** It is being deleted. */
  readonly leaves: boolean;
}

export const usersOf = <O extends Managed>(cx: Cx<O>, { field, uses }: Reference, name = cx.name): readonly User[] =>
  usersWith(field).flatMap(kind =>
    cx
      .wishes(kind)
      .filter(object => mentions(object.spec, around => uses(around, name)))
      .map(({ metadata }) => ({ kind, name: metadata.name, leaves: metadata.deletionTimestamp !== undefined })),
  );

/** The same for a plan. */
export const usersBy = <O extends Managed>(reference: Reference): Users<O> => ({
  reads: usersWith(reference.field),
  list: cx => usersOf(cx, reference).map(({ kind, name }) => `${kind.kind} ${name}`),
});

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
const namedBy = (field: string, instead: string): Reference => ({
  field,
  uses: (around, name) => around[field] === name && around[instead] === undefined,
});

/** Kinds that others have data or users in, and how these name them. */
export const REFERENCES = {
  MariaDB: namedBy('databaseInstance', 'databaseSecret'),
  RabbitMQ: namedBy('messageBusInstance', 'messageBusSecret'),
  Keystone: namedBy('keystoneInstance', 'keystoneSecret'),
  OVNNetwork: { field: 'ovnInstance', uses: (at, name) => at.ovnInstance === name && at.mechanism === 'ovn' },
  /** Data of a store or a backend of that type, of backups, of the disks of guests. */
  CephStorage: {
    field: 'cephStorage',
    uses: ({ cephStorage = 'ceph', type, driver, storageType, ephemeralStorage, enabled }, name) =>
      cephStorage === name && enabled !== false && [type, driver, storageType, ephemeralStorage].includes('ceph'),
  },
} as const satisfies Readonly<Record<string, Reference>>;
