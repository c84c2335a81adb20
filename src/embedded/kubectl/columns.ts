import type { AnyObject } from '../../kube/object.ts';
import { isObject, items, type Json } from '../store/common/json.ts';

/** What `kubectl get` shows of the built-in kinds: pkg/printers/internalversion, without its rarer corners. */
export interface Column {
  readonly name: string;
  readonly type?: string;
  /** Above 0: only with `-o wide`. */
  readonly priority?: number;
  readonly cell: (object: AnyObject, age: (time: unknown) => string) => unknown;
}

const column = (name: string, cell: Column['cell'], type = 'string', priority = 0): Column => ({
  name,
  cell,
  type,
  priority,
});
const spec = (o: AnyObject) => (isObject(o.spec) ? o.spec : {}) as Json & Record<string, never>;
const status = (o: AnyObject) => (isObject(o.status) ? o.status : {}) as Json & Record<string, never>;
const template = (o: AnyObject) => (((spec(o).template as Json | undefined)?.spec ?? {}) as Json).containers;

export const NAME = column('Name', o => o.metadata.name);
export const AGE = column('Age', (o, age) => age(o.metadata.creationTimestamp));
const wide = (name: string, cell: Column['cell']) => column(name, cell, 'string', 1);
const containers = [
  wide('Containers', o =>
    items(template(o))
      .map(c => c.name)
      .join(','),
  ),
  wide('Images', o =>
    items(template(o))
      .map(c => c.image)
      .join(','),
  ),
];
const selector = wide('Selector', o => labels((spec(o).selector as Json | undefined)?.matchLabels));
const labels = (map: unknown) =>
  Object.entries((map ?? {}) as Json)
    .map(([k, v]) => `${k}=${v}`)
    .join(',') || '<none>';
const count = (map: unknown) => Object.keys((map ?? {}) as Json).length;

export const columns: Record<string, readonly Column[]> = {
  Pod: [
    NAME,
    column(
      'Ready',
      o => `${items(status(o).containerStatuses).filter(c => c.ready).length}/${items(spec(o).containers).length}`,
    ),
    column('Status', podStatus),
    column('Restarts', o =>
      String(items(status(o).containerStatuses).reduce((n, c) => n + Number(c.restartCount ?? 0), 0)),
    ),
    AGE,
    wide('IP', o => status(o).podIP ?? '<none>'),
    wide('Node', o => spec(o).nodeName ?? '<none>'),
    wide('Nominated Node', () => '<none>'),
    wide('Readiness Gates', () => '<none>'),
  ],
  Deployment: [
    NAME,
    column('Ready', o => `${status(o).readyReplicas ?? 0}/${spec(o).replicas ?? 0}`),
    column('Up-to-date', o => status(o).updatedReplicas ?? 0, 'integer'),
    column('Available', o => status(o).availableReplicas ?? 0, 'integer'),
    AGE,
    ...containers,
    selector,
  ],
  StatefulSet: [
    NAME,
    column('Ready', o => `${status(o).readyReplicas ?? 0}/${spec(o).replicas ?? 0}`),
    AGE,
    ...containers,
  ],
  ReplicaSet: [
    NAME,
    column('Desired', o => spec(o).replicas ?? 0, 'integer'),
    column('Current', o => status(o).replicas ?? 0, 'integer'),
    column('Ready', o => status(o).readyReplicas ?? 0, 'integer'),
    AGE,
    ...containers,
    selector,
  ],
  DaemonSet: [
    NAME,
    column('Desired', o => status(o).desiredNumberScheduled ?? 0, 'integer'),
    column('Current', o => status(o).currentNumberScheduled ?? 0, 'integer'),
    column('Ready', o => status(o).numberReady ?? 0, 'integer'),
    column('Up-to-date', o => status(o).updatedNumberScheduled ?? 0, 'integer'),
    column('Available', o => status(o).numberAvailable ?? 0, 'integer'),
    column('Node Selector', o =>
      labels(((spec(o).template as Json | undefined)?.spec as Json | undefined)?.nodeSelector),
    ),
    AGE,
    ...containers,
    selector,
  ],
  Job: [
    NAME,
    column('Status', jobStatus),
    column('Completions', o => `${status(o).succeeded ?? 0}/${spec(o).completions ?? spec(o).parallelism ?? 1}`),
    column('Duration', (o, age) => jobDuration(o, age)),
    AGE,
    ...containers,
    selector,
  ],
  Service: [
    NAME,
    column('Type', o => spec(o).type ?? 'ClusterIP'),
    column('Cluster-IP', o => spec(o).clusterIP ?? '<none>'),
    column('External-IP', externalAddress),
    column(
      'Port(s)',
      o =>
        items(spec(o).ports)
          .map(p => `${p.port}${p.nodePort ? `:${p.nodePort}` : ''}/${p.protocol}`)
          .join(',') || '<none>',
    ),
    AGE,
    wide('Selector', o => labels(spec(o).selector)),
  ],
  Secret: [NAME, column('Type', o => o.type), column('Data', o => count(o.data), 'integer'), AGE],
  ConfigMap: [NAME, column('Data', o => count(o.data) + count(o.binaryData), 'integer'), AGE],
  ServiceAccount: [NAME, column('Secrets', o => items(o.secrets).length, 'integer'), AGE],
  Namespace: [NAME, column('Status', o => status(o).phase), AGE],
  Node: [
    NAME,
    column('Status', nodeStatus),
    column('Roles', () => '<none>'),
    AGE,
    column('Version', o => (status(o).nodeInfo as Json | undefined)?.kubeletVersion ?? ''),
  ],
  PersistentVolumeClaim: [
    NAME,
    column('Status', o => (o.metadata.deletionTimestamp ? 'Terminating' : status(o).phase)),
    column('Volume', o => spec(o).volumeName ?? ''),
    column('Capacity', o => (status(o).capacity as Json | undefined)?.storage ?? ''),
    column('Access Modes', o => modes(status(o).accessModes)),
    column('StorageClass', o => spec(o).storageClassName ?? ''),
    AGE,
  ],
  Event: [
    column('Last Seen', (o, age) =>
      age(
        o.lastTimestamp ??
          (isObject(o.series) ? o.series.lastObservedTime : undefined) ??
          o.eventTime ??
          o.firstTimestamp,
      ),
    ),
    column('Type', o => o.type),
    column('Reason', o => o.reason),
    column('Object', o => objectOf(o)),
    column('Message', o => String(o.message ?? o.note ?? '').trim()),
    wide('Name', o => o.metadata.name),
  ],
  Lease: [NAME, column('Holder', o => spec(o).holderIdentity ?? ''), AGE],
  CustomResourceDefinition: [NAME, column('Created At', o => o.metadata.creationTimestamp, 'date')],
  PodDisruptionBudget: [
    NAME,
    column('Min Available', o => String(spec(o).minAvailable ?? 'N/A')),
    column('Max Unavailable', o => String(spec(o).maxUnavailable ?? 'N/A')),
    column('Allowed Disruptions', o => status(o).disruptionsAllowed ?? 0, 'integer'),
    AGE,
  ],
  StorageClass: [
    NAME,
    column('Provisioner', o => o.provisioner),
    column('ReclaimPolicy', o => o.reclaimPolicy),
    column('VolumeBindingMode', o => o.volumeBindingMode),
    AGE,
  ],
};

function podStatus(pod: AnyObject): string {
  if (pod.metadata.deletionTimestamp) return 'Terminating';
  const { phase, reason } = status(pod) as { phase?: string; reason?: string };
  for (const container of items(status(pod).containerStatuses)) {
    const state = (container.state ?? {}) as { waiting?: Json; terminated?: Json };
    if (state.waiting?.reason) return String(state.waiting.reason);
    if (state.terminated?.reason) return String(state.terminated.reason);
  }
  return reason ?? phase ?? 'Unknown';
}

function jobStatus(job: AnyObject): string {
  const on = items(status(job).conditions)
    .filter(c => c.status === 'True')
    .map(c => c.type);
  const found = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(t => on.includes(t));
  return found ?? (job.metadata.deletionTimestamp ? 'Terminating' : 'Running');
}

function jobDuration(job: AnyObject, age: (time: unknown) => string): string {
  const { startTime, completionTime } = status(job) as { startTime?: string; completionTime?: string };
  if (!startTime) return '';
  return completionTime ? duration(Date.parse(completionTime) - Date.parse(startTime)) : age(startTime);
}

function externalAddress(service: AnyObject): string {
  const ingress = items((status(service).loadBalancer as Json | undefined)?.ingress).map(i => i.ip ?? i.hostname);
  if (spec(service).type === 'LoadBalancer') return ingress.join(',') || '<pending>';
  return String(spec(service).externalName ?? '<none>');
}

function nodeStatus(node: AnyObject): string {
  const ready = items(status(node).conditions).find(c => c.type === 'Ready');
  const text = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return spec(node).unschedulable ? `${text},SchedulingDisabled` : text;
}

const SHORT: Record<string, string> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
const modes = (list: unknown) => (Array.isArray(list) ? list.map(m => SHORT[m as string] ?? m).join(',') : '');

function objectOf(event: AnyObject): string {
  const about = (event.involvedObject ?? event.regarding ?? {}) as { kind?: string; name?: string };
  return `${(about.kind ?? '').toLowerCase()}/${about.name ?? ''}`;
}

/** As kubectl does: two units while small, one when large. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  const two = (big: number, unit: string, small: number, other: string) =>
    `${big}${unit}${small > 0 ? `${small}${other}` : ''}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return two(Math.floor(days / 365), 'y', days % 365, 'd');
}
