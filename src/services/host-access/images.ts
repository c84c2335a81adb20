import { mirrored } from '../images.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where images of pods with rights on the node may come from, beside the registries that the operator itself uses. */
export const TRUSTED_REGISTRIES = 'TRUSTED_REGISTRIES';

const KOLLA = 'quay.io/openstack.kolla/';

const registriesOf = (env: Env): readonly string[] =>
  [env.IMAGE_REGISTRY, ...(env[TRUSTED_REGISTRIES] ?? '').split(',')]
    .map(name => (name ?? '').trim().replace(/\/+$/, ''))
    .filter(name => name !== '');

/** Whether an image that a user names comes from where the operator's own come from. */
export const isTrustedImage = (image: unknown, env: Env): boolean =>
  typeof image === 'string' &&
  ([KOLLA, mirrored(KOLLA, {}, env), ...registriesOf(env).map(name => name.concat('/'))].some(place =>
    image.startsWith(place),
  ) ||
    Object.entries(env).some(([name, value]) => name.startsWith('RELATED_IMAGE_') && value === image));

export const isTrustedRegistry = (registry: unknown, env: Env): boolean =>
  typeof registry === 'string' && ['quay.io', ...registriesOf(env)].includes(registry.replace(/\/+$/, ''));
