import type { Release } from '../../../api/blocks/common.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { Place } from '../names.ts';
import type { Account } from './credentials.ts';

/** Fields by which specs name their backends, and the accounts that are made there. */

export interface IdentitySpec {
  readonly keystoneInstance: string;
  readonly keystoneSecret?: string;
}
export interface DatabaseSpec {
  readonly databaseInstance: string;
  readonly databaseSecret?: string;
  readonly deletionPolicy: 'Retain' | 'Delete';
}
export interface BusSpec {
  readonly messageBusInstance: string;
  readonly messageBusSecret?: string;
}
export interface CacheSpec {
  readonly release: Release;
  /** Absent from kinds that take addresses only; without any, nothing is cached. */
  readonly memcachedInstance?: string;
  readonly memcachedServers?: readonly string[];
  readonly memcachedSecret?: string;
}

export const specOf = <S>(cx: Cx<Managed>): S => cx.spec as unknown as S;

/** User names in MariaDB and RabbitMQ carry the namespace: several clouds may share an external server. */
export const userOf = (cx: Place): string => `${cx.namespace}-${cx.name}`.slice(0, 80);

export const databaseAccount = (cx: Place): Account => ({ target: 'database', secret: `${cx.name}-database` });
export const busAccount = (cx: Place): Account => ({ target: 'message-bus', secret: `${cx.name}-message-bus` });
export const identityAccount = (cx: Place): Account => ({ target: 'identity', secret: `${cx.name}-identity` });

/** The logins that the operator made for an object which uses these; a hand-made Secret is its maker's to replace. */
export function accountsOf<O extends Managed>(
  cx: Cx<O>,
  uses: { readonly database: boolean; readonly bus: boolean; readonly identity: boolean },
): readonly Account[] {
  const spec = specOf<Partial<DatabaseSpec & BusSpec & IdentitySpec>>(cx);
  return [
    ...(uses.database && !spec.databaseSecret ? [databaseAccount(cx)] : []),
    ...(uses.bus && !spec.messageBusSecret ? [busAccount(cx)] : []),
    ...(uses.identity && !spec.keystoneSecret ? [identityAccount(cx)] : []),
  ];
}
