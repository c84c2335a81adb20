import type { Cinder } from '../../../api/openstack/cinder.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { PersistentVolumeClaim } from '../../kube/resource.ts';
import type { Section, Sections } from '../../oslo/model.ts';
import { write } from '../../oslo/write.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { fieldMissing, stall } from '../../runtime/plan/unmet.ts';
import { type CephLink, cephFiles, cephLink, cephLinkIfAny, confPath } from '../ceph/link.ts';
import type { ConfigFile } from '../config/config.ts';
import { fieldOf } from '../env.ts';
import { hostFolder } from '../pods/node.ts';
import type { ProcessVolume } from '../pods/pod.ts';
import { existingClass } from '../pods/storage.ts';
import { daemon, type Workload } from '../pods/workload.ts';
import { type CinderSpec, confFile, STATE } from './config.ts';
import { DEVICE, lvmStart } from './lvm.ts';
import { COPIES, PRIVSEP } from './rights.ts';

type Context = Cx<ObjectOf<typeof Cinder>>;
export type Backend = DeepReadonly<NonNullable<CinderSpec['backends']>[number]>;

/** A backend, ready to run. */
export interface Ready {
  readonly workload: Workload<CinderSpec>;
  readonly files: readonly ConfigFile[];
}

export const componentOf = (backend: string): string => `volume-${backend}`;

/** The name by which the database knows who owns a volume: it must outlive every pod (openstack-facts 11). */
export const serviceHostOf = (cinder: string, backend: string): string => `${cinder}@${backend}`;

const base = (backend: Backend, more: Partial<Workload<CinderSpec>> = {}): Workload<CinderSpec> =>
  daemon<CinderSpec>('cinder-volume', {
    image: 'cinder-volume',
    template: `backends.${backend.name}`,
    // A second one of the same name would work on the same volumes.
    replicas: 1,
    scratch: [STATE],
    // It finishes what it copies.
    graceSeconds: 600,
    ...more,
  });

const section = (cx: Context, { name }: Backend, own: Section, more: Sections = {}): ConfigFile =>
  confFile(
    '01-cinder-volume.conf',
    write({
      DEFAULT: { enabled_backends: [name] },
      [name]: { volume_backend_name: name, backend_host: cx.name, ...own },
      ...more,
    }),
  );

/** What opens a backend in Ceph, for those who work on its volumes beside it; a broken one does not hold them up. */
export const volumesOf = (cx: Context, backend: Backend): Promise<CephLink | undefined> =>
  cephLinkIfAny(cx, ...cephOf(backend));

const cephOf = (backend: Backend) =>
  [
    backend.cephStorage ?? 'ceph',
    `spec.backends[name=${backend.name}].cephStorage`,
    'cinder',
    'volumes',
    backend.pool,
  ] as const;

async function ceph(cx: Context, backend: Backend): Promise<Ready> {
  const link = await cephLink(cx, ...cephOf(backend));
  const own = {
    volume_driver: 'cinder.volume.drivers.rbd.RBDDriver',
    rbd_ceph_conf: confPath(link),
    rbd_user: link.user,
    // By it cinder-backup finds the key.
    rbd_cluster_name: link.name,
    rbd_pool: link.pool,
    rbd_secret_uuid: link.fsid,
    rados_connect_timeout: 5,
    report_discard_supported: true,
  };
  return {
    workload: base(backend, { security: COPIES.ceph }),
    files: [section(cx, backend, own, PRIVSEP), ...cephFiles([link])],
  };
}

/** Makes devices and mounts of the node, so it is root there. */
const ON_NODE: Partial<Workload<CinderSpec>> = {
  onNode: true,
  security: { runAsUser: 0, runAsGroup: 0, privileged: true },
  pod: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
};

async function nfs(cx: Context, backend: Backend): Promise<Ready> {
  const { name, shares = [] } = backend;
  if (shares.length === 0)
    throw fieldMissing(
      'spec.backends',
      `spec.backends[name=${name}] is of type nfs and has no shares`,
      'list them as host:/export',
    );
  const list = { key: 'nfs_shares', path: '/etc/cinder/nfs/shares', text: `${shares.join('\n')}\n` };
  const own = {
    volume_driver: 'cinder.volume.drivers.nfs.NfsDriver',
    nfs_shares_config: list.path,
    nfs_snapshot_support: true,
    nas_secure_file_operations: 'false',
    nas_secure_file_permissions: 'false',
  };
  return { workload: base(backend, ON_NODE), files: [section(cx, backend, own), list] };
}

/** A claim can't change its namespace, and a new one beside it would be an empty volume group under rows of the old one. */
function volumesHere(cx: Context, claim: string): void {
  const kept = cx.nodes.get(PersistentVolumeClaim, claim) ? undefined : cx.astray(PersistentVolumeClaim, claim);
  if (kept !== undefined) {
    const { namespace: there = '' } = kept.metadata;
    const field = there === cx.namespace ? 'without spec.nodeNamespace' : `with spec.nodeNamespace: ${there}`;
    throw stall({
      reason: 'VolumeElsewhere',
      about: { kind: 'PersistentVolumeClaim', name: claim, namespace: there },
      what: `PersistentVolumeClaim ${claim} in namespace ${there} is kept for this Cinder, and can't be used in namespace ${cx.spec.nodeNamespace ?? cx.namespace}`,
      who: 'User',
      next: `create the cloud again ${field}; or, if nobody needs the volumes on it any more, run: kubectl -n ${there} delete pvc ${claim}`,
      after: LOOK_AGAIN_MS,
    });
  }
}

/** The claim may go while the operator is not looking, or lose its labels. */
const LOOK_AGAIN_MS = 60_000;

const START = '/var/lib/openstack/cinder/lvm-start.sh';

async function lvm(cx: Context, backend: Backend): Promise<Ready> {
  const { name, volumeGroup = 'cinder-volumes', storageSize, storageClass, hostPath } = backend;
  if (hostPath && !storageSize)
    throw fieldMissing(
      'spec.backends',
      `spec.backends[name=${name}] has a hostPath and no storageSize`,
      'say how large the file below it may grow',
    );
  const volumes: ProcessVolume[] = [
    { name: 'dev', mountPath: '/dev', hostPath: { path: '/dev', type: 'Directory' } },
    hostFolder('run-lvm', '/run/lvm'),
    hostFolder('target', '/etc/target'),
    {
      name: 'kernel-config',
      mountPath: '/sys/kernel/config',
      hostPath: { path: '/sys/kernel/config', type: 'Directory' },
    },
  ];
  if (hostPath) volumes.push(hostFolder('backing', hostPath));
  else if (storageSize) {
    const claim = `${cx.name}-${componentOf(name)}`;
    existingClass(cx, storageClass, `spec.backends[name=${name}].storageClass`);
    volumesHere(cx, claim);
    await cx.nodes.apply(
      PersistentVolumeClaim,
      {
        metadata: { name: claim },
        spec: {
          accessModes: ['ReadWriteOnce'],
          ...(storageClass && { storageClassName: storageClass }),
          resources: { requests: { storage: storageSize } },
          volumeMode: 'Block',
        },
      },
      { retain: true },
    );
    volumes.push({ name: 'group', mountPath: DEVICE, device: true, persistentVolumeClaim: { claimName: claim } });
  }
  const own = {
    volume_driver: 'cinder.volume.drivers.lvm.LVMVolumeDriver',
    volume_group: volumeGroup,
    target_helper: 'lioadm',
    target_protocol: 'iscsi',
  };
  const address = fieldOf('OS_DEFAULT__MY_IP', 'status.hostIP');
  const backing = hostPath && `${hostPath}/${volumeGroup}.img`;
  const text = lvmStart(volumeGroup, backing, storageSize);
  return {
    workload: base(backend, { ...ON_NODE, argv: ['bash', START], env: () => [address], volumes: () => volumes }),
    files: [section(cx, backend, own), { key: 'lvm-start.sh', path: START, text }],
  };
}

export const BACKENDS: Readonly<Record<Backend['type'], (cx: Context, backend: Backend) => Promise<Ready>>> = {
  ceph,
  lvm,
  nfs,
};
