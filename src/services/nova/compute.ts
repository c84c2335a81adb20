import { NovaCompute } from '../../../api/nova/compute.ts';
import { CephStorage } from '../../../api/openstack/cephstorage.ts';
import { Placement } from '../../../api/openstack/placement.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { DaemonSet } from '../../kube/resource.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { type CephLink, cephFiles, cephLink } from '../ceph/link.ts';
import { askedBy } from '../pods/pod.ts';
import { daemon, type Workload } from '../pods/workload.ts';
import { linkedService, neighbours } from '../standard/service.ts';
import { computeConf, STATE } from './config.ts';
import {
  COMPUTE_LABEL,
  computeFiles,
  computeVolumes,
  libvirtFiles,
  libvirtSecret,
  libvirtVolumes,
  nodeEnv,
  onNode,
  startArgv,
  virtlogdFiles,
} from './libvirt.ts';
import { GRACE_SECONDS, links, NOVA } from './processes.ts';
import { CELL0, notInCell0 } from './spec.ts';

type Spec = SpecOf<typeof NovaCompute>;
const driver = (name: Spec['computeDriver']) => (spec: DeepReadonly<Spec>) => spec.computeDriver === name;

/** On every labelled node; privileged, as all that makes guests, networks and volumes on a node must be. */
const onEveryNode = (more: Partial<Workload<Spec>> & Pick<Workload<Spec>, 'argv'>): Workload<Spec> => ({
  as: DaemonSet,
  onNode: true,
  nodes: COMPUTE_LABEL,
  placed: true,
  when: driver('libvirt'),
  pod: onNode,
  env: () => nodeEnv,
  security: { runAsUser: 0, runAsGroup: 0, privileged: true },
  ...more,
});

/**
 * libvirt takes three sets of pods, because they must not restart together: guests and their consoles outlive a restart
 * of nova-compute and of libvirtd, and the log daemon is left alone until somebody deletes its pod (lab.md 5).
 */
export const novaCompute = linkedService(
  NovaCompute,
  {
    ...NOVA,
    image: 'nova-compute',
    bus: true,
    pods: {
      compute: onEveryNode({
        argv: startArgv('compute'),
        files: computeFiles,
        volumes: () => computeVolumes,
        graceSeconds: GRACE_SECONDS,
        requests: { cpu: '50m', memory: '256Mi' },
      }),
      libvirt: onEveryNode({
        argv: startArgv('libvirt'),
        image: 'nova-libvirt',
        files: libvirtFiles,
        // It keeps definitions of secrets, networks and filters beside its settings.
        fileMounts: ['/etc/libvirt'],
        bare: true,
        volumes: () => libvirtVolumes,
        ...askedBy('virsh', '-c', 'qemu:///system', 'version'),
        graceSeconds: 30,
      }),
      virtlogd: onEveryNode({
        argv: startArgv('virtlogd'),
        image: 'nova-libvirt',
        files: virtlogdFiles,
        bare: true,
        byHand: true,
        volumes: () => libvirtVolumes,
        graceSeconds: 30,
      }),
      fake: daemon<Spec>('nova-compute', { when: driver('fake'), scratch: [STATE], graceSeconds: 30 }),
      ironic: daemon<Spec>('nova-compute', {
        image: 'nova-compute-ironic',
        when: driver('ironic'),
        scratch: [STATE],
        graceSeconds: GRACE_SECONDS,
      }),
    },
    input: async (cx): Promise<CephLink | undefined> => {
      if (cx.spec.cellName === CELL0) throw notInCell0('no host can be in cell0');
      // Two would fight over the same nodes of bare metal: the hash ring that shared them out is gone.
      if (cx.spec.computeDriver === 'ironic' && cx.spec.replicas > 1)
        throw stall({
          reason: 'NotSupported',
          field: 'spec.replicas',
          what: `spec.replicas is ${cx.spec.replicas}, and a set of ironic computes has one member`,
          who: 'User',
          next: 'set it to 1, and make another set for more',
        });
      const { computeDriver, ephemeralStorage, cephStorage = 'ceph' } = cx.spec;
      if (computeDriver !== 'libvirt') return undefined;
      if (ephemeralStorage === 'ceph') return cephLink(cx, cephStorage, 'spec.cephStorage', 'cinder', 'vms');
      // Volumes of Ceph can be attached wherever there is one.
      return cx.get(CephStorage, cephStorage) && cephLink(cx, cephStorage, 'spec.cephStorage', 'cinder', 'volumes');
    },
    after: neighbours(Placement),
    config: x =>
      computeConf({
        ...x,
        driver: x.spec.computeDriver,
        virtType: x.spec.virtType,
        consoleURL: x.spec.consoleURL,
        host: x.name,
        ...(x.input && { ceph: x.input, disks: x.spec.ephemeralStorage === 'ceph' }),
      }),
    partFiles: ({ input: link }, component) => {
      if (link && component === 'compute') return cephFiles([link]);
      return link && component === 'libvirt' ? libvirtSecret(link) : [];
    },
  },
  links,
);
