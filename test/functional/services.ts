import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Node, type Resource, Secret } from '../../src/kube/resource.ts';
import { Cloud, type CloudOptions } from './cloud.ts';

/** What stories about services share. */

const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };

/** The slice (MariaDB, RabbitMQ, Memcached, Keystone) with more sections. */
export const cloudWith = (sections: object = {}): AnyObject => ({ ...slice, spec: { ...slice.spec, ...sections } });
const NAME = slice.metadata.name;

export const objectOf = (kind: AnyKind, name: string, spec: object = {}) => ({
  apiVersion: `${kind.group}/${kind.version}`,
  kind: kind.kind,
  metadata: { name },
  spec,
});

export async function readyCloud(
  sections: object = {},
  prepare: (cloud: Cloud) => void = () => {},
  options: CloudOptions = {},
): Promise<Cloud> {
  const cloud = await Cloud.start(options);
  prepare(cloud);
  cloud.apply(cloudWith(sections));
  await cloud.ready(OpenStackControlPlane, NAME);
  await cloud.settle();
  return cloud;
}

export const removeCloud = (cloud: Cloud): void => cloud.hands.remove(OpenStackControlPlane, 'openstack', NAME);

export const sqlOf = (cloud: Cloud) => Object.values(cloud.backends.disks.sql)[0]!;
export const keystoneOf = (cloud: Cloud) => sqlOf(cloud).databases.keystone!.keystone!;

export const text = (cloud: Cloud, secret: string, key: string): string => {
  const data = cloud.get(Secret, secret)?.data as Record<string, string> | undefined;
  return Buffer.from(data?.[key] ?? '', 'base64').toString();
};

export const passwordIn = (cloud: Cloud, secret: string): string => text(cloud, secret, 'password');

export const secret = (name: string, stringData: object) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
});

/** What opens the cloud's Keystone, for somebody who writes a Secret by hand. */
export const adminLogin = (cloud: Cloud) => ({
  url: `http://${host('keystone-api')}:5000`,
  user: 'admin',
  password: passwordIn(cloud, 'keystone-admin'),
  project: 'admin',
  region: 'RegionOne',
});

export const host = (name: string): string => `${name}.openstack.svc.cluster.local`;

/** What a workload's pods are made from: when it changes, they roll. */
export const template = (cloud: Cloud, resource: Resource, name: string) =>
  (cloud.get(resource, name)?.spec as { template: unknown } | undefined)?.template;

export const label = (cloud: Cloud, node: string, labels: Record<string, string>): void =>
  void cloud.hands.patch(Node, '', node, { metadata: { labels } });

/**
 * Looks at every request: when a workload is made, which of our objects are Ready at that moment. Reading it off the
 * requests and not off the operator is the point.
 */
export function watchStarts() {
  const starts = new Map<string, readonly string[]>();
  const wrap = (store: Store): Store => ({
    ...store,
    handle: (request, user) => {
      const made = /^\/apis\/apps\/v1\/namespaces\/[^/]+\/(\w+)\/([^/]+)$/.exec(request.path);
      const name = made && request.method === 'PATCH' && user !== 'admin' ? `${made[1]} ${made[2]}` : undefined;
      if (name && !starts.has(name)) starts.set(name, readyIn(store));
      return store.handle(request, user);
    },
  });
  return { starts, wrap };
}

const readyIn = (store: Store): string[] =>
  store
    .objects()
    .filter(object => object.apiVersion.startsWith('openstack.k8s.io/'))
    .filter(object => conditionsOf(object).some(c => c.type === 'Ready' && c.status === 'True'))
    .map(object => object.kind);

export const FSID = '4b5c8c0a-ff60-454b-a1b4-9747aa737d19';

/** What opens an external Ceph to its administrator. */
export const cephSecret = () =>
  secret('ceph-admin', {
    'ceph.conf': `[global]\nfsid = ${FSID}\nmon_host = [v2:10.1.0.1:3300]\n`,
    'ceph.client.admin.keyring': '[client.admin]\n\tkey = AQadmin==\n',
  });

/** What an ingress controller brings along. */
export const ingressClass = (name: string): AnyObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name },
  spec: { controller: 'example.org/ingress' },
});
