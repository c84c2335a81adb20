import type { Container, PodSpec } from 'kubernetes-types/core/v1.d.ts';

/**
 * The Pod Security Standards as the admission controller of Kubernetes checks them, as far as fields exist that we set or
 * could set. Pure, so that every pod of a simulated cloud can be held against them.
 */
type Level = 'baseline' | 'restricted';

const MAY_ADD = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
];

/** In the words of the standard; none means that it is admitted. */
export function violations(pod: PodSpec, level: Level): string[] {
  const found = new Set<string>();
  const refuse = (wrong: boolean | undefined, what: string): void => {
    if (wrong) found.add(what);
  };
  refuse(pod.hostNetwork || pod.hostPID || pod.hostIPC, 'host namespaces');
  refuse(
    pod.volumes?.some(volume => volume.hostPath),
    'hostPath volumes',
  );
  refuse(
    pod.securityContext?.sysctls?.some(sysctl => !SYSCTLS.includes(sysctl.name)),
    'forbidden sysctls',
  );
  refuse(pod.securityContext?.seccompProfile?.type === 'Unconfined', 'seccompProfile');
  for (const container of containersOf(pod)) {
    const { securityContext: own = {} } = container;
    refuse(own.privileged, 'privileged');
    refuse(
      container.ports?.some(port => port.hostPort),
      'hostPort',
    );
    refuse(
      own.capabilities?.add?.some(name => !MAY_ADD.includes(name)),
      'non-default capabilities',
    );
    refuse(own.procMount !== undefined && own.procMount !== 'Default', 'procMount');
    refuse(own.seccompProfile?.type === 'Unconfined', 'seccompProfile');
    if (level === 'restricted') restricted(pod, container, refuse);
  }
  if (level === 'restricted')
    refuse(
      pod.volumes?.some(volume => !VOLUMES.some(type => type in volume)),
      'restricted volume types',
    );
  return [...found].sort();
}

function restricted(pod: PodSpec, container: Container, refuse: (wrong: boolean, what: string) => void): void {
  const { securityContext: own = {} } = container;
  const shared = pod.securityContext ?? {};
  const profile = own.seccompProfile ?? shared.seccompProfile;
  refuse(own.allowPrivilegeEscalation !== false, 'allowPrivilegeEscalation != false');
  refuse(!own.capabilities?.drop?.includes('ALL'), 'unrestricted capabilities');
  refuse(own.capabilities?.add?.some(name => name !== 'NET_BIND_SERVICE') ?? false, 'unrestricted capabilities');
  refuse((own.runAsNonRoot ?? shared.runAsNonRoot) !== true, 'runAsNonRoot != true');
  refuse((own.runAsUser ?? shared.runAsUser) === 0, 'runAsUser=0');
  refuse(profile?.type !== 'RuntimeDefault' && profile?.type !== 'Localhost', 'seccompProfile');
}

export const containersOf = (pod: PodSpec): readonly Container[] => [...(pod.initContainers ?? []), ...pod.containers];
