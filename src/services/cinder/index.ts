import { Cinder } from '../../../api/openstack/cinder.ts';
import { PersistentVolumeClaim, StatefulSet, StorageClass } from '../../kube/resource.ts';
import { fieldMissing } from '../../runtime/plan/unmet.ts';
import { cephLink } from '../ceph/link.ts';
import { workloadName } from '../names.ts';
import { daemon, uwsgi } from '../pods/workload.ts';
import { openstackService } from '../standard/service.ts';
import { componentOf, volumesOf } from './backends.ts';
import { backupFiles, type CinderInput, cinderConf, OVERWRITES, OWNER, PORT, STATE } from './config.ts';
import { backupMounts, COPIES } from './rights.ts';
import { backendsRow, servicesRow, volumeTypesRow } from './rows.ts';

export const cinder = openstackService(
  Cinder,
  {
    ...OWNER,
    // Project ids in URLs are optional since Xena.
    catalog: { type: 'block-storage', path: '/v3', check: '/volumes?limit=1' },
    // By this name Nova and older clients look for it.
    alsoCatalog: [{ type: 'volumev3', name: 'cinderv3', path: '/v3', component: 'api' }],
    databases: { cinder: { section: 'database', sync: ['cinder-manage', 'db', 'sync'] } },
    bus: true,
    housekeeping: ['cinder-manage db purge "$days"'],
    overwrites: OVERWRITES,
    manages: [PersistentVolumeClaim],
    reads: [StorageClass],
    input: async (cx): Promise<CinderInput> => {
      const { backends = [], backup } = cx.spec;
      if (backends.length === 0)
        throw fieldMissing(
          'spec.backends',
          'spec.backends is not set',
          'say where volumes live, e.g. a backend of type ceph',
        );
      if (!backup?.enabled) return {};
      const volumes = await cx.all(backends.filter(each => each.type === 'ceph').map(each => volumesOf(cx, each)));
      const input = { volumes: volumes.filter(link => link !== undefined) };
      if (backup.driver !== 'ceph') return input;
      const from = backup.cephStorage ?? 'ceph';
      return { ...input, backups: await cephLink(cx, from, 'spec.backup.cephStorage', 'cinder-backup', 'backups') };
    },
    leave: async cx => {
      if (cx.spec.deletionPolicy !== 'Delete') return;
      for (const { name, type } of cx.spec.backends ?? []) {
        const volume = workloadName(cx.name, componentOf(name));
        const home = type === 'ceph' ? cx : cx.nodes;
        await home.remove(StatefulSet, volume);
        await home.remove(PersistentVolumeClaim, volume);
      }
    },
    pods: {
      api: uwsgi(
        { service: 'cinder', port: PORT, module: 'cinder.wsgi.api:application', health: '/healthcheck' },
        { scratch: [STATE] },
      ),
      scheduler: daemon('cinder-scheduler', {
        image: 'cinder-scheduler',
        template: 'schedulerServiceTemplate',
        scratch: [STATE],
      }),
      backup: daemon('cinder-backup', {
        image: 'cinder-backup',
        template: 'backup',
        when: spec => spec.backup?.enabled ?? false,
        scratch: [STATE],
        onNode: backupMounts,
        security: spec => (backupMounts(spec) ? COPIES.mounted : COPIES.ceph),
        // A backup takes hours, and one that is cut off begins anew.
        graceSeconds: 3600,
      }),
    },
    alsoPods: ({ backends = [] }) =>
      backends.map(({ name }) => ({ template: `backends.${name}`, containers: [`cinder-${componentOf(name)}`] })),
    config: cinderConf,
    partFiles: (x, component) => (component === 'backup' ? backupFiles(x) : []),
  },
  ({ config, databaseSync, messageBus, identity, credentials, answering }) => {
    const backends = backendsRow({ config, databaseSync, messageBus, identity });
    const services = servicesRow({ backends, answering, credentials, config });
    const volumeTypes = volumeTypesRow({ answering, credentials, config });
    return { backends, services, volumeTypes };
  },
);
