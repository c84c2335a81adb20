import * as z from 'zod';
import {
  cel,
  fixedPresence,
  flag,
  group,
  immutableField,
  int,
  map,
  objectName,
  oneOf,
  withRules,
} from '../schema/helpers.ts';
import { expose, publicEndpoint } from './common.ts';
import { customServiceConfig, template } from './pod.ts';

/*
 * `<nova>-<cell>-conductor-db-sync-<hash>` is the longest name that has to fit into the 63 characters of a label:
 * 16 + 1 + 16 + 10 + 17 = 60. `<nova>-<cell>-<compute>` is the longest name of an object below Nova: 48.
 */
export const NOVA_NAME_LIMIT = 16;
export const NOVA_CHILD_NAME_LIMIT = 50;
const CELL_NAME_LIMIT = 16;
const COMPUTE_NAME_LIMIT = 14;

const keys = (limit: number) => `self.all(k, k.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(k) <= ${limit})`;
const keysMessage = (what: string, limit: number) =>
  `${what} names are lower case letters, digits and dashes, at most ${limit}`;

export const COMPUTE_DRIVERS = ['libvirt', 'ironic', 'fake'] as const;

export const computeShape = () => ({
  virtType: oneOf(['kvm', 'qemu'], 'libvirt: hardware virtualisation, or emulation.').optional(),
  ephemeralStorage: oneOf(['local', 'ceph'], 'libvirt: where the disks of guests live.').optional(),
  cephStorage: objectName('CephStorage object for ephemeralStorage ceph and volumes; absent means ceph.').optional(),
});

const optionalService = (what: string) => ({ enabled: flag(`Whether to run ${what}.`).optional() });

const computeTemplates = () =>
  cel(
    map(
      z
        .strictObject({
          computeDriver: oneOf(
            COMPUTE_DRIVERS,
            'libvirt runs guests on the nodes it lands on, ironic manages bare metal, fake simulates guests.',
          ).default('libvirt'),
          ...computeShape(),
          ...template(),
        })
        .describe('One set of nova-compute pods.'),
      'Computes in pods, by name.',
      16,
    ),
    keys(COMPUTE_NAME_LIMIT),
    keysMessage('compute', COMPUTE_NAME_LIMIT),
  );

/** What a cell runs, in the Nova tree and in NovaCell itself. */
export const cellServices = () => ({
  conductorServiceTemplate: group(template(), 'nova-conductor of this cell.').optional(),
  metadataServiceTemplate: group(
    { ...optionalService('a metadata service for this cell'), ...expose(), ...template() },
    'nova-metadata of this cell; then there is no global one.',
  ).optional(),
  noVNCProxyServiceTemplate: group(
    {
      ...optionalService('the console proxy; on unless this is cell0'),
      ...publicEndpoint(),
      ...expose(),
      ...template(),
    },
    'nova-novncproxy of this cell.',
  ).optional(),
  novaComputeTemplates: computeTemplates().optional(),
});

export const cellTemplates = () =>
  cel(
    map(
      withRules(
        z.strictObject({
          databaseInstance: objectName(
            'MariaDB object for the database of this cell; absent means that of Nova.',
          ).optional(),
          messageBusInstance: objectName('RabbitMQ object for this cell; absent means that of Nova.').optional(),
          databaseSecret: objectName('Secret that opens an existing database, instead of databaseInstance.').optional(),
          messageBusSecret: objectName('Secret that opens an existing bus, instead of messageBusInstance.').optional(),
          ...customServiceConfig(),
          ...cellServices(),
        }),
        ['databaseInstance', 'messageBusInstance']
          .map(field => immutableField(field, 'data does not move by itself'))
          .concat(
            ['databaseSecret', 'messageBusSecret'].map(field => fixedPresence(field, 'data does not move by itself')),
          ),
      ).describe('One cell.'),
      'Cells by name. cell0 holds what never reached a host and runs the super conductor. Absent: cell0, and cell1 with a libvirt compute on nodes labelled openstack.k8s.io/compute.',
      32,
    ),
    keys(CELL_NAME_LIMIT),
    keysMessage('cell', CELL_NAME_LIMIT),
  );

/** Nova's top-level processes. */
export const topServices = () => ({
  apiServiceTemplate: group(template(), 'nova-api, where it differs from the rest.').optional(),
  schedulerServiceTemplate: group(template(), 'nova-scheduler, where it differs from the rest.').optional(),
  metadataServiceTemplate: group(
    {
      ...optionalService('one metadata service for all cells; on unless a cell runs its own'),
      ...expose(),
      ...template(),
    },
    'nova-metadata for all cells.',
  ).optional(),
  discoverHostsIntervalSeconds: int(
    0,
    86_400,
    'How often hosts that joined by themselves are mapped to their cell; 0 only on action discover-hosts.',
  ).default(60),
});
