import type { AnyObject } from '../../../kube/object.ts';
import type { Call, Server } from '../common/call.ts';
import { child, clone, equal, isObject, items, type Json, without } from '../common/json.ts';
import { decode } from '../common/types.ts';
import { newStatus } from '../custom/definition.ts';

/** PrepareForCreate and PrepareForUpdate of the built-in kinds: what the server writes whatever the client said. */

export function prepareCreate(server: Server, call: Call, object: AnyObject): void {
  const spec = isObject(object.spec) ? object.spec : {};
  resetStatus(call, object);
  switch (object.kind) {
    case 'Namespace':
      object.spec = {
        ...spec,
        finalizers: [...new Set([...((spec.finalizers as string[] | undefined) ?? []), 'kubernetes'])],
      };
      break;
    case 'Pod':
      object.status = { phase: 'Pending', qosClass: qosClass(spec) };
      break;
    case 'Service':
      allocate(server, object, undefined);
      break;
    case 'Job':
      selectJobPods(object);
      break;
    case 'CustomResourceDefinition':
      newStatus(object);
      break;
  }
}

export function prepareUpdate(server: Server, call: Call, next: AnyObject, existing: AnyObject): void {
  const split = call.resource.subresources.includes('status');
  if (call.subresource === 'status')
    keepAllBut(next, existing, 'status', next.kind === 'Node' ? ['metadata', 'status'] : ['status']);
  else if (call.subresource === 'finalize') keepAllBut(next, existing, 'spec', ['spec', 'metadata']);
  else if (split) {
    if (existing.status === undefined) delete next.status;
    else next.status = clone(existing.status);
    if (next.kind === 'Namespace') {
      next.spec = { ...(next.spec as Json), finalizers: clone((existing.spec as Json).finalizers) };
      if ((next.spec as Json).finalizers === undefined) delete (next.spec as Json).finalizers;
    }
  }
  if (next.kind === 'Service' && call.subresource === '') allocate(server, next, existing);
  if (next.kind === 'DaemonSet' && call.subresource === '') {
    const changed = !equal((next.spec as Json).template, (existing.spec as Json).template);
    const count = Number(existing.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1) + (changed ? 1 : 0);
    next.metadata.annotations = { ...next.metadata.annotations, [TEMPLATE_GENERATION]: String(count) };
  }
  if (next.kind === 'Job' && call.subresource === '' && isObject(next.spec)) {
    const before = existing.spec as Json;
    if (next.spec.selector === undefined) next.spec.selector = clone(before.selector);
  }
}

/** A field of an API version that is gone lives on as an annotation. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** A subresource changes its own part; of the metadata only managedFields, and labels or finalizers where upstream lets it. */
function keepAllBut(next: AnyObject, existing: AnyObject, part: 'spec' | 'status', open: string[]): void {
  const mine = next[part];
  const metadata = next.metadata;
  for (const key of Object.keys(next)) delete (next as Json)[key];
  Object.assign(next, clone(without(existing, part)));
  if (mine !== undefined) next[part] = mine;
  if (open.includes('metadata')) next.metadata = metadata;
  else
    next.metadata = {
      ...clone(existing.metadata),
      ...(metadata.managedFields ? { managedFields: metadata.managedFields } : {}),
      ...statusMeta(next.kind, metadata),
    };
}

/** Status strategies of the workload kinds let metadata through; these kinds do not. */
const strict = new Set(['CustomResourceDefinition', 'PersistentVolumeClaim', 'Ingress']);
const statusMeta = (kind: string, metadata: AnyObject['metadata']): Partial<AnyObject['metadata']> =>
  strict.has(kind) ? {} : metadata;

/** A new object has the zero status of its kind. */
function resetStatus(call: Call, object: AnyObject): void {
  if (!call.resource.subresources.includes('status') || object.kind === 'Node') return;
  const { status } = decode((call.resource.is as { builtin: string }).builtin, {}, []);
  const initial: Record<string, Json> = {
    Namespace: { phase: 'Active' },
    PersistentVolumeClaim: { phase: 'Pending' },
    PersistentVolume: { phase: 'Pending' },
  };
  object.status = { ...(status as Json), ...initial[object.kind] };
}

/** Guaranteed, Burstable or BestEffort, from cpu and memory alone. */
function qosClass(spec: Json): string {
  const containers = [...items(spec.containers), ...items(spec.initContainers)].map(
    c => (c.resources ?? {}) as { requests?: Json; limits?: Json },
  );
  const used = (list: Json | undefined) => ['cpu', 'memory'].filter(k => list?.[k] !== undefined && list[k] !== '0');
  if (containers.every(c => used(c.requests).length === 0 && used(c.limits).length === 0)) return 'BestEffort';
  const guaranteed = containers.every(
    c => used(c.limits).length === 2 && used(c.requests).every(k => c.requests![k] === c.limits![k]),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function selectJobPods(job: AnyObject): void {
  const spec = job.spec as Json;
  if (spec.manualSelector === true) return;
  const uid = job.metadata.uid;
  const meta = child(child(spec, 'template'), 'metadata');
  const labels = {
    ...(meta.labels as Record<string, string> | undefined),
    'batch.kubernetes.io/controller-uid': uid!,
    'batch.kubernetes.io/job-name': job.metadata.name,
    'controller-uid': uid!,
    'job-name': job.metadata.name,
  };
  // A job without labels of its own has those of its template; upstream shares the map, so it gets the new ones too.
  if (job.metadata.labels === undefined || equal(job.metadata.labels, meta.labels)) job.metadata.labels = { ...labels };
  meta.labels = labels;
  const selector = child(spec, 'selector');
  selector.matchLabels = { ...(selector.matchLabels as Json | undefined), 'batch.kubernetes.io/controller-uid': uid };
}

/** Cluster IPs and node ports come from the same ranges as upstream's, but in order: a simulation must repeat itself. */
function allocate(server: Server, service: AnyObject, existing: AnyObject | undefined): void {
  const spec = service.spec as Json;
  const before = (existing?.spec ?? {}) as Json;
  if (spec.type === 'ExternalName') return;
  if (!spec.clusterIP && typeof before.clusterIP === 'string' && before.type !== 'ExternalName')
    spec.clusterIP = before.clusterIP;
  const all = server.state.list('services').map(s => s.spec as Json);
  if (!spec.clusterIP) {
    const taken = new Set(all.map(s => s.clusterIP));
    for (let i = 257; ; i++) {
      spec.clusterIP = `10.96.${i >> 8}.${i & 255}`;
      if (!taken.has(spec.clusterIP)) break;
    }
  }
  spec.clusterIPs ??= [spec.clusterIP];
  spec.ipFamilies ??= clone(before.ipFamilies) ?? ['IPv4'];
  spec.ipFamilyPolicy ??= before.ipFamilyPolicy ?? 'SingleStack';
  const exposed =
    spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
  if (!exposed) return;
  const ports = new Set(all.flatMap(s => items(s.ports).map(p => p.nodePort)));
  for (const port of items(spec.ports)) {
    const same = items(before.ports).find(
      p => p.nodePort !== undefined && equal([p.port, p.protocol], [port.port, port.protocol]),
    );
    if (port.nodePort === undefined && same) port.nodePort = same.nodePort;
    for (let n = 30000; port.nodePort === undefined; n++) if (!ports.has(n)) port.nodePort = n;
    ports.add(port.nodePort);
  }
}
