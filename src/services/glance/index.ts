import { Glance } from '../../../api/openstack/glance.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import { PersistentVolumeClaim, StatefulSet, StorageClass } from '../../kube/resource.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import { fieldOf } from '../env.ts';
import { authToken } from '../links/sections.ts';
import { serviceHost, workloadName } from '../names.ts';
import { removeClaim, sharedClaim } from '../pods/storage.ts';
import { uwsgi } from '../pods/workload.ts';
import { openstackService } from '../standard/service.ts';
import type { ConfigInput } from '../standard/table.ts';
import { schemeOf } from '../tls/certificate.ts';
import { DATA, onVolume, openStores, type Store, storeFiles, storeSections } from './stores.ts';

const PORT = 9292;
const claimOf = (object: { readonly name: string }): string => `${object.name}-images`;

export const glanceConf = (x: ConfigInput<SpecOf<typeof Glance>, readonly Store[]>): Conf =>
  conf(
    'glance',
    {
      // oslo wants the brackets here, and only here.
      DEFAULT: { enabled_import_methods: x.spec.importMethods && `[${x.spec.importMethods.join(',')}]` },
      os_glance_staging_store: { filesystem_store_datadir: `${DATA}/staging` },
      os_glance_tasks_store: { filesystem_store_datadir: `${DATA}/tasks` },
      paste_deploy: { flavor: 'keystone' },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', { oslo_concurrency: { lock_path: '/tmp' }, ...storeSections(x.input, x.spec, x.identity) }),
    authToken(x, 'image'),
  );

export const glance = openstackService(Glance, {
  name: 'glance',
  user: 42415,
  image: 'glance-api',
  catalog: { type: 'image', check: '/v2/images?limit=1' },
  databases: { glance: { section: 'database', sync: ['glance-manage', 'db_sync'] } },
  jobs: { 'load-metadefs': ['glance-manage', 'db_load_metadefs'] },
  // The table of images has an age of its own, because users may ask for an image that is gone.
  housekeeping: [
    'glance-manage db purge --age_in_days "$days" --max_rows -1',
    'glance-manage db purge_images_table --age_in_days "$days" --max_rows -1',
  ],
  overwrites: ['policy.yaml', 'glance-api-paste.ini', 'glance-image-import.conf'],
  manages: [PersistentVolumeClaim],
  reads: [StorageClass],
  input: async cx => {
    const stores = await openStores(cx);
    if (onVolume(cx.spec)) await sharedClaim(cx, claimOf(cx));
    return stores;
  },
  leave: async cx => {
    if (cx.spec.deletionPolicy === 'Delete') await removeClaim(cx, workloadName(cx.name, 'api'), claimOf(cx));
  },
  pods: {
    api: uwsgi(
      { service: 'glance', port: PORT, module: 'glance.wsgi.api:application', health: '/healthcheck', chunked: true },
      {
        // An import goes back to the pod that holds what was staged, so each pod needs a name that stays.
        as: StatefulSet,
        members: true,
        env: (place, spec) => [
          fieldOf('POD_NAME', 'metadata.name'),
          // Differs by pod, and config files do not: oslo.config reads the environment too.
          {
            name: 'OS_DEFAULT__WORKER_SELF_REFERENCE_URL',
            value: `${schemeOf(spec)}://$(POD_NAME).${serviceHost(place, `${workloadName(place.name, 'api')}-members`)}:${PORT}`,
          },
        ],
        // Without a volume, what is staged for an import lives as long as the pod.
        volumes: (place, spec) => [
          {
            name: 'images',
            mountPath: DATA,
            ...(onVolume(spec) ? { persistentVolumeClaim: { claimName: claimOf(place) } } : { emptyDir: {} }),
          },
        ],
        // Uploads are long.
        graceSeconds: 600,
      },
    ),
  },
  config: glanceConf,
  files: x => storeFiles(x.input, x.identity),
});
