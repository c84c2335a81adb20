/**
 * Who a thing outside Kubernetes belongs to. Every database, user, virtual host, pool and catalog row that the operator
 * creates carries this as a mark, written in the same request that creates it, and only what carries the mark of an
 * object is ever changed or dropped for it.
 */
export interface Owner {
  /** The random id of the namespace, from its Secret openstack-owner. */
  readonly id: string;
  /** `Keystone/keystone`; a part of an object has a third word: `Nova/nova/cell1`. */
  readonly object: string;
}

/** What an object brings along when it asks for a thing by name. */
export interface Claim {
  readonly owner: Owner;
  /** Of the object, for commands in messages. */
  readonly namespace?: string;
  /** Credentials from a Secret that this object owns: an unmarked thing that they open is marked without asking. */
  readonly proof?: { readonly user: string; readonly password: string };
  /** The value of annotation openstack.k8s.io/adopt: names of things, or ids of their owners, separated by commas. */
  readonly adopt?: string;
  /** Called when something was adopted because of that annotation. */
  readonly adopted?: (what: string, from: string) => void;
}

/** The text that marks a thing. `users` stand in the comment of their database, because MariaDB's users have none. */
export const markOf = ({ id, object }: Owner, users: readonly string[] = []): string =>
  ['openstack-operator', id, object, ...(users.length > 0 ? [users.join(',')] : [])].join(':');

export interface Mark extends Owner {
  readonly users: readonly string[];
}

/** The owner that a text names; undefined for every other text. */
export function readMark(text: string | undefined | null): Mark | undefined {
  const found = /^openstack-operator:([0-9a-f]+):([^:]+)(?::([^:]*))?$/.exec(text ?? '');
  return found ? { id: found[1]!, object: found[2]!, users: found[3]?.split(',') ?? [] } : undefined;
}

export const isMarkOf = (text: string | undefined | null, owner: Owner): boolean => {
  const mark = readMark(text);
  return mark?.id === owner.id && mark.object === owner.object;
};

/** The object itself, or a part of it. */
export const isWithin = (mark: Owner | undefined, owner: Owner): boolean =>
  mark?.id === owner.id && (mark.object === owner.object || mark.object.startsWith(`${owner.object}/`));

export type Verdict =
  /** Carries the mark of this object. */
  | 'ours'
  /** Must be marked first: the user adopts it, or the credentials of this object open it. */
  | 'mark'
  /** Carries no mark; only a proof makes it ours. */
  | 'unmarked'
  /** Belongs to somebody else. */
  | 'taken';

/** Whose a thing is that exists already under a name that this object asks for. */
export function judge(name: string, text: string | undefined | null, { owner, adopt }: Claim): Verdict {
  const mark = readMark(text);
  if (mark && mark.id === owner.id && mark.object === owner.object) return 'ours';
  const wanted = (adopt ?? '').split(',').map(word => word.trim());
  if (wanted.includes(name) || (mark && wanted.includes(mark.id))) return 'mark';
  return mark ? 'taken' : 'unmarked';
}

/** The virtual host of a login has its first name: what else the login may use without a mark is somebody else's. */
export const isHomeOf = (vhost: string, { proof }: Claim): boolean =>
  proof !== undefined && [proof.user, proof.user.replace(/_b$/, '')].includes(vhost);

/** How messages name an owner. */
export const holderText = (mark: Owner | undefined, owner: Owner): string => {
  if (mark === undefined) return 'carries no owner mark of this operator';
  const object = mark.object.replace('/', ' ');
  return mark.id === owner.id ? `belongs to ${object} in this namespace` : `belongs to ${object} of owner ${mark.id}`;
};

/**
 * Keystone v3. Finds by natural key (name, type, interface and region) before it makes anything.
 * What it makes carries two extra attributes that Keystone keeps and shows: `managed_by`, and `owner`, the mark of the
 * object it was made for. Only what carries the mark of an object is changed or deleted for it.
 */
export const MARK = { managed_by: 'openstack-operator' };
