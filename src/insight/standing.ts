import { type Live, namespaceOf, type View } from './view.ts';

/** What an object of ours stands on: named in its messages, behind the hosts they name, or in its spec. */

/** The object of ours that a message says is not Ready, or that it sends us to. */
export function namedIn(view: View, object: Live, message: string): Live | undefined {
  for (const pattern of [/\b([A-Z]\w+) ([a-z0-9][-a-z0-9.]*) is not Ready/, /\bsee ([A-Z]\w+) ([a-z0-9][-a-z0-9]*)/]) {
    const [, kind = '', name = ''] = pattern.exec(message) ?? [];
    const found = view.get(kind, namespaceOf(object), name);
    if (found && found !== object && view.ours.includes(found)) return found;
  }
  return undefined;
}

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
