import { MariaDB } from '../../api/openstack/mariadb.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { type Resource, Secret } from '../../src/kube/resource.ts';
import type { Cloud } from './cloud.ts';
import { cephSecret, FSID, objectOf, secret } from './services.ts';

/** Servers that clouds in several namespaces use as external ones, and what these have in them. */

const SERVERS = 'servers';

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

export const inNamespace = (namespace: string, object: object): AnyObject => {
  const { metadata, ...rest } = object as AnyObject;
  return { ...rest, metadata: { ...metadata, namespace } } as AnyObject;
};

/** Creates the servers, and in each namespace what opens them. */
export async function shareServers(cloud: Cloud, namespaces: readonly string[]): Promise<void> {
  cloud.apply(namespaceOf(SERVERS));
  cloud.apply(inNamespace(SERVERS, objectOf(MariaDB, 'mariadb')), inNamespace(SERVERS, objectOf(RabbitMQ, 'rabbitmq')));
  await readyIn(cloud, SERVERS, MariaDB, 'mariadb');
  await readyIn(cloud, SERVERS, RabbitMQ, 'rabbitmq');
  const keys = (name: string) => {
    const data = cloud.hands.get(Secret, SERVERS, name)?.data as Record<string, string>;
    const read = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
    return { user: read('user'), password: read('password') };
  };
  for (const namespace of namespaces) {
    if (namespace !== 'openstack') cloud.apply(namespaceOf(namespace));
    cloud.apply(
      inNamespace(namespace, secret('shared-mariadb', keys('mariadb-root'))),
      inNamespace(namespace, secret('shared-rabbitmq', keys('rabbitmq-admin'))),
      inNamespace(namespace, cephSecret()),
    );
  }
}

const host = (name: string): string => `${name}.${SERVERS}.svc.cluster.local`;

/** The sections by which a control plane uses them. */
export const onSharedServers = {
  mariadb: { external: { hostname: host('mariadb'), adminSecret: 'shared-mariadb' } },
  rabbitmq: {
    external: {
      hostname: host('rabbitmq'),
      managementURL: `http://${host('rabbitmq')}:15672`,
      adminSecret: 'shared-rabbitmq',
    },
  },
};

export const isReadyIn = (cloud: Cloud, namespace: string, resource: Resource, name: string): boolean => {
  const object = cloud.hands.get(resource, namespace, name);
  const ready = conditionsOf(object).find(condition => condition.type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === object?.metadata.generation;
};

export async function readyIn(cloud: Cloud, namespace: string, resource: Resource, name: string): Promise<void> {
  const end = await cloud.sim.until(() => cloud.failure !== undefined || isReadyIn(cloud, namespace, resource, name));
  if (cloud.failure) throw cloud.failure;
  if (end !== 'done')
    throw new Error(
      `${resource.kind} ${namespace}/${name} did not become Ready: ${JSON.stringify(conditionsOf(cloud.hands.get(resource, namespace, name)), null, 1)}`,
    );
}

/** Everything in the servers that carries this owner's mark, and how often each thing was written to: data by name. */
export function ownedBy(cloud: Cloud, id: string): readonly string[] {
  const mark = `openstack-operator:${id}:`;
  const { sql, bus, ceph = {} } = cloud.backends.disks;
  const { pools = {}, users: cephUsers = {} } = ceph[FSID] ?? {};
  const [server] = Object.values(sql);
  const listed = new Set(
    Object.values(server?.databases ?? {})
      .filter(({ comment }) => comment?.startsWith(mark))
      .flatMap(({ comment }) => comment?.split(':')[3]?.split(',') ?? []),
  );
  const [rabbit] = Object.values(bus);
  return [
    ...Object.entries(server?.databases ?? {})
      .filter(([, { comment }]) => comment?.startsWith(mark))
      .map(([name, { schemas }]) => `database ${name} ${schemas.join()}`),
    ...Object.keys(server?.users ?? {})
      .filter(name => listed.has(name))
      .map(name => `database user ${name}`),
    ...Object.entries(rabbit?.descriptions ?? {})
      .filter(([, text]) => text.startsWith(mark))
      .map(([name]) => `vhost ${name}`),
    ...Object.entries(rabbit?.users ?? {})
      .filter(([, user]) => user.mark?.startsWith(mark))
      .map(([name]) => `bus user ${name}`),
    ...Object.entries(pools)
      .filter(([, { owner }]) => owner?.startsWith(`openstack-operator=${id}=`))
      .map(([name]) => `pool ${name}`),
    ...Object.entries(cephUsers)
      .filter(([, { owner }]) => owner?.startsWith(`openstack-operator=${id}=`))
      .map(([name]) => `ceph user ${name}`),
  ].sort();
}

/** Of a namespace; undefined before anything in it acted outside Kubernetes. */
export function ownerIdOf(cloud: Cloud, namespace: string): string | undefined {
  const data = cloud.hands.get(Secret, namespace, 'openstack-owner')?.data as { id?: string } | undefined;
  return data?.id && Buffer.from(data.id, 'base64').toString();
}
