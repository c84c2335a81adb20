import type { AnyObject } from '../../../kube/object.ts';
import type { Call, Server } from '../common/call.ts';
import { isObject, items, type Json } from '../common/json.ts';
import { forbidden, notFound } from '../common/status.ts';

/** The admission plugins that are on by default and that our objects meet; ServiceAccount is off in both worlds. */
export function admitCreate(server: Server, call: Call, object: AnyObject): void {
  admitNamespace(server, call, object);
  const spec = isObject(object.spec) ? object.spec : {};
  if (object.kind === 'Pod') {
    tolerateNodeLoss(spec);
    setPriority(server, call, object, spec);
  }
  if (object.kind === 'PersistentVolumeClaim') {
    addFinalizer(object, 'kubernetes.io/pvc-protection');
    defaultStorageClass(server, spec);
  }
  // TaintNodesByCondition: nobody has seen the node's conditions yet.
  if (object.kind === 'Node')
    spec.taints = [...items(spec.taints), { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
  if (object.kind === 'PersistentVolume') addFinalizer(object, 'kubernetes.io/pv-protection');
}

export function admitUpdate(_server: Server, _call: Call, _next: AnyObject, _existing: AnyObject): void {}

/** NamespaceLifecycle. */
function admitNamespace(server: Server, call: Call, object: AnyObject): void {
  if (!call.resource.namespaced) return;
  const namespace = server.state.get('namespaces', undefined, call.namespace);
  if (!namespace) throw notFound({ group: '', plural: 'namespaces' }, call.namespace);
  if (namespace.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
    call.resource,
    object.metadata.name,
    `unable to create new content in namespace ${call.namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${call.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** DefaultTolerationSeconds: a pod survives five minutes on a node that is not ready. */
function tolerateNodeLoss(spec: Json): void {
  const tolerations = items(spec.tolerations);
  const extra = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter(
      key =>
        !tolerations.some(
          t => (t.key === key || t.key === undefined) && (t.effect === 'NoExecute' || t.effect === undefined),
        ),
    )
    .map(key => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  if (extra.length > 0) spec.tolerations = [...tolerations, ...extra];
}

/** Classes that every API server makes for itself. */
const system: Record<string, number> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Priority. */
function setPriority(server: Server, call: Call, pod: AnyObject, spec: Json): void {
  const name = spec.priorityClassName;
  const classes = server.state.list('priorityclasses.scheduling.k8s.io');
  const chosen =
    typeof name === 'string' && name !== ''
      ? classes.find(c => c.metadata.name === name)
      : classes.find(c => c.globalDefault === true);
  if (typeof name === 'string' && name !== '' && !chosen && system[name] === undefined) {
    throw forbidden(call.resource, pod.metadata.name, `no PriorityClass with name ${name} was found`);
  }
  spec.priority = chosen?.value ?? system[String(name)] ?? 0;
  if (chosen && !name) spec.priorityClassName = chosen.metadata.name;
  spec.preemptionPolicy ??= chosen?.preemptionPolicy ?? 'PreemptLowerPriority';
}

function addFinalizer(object: AnyObject, finalizer: string): void {
  const old = object.metadata.finalizers ?? [];
  if (!old.includes(finalizer)) object.metadata.finalizers = [...old, finalizer];
}

/** DefaultStorageClass: the newest of the classes that are marked as default. */
function defaultStorageClass(server: Server, spec: Json): void {
  if (spec.storageClassName !== undefined) return;
  const marked = server.state
    .list('storageclasses.storage.k8s.io')
    .filter(c => c.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true')
    .toSorted((a, b) => (a.metadata.creationTimestamp! > b.metadata.creationTimestamp! ? -1 : 1));
  if (marked[0]) spec.storageClassName = marked[0].metadata.name;
}
