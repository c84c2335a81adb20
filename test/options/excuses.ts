import { groupId } from '../../src/oslo/model.ts';
import type { Schema } from '../../src/oslo/options.ts';

/** A name in some text of some service. */
export interface Place {
  readonly service: string;
  readonly release: string;
  readonly schema: Schema;
  readonly section: string;
  readonly key: string;
}

/** Why lint and oslo-config-validator may differ about a name, each looked at by a person. */
export interface Excuse {
  /** Who does not know the name. */
  readonly only: 'lint' | 'validator';
  readonly why: string;
  covers(place: Place): boolean;
}

const STORE = [
  'cinder',
  'file',
  'glance_store',
  ...['http', 'rbd', 's3', 'swift', 'vmware_datastore'].map(name => `glance.store.${name}.store`),
];

/** In 31.3.1, 32.2.1 and 33.0.2 of Nova and 14.0.0 of Placement these are not. */
const UNRELEASED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['2025.1', '2025.2', '2026.1'].map(release => [
      `nova ${release}`,
      ['libvirt/images_address_space_limit', 'libvirt/images_cpu_time_limit'],
    ]),
  ),
  'placement 2025.2': ['workarounds/optimize_for_wide_provider_trees'],
};

/** An entry that no snippet of any release needs fails the test. */
export const excuses: readonly Excuse[] = [
  {
    only: 'lint',
    why: 'the validator passes over [keystone_authtoken] whatever it holds, because its own data of it is not whole',
    covers: ({ section }) => groupId(section) === 'keystone_authtoken',
  },
  {
    only: 'validator',
    why: 'keystoneauth registers the options of a plugin when a section with auth_type is loaded; no sample has them all',
    covers: ({ schema, section }) => schema.option(section, 'auth_type') !== undefined,
  },
  {
    only: 'validator',
    why: 'a store of Glance is a section of any name, listed in enabled_backends, which may stand in another file',
    covers: ({ service, schema, section, key }) =>
      service === 'glance' &&
      schema.section(section) === undefined &&
      STORE.some(name => schema.option(name, key) !== undefined),
  },
  {
    only: 'validator',
    why: 'on the stable branch, of which images are built and our tables were made, and in no release on PyPI yet',
    covers: ({ service, release, section, key }) =>
      (UNRELEASED[`${service} ${release}`] ?? []).includes(`${section}/${key}`),
  },
];

/** Values that are judged otherwise. Dictionaries of lists in brackets: the tables say of a dictionary that it is one. */
export const heldUntold: ReadonlySet<string> = new Set([
  'domain_config/additional_whitelisted_options',
  'domain_config/additional_sensitive_options',
]);

/** The table was made with glance_store 5, which bounds it; 4.9, of 2025.1, takes a negative threshold for 0. */
export const strict: ReadonlySet<string> = new Set(['2025.1 glance.store.s3.store/s3_store_large_object_size']);
