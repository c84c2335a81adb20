import {
  ADOPT_ANNOTATION,
  NODES_OF_LABEL,
  OPERATOR_NAMESPACE,
  PAUSED_ANNOTATION,
  SKIP_UNDO_ANNOTATION,
} from '../../runtime/plan/names.ts';
import { namespaceOf, type View } from '../view/view.ts';
import {
  annotate,
  at,
  atPod,
  type Case,
  type Cure,
  detail,
  edit,
  fieldOf,
  kubectl,
  logs,
  podOf,
  type Row,
  retry,
  saidIn,
  typed,
} from './case.ts';
import { REASONS, type ReasonEntry } from './reasons.ts';
import { accessDenied, memoryOf, missing, refused, retriesOf, volumeFull } from './remedies.ts';

const editField = (view: View, c: Case): Row => ({ command: edit(view, c.object, fieldOf(c)) });

/** The namespace of pods with rights on their node, which the object names. */
const nodeNamespace = ({ object }: Case): string =>
  (object.spec as { readonly nodeNamespace?: string } | undefined)?.nodeNamespace ?? '<namespace>';
const givenTo = (c: Case): string => `${NODES_OF_LABEL}=${c.object.metadata.namespace}`;
const PRIVILEGED = 'pod-security.kubernetes.io/enforce=privileged';

/** By reason; what a row leaves out comes from the cause in status and from the table of reasons. */
const CURES: Readonly<Record<string, (view: View, c: Case) => Row>> = {
  SecretNotFound: (_view, c) => {
    const keys = (detail(c, 'keys') ?? '').split(',').filter(Boolean);
    const values = keys.map(key => ` --from-literal=${key}=<${key}>`).join('');
    return { command: `${at(c.root)} create secret generic ${c.root.name}${values}` };
  },
  SecretIncomplete: (_view, c) => {
    const key = detail(c, 'keys') ?? 'key';
    return {
      command: `${at(c.root)} patch secret ${c.root.name} --type merge -p '{"stringData":{"${key}":"<${key}>"}}'`,
    };
  },
  NotFound: editField,
  // Of an object that is being deleted, its users are the ones to act on.
  InUse: (view, c) => (c.object.metadata.deletionTimestamp ? {} : editField(view, c)),
  StorageClassNotFound: (_view, c) => ({
    who: 'User',
    next:
      c.root.name === 'default'
        ? 'mark a StorageClass as the default one, or name one in the spec'
        : `create StorageClass ${c.root.name}, or create the object again with another one`,
    command: 'kubectl get storageclass',
  }),
  Unschedulable: (view, c) => {
    const wanted = (c.finding?.pod?.spec as { nodeSelector?: Record<string, string> } | undefined)?.nodeSelector;
    const labels = Object.entries(wanted ?? {}).map(([key, value]) => `${key}=${value}`);
    const node = view.ofKind('Node')[0]?.metadata.name ?? '<node>';
    if (labels.length === 0 && /Insufficient (cpu|memory)/.test(saidIn(c)))
      return {
        who: 'User',
        next: 'add a node, or ask for less in resources.requests',
        command: edit(view, c.object, 'spec.resources.requests'),
      };
    return {
      who: 'User',
      next: 'add or label a node, or change nodeSelector, tolerations or resources',
      command:
        labels.length > 0
          ? `kubectl label node ${node} ${labels.join(' ')}`
          : `${atPod(c)} describe pod ${podOf(c.finding)}`,
    };
  },
  Cordoned: (_view, c) => ({
    who: 'User',
    next: 'let a node take pods again when the work on it is done',
    command: `kubectl uncordon ${c.root.name}`,
  }),
  Tainted: (view, c) => ({
    who: 'User',
    next: `tolerate the taint in the spec, or take it off Node ${c.root.name}`,
    command: edit(view, c.object, 'spec.tolerations'),
  }),
  NoNodes: (view, c) => ({
    command: `kubectl label node ${view.ofKind('Node')[0]?.metadata.name ?? '<node>'} ${detail(c, 'label') ?? '<label>'}=`,
  }),
  ImagePullFailed: (view, c) => ({
    who: 'User',
    next: 'correct the name of the image, name the Secret of its registry in spec.imagePullSecrets, or make it available to the nodes',
    command: edit(view, c.object, 'spec.image'),
  }),
  CrashLoop: (_view, c) => ({ who: 'User', next: 'read its log and mend the cause', command: logs(c, true) }),
  JobFailed: (_view, c) => ({
    who: 'User',
    next: 'mend what its last words name, then ask for another try',
    command: `${at(c.root)} logs job/${c.root.name} --tail=50`,
    afterwards: [retry(c.object)],
  }),
  VolumeFull: (view, c) => volumeFull(view, c),
  CertificateExpired: (_view, c) => ({
    who: 'User',
    command: `${atPod(c)} describe pod ${podOf(c.finding)}   # Volumes: the Secret with the certificate`,
  }),
  OutOfMemory: (view, c) => {
    const limit = memoryOf(c);
    return {
      who: 'User',
      next: limit
        ? `raise resources.limits.memory: it is ${limit}`
        : 'it has no limit of its own, so its node ran out: add memory there, or move what else runs on it',
      command: edit(view, c.object, 'spec.resources.limits.memory'),
    };
  },
  NotPermitted: (_view, c) => ({ who: 'User', command: logs(c, true) }),
  AccessDenied: (view, c) => accessDenied(view, c),
  Unreachable: (_view, c) => {
    if (c.root.kind === 'NetworkPolicy')
      return {
        who: 'User',
        next: "admit the operator and the cloud's own pods, by a policy beside it or in it",
        command: `${at(c.root)} describe networkpolicy ${c.root.name}`,
      };
    if (c.root.kind === 'Secret')
      return {
        who: 'User',
        next: `correct the address in Secret ${c.root.name}, or mend the server that it names`,
        command: `${at(c.root)} edit secret ${c.root.name}   # hostname or url, in base64`,
        afterwards: retriesOf(c),
      };
    const host = detail(c, 'host');
    const service = host?.includes('.svc') ? host.split('.')[0] : undefined;
    return service
      ? { command: `${kubectl(c.object)} get endpointslices -l kubernetes.io/service-name=${service}` }
      : {
          who: 'User',
          next: 'check the server outside the cluster and the way to it',
          command: `${kubectl(c.object)} describe ${typed(c.object)}`,
        };
  },
  Annotated: (_view, c) => ({
    who: 'User',
    next: 'take the annotation off',
    command: `${kubectl(c.object)} annotate ${typed(c.object)} ${PAUSED_ANNOTATION}-`,
  }),
  AlreadyExists: (_view, c) => ({
    command: `${at(c.root)} annotate ${c.root.kind.toLowerCase()} ${c.root.name} ${ADOPT_ANNOTATION}=true   # or delete it`,
  }),
  ReleaseChangeRefused: (_view, c) => {
    const release = detail(c, 'release') ?? '<release>';
    return {
      who: 'User',
      next: `set spec.release back to ${release}`,
      command: `${kubectl(c.object)} patch ${typed(c.object)} --type merge -p '{"spec":{"release":"${release}"}}'`,
    };
  },
  VolumeElsewhere: (_view, c) => ({ command: `${at(c.root)} describe pvc ${c.root.name}` }),
  NamespaceNotFound: (_view, c) => {
    const name = nodeNamespace(c);
    return {
      next: 'create the namespace for pods of the node',
      command: `kubectl create namespace ${name} && kubectl label namespace ${name} ${PRIVILEGED} ${givenTo(c)}`,
    };
  },
  NamespaceNotGiven: (_view, c) => ({
    next: 'give the namespace to this cloud, if it is meant for its pods of the node and for nothing else; else create the object again with another spec.nodeNamespace',
    command: `kubectl label --overwrite namespace ${nodeNamespace(c)} ${givenTo(c)}`,
  }),
  NamespaceRefusesPods: (_view, c) => ({
    next: 'let the namespace admit pods of the node',
    command: `kubectl label --overwrite namespace ${nodeNamespace(c)} ${PRIVILEGED}`,
  }),
  NameTaken: (_view, c) => ({ command: `${at(c.root)} get ${c.root.kind.toLowerCase()} ${c.root.name} -o yaml` }),
  AnotherControlPlane: (_view, c) => ({ command: `${kubectl(c.object)} delete ${typed(c.object)}` }),
  Forbidden: (_view, c) =>
    refused(c) ?? {
      who: 'User',
      next: 'give the operator its rights back: apply its RBAC again',
      command: 'kubectl apply --server-side -k config/rbac',
    },
  FailedCreate: (_view, c) =>
    refused(c) ?? {
      who: 'User',
      next: 'mend what the event names',
      command: `${at(c.root)} describe ${c.root.kind.toLowerCase()} ${c.root.name}`,
    },
  NodeNotReady: (_view, c) => ({
    who: 'Cluster',
    next: `bring the node back; when it is gone for good, kubectl delete node ${c.root.name}: pods with volumes of their own move only then`,
    command: `kubectl describe node ${c.root.name}`,
  }),
  MountFailed: (_view, c) => missing(c),
  PodConfig: (_view, c) => missing(c),
  ProbeFails: (_view, c) => ({
    who: 'User',
    next: 'read its log: it runs and does not answer',
    command: logs(c, false),
  }),
  VolumePending: (_view, c) => ({
    who: 'Cluster',
    next: 'provide the volume: the events of the claim say what its provisioner lacks',
    command: `${at(c.root)} describe pvc ${c.root.name}`,
  }),
  DeletionBlocked: (_view, c) => ({
    who: 'User',
    next: 'mend what holds it, or give that up; what it made there then stays',
    command: annotate(c.object, `${SKIP_UNDO_ANNOTATION}=${c.type}`),
  }),
  Finalizer: (_view, c) => ({
    who: 'User',
    next:
      c.root.kind === 'PersistentVolumeClaim'
        ? 'save its data first: when the finalizer goes, the claim goes with all that is on it, and the pod begins on an empty one'
        : 'let whoever set the finalizer finish; when that one is gone for good, take the finalizer off',
    command: `${at(c.root)} get ${c.root.kind.toLowerCase()} ${c.root.name} -o jsonpath='{.metadata.finalizers}'`,
  }),
  Terminating: (_view, c) => ({ command: `${at(c.root)} describe ${c.root.kind.toLowerCase()} ${c.root.name}` }),
  NotObserved: () => ({
    who: 'User',
    next: 'see whether the operator runs, may see this namespace, and serves this kind (--namespaces, --kinds)',
    command: `kubectl -n ${OPERATOR_NAMESPACE} logs deployment/openstack-operator --tail=20`,
  }),
  ServiceSilent: (view, c) => {
    const name = detail(c, 'pod');
    const home = namespaceOf(c.object);
    const nodes =
      name === undefined || view.get('Pod', home, name) ? undefined : view.get('Pod', nodeNamespace(c), name);
    return {
      command: `${kubectl(nodes ?? c.object)} logs ${name ?? `-l app.kubernetes.io/instance=${c.object.metadata.name}`} --tail=50`,
    };
  },
  InvalidConfig: (view, c) => ({
    command: edit(view, view.get(c.root.kind, c.root.namespace, c.root.name) ?? c.object, fieldOf(c)),
  }),
};
for (const reason of [
  'FieldMissing',
  'InvalidSchedule',
  'NotSupported',
  'FileNotAllowed',
  'InvalidOverride',
  'HostAccessRefused',
  'VolumeNotShared',
  'MetadataConflict',
  'CellsShare',
  'CellsShareNodes',
  'CellNameTaken',
  'CellWithoutHosts',
  'Rejected',
  'ValueRefused',
  'NotImplemented',
])
  (CURES as Record<string, (view: View, c: Case) => Row>)[reason] = editField;
for (const reason of ['WebhookSilent', 'WebhookDenied', 'PodSecurity', 'LimitRange'])
  (CURES as Record<string, (view: View, c: Case) => Row>)[reason] = (_view, c) => refused(c) ?? {};

export function cureOf(view: View, c: Case): Cure {
  const row = CURES[c.reason]?.(view, c) ?? {};
  const known: ReasonEntry | undefined = (REASONS as Readonly<Record<string, ReasonEntry>>)[c.reason];
  const { meaning } = c.finding ?? {};
  return {
    who: row.who ?? c.cause?.actor ?? known?.who ?? 'User',
    next: row.next ?? meaning?.next ?? c.cause?.next ?? known?.cure ?? 'look at it',
    command: row.command ?? `${kubectl(c.object)} describe ${typed(c.object)}`,
    afterwards: row.afterwards ?? (c.root.kind === 'Job' ? [retry(c.object)] : []),
  };
}
