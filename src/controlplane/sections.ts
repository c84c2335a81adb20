import { CHILDREN, type OpenStackControlPlane, type Phase } from '../../api/openstack/controlplane.ts';
import type { AnyKind, ObjectOf, SpecOf } from '../../api/schema/kind.ts';
import type { DeepReadonly } from '../kube/object.ts';
import { cachesOverTls } from '../services/links/cache.ts';

export type Cloud = ObjectOf<typeof OpenStackControlPlane>;
export type CloudSpec = SpecOf<typeof OpenStackControlPlane>;
export type SectionName = keyof typeof CHILDREN;

export interface SectionPlan {
  readonly phase: Phase;
  /** What must be Ready before its workloads start; in the other direction, what it is deleted before. */
  readonly after: readonly SectionName[];
}

/** The order of a cloud (DESIGN.md section 7). The lines are in the order of `rollout: strict`. */
export const SECTIONS: Readonly<Record<SectionName, SectionPlan>> = {
  mariadb: { phase: 'Infrastructure', after: [] },
  rabbitmq: { phase: 'Infrastructure', after: [] },
  memcached: { phase: 'Infrastructure', after: [] },
  ceph: { phase: 'Infrastructure', after: [] },
  ovn: { phase: 'Infrastructure', after: [] },
  keystone: { phase: 'Identity', after: ['mariadb', 'memcached'] },
  glance: { phase: 'CoreServices', after: ['keystone', 'mariadb', 'ceph'] },
  placement: { phase: 'CoreServices', after: ['keystone', 'mariadb'] },
  neutron: { phase: 'CoreServices', after: ['keystone', 'mariadb', 'rabbitmq', 'ovn'] },
  nova: {
    phase: 'ComputeAndStorage',
    after: ['keystone', 'mariadb', 'rabbitmq', 'memcached', 'placement', 'glance', 'neutron', 'ceph'],
  },
  cinder: { phase: 'ComputeAndStorage', after: ['keystone', 'mariadb', 'rabbitmq', 'glance', 'ceph'] },
  heat: { phase: 'OptionalServices', after: ['keystone', 'mariadb', 'rabbitmq'] },
  horizon: { phase: 'OptionalServices', after: ['keystone', 'memcached'] },
};

export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[];

export const kindOf = (section: SectionName): AnyKind => CHILDREN[section];

export function enabled(spec: DeepReadonly<CloudSpec>, section: SectionName): boolean {
  if (section === 'ovn' && spec.networkBackend === 'ovs') return false;
  if (section === 'ceph' && spec.storageBackend === 'ceph') return true;
  return spec[section].enabled;
}

/**
 * The release that a part stays at although the cloud is to run another one: edges gate release changes as they gate the
 * first start (rule 9), so a service moves when all that it stands on runs that release. undefined: it may go.
 */
export function heldAt(
  section: SectionName,
  wanted: string,
  running: (section: SectionName) => string | undefined,
  isEnabled: (section: SectionName) => boolean,
): string | undefined {
  const mine = running(section);
  if (mine === undefined || mine === wanted) return undefined;
  const below = SECTIONS[section].after.filter(name => isEnabled(name) && kindOf(name).specFields.includes('release'));
  return below.some(name => running(name) !== wanted) ? mine : undefined;
}

/** Settings of the whole cloud that each child has as a field of its own. The child's section wins. */
const CLOUD_WIDE = [
  'release',
  'region',
  'deletionPolicy',
  'podProfile',
  'images',
  'imageRegistry',
  'imagePullSecrets',
  'storageClass',
  'networkPolicy',
  'credentialRotation',
  'nodeNamespace',
] as const;

/** Whom all parts of a cloud trust; for people too. */
export const CLOUD_BUNDLE = 'openstack-ca-bundle';

/** The certificate of the one host that all APIs share under `routing: path`. */
export const CLOUD_CERTIFICATE = 'openstack-public-tls';

/** That host, if cert-manager is to make its certificate; a Gateway brings its own. */
export function certifiedHost({ publicDomain, ingress, tls }: DeepReadonly<CloudSpec>): string | undefined {
  const wanted = ingress.routing === 'path' && !ingress.gatewayRef && tls.enabled && tls.issuerRef;
  return wanted ? publicDomain : undefined;
}

/** TLS as the cloud has it; a section says by which issuer or Secret, or that it goes without. */
function encrypted(spec: DeepReadonly<CloudSpec>, section: SectionName): object {
  const { enabled = false, issuerRef } = spec.tls ?? {};
  if (!enabled || !kindOf(section).specFields.includes('tls')) return {};
  if (section === 'memcached' && !cachesOverTls(spec.release)) return {};
  const own = (spec[section] as { readonly tls?: object }).tls;
  const host = certifiedHost(spec);
  const { ingress } = published(spec, section) as { readonly ingress?: { readonly hostname: string } };
  // One host shows one certificate: Ingresses that name several would leave it to their controller which.
  const shared = host !== undefined && ingress?.hostname === host && { publicSecretName: CLOUD_CERTIFICATE };
  return { tls: { enabled, ...(issuerRef && { issuerRef }), caBundleSecretName: CLOUD_BUNDLE, ...shared, ...own } };
}

/**
 * What works under a path, and which: DevStack's, and the names of service types. Horizon's pages and noVNC's only know the
 * root of a host.
 */
const PATHS: Partial<Record<SectionName, string>> = {
  keystone: '/identity',
  glance: '/image',
  placement: '/placement',
  neutron: '/network',
  nova: '/compute',
  cinder: '/volume',
  heat: '/orchestration',
};

/** A path of the cloud's domain, or a name of its own under it, for each service that can be published. */
function published(spec: DeepReadonly<CloudSpec>, section: SectionName): object {
  const { publicDomain, ingress } = spec;
  const own = spec[section] as { readonly ingress?: { readonly hostname?: string }; readonly publicURL?: string };
  if (publicDomain === undefined || own.publicURL || !kindOf(section).specFields.includes('ingress')) return {};
  const { className, annotations, gatewayRef } = ingress;
  const shared = {
    className,
    ...(annotations && { annotations }),
    ...(gatewayRef && { gatewayRef: { ...gatewayRef } }),
  };
  const path = ingress.routing === 'path' && own.ingress?.hostname === undefined ? PATHS[section] : undefined;
  const place = path === undefined ? { hostname: `${section}.${publicDomain}` } : { hostname: publicDomain, path };
  return { ingress: { ...shared, ...place, ...own.ingress } };
}

/** What spec.storageBackend means for those who keep data; a section that says otherwise wins. */
const STORED: Readonly<Record<CloudSpec['storageBackend'], Partial<Record<SectionName, object>>>> = {
  ceph: {
    glance: { storageType: 'ceph' },
    cinder: { backends: [{ name: 'ceph', type: 'ceph' }] },
    nova: { ephemeralStorage: 'ceph' },
  },
  lvm: { cinder: { backends: [{ name: 'lvm', type: 'lvm' }] } },
  pvc: {},
};

/**
 * A child's spec: what the user wrote in its section, and what the cloud decides for all of its parts (rule 4). `actions`:
 * those of the cloud whose turn it is.
 */
export function childSpec(
  spec: DeepReadonly<CloudSpec>,
  section: SectionName,
  actions: DeepReadonly<CloudSpec['actions']>,
): Record<string, unknown> {
  const { enabled: _enabled, ...own } = spec[section] as Record<string, unknown>;
  const shape = kindOf(section).specFields;
  const wide = CLOUD_WIDE.filter(field => spec[field] !== undefined && shape.includes(field)).map(field => [
    field,
    spec[field],
  ]);
  return {
    ...Object.fromEntries(wide),
    ...(actions && shape.includes('actions') && { actions }),
    ...STORED[spec.storageBackend]?.[section],
    ...(shape.includes('mechanism') && { mechanism: spec.networkBackend }),
    ...own,
    ...published(spec, section),
    ...encrypted(spec, section),
  };
}
