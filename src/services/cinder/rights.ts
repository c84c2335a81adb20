import type { Container } from 'kubernetes-types/core/v1.d.ts';
import type { Cinder } from '../../../api/openstack/cinder.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Sections } from '../../oslo/model.ts';
import { KOLLA_CAPABILITIES } from '../pods/pod.ts';

/**
 * Copies between volumes and images or backups read them as root: os-brick asks the node who it is, Cinder looks into images
 * before it uses them. Their privsep daemons end at their start when a capability is missing that they want to keep.
 */
const withCapabilities = (...more: string[]): Container['securityContext'] => ({
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  capabilities: { drop: ['ALL'], add: [...KOLLA_CAPABILITIES, ...more].sort() },
});

export const COPIES = {
  /** Volumes in Ceph are opened over the network: root without rights on the node, by sudo also under profile restricted. */
  ceph: withCapabilities(),
  /** Volumes of a node and exports of NFS are attached and mounted in the pod; all that Cinder and os-brick ask for. */
  mounted: withCapabilities('DAC_READ_SEARCH', 'NET_ADMIN', 'SYS_ADMIN'),
} as const;

/** What the daemons keep where all is in Ceph: files of another user. By default they ask for SYS_ADMIN and NET_ADMIN. */
export const PRIVSEP: Sections = {
  cinder_sys_admin: { capabilities: ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER'] },
  privsep_osbrick: { capabilities: ['CAP_DAC_OVERRIDE'] },
};

/** Whether cinder-backup mounts or attaches what it reads or writes. */
export const backupMounts = ({
  backends = [],
  backup,
}: DeepReadonly<Pick<SpecOf<typeof Cinder>, 'backends' | 'backup'>>): boolean =>
  backup?.driver === 'nfs' || backends.some(({ type }) => type !== 'ceph');
