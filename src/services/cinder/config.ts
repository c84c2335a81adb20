import type { Cinder } from '../../../api/openstack/cinder.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import type { Section } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import { type CephLink, cephFiles, confPath } from '../ceph/link.ts';
import type { ConfigFile } from '../config/config.ts';
import { authToken, cafile, userSection } from '../links/sections.ts';
import type { ConfigInput } from '../standard/table.ts';
import { backupMounts, PRIVSEP } from './rights.ts';

export type CinderSpec = SpecOf<typeof Cinder>;

export interface CinderInput {
  /** Where cinder-backup writes, when that is Ceph. */
  readonly backups?: CephLink;
  /** What opens the volumes that it reads and writes back, where they are in Ceph. */
  readonly volumes?: readonly CephLink[];
}

type Input = ConfigInput<CinderSpec, CinderInput>;

export const OWNER = { name: 'cinder', user: 42407, image: 'cinder-api' };
export const PORT = 8776;
export const OVERWRITES = ['policy.yaml', 'api-paste.ini', 'resource_filters.json'];
export const STATE = '/var/lib/cinder';

/** A file in the folder that oslo reads, beside the one that all pods share. */
export const confFile = (key: string, text: string): ConfigFile => ({
  key,
  path: `/etc/cinder/cinder.conf.d/${key}`,
  text,
});

export function cinderConf(x: Input): Conf {
  const user = userSection(x.identity);
  return conf(
    'cinder',
    {
      DEFAULT: {
        auth_strategy: 'keystone',
        state_path: STATE,
        glance_catalog_info: 'image::internalURL',
        // Pods are scaled, not workers.
        osapi_volume_workers: 1,
      },
      // One of each backend is active, so locks need not leave the pod.
      oslo_concurrency: { lock_path: `${STATE}/tmp` },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', {
      DEFAULT: {
        default_volume_type: x.spec.defaultVolumeType ?? x.spec.backends?.[0]?.name,
        glance_ca_certificates_file: cafile(x.identity).cafile,
      },
      nova: { ...user, interface: 'internal' },
      // Nova and Glance let volumes go only for a service that shows who it is (CVE-2023-2088).
      service_user: { send_service_user_token: true, ...user },
      // Where images have several locations, 2025.2 asks for them as a user of its own.
      ...(x.spec.release !== '2025.1' && { glance: user }),
    }),
    authToken(x, 'block-storage'),
  );
}

const DRIVERS = {
  ceph: 'cinder.backup.drivers.ceph.CephBackupDriver',
  nfs: 'cinder.backup.drivers.nfs.NFSBackupDriver',
  swift: 'cinder.backup.drivers.swift.SwiftBackupDriver',
  s3: 'cinder.backup.drivers.s3.S3BackupDriver',
} as const;

/** The options that nfs and s3 need besides are the user's to give: addresses and keys of what is not ours. */
export function backupFiles({
  spec,
  input: { backups, volumes = [] },
}: Pick<Input, 'spec' | 'input'>): readonly ConfigFile[] {
  const ceph: Section = backups
    ? { backup_ceph_conf: confPath(backups), backup_ceph_user: backups.user, backup_ceph_pool: backups.pool }
    : {};
  const text = write({
    DEFAULT: { backup_driver: DRIVERS[spec.backup?.driver ?? 'ceph'], ...ceph },
    ...(!backupMounts(spec) && PRIVSEP),
  });
  return [confFile('01-cinder-backup.conf', text), ...cephFiles([...(backups ? [backups] : []), ...volumes])];
}
