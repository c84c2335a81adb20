import type { ObjectOf } from '../../../api/kind.ts';
import { Cinder } from '../../../api/openstack/cinder.ts';
import { PersistentVolumeClaim, StatefulSet, StorageClass } from '../../kube/resource.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { fieldMissing, wait } from '../../runtime/plan/unmet.ts';
import { cephLink } from '../ceph/link.ts';
import { configSecret, overwrittenFiles, overwrittenStart, START, userFiles } from '../config.ts';
import { endpointsOf } from '../expose.ts';
import { workloadName } from '../names.ts';
import { kollaStart, withoutKolla } from '../pod.ts';
import { expectedOf, silent } from '../reported.ts';
import { openstackService } from '../service.ts';
import { trusting } from '../tls/trust.ts';
import { daemon, processOf, runWorkload, uwsgi } from '../workload.ts';
import { BACKENDS, componentOf, serviceHostOf, volumesOf } from './backends.ts';
import { backupFiles, type CinderInput, cinderConf, STATE } from './config.ts';
import { backupMounts, COPIES } from './rights.ts';
import { ensureTypes } from './types.ts';

type Object = ObjectOf<typeof Cinder>;
const row = rowsOf<Object>();

const PORT = 8776;
const OVERWRITES = ['policy.yaml', 'api-paste.ini', 'resource_filters.json'];
const OWNER = { name: 'cinder', user: 42407, image: 'cinder-api' };
const url = (cx: Parameters<typeof endpointsOf>[0]): string => `${endpointsOf(cx, 'api', PORT).internal}/v3`;

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
  ({ config, schema, bus, identity, logins, answering }) => {
    /** Each on its own: a backend that is away takes no other with it, nor the API. */
    const backends = row.each('BackendsReady', {
      needs: { config, schema, bus, identity },
      over: object => object.spec.backends ?? [],
      status: 'backends',
      run: async (cx, backend, { config }) => {
        const component = componentOf(backend.name);
        const { workload, files: own } = await BACKENDS[backend.type](cx, backend);
        const process = processOf(cx, OWNER, component, workload, config.mounts);
        const users = await userFiles(cx, OWNER.name, workload.template);
        const { template } = workload;
        const replaced = overwrittenFiles(cx, OWNER.name, [...OVERWRITES, START], template);
        const start = overwrittenStart(cx, { template, main: false, without: withoutKolla(cx.spec.podProfile) });
        const files = [...config.base, ...users, ...replaced, ...own];
        const made = await configSecret(
          cx,
          [...files, kollaStart(process, files, start)],
          workloadName(cx.name, component),
        );
        await runWorkload(cx, component, workload, process, made, config.peers);
      },
    });
    /** A driver that can't reach its storage leaves its process running, and says nothing. */
    const reporting = row('ServicesReady', {
      needs: { backends, answering, logins, config },
      run: async (cx, { logins, config }) => {
        const identity = logins?.identity;
        if (identity === undefined) return;
        const replicas = cx.spec.schedulerServiceTemplate?.replicas ?? cx.spec.replicas;
        const volumes = (cx.spec.backends ?? []).map(({ name }) => ({
          binary: 'cinder-volume',
          host: serviceHostOf(cx.name, name),
          pod: `${workloadName(cx.name, componentOf(name))}-0`,
        }));
        const { backup } = cx.spec;
        const backups = backup?.enabled ? (backup.replicas ?? cx.spec.replicas) : 0;
        const expected = [
          ...expectedOf('cinder-scheduler', workloadName(cx.name, 'scheduler'), replicas),
          ...volumes,
          ...expectedOf('cinder-backup', workloadName(cx.name, 'backup'), backups),
        ];
        const [first] = silent(
          expected,
          await cx.cloud.identity(trusting(identity, config.trusted)).get(url(cx), '/os-services'),
        );
        if (first)
          throw wait({
            reason: 'ServiceSilent',
            pod: first.pod ?? first.host,
            what: `${first.binary} ${first.host} in pod ${first.pod ?? first.host} does not report that it is up`,
            who: 'User',
            next: 'read the log of the pod, its storage may not answer or refuse it; delete the pod when the storage is back',
            // It reports every 10 s, and no watch shows it.
            after: 10_000,
          });
      },
    });
    const types = row('VolumeTypesReady', {
      needs: { answering, logins, config },
      run: async (cx, { logins, config }) => {
        if (logins?.identity)
          await ensureTypes(
            cx.cloud.identity(trusting(logins.identity, config.trusted)),
            url(cx),
            (cx.spec.backends ?? []).map(backend => backend.name),
          );
      },
    });
    return { backends, reporting, types };
  },
);
