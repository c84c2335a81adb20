import type { KubeObject } from '../../kube/object.ts';

/** The fields of built-in kinds that the simulated controllers read or write; everything else passes through untouched. */

export interface KeyRef {
  name: string;
  key: string;
  optional?: boolean;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: KeyRef; configMapKeyRef?: KeyRef; fieldRef?: { fieldPath: string } };
}

interface SourceRef {
  name: string;
  optional?: boolean;
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  envFrom?: { prefix?: string; secretRef?: SourceRef; configMapRef?: SourceRef }[];
  volumeMounts?: { name: string; mountPath: string; subPath?: string }[];
  restartPolicy?: string;
  startupProbe?: { periodSeconds?: number; failureThreshold?: number };
  readinessProbe?: object;
}

export interface Items {
  items?: { key: string; path: string }[];
  optional?: boolean;
}

export interface Volume {
  name: string;
  secret?: Items & { secretName: string };
  configMap?: Items & { name: string };
  projected?: { sources?: { secret?: Items & { name: string }; configMap?: Items & { name: string } }[] };
  persistentVolumeClaim?: { claimName: string };
}

export interface NodeRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms: { matchExpressions?: NodeRequirement[] }[];
      };
    };
  };
  restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
  hostname?: string;
  subdomain?: string;
  terminationGracePeriodSeconds?: number;
  tolerations?: { key?: string; operator?: string; value?: string; effect?: string }[];
}

export interface Terminated {
  exitCode: number;
  reason: string;
  message?: string;
  startedAt: string;
  finishedAt: string;
  containerID?: string;
}

export type ContainerState =
  | { waiting: { reason: string; message?: string } }
  | { running: { startedAt: string } }
  | { terminated: Terminated };

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  ready: boolean;
  started: boolean;
  restartCount: number;
  containerID?: string;
  state: ContainerState;
  lastState: Partial<{ terminated: Terminated }>;
}

export interface WorkloadCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  lastProbeTime?: string | null;
  observedGeneration?: number;
}

export interface PodStatus {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  conditions?: WorkloadCondition[];
  reason?: string;
  message?: string;
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: string;
  qosClass?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

export interface PodObject extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

export interface Selector {
  matchLabels?: Record<string, string>;
}

/** What the workload kinds have in common. */
export interface Workload extends KubeObject {
  spec: {
    replicas?: number;
    selector: Selector;
    template: PodTemplate;
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: Record<string, unknown>;
}

export interface NodeObject extends KubeObject {
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: { conditions?: WorkloadCondition[]; addresses?: { type: string; address: string }[] };
}

export interface ClaimObject extends KubeObject {
  spec: {
    storageClassName?: string;
    volumeName?: string;
    accessModes?: string[];
    resources?: { requests?: Record<string, string> };
  };
  status?: { phase?: string; accessModes?: string[]; capacity?: Record<string, string> };
}

export const matches = (labels: Record<string, string> | undefined, wanted: Record<string, string> | undefined) =>
  Object.entries(wanted ?? {}).every(([key, value]) => labels?.[key] === value);

export const isReady = (pod: PodObject) =>
  pod.status?.conditions?.some(c => c.type === 'Ready' && c.status === 'True') ?? false;

/** Neither finished nor on its way out. */
export const isActive = (pod: PodObject) =>
  pod.metadata.deletionTimestamp === undefined && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
