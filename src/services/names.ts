/** Names and addresses that several services agree on (DESIGN.md section 5). */

export interface Place {
  readonly name: string;
  readonly namespace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The full name of a Service. The trailing domain spares resolvers their search list. */
export const serviceHost = (place: Place, service: string): string =>
  `${service}.${place.namespace}.svc.${place.env.CLUSTER_DOMAIN ?? 'cluster.local'}`;

/** The names of the members of a StatefulSet behind its headless Service. */
export const memberHosts = (place: Place, set: string, members: number, service: string): string[] =>
  Array.from({ length: members }, (_, ordinal) => `${set}-${ordinal}.${serviceHost(place, service)}`);

/** Selects the pods of one component of one object. */
export const podLabels = (kind: string, name: string, component: string): Record<string, string> => ({
  'app.kubernetes.io/name': kind.toLowerCase(),
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/component': component,
});

/** `nova` and `api` make `nova-api`; an object that is called `nova-api` already keeps its name. */
export const workloadName = (object: string, component: string): string =>
  object === component || object.endsWith(`-${component}`) ? object : `${object}-${component}`;

/** A part of a spec by its path; a list is entered by the name of an entry: `backends.ceph`. */
export const partOf = <T>(spec: unknown, path: string): T | undefined =>
  path.split('.').reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return at.find((entry: { readonly name?: string }) => entry.name === key);
    return (at as Readonly<Record<string, unknown>> | undefined)?.[key];
  }, spec) as T | undefined;

export const CONFIG_HASH_ANNOTATION = 'openstack.k8s.io/config-hash';

/** MySQL names: at most 64 characters, and quoting is easier to get right without dashes. */
export const databaseNameOf = (name: string): string => name.replaceAll('-', '_').slice(0, 64);
