import type {
  Container,
  EnvVar,
  PodDNSConfig,
  PodSpec,
  Probe,
  Volume,
  VolumeMount,
} from 'kubernetes-types/core/v1.d.ts';
import { fieldMissing } from '../../runtime/plan/unmet.ts';
import { literal } from '../../world/quote/kubelet.ts';
import type { Config, ConfigFile } from '../config/config.ts';
import { CONFIG_HASH_ANNOTATION } from '../names.ts';
import { type Found, overriddenPod } from './override.ts';

/** The pod block that all pod kinds share (api/blocks/pod.ts), as far as templates need it. */
export interface PodBlock {
  readonly podProfile: 'kolla' | 'restricted';
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly topologySpread?: readonly object[];
  readonly priorityClassName?: string;
  readonly extraMounts?: readonly object[];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}

type Amounts = Readonly<Record<string, string | number>>;

/** Why Kolla does not start a process, if so. */
export const withoutKolla = (podProfile: PodBlock['podProfile'], direct = false): string | undefined => {
  if (direct) return 'these containers are started without Kolla';
  return podProfile === 'restricted' ? 'spec.podProfile restricted starts containers without Kolla' : undefined;
};

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
  readonly volumes?: readonly ProcessVolume[];
  /** Mounts of volumes that the workload brings, such as a claim of each pod. */
  readonly mounts?: readonly VolumeMount[];
  /** Folders that the process writes and the image does not give to its user. */
  readonly scratch?: readonly string[];
  /** Folders of the image that the process writes to as well: our files are mounted into them one by one, not over them. */
  readonly fileMounts?: readonly string[];
  /** Rights on the node, instead of those of the pod profile. */
  readonly security?: Container['securityContext'];
  /** Started without Kolla also under its profile, for images whose start scripts do what we do not want. */
  readonly direct?: boolean;
  /** What the scheduler sets aside for it, unless the user says otherwise. */
  readonly requests?: Requests;
  /** Commands of the shell that run beside it as soon as its container exists; the container waits for their end. */
  readonly beside?: string;
  /** What happens before SIGTERM. `until`: a shell command, which ends when the process may get it. */
  readonly drain?: Drain;
}

interface Drain {
  readonly seconds: number;
  readonly until?: string;
}

/** Asks often until it answers, and seldom from then on: a command in a container is no small thing for its node. */
export const askedBy = (...command: string[]): { readonly startup: Probe; readonly readiness: Probe } => ({
  startup: { exec: { command }, periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 300 },
  readiness: { exec: { command }, periodSeconds: 10, timeoutSeconds: 10 },
});

export interface Requests {
  readonly cpu: string;
  readonly memory: string;
}

/**
 * Small, so that a whole cloud fits on a machine of two cores: near what an idle process uses (lab.md 5). No limits: a
 * throttled uwsgi or Erlang fails its probes, and memory grows with use that only the user knows.
 */
const REQUESTS: Requests = { cpu: '10m', memory: '128Mi' };

/** Of Jobs that a whole cloud waits for: beside servers that start, which ask for half of it, they would get the least. */
export const AWAITED: Requests = { cpu: '100m', memory: '128Mi' };

/** Behind a Service: until every proxy has heard that the pod is no endpoint any more, it goes on serving (openstack-facts 27). */
export const UNTIL_HEARD = 10;
/** Process 1 of a container that just started does not hear signals, and would run until the kubelet's patience ends. */
const UNTIL_HEARING: Drain = { seconds: 1 };
const drained = ({ seconds, until }: Drain): string[] =>
  until === undefined ? ['sleep', `${seconds}`] : ['sh', '-c', `sleep ${seconds}; ${until}`];

/** `device`: `mountPath` is the path of the device that a volume in block mode becomes. */
export type ProcessVolume = Volume &
  Pick<VolumeMount, 'mountPath' | 'readOnly' | 'mountPropagation' | 'subPath'> & { readonly device?: boolean };

const KOLLA_FILES = '/var/lib/kolla/config_files';

/** Kolla's start description for a process: which files go where, and what to run (openstack-facts 1). */
export function kollaStart(
  process: Process,
  files: readonly ConfigFile[],
  /** The user's, instead of ours. */
  overwrite?: string | undefined,
): ConfigFile {
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
    text: overwrite ?? `${JSON.stringify(description, null, 2)}\n`,
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

/** The names in our files are whole: with the usual five dots, each is first looked up in every search domain, in vain. */
export const WHOLE_NAMES: PodDNSConfig = { options: [{ name: 'ndots', value: '2' }] };

/** What only this workload has. */
export interface Also {
  readonly initContainers?: readonly Container[];
  readonly graceSeconds?: number;
  /** Fields of the pod itself, e.g. hostNetwork. */
  readonly pod?: Partial<PodSpec>;
  /** Volumes that only init containers mount. */
  readonly volumes?: readonly Volume[];
}

/** The user's last word on a pod template; Jobs have none. */
export interface Overridden {
  readonly override?: Found | undefined;
  /** Containers of other pods that it is about too. */
  readonly peers?: readonly string[];
}

/** A pod template of one process, or of several that share the pod; the first is the one that settings are about. */
export function podTemplate(
  block: PodBlock,
  process: Process | readonly Process[],
  config: Config,
  labels: Readonly<Record<string, string>>,
  { override, peers, ...also }: Also & Overridden,
): Template {
  const lasting = listOf(process).map(each => ({ drain: UNTIL_HEARING, ...each }));
  const template: Template = {
    metadata: { labels, annotations: { [CONFIG_HASH_ANNOTATION]: config.hash } },
    spec: podSpec(block, lasting, config, labels, also),
  };
  return override === undefined ? template : overriddenPod(template, override, peers);
}

const listOf = (process: Process | readonly Process[]): readonly Process[] => ('argv' in process ? [process] : process);

export function podSpec(
  block: PodBlock,
  process: Process | readonly Process[],
  config: Config,
  labels: Readonly<Record<string, string>>,
  also: Also = {},
): PodSpec {
  const processes = listOf(process);
  const [main] = processes;
  if (main === undefined) throw new Error('a pod without a process');
  const parts = processes.map(p => containerOf(block, p, config, p === main));
  const initContainers = (also.initContainers ?? []).map(init => ({
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    // They prepare files of their own user: no power, whatever the main container may do.
    securityContext: main.security ?? rootFilesystem(block, POWERLESS),
    resources: parts[0]!.container.resources,
    ...init,
  }));
  const volumes = new Map(parts.flatMap(part => part.volumes).map(volume => [volume.name, volume]));
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    dnsConfig: WHOLE_NAMES,
    securityContext: {
      runAsUser: main.user,
      runAsGroup: main.user,
      fsGroup: main.user,
      // Without it the kubelet re-owns every file of a large volume at each start.
      fsGroupChangePolicy: 'OnRootMismatch',
      ...(!main.security && { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }),
    },
    ...(also.graceSeconds !== undefined && { terminationGracePeriodSeconds: also.graceSeconds }),
    ...(initContainers.length > 0 && { initContainers }),
    containers: parts.map(part => part.container),
    volumes: [...volumes.values(), ...(also.volumes ?? [])],
    ...(block.nodeSelector && { nodeSelector: block.nodeSelector }),
    ...(block.tolerations && { tolerations: [...block.tolerations] }),
    ...(block.priorityClassName && { priorityClassName: block.priorityClassName }),
    ...(block.imagePullSecrets?.length && { imagePullSecrets: [...block.imagePullSecrets] }),
    topologySpreadConstraints: spread(block, labels),
    ...also.pod,
  };
}

/** The schema leaves their fields to Kubernetes, whose message would name the pod's and not the user's. */
function extraVolumes({ extraMounts = [] }: PodBlock): readonly ProcessVolume[] {
  const volumes = extraMounts as readonly ProcessVolume[];
  for (const [index, volume] of volumes.entries())
    for (const field of ['name', 'mountPath'] as const)
      if (typeof volume[field] !== 'string' || volume[field] === '')
        throw fieldMissing(
          // Only the caller knows in which template it stands.
          undefined,
          `extraMounts[${index}] has no ${field}`,
          'set it, e.g. {name: ca, mountPath: /etc/ca, configMap: {name: ca}}',
        );
  return volumes;
}

/** A container and the volumes it needs. Processes of one pod share volumes of equal name. */
function containerOf(
  block: PodBlock,
  process: Process,
  config: Config,
  main: boolean,
): { container: Container; volumes: Volume[] } {
  const profile =
    process.direct || block.podProfile === 'restricted' ? restricted(process, config) : kolla(process, config, main);
  const own = process.volumes ?? [];
  const extra = main ? extraVolumes(block) : [];
  const volumes: Volume[] = [...profile.volumes];
  const mounts: VolumeMount[] = [...profile.mounts, ...(process.mounts ?? [])];
  const volumeDevices: { name: string; devicePath: string }[] = [];
  for (const { mountPath, readOnly, mountPropagation, subPath, device, ...volume } of [...own, ...extra]) {
    volumes.push(volume);
    if (device) {
      volumeDevices.push({ name: volume.name, devicePath: mountPath });
      continue;
    }
    mounts.push({
      name: volume.name,
      mountPath,
      ...(subPath && { subPath }),
      ...(readOnly && { readOnly }),
      ...(mountPropagation && { mountPropagation }),
    });
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
    resources: resourcesOf(process.requests ?? REQUESTS, main ? block.resources : undefined),
    ...((process.drain || process.beside) && {
      lifecycle: {
        ...(process.beside && { postStart: { exec: { command: ['sh', '-c', process.beside] } } }),
        ...(process.drain && { preStop: { exec: { command: drained(process.drain) } } }),
      },
    }),
    ...(process.startup && { startupProbe: process.startup }),
    ...(process.readiness && { readinessProbe: process.readiness }),
    ...(process.liveness && { livenessProbe: process.liveness }),
    volumeMounts: mounts,
    ...(volumeDevices.length > 0 && { volumeDevices }),
    securityContext: process.security ?? rootFilesystem(block, profile.security),
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
  return { container, volumes };
}

function spread(block: PodBlock, matchLabels: Readonly<Record<string, string>>): PodSpec['topologySpreadConstraints'] {
  const wanted = (block.topologySpread as PodSpec['topologySpreadConstraints']) ?? [
    // Soft: a cloud on one node, or without zones, must still start.
    { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
  ];
  return wanted.map(constraint => ({ ...constraint, labelSelector: constraint.labelSelector ?? { matchLabels } }));
}

/** The server makes a text of a number, and would find it changed each time. */
const texts = (amounts: Amounts = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));

/** The user's amounts over ours; a limit without a request is the request too, so ours makes way for it. */
function resourcesOf(own: Requests, wanted: PodBlock['resources']): Container['resources'] {
  const { requests, limits } = wanted ?? {};
  const kept = Object.entries(own).filter(([name]) => limits?.[name] === undefined);
  return {
    requests: { ...Object.fromEntries(kept), ...texts(requests) },
    ...(limits && { limits: texts(limits) }),
  };
}

/** What PodSecurity `restricted` asks of a container. */
const POWERLESS: Container['securityContext'] = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

/**
 * Read-only under profile `restricted`: what a process writes there is a volume of its own, /tmp or in `scratch`.
 * kolla_start copies the config to its final path, so under its profile the image must stay writable.
 */
const rootFilesystem = (
  { podProfile }: PodBlock,
  security: Container['securityContext'],
): Container['securityContext'] =>
  podProfile === 'restricted' ? { ...security, readOnlyRootFilesystem: true } : security;

/** What kolla_start needs under sudo: to become root, and to copy files and give them away. Tried without any other. */
export const KOLLA_CAPABILITIES = ['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'];

interface Profile {
  readonly command: readonly string[];
  readonly env: readonly EnvVar[];
  readonly mounts: readonly VolumeMount[];
  readonly volumes: readonly Volume[];
  readonly security: Container['securityContext'];
}

/** The start script copies the files with sudo, so privilege escalation must stay allowed: PodSecurity baseline. */
function kolla(process: Process, config: Config, main: boolean): Profile {
  const name = main ? 'config' : `config-${process.name}`;
  const items = config.files
    .filter(file => !isStart(file.key) || file.key === startKey(process.name))
    .map(file => ({ key: file.key, path: isStart(file.key) ? 'config.json' : file.key }));
  return {
    command: ['dumb-init', '--single-child', '--', 'kolla_start'],
    env: [
      { name: 'KOLLA_CONFIG_STRATEGY', value: 'COPY_ALWAYS' },
      // The images' own preparations are for a web server as root: as the service's user they end the container.
      { name: 'KOLLA_SKIP_EXTEND_START', value: 'true' },
    ],
    mounts: [{ name, mountPath: KOLLA_FILES, readOnly: true }],
    volumes: [{ name, secret: { secretName: config.secret, defaultMode: 0o440, items } }],
    security: { capabilities: { drop: ['ALL'], add: KOLLA_CAPABILITIES } },
  };
}

/** Files are mounted where they belong, by folder if it is empty in the image, and the binary runs directly: PodSecurity restricted. */
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
    if (process.fileMounts?.includes(mountPath))
      for (const { path } of items)
        mounts.push({ name, mountPath: `${mountPath}/${path}`, subPath: path, readOnly: true });
    else mounts.push({ name, mountPath, readOnly: true });
  });
  (process.scratch ?? []).forEach((mountPath, index) => {
    volumes.push({ name: `scratch-${index}`, emptyDir: {} });
    mounts.push({ name: `scratch-${index}`, mountPath });
  });
  return {
    command: ['dumb-init', '--single-child', '--', ...process.argv.map(literal)],
    env: [],
    mounts,
    volumes,
    security: POWERLESS,
  };
}
