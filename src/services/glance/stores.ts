import type { Glance } from '../../../api/openstack/glance.ts';
import type { ObjectOf, SpecOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Section, Sections } from '../../oslo/model.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { type CephLink, cephFiles, cephLink, confPath } from '../ceph/link.ts';
import type { ConfigFile } from '../config/config.ts';
import { type SwiftLink, swiftFile, swiftLink, swiftSection } from '../links/swift.ts';
import type { IdentityLink } from '../links/types.ts';

type Spec = DeepReadonly<SpecOf<typeof Glance>>;

/** Images, and beside them what is staged for an import or worked on by a task. */
export const DATA = '/var/lib/glance';

/** Drivers by type; also the name of the store that spec.storageType makes. */
const DRIVERS = { pvc: 'file', ceph: 'rbd', swift: 'swift' } as const;

const storesOf = (spec: Spec): NonNullable<Spec['stores']> =>
  spec.stores ?? [{ name: DRIVERS[spec.storageType], type: spec.storageType }];

export const onVolume = (spec: Spec): boolean => storesOf(spec).some(store => store.type === 'pvc');

/** A store with what opens it. */
export interface Store {
  readonly name: string;
  readonly type: keyof typeof DRIVERS;
  readonly ceph?: CephLink;
  readonly swift?: SwiftLink;
}

export const openStores = (cx: Cx<ObjectOf<typeof Glance>>): Promise<readonly Store[]> =>
  cx.all(
    storesOf(cx.spec).map(async ({ name, type, cephStorage, pool, secretName }, index) => {
      const field = cx.spec.stores ? `spec.stores[${index}]` : 'spec';
      const [from, at] = cephStorage ? [cephStorage, field] : [cx.spec.cephStorage, 'spec'];
      if (type === 'ceph')
        return { name, type, ceph: await cephLink(cx, from, `${at}.cephStorage`, 'glance', 'images', pool) };
      if (type === 'pvc' || secretName === undefined) return { name, type };
      return { name, type, swift: await swiftLink(cx, secretName, `${field}.secretName`) };
    }),
  );

export const storeFiles = (stores: readonly Store[], link: IdentityLink): readonly ConfigFile[] => [
  ...cephFiles(stores.flatMap(store => store.ceph ?? [])),
  ...stores.flatMap(store => (store.type === 'swift' ? swiftFile(store.name, link, store.swift) : [])),
];

const SECTIONS: Readonly<Record<Store['type'], (store: Store, link: IdentityLink) => Section>> = {
  pvc: () => ({ filesystem_store_datadir: `${DATA}/images` }),
  ceph: ({ ceph }) =>
    ceph ? { rbd_store_ceph_conf: confPath(ceph), rbd_store_user: ceph.user, rbd_store_pool: ceph.pool } : {},
  swift: ({ name }, link) => swiftSection(name, link),
};

export const storeSections = (stores: readonly Store[], spec: Spec, link: IdentityLink): Sections => ({
  DEFAULT: {
    enabled_backends: stores.map(({ name, type }) => `${name}:${DRIVERS[type]}`),
    // Nova and Cinder clone an image inside Ceph when they know its location.
    show_image_direct_url: stores.some(store => store.ceph) || undefined,
  },
  glance_store: { default_backend: spec.defaultStore ?? stores[0]?.name },
  ...Object.fromEntries(stores.map(store => [store.name, SECTIONS[store.type](store, link)])),
});
