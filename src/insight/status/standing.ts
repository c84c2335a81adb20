import { isReady } from '../../runtime/plan/ready.ts';
import { conditionsOf, type Live, namespaceOf, type Told, type View } from '../view/view.ts';

/** What an object of ours stands on: named in the cause that it has, behind the hosts that it calls, or in its spec. */

/** The object of ours whose cause this is. */
export function awaited(
  view: View,
  object: Live,
  { reason, cause }: Pick<Complaint, 'reason' | 'cause'>,
): Live | undefined {
  if (cause === undefined) return guessed(view, object, reason);
  const { waitsFor } = cause;
  const found = waitsFor && view.get(waitsFor.kind, waitsFor.namespace ?? '', waitsFor.name);
  return found && found !== object && view.ours.includes(found) ? found : undefined;
}

/** Of a status without causes, of an earlier operator: a part of it, or what its spec names, that has the same trouble. */
function guessed(view: View, object: Live, reason: string): Live | undefined {
  const parts = view.owned(object).filter(child => view.ours.includes(child));
  return [...parts, ...standsOn(view, object)].find(
    other => !isReady(other) && (reason === 'NotReady' || readyReason(other) === reason),
  );
}

const readyReason = (object: Live): string | undefined => conditionsOf(object).find(c => c.type === 'Ready')?.reason;

/** Something that an object says is not as it should be. */
export interface Complaint {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly cause?: Told;
}

/** What to look for hosts, programs and words of theirs in: the details of a cause, and no sentence of ours. */
export const words = (cause: Told | undefined): string => {
  const { server, host, said } = cause?.details ?? {};
  return [server, host, said].filter(Boolean).join('\n');
};

/** Objects of ours behind the hosts in a text: `mariadb.openstack.svc.cluster.local` leads to a Service and its owner. */
export function backendIn(view: View, object: Live, text: string): readonly Live[] {
  const namespace = namespaceOf(object);
  const hosts = [...text.matchAll(/\b([a-z0-9-]+)\.([a-z0-9-]+)\.svc\b/g)].filter(match => match[2] === namespace);
  const owners = hosts.flatMap(([, name = '']) => {
    const service = view.get('Service', namespace, name);
    return service ? (view.ownerOf(service) ?? []) : [];
  });
  return [...new Set(owners)].filter(owner => view.ours.includes(owner));
}

const KINDS: Readonly<Record<string, string>> = {
  databaseInstance: 'MariaDB',
  messageBusInstance: 'RabbitMQ',
  keystoneInstance: 'Keystone',
  memcachedInstance: 'Memcached',
};

/** Those that the spec names, nearest first, then what these stand on. Parts stand on what their owner stands on. */
export function standsOn(view: View, object: Live, seen: ReadonlySet<Live> = new Set([object])): readonly Live[] {
  const namespace = namespaceOf(object);
  const direct = namesIn(object.spec).flatMap(([field, name]) => {
    const found = view.get(KINDS[field] ?? '', namespace, name);
    return found && !seen.has(found) ? [found] : [];
  });
  const owner = view.ownerOf(object);
  const next = owner && owner.kind !== 'OpenStackControlPlane' && !seen.has(owner) ? [...direct, owner] : direct;
  const all = new Set([...seen, ...next]);
  return [...new Set([...direct, ...next.flatMap(other => standsOn(view, other, all))])];
}

function namesIn(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, item]) =>
    KINDS[field] && typeof item === 'string' ? [[field, item] as const] : namesIn(item),
  );
}
