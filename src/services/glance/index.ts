import { Glance } from '../../../api/openstack/glance.ts';
import { PersistentVolumeClaim, StatefulSet, StorageClass } from '../../kube/resource.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { serviceHost, workloadName } from '../names.ts';
import { openstackService } from '../service.ts';
import { removeClaim, sharedClaim } from '../storage.ts';
import { uwsgi } from '../workload.ts';
import { DATA, glanceConf } from './config.ts';

const PORT = 9292;
const claimOf = (object: { readonly name: string }): string => `${object.name}-images`;

export const glance = openstackService(Glance, {
  name: 'glance',
  user: 42415,
  image: 'glance-api',
  catalog: { type: 'image', check: '/v2/images?limit=1' },
  databases: { glance: { section: 'database', sync: ['glance-manage', 'db_sync'] } },
  jobs: { 'load-metadefs': ['glance-manage', 'db_load_metadefs'] },
  overwrites: ['policy.yaml', 'glance-api-paste.ini', 'glance-image-import.conf'],
  manages: [PersistentVolumeClaim],
  reads: [StorageClass],
  input: async cx => {
    const { storageType, stores } = cx.spec;
    if (stores !== undefined || storageType !== 'pvc')
      throw stall({
        reason: 'NotSupported',
        what: stores ? 'spec.stores is set' : `spec.storageType is ${storageType}`,
        who: 'User',
        next: 'use storageType pvc: this version keeps images on a volume only',
      });
    await sharedClaim(cx, claimOf(cx));
  },
  leave: async cx => {
    if (cx.spec.deletionPolicy === 'Delete') await removeClaim(cx, workloadName(cx.name, 'api'), claimOf(cx));
  },
  pods: {
    api: uwsgi(
      { service: 'glance', port: PORT, module: 'glance.wsgi.api:application', health: '/healthcheck' },
      {
        // An import goes back to the pod that holds what was staged, so each pod needs a name that stays.
        as: StatefulSet,
        members: true,
        env: place => [
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          // Differs by pod, and config files do not: oslo.config reads the environment too.
          {
            name: 'OS_DEFAULT__WORKER_SELF_REFERENCE_URL',
            value: `http://$(POD_NAME).${serviceHost(place, `${workloadName(place.name, 'api')}-members`)}:${PORT}`,
          },
        ],
        volumes: place => [{ name: 'images', mountPath: DATA, persistentVolumeClaim: { claimName: claimOf(place) } }],
        // Uploads are long.
        graceSeconds: 600,
      },
    ),
  },
  config: glanceConf,
});
