import { KINDS } from '../../api/kinds.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { NODES_OF_LABEL } from '../../src/runtime/plan/names.ts';
import { samplesIn } from '../fixtures/objects.ts';
import { authority, CERT_MANAGER, certManager, installForeign, issuer } from './certificates.ts';
import { Cloud, type CloudOptions } from './cloud.ts';
import {
  adminLogin,
  cephSecret,
  host,
  ingressClass,
  label,
  passwordIn,
  readyCloud,
  secret,
  sqlOf,
} from './services.ts';

/** What each sample of a cloud needs of its cluster beside a labelled node. */
export const GROUND: Readonly<Record<string, (cloud: Cloud) => void>> = {
  minimal: () => {},
  ceph: cloud => cloud.apply(cephSecret()),
  cells: () => {},
  ovs: () => {},
  nodes: cloud => {
    const labels = { [NODES_OF_LABEL]: 'openstack' };
    cloud.hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack-nodes', labels } });
  },
  tls: cloud => {
    cloud.hands.apply(ingressClass('traefik'));
    installForeign(cloud, ...CERT_MANAGER);
    cloud.hands.apply(issuer('ClusterIssuer', 'openstack-public'));
  },
};

/** A node that may run guests and meets the outside, and what this sample counts on. */
export function standsOn(cloud: Cloud, sample: string): void {
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  GROUND[sample]?.(cloud);
}

const kindOf = ({ kind }: AnyObject): AnyKind => KINDS.find(known => known.kind === kind)!;
const withSpec = (object: AnyObject, more: object): AnyObject => ({
  ...object,
  spec: { ...((object.spec ?? {}) as object), ...more },
});

/** Databases and logins that the samples of Nova's parts name, as somebody would make them by hand. */
function handMade(cloud: Cloud): void {
  for (const database of ['hand_api', 'hand_cell0', 'hand_cell1']) sqlOf(cloud).databases[database] = { schemas: [] };
  const root = { hostname: host('mariadb'), user: 'root', password: passwordIn(cloud, 'mariadb-root') };
  const bus = { hostname: host('rabbitmq'), user: 'admin', password: passwordIn(cloud, 'rabbitmq-admin') };
  cloud.apply(
    secret('nova-api-db', { ...root, database: 'hand_api' }),
    secret('nova-cell0-db', { ...root, database: 'hand_cell0' }),
    secret('nova-cell1-db', { ...root, database: 'hand_cell1' }),
    secret('nova-bus', bus),
    secret('nova-cell1-bus', bus),
    secret('nova-keystone', adminLogin(cloud)),
    secret('nova-metadata', { 'metadata-secret': 'shared' }),
  );
}

const everything = samplesIn('config/samples').map(({ object }) => object);
const clouds = everything.filter(({ kind }) => kind === 'OpenStackControlPlane');
const services = everything.filter(
  object => !clouds.includes(object) && object.apiVersion.startsWith('openstack.k8s.io/'),
);
const parts = everything.filter(object => !clouds.includes(object) && !services.includes(object));

interface Group {
  readonly name: string;
  readonly objects: readonly AnyObject[];
  readonly start: (options: CloudOptions) => Promise<Cloud>;
}

const prepared =
  (sample: string) =>
  async (options: CloudOptions): Promise<Cloud> => {
    const cloud = await Cloud.start({ ...certManager(authority('public')), ...options });
    standsOn(cloud, sample);
    if (sample === 'cloud') {
      installForeign(cloud, ...CERT_MANAGER);
      cloud.hands.apply(issuer('ClusterIssuer', 'openstack-ca'));
      cloud.hands.apply(ingressClass('haproxy'));
    }
    return cloud;
  };

/** All samples of kinds with a controller: each cloud alone, all services together, all parts of Nova together. */
export const GROUPS: readonly Group[] = [
  ...clouds.map(object => ({
    name: `OpenStackControlPlane ${object.metadata.name}`,
    objects: [object],
    start: prepared(object.metadata.name),
  })),
  { name: 'services', objects: services, start: prepared('ceph') },
  {
    name: 'parts of Nova',
    objects: parts,
    start: async options => {
      const cloud = await readyCloud({}, undefined, options);
      handMade(cloud);
      return cloud;
    },
  },
];

/** Applies the samples of a group, with `more` in each spec, and waits until all are Ready; `before` sees what it starts from. */
export async function deployed(
  { objects, start }: Group,
  more: object = {},
  options: CloudOptions = {},
  before: (cloud: Cloud) => void = () => {},
): Promise<Cloud> {
  const cloud = await start(options);
  before(cloud);
  cloud.apply(...objects.map(object => withSpec(object, more)));
  for (const object of objects) await cloud.ready(kindOf(object), object.metadata.name);
  await cloud.settle();
  return cloud;
}
