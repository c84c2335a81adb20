import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { cron, expose, housekeeping, lifecycle, publicEndpoint, tls } from '../blocks/common.ts';
import { database, databaseRules, memcached } from '../blocks/links.ts';
import { pods, replicas } from '../blocks/pod.ts';
import { databaseName, databaseNameRule, region } from '../blocks/service.ts';
import { title } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { group, int, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';
import { time } from '../schema/status.ts';

export const Keystone = kind({
  in: openstack,
  kind: 'Keystone',
  plural: 'keystones',
  shortNames: ['osks'],
  description: 'The identity service: users, projects, tokens and the catalog of all other services.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...replicas(),
    ...region(),
    ...database(),
    ...databaseName(),
    ...memcached(),
    adminUser: title('Name of the administrator.', 255).default('admin'),
    adminProject: title('Project of the administrator.', 64).default('admin'),
    adminPasswordSecret: objectName(
      'Secret with the administrator password, key password. Absent: generated once as keystone-admin.',
    ).optional(),
    /**
     * A key must outlive every token signed with it: keys >= ceil((tokenExpiration + 2 days) / interval) + 2.
     * Weekly rotation needs 3; 5 leave room for daily rotation, or for tokens of up to two weeks.
     */
    fernetRotation: group(
      {
        schedule: cron('When token keys rotate.').default('0 0 * * 0'),
        maxActiveKeys: int(
          3,
          64,
          'Keys kept, the staged one included. At least two more than rotations within tokenExpiration plus two days.',
        ).default(5),
      },
      'Rotation of the keys that sign tokens. Pods pick new keys up without a restart.',
    ).prefault({}),
    tokenExpiration: int(60, 2_592_000, 'Life of a token in seconds.').default(3600),
    ...publicEndpoint(),
    ...expose(),
    ...tls(),
    ...housekeeping(),
    ...pods(),
    ...lifecycle(),
  }),
  rules: [databaseNameRule(), ...databaseRules()],
  status: () => ({
    fernet: group(
      {
        lastRotation: time('When the keys last rotated.').optional(),
        nextRotation: time('When they rotate next; a missed time is caught up.').optional(),
        keys: int(0, 64, 'Keys in use now.').optional(),
      },
      'Token keys.',
    ).optional(),
    adminSecret: text('Secret that holds the administrator password.').optional(),
  }),
});
