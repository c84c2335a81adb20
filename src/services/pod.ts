import type { Container, EnvVar, PodSpec, Probe, Volume, VolumeMount } from 'kubernetes-types/core/v1.d.ts';
import type { Config, ConfigFile } from './config.ts';
import { CONFIG_HASH_ANNOTATION } from './names.ts';

/** The pod block that all pod kinds share (api/blocks/pod.ts), as far as templates need it. */
export interface PodBlock {
  readonly podProfile: 'kolla' | 'restricted';
  readonly resources?: object;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly topologySpread?: readonly object[];
  readonly priorityClassName?: string;
  readonly extraMounts?: readonly object[];
}

/** A process in a container, whatever way it is started. */
export interface Process {
  /** The container's name, and the key of its start command in the config Secret. */
  readonly name: string;
  readonly image: string;
  /** No argument may hold a blank: Kolla splits the command at blanks and honours no quotes. */
  readonly argv: readonly string[];
  /** uid = gid of the image's user. */
  readonly user: number;
  readonly userName: string;
  readonly env?: readonly EnvVar[];
  readonly ports?: Readonly<Record<string, number>>;
  readonly readiness?: Probe;
  readonly liveness?: Probe;
  readonly startup?: Probe;
  readonly volumes?: readonly (Volume & { readonly mountPath: string; readonly readOnly?: boolean })[];
  /** Folders that the process writes and the image does not give to its user. */
  readonly scratch?: readonly string[];
}

const KOLLA_FILES = '/var/lib/kolla/config_files';

/** Kolla's start description for a process: which files go where, and what to run (openstack-facts 1). */
export function kollaStart(process: Process, files: readonly ConfigFile[]): ConfigFile {
  const blank = process.argv.find(arg => /\s/.test(arg));
  if (blank !== undefined) throw new Error(`${process.name}: Kolla can't run an argument with a blank: ${blank}`);
  const description = {
    command: process.argv.join(' '),
    config_files: files.map(file => ({
      source: `${KOLLA_FILES}/${file.key}`,
      dest: file.path,
      owner: process.userName,
      perm: file.path.endsWith('.sh') ? '0700' : '0600',
    })),
  };
  return {
    key: startKey(process.name),
    path: `${KOLLA_FILES}/config.json`,
    text: `${JSON.stringify(description, null, 2)}\n`,
  };
}

const startKey = (name: string): string => `${name}.config.json`;
const isStart = (key: string): boolean => key.endsWith('.config.json');

export interface Template {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

/** A pod template of one process. `also` adds what only this workload has, such as an init container. */
export function podTemplate(
  block: PodBlock,
  process: Process,
  config: Config,
  labels: Readonly<Record<string, string>>,
  also: {
    readonly initContainers?: readonly Container[];
    readonly serviceName?: string;
    readonly graceSeconds?: number;
  } = {},
): Template {
  return {
    metadata: { labels, annotations: { [CONFIG_HASH_ANNOTATION]: config.hash } },
    spec: podSpec(block, process, config, labels, also),
  };
}

export function podSpec(
  block: PodBlock,
  process: Process,
  config: Config,
  labels: Readonly<Record<string, string>>,
  also: { readonly initContainers?: readonly Container[]; readonly graceSeconds?: number } = {},
): PodSpec {
  const profile = block.podProfile === 'restricted' ? restricted(process, config) : kolla(process, config);
  const volumes = [
    ...profile.volumes,
    ...(process.volumes ?? []).map(({ mountPath: _m, readOnly: _r, ...volume }) => volume),
  ];
  const mounts: VolumeMount[] = [
    ...profile.mounts,
    ...(process.volumes ?? []).map(({ name, mountPath, readOnly }) => ({
      name,
      mountPath,
      ...(readOnly && { readOnly }),
    })),
  ];
  for (const extra of (block.extraMounts ?? []) as readonly ExtraMount[]) {
    const { mountPath, subPath, readOnly, ...volume } = extra;
    volumes.push(volume);
    mounts.push({ name: volume.name, mountPath, ...(subPath && { subPath }), ...(readOnly && { readOnly }) });
  }
  const container: Container = {
    name: process.name,
    image: process.image,
    imagePullPolicy: 'IfNotPresent',
    command: [...profile.command],
    env: [...profile.env, ...(process.env ?? [])],
    ...(process.ports && {
      ports: Object.entries(process.ports).map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' })),
    }),
    ...(block.resources && { resources: block.resources }),
    ...(process.startup && { startupProbe: process.startup }),
    ...(process.readiness && { readinessProbe: process.readiness }),
    ...(process.liveness && { livenessProbe: process.liveness }),
    volumeMounts: mounts,
    securityContext: profile.security,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
  const initContainers = (also.initContainers ?? []).map(init => ({
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: profile.security,
    ...init,
  }));
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsUser: process.user,
      runAsGroup: process.user,
      fsGroup: process.user,
      // Without it the kubelet re-owns every file of a large volume at each start.
      fsGroupChangePolicy: 'OnRootMismatch',
      ...(block.podProfile === 'restricted' && { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }),
    },
    ...(also.graceSeconds !== undefined && { terminationGracePeriodSeconds: also.graceSeconds }),
    ...(initContainers.length > 0 && { initContainers }),
    containers: [container],
    volumes,
    ...(block.nodeSelector && { nodeSelector: block.nodeSelector }),
    ...(block.tolerations && { tolerations: [...block.tolerations] }),
    ...(block.priorityClassName && { priorityClassName: block.priorityClassName }),
    topologySpreadConstraints: spread(block, labels),
  };
}

type ExtraMount = Volume & { mountPath: string; subPath?: string; readOnly?: boolean };

function spread(block: PodBlock, matchLabels: Readonly<Record<string, string>>): PodSpec['topologySpreadConstraints'] {
  const wanted = (block.topologySpread as PodSpec['topologySpreadConstraints']) ?? [
    // Soft: a cloud on one node must still start.
    { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
  ];
  return wanted.map(constraint => ({ ...constraint, labelSelector: constraint.labelSelector ?? { matchLabels } }));
}

interface Profile {
  readonly command: readonly string[];
  readonly env: readonly EnvVar[];
  readonly mounts: readonly VolumeMount[];
  readonly volumes: readonly Volume[];
  readonly security: Container['securityContext'];
}

/** The start script copies the files with sudo, so privilege escalation must stay allowed: PodSecurity baseline. */
function kolla(process: Process, config: Config): Profile {
  const items = config.files
    .filter(file => !isStart(file.key) || file.key === startKey(process.name))
    .map(file => ({ key: file.key, path: isStart(file.key) ? 'config.json' : file.key }));
  return {
    command: ['dumb-init', '--single-child', '--', 'kolla_start'],
    env: [{ name: 'KOLLA_CONFIG_STRATEGY', value: 'COPY_ALWAYS' }],
    mounts: [{ name: 'config', mountPath: KOLLA_FILES, readOnly: true }],
    volumes: [{ name: 'config', secret: { secretName: config.secret, defaultMode: 0o440, items } }],
    security: { capabilities: { drop: ['NET_RAW'] } },
  };
}

/** Each folder of files is mounted where it belongs and the binary runs directly: PodSecurity restricted. */
function restricted(process: Process, config: Config): Profile {
  const folders = new Map<string, { key: string; path: string }[]>();
  for (const file of config.files) {
    if (isStart(file.key)) continue;
    const cut = file.path.lastIndexOf('/');
    const folder = file.path.slice(0, cut);
    folders.set(folder, [...(folders.get(folder) ?? []), { key: file.key, path: file.path.slice(cut + 1) }]);
  }
  const volumes: Volume[] = [{ name: 'tmp', emptyDir: {} }];
  const mounts: VolumeMount[] = [{ name: 'tmp', mountPath: '/tmp' }];
  [...folders].forEach(([mountPath, items], index) => {
    const name = `config-${index}`;
    volumes.push({ name, secret: { secretName: config.secret, defaultMode: 0o550, items } });
    mounts.push({ name, mountPath, readOnly: true });
  });
  (process.scratch ?? []).forEach((mountPath, index) => {
    volumes.push({ name: `scratch-${index}`, emptyDir: {} });
    mounts.push({ name: `scratch-${index}`, mountPath });
  });
  return {
    command: ['dumb-init', '--single-child', '--', ...process.argv],
    env: [],
    mounts,
    volumes,
    security: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}
