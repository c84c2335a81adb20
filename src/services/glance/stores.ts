import type { ObjectOf, SpecOf } from '../../../api/kind.ts';
import type { Glance } from '../../../api/openstack/glance.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Section, Sections } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { type CephLink, cephLink, confPath } from '../ceph/link.ts';
import type { ConfigFile } from '../config.ts';
import type { IdentityLink } from '../links.ts';
import { cafile } from '../sections.ts';

type Spec = DeepReadonly<SpecOf<typeof Glance>>;
type Context = Cx<ObjectOf<typeof Glance>>;
type StoreSpec = NonNullable<Spec['stores']>[number];

/** Images, and beside them what is staged for an import or worked on by a task. */
export const DATA = '/var/lib/glance';

/** A store with what opens it. */
export interface Store {
  readonly name: string;
  readonly type: StoreSpec['type'];
  readonly ceph?: CephLink;
  readonly swift?: { readonly auth_url: string; readonly user: string; readonly key: string };
}

/** Names of the stores that spec.storageType makes, where spec.stores does not name any. */
const NAMES = { pvc: 'file', ceph: 'rbd', swift: 'swift' } as const;
const TYPES = { pvc: 'file', ceph: 'rbd', swift: 'swift' } as const;

export const storesOf = (spec: Spec): readonly StoreSpec[] =>
  spec.stores ?? [{ name: NAMES[spec.storageType], type: spec.storageType }];

export const onVolume = (spec: Spec): boolean => storesOf(spec).some(store => store.type === 'pvc');

export const defaultOf = (spec: Spec): string => spec.defaultStore ?? storesOf(spec)[0]?.name ?? '';

/** Refuses what can't work, and opens what the stores stand on. */
export async function openStores(cx: Context): Promise<readonly Store[]> {
  const stores = storesOf(cx.spec);
  if (!stores.some(store => store.name === defaultOf(cx.spec)))
    throw stall({
      reason: 'StoreNotFound',
      what: `spec.defaultStore is ${cx.spec.defaultStore}, and spec.stores has ${stores.map(s => s.name).join(', ') || 'none'}`,
      who: 'User',
      next: 'name one of them',
    });
  if (stores.filter(store => store.type === 'pvc').length > 1)
    throw stall({
      reason: 'NotSupported',
      what: 'spec.stores has several entries of type pvc, and there is one volume',
      who: 'User',
      next: 'keep one of them',
    });
  return cx.all(stores.map((store, index) => opened(cx, store, cx.spec.stores ? `spec.stores[${index}]` : 'spec')));
}

async function opened(cx: Context, store: StoreSpec, field: string): Promise<Store> {
  const { name, type, secretName } = store;
  if (type === 'ceph') {
    const [from, at] = store.cephStorage ? [store.cephStorage, field] : [cx.spec.cephStorage, 'spec'];
    return { name, type, ceph: await cephLink(cx, from, `${at}.cephStorage`, 'glance', 'images', store.pool) };
  }
  if (type === 'swift' && secretName)
    return { name, type, swift: await cx.secret(secretName, ['auth_url', 'user', 'key'], `${field}.secretName`) };
  return { name, type };
}

const swiftPath = (store: Store): string => `/etc/glance/stores/${store.name}.conf`;

/** Who opens Swift: its own user, unless a Secret names another. Images then lie in the project of services. */
export const swiftFiles = (stores: readonly Store[], link: IdentityLink): readonly ConfigFile[] =>
  stores
    .filter(store => store.type === 'swift')
    .map(store => {
      const section = {
        auth_version: 3,
        auth_address: store.swift?.auth_url ?? `${link.url}/v3`,
        user: store.swift?.user ?? `${link.project}:${link.user}`,
        key: store.swift?.key ?? link.password,
        user_domain_name: 'Default',
        project_domain_name: 'Default',
      };
      return { key: `swift-${store.name}.conf`, path: swiftPath(store), text: write({ [store.name]: section }) };
    });

const swiftSection = (store: Store, link: IdentityLink): Section => ({
  swift_store_config_file: swiftPath(store),
  default_swift_reference: store.name,
  swift_store_region: link.region,
  swift_store_cacert: cafile(link).cafile,
  swift_store_endpoint_type: 'internalURL',
  swift_store_create_container_on_put: true,
});

export function storeSections(stores: readonly Store[], spec: Spec, link: IdentityLink): Sections {
  const sections: Record<string, Section> = {};
  for (const store of stores) {
    if (store.ceph)
      sections[store.name] = {
        rbd_store_ceph_conf: confPath(store.ceph),
        rbd_store_user: store.ceph.user,
        rbd_store_pool: store.ceph.pool,
      };
    else if (store.type === 'swift') sections[store.name] = swiftSection(store, link);
    else sections[store.name] = { filesystem_store_datadir: `${DATA}/images` };
  }
  return {
    DEFAULT: {
      enabled_backends: stores.map(({ name, type }) => `${name}:${TYPES[type]}`),
      // Nova and Cinder clone an image inside Ceph when they are told where it lies.
      show_image_direct_url: stores.some(store => store.ceph) ? true : undefined,
    },
    glance_store: { default_backend: defaultOf(spec) },
    ...sections,
  };
}
