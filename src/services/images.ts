import type { Release } from '../../api/blocks/common.ts';

/** Kolla publishes one tag per release and distribution; this is the Debian one of each release. */
const DISTRO: Readonly<Record<Release, string>> = {
  '2025.1': 'debian-bookworm',
  '2025.2': 'debian-bookworm',
  '2026.1': 'debian-trixie',
};

const REGISTRY = 'quay.io';
const KOLLA = `${REGISTRY}/openstack.kolla`;

/** Fields of a spec that say where images come from; parents hand them down to their children. */
export const IMAGES = ['images', 'imageRegistry', 'imagePullSecrets'] as const;

type Env = Readonly<Record<string, string | undefined>>;

/** Which registry stands in for that of the default images. */
interface Registry {
  readonly imageRegistry?: string | undefined;
}

export interface ImageChoice extends Registry {
  readonly release: Release;
  /** Of the main container. */
  readonly image?: string | undefined;
  readonly images?: Readonly<Record<string, string>> | undefined;
}

/** A default image from the registry that the object names, else the operator's, else as it is. */
export function mirrored(image: string, { imageRegistry }: Registry, env: Env): string {
  const registry = imageRegistry ?? (env.IMAGE_REGISTRY || undefined);
  if (registry === undefined || !image.startsWith(`${REGISTRY}/`)) return image;
  return `${registry.replace(/\/+$/, '')}${image.slice(REGISTRY.length)}`;
}

/** The image of a container by its Kolla name: the object's own, its map, the environment's, the release's. */
export function imageOf(name: string, spec: ImageChoice, env: Env): string {
  // Empty is what a template of a Deployment leaves of a value that nobody gave.
  const related = env[`RELATED_IMAGE_${name.toUpperCase().replaceAll('-', '_')}`] || undefined;
  return (
    spec.image ??
    spec.images?.[name] ??
    related ??
    mirrored(`${KOLLA}/${name}:${spec.release}-${DISTRO[spec.release]}`, spec, env)
  );
}
