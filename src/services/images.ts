import type { Release } from '../../api/blocks/common.ts';

/** Kolla publishes one tag per release and distribution; this is the Debian one of each release. */
const DISTRO: Readonly<Record<Release, string>> = {
  '2025.1': 'debian-bookworm',
  '2025.2': 'debian-bookworm',
  '2026.1': 'debian-trixie',
};

const REGISTRY = 'quay.io/openstack.kolla';

export interface ImageChoice {
  readonly release: Release;
  /** Of the main container. */
  readonly image?: string;
  readonly images?: Readonly<Record<string, string>>;
}

/** The image of a container by its Kolla name: the object's own, its map, the environment's, the release's. */
export function imageOf(
  name: string,
  spec: ImageChoice,
  env: Readonly<Record<string, string | undefined>>,
  main = true,
): string {
  const related = env[`RELATED_IMAGE_${name.toUpperCase().replaceAll('-', '_')}`];
  return (
    (main ? spec.image : undefined) ??
    spec.images?.[name] ??
    related ??
    `${REGISTRY}/${name}:${spec.release}-${DISTRO[spec.release]}`
  );
}
