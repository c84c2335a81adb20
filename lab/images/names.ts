/**
 * The names the operator asks for by default. The lab builds its own images and imports them under exactly these,
 * so the operator runs unchanged. What is inside is Debian 12 and the released Python packages, also where the tag
 * says trixie: the tag is Kolla's name for the release, not a promise of the lab.
 */
export const REPOSITORY = 'quay.io/openstack.kolla';

export const releases = ['2025.2', '2026.1'] as const;
export type Release = (typeof releases)[number];

interface ReleaseFacts {
  readonly distro: string;
  /** The PyPI package whose start files, sudoers and Dockerfiles define the contract of this release. */
  readonly kolla: string;
  /** The start hooks of API images prepare Apache, also for a pod that runs uwsgi, and fail without its files. */
  readonly apache: boolean;
}

export const releaseFacts: Record<Release, ReleaseFacts> = {
  '2025.2': { distro: 'debian-bookworm', kolla: '21.3.0', apache: true },
  '2026.1': { distro: 'debian-trixie', kolla: '22.2.0', apache: false },
};

/** Kolla's own image names; what each needs inside is read from Kolla's Dockerfiles (kolla.ts). */
export const imageNames = [
  'keystone',
  'glance-api',
  'placement-api',
  'nova-api',
  'nova-scheduler',
  'nova-conductor',
  'nova-novncproxy',
  'nova-compute',
  'nova-compute-ironic',
  'nova-libvirt',
  'nova-ssh',
  'neutron-server',
  'neutron-metadata-agent',
  'neutron-openvswitch-agent',
  'neutron-l3-agent',
  'neutron-dhcp-agent',
  'neutron-ovn-agent',
  'cinder-api',
  'cinder-scheduler',
  'cinder-volume',
  'cinder-backup',
  'heat-api',
  'heat-api-cfn',
  'heat-engine',
  'horizon',
  'mariadb-server',
  'rabbitmq',
  'memcached',
  'ovn-nb-db-server',
  'ovn-sb-db-server',
  'ovn-sb-db-relay',
  'ovn-northd',
  'ovn-controller',
  'openvswitch-db-server',
  'openvswitch-vswitchd',
] as const;
export type ImageName = (typeof imageNames)[number];

export function imageReference(image: ImageName, release: Release): string {
  return `${REPOSITORY}/${image}:${release}-${releaseFacts[release].distro}`;
}

/** The lab's own small images. `localhost/` can't be pulled from anywhere, so a missing one is a clear error. */
export const small = {
  pause: 'localhost/pause:1',
  busybox: 'localhost/busybox:1',
  coredns: 'localhost/coredns:1.15.0',
  localPath: 'localhost/local-path-provisioner:0.0.30',
  traefik: 'localhost/traefik:3.6.13',
  certManager: 'localhost/cert-manager:1.21.2',
} as const;

export function operatorReference(version: string): string {
  return `openstack-operator:${version}`;
}

/** Kolla's users: uid = gid = group of the same name. Created before any package can take the names. */
export const users: Record<
  string,
  { readonly id: number; readonly home?: string; readonly groups?: readonly string[] }
> = {
  ansible: { id: 42401 },
  cinder: { id: 42407 },
  glance: { id: 42415 },
  heat: { id: 42418 },
  horizon: { id: 42420 },
  keystone: { id: 42425 },
  qemu: { id: 42427 },
  mysql: { id: 42434 },
  neutron: { id: 42435 },
  nova: { id: 42436, groups: ['qemu'] },
  rabbitmq: { id: 42439 },
  haproxy: { id: 42454 },
  memcached: { id: 42457, home: '/run/memcache' },
  libvirt: { id: 42473 },
  openvswitch: { id: 42476 },
  hugetlbfs: { id: 42477 },
  placement: { id: 42482 },
};
export const KOLLA_GROUP = 42400;
