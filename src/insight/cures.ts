import { OPERATOR_NAMESPACE } from '../operator/manifests.ts';
import { ADOPT_ANNOTATION, PAUSED_ANNOTATION, RETRY_ANNOTATION, SKIP_UNDO_ANNOTATION } from '../runtime/plan/names.ts';
import type { Finding } from './evidence.ts';
import { type Actor, REASONS, type ReasonEntry } from './reasons.ts';
import { type Live, namespaceOf, type View } from './view.ts';

/** What is known of a cause when its cure is looked up. */
export interface Case {
  readonly reason: string;
  readonly root: Finding['root'];
  /** The object of ours at which it shows. */
  readonly object: Live;
  /** The condition and what it says, where one does. */
  readonly type?: string;
  readonly message: string;
  readonly finding?: Finding;
}

export interface Cure {
  readonly who: Actor;
  readonly next: string;
  /** The next thing to type. */
  readonly command: string;
  /** To be typed when the cause is mended. */
  readonly afterwards: readonly string[];
}

type Row = Partial<Omit<Cure, 'afterwards'>> & { afterwards?: readonly string[] };

const match = (pattern: RegExp, text: string): string | undefined => pattern.exec(text)?.[1];
const kubectl = (object: Live): string => (namespaceOf(object) ? `kubectl -n ${namespaceOf(object)}` : 'kubectl');
const at = (root: Finding['root']): string => (root.namespace ? `kubectl -n ${root.namespace}` : 'kubectl');
const typed = (object: Live): string => `${object.kind.toLowerCase()} ${object.metadata.name}`;
const podOf = (finding: Finding | undefined): string => finding?.pod?.metadata.name ?? '<pod>';

/** People edit the highest object: what is below it is written over from there. */
function edit(view: View, object: Live, field = ''): string {
  let top = object;
  let section = '';
  for (let up = view.ownerOf(top); up; up = view.ownerOf(top)) {
    section = up.kind === 'OpenStackControlPlane' ? top.metadata.name : section;
    top = up;
  }
  const path = field.replace(/^spec\.?/, '');
  const where = ['spec', section, top === object || section === object.metadata.name ? path : '']
    .filter(Boolean)
    .join('.');
  return `${kubectl(top)} edit ${typed(top)}   # ${where}`;
}

const annotate = (object: Live, annotation: string): string =>
  `${kubectl(object)} annotate ${typed(object)} --overwrite ${annotation}`;
const retry = (object: Live): string => annotate(object, `${RETRY_ANNOTATION}="$(date +%s)"`);
const fieldIn = (message: string): string => match(/\b(spec\.[\w.[\]-]+\w)/, message) ?? '';
const editField = (view: View, c: Case): Row => ({ command: edit(view, c.object, fieldIn(c.message)) });
const logs = (c: Case, previous: boolean): string =>
  `${kubectl(c.object)} logs ${podOf(c.finding)}${c.finding?.container ? ` -c ${c.finding.container}` : ''}${previous ? ' --previous' : ''}`;

/** By reason; what a row leaves out comes from the condition's own message and from the table of reasons. */
const CURES: Readonly<Record<string, (view: View, c: Case) => Row>> = {
  SecretNotFound: (_view, c) => {
    const keys = (match(/with keys? ([\w., -]+)$/, c.message) ?? '').split(', ').filter(Boolean);
    const values = keys.map(key => ` --from-literal=${key}=<${key}>`).join('');
    return { command: `${at(c.root)} create secret generic ${c.root.name}${values}` };
  },
  SecretIncomplete: (_view, c) => {
    const key = match(/has no key (\S+?)[.,]? /, `${c.message} `) ?? 'key';
    return {
      command: `${at(c.root)} patch secret ${c.root.name} --type merge -p '{"stringData":{"${key}":"<${key}>"}}'`,
    };
  },
  NotFound: editField,
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
    return {
      who: 'User',
      next: 'add or label a node, or change nodeSelector, tolerations or resources',
      command:
        labels.length > 0
          ? `kubectl label node ${node} ${labels.join(' ')}`
          : `${kubectl(c.object)} describe pod ${podOf(c.finding)}`,
    };
  },
  NoNodes: (view, c) => ({
    command: `kubectl label node ${view.ofKind('Node')[0]?.metadata.name ?? '<node>'} ${match(/label (\S+?)[.\s]/, c.message) ?? '<label>'}=`,
  }),
  ImagePullFailed: (view, c) => ({
    who: 'User',
    next: 'correct the name of the image, or make it available to the nodes',
    command: edit(view, c.object, 'spec.image'),
  }),
  CrashLoop: (_view, c) => ({ who: 'User', next: 'read its log and mend the cause', command: logs(c, true) }),
  JobFailed: (_view, c) => ({
    who: 'User',
    next: 'mend what its last words name, then ask for another try',
    command: `${at(c.root)} logs job/${c.root.name} --tail=50`,
    afterwards: [retry(c.object)],
  }),
  VolumeFull: (_view, c) => ({
    who: 'User',
    command: `${kubectl(c.object)} patch pvc ${claimOf(c)} -p '{"spec":{"resources":{"requests":{"storage":"<more>"}}}}'`,
  }),
  CertificateExpired: (_view, c) => ({
    who: 'User',
    command: `${kubectl(c.object)} describe pod ${podOf(c.finding)}   # Volumes: the Secret with the certificate`,
  }),
  OutOfMemory: (view, c) => ({ who: 'User', command: edit(view, c.object, 'spec.resources.limits.memory') }),
  NotPermitted: (_view, c) => ({ who: 'User', command: logs(c, true) }),
  AccessDenied: (_view, c) => accessDenied(c),
  Unreachable: (_view, c) => {
    const host = match(/\bat (?:https?:\/\/)?([\w.-]+)/, c.message);
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
  NameTaken: (_view, c) => ({ command: `${at(c.root)} get ${c.root.kind.toLowerCase()} ${c.root.name} -o yaml` }),
  AnotherControlPlane: (_view, c) => ({ command: `${kubectl(c.object)} delete ${typed(c.object)}` }),
  Forbidden: (_view, c) =>
    c.root.kind === 'ResourceQuota'
      ? { who: 'User', next: 'raise the quota', command: `${at(c.root)} describe resourcequota ${c.root.name}` }
      : {
          who: 'User',
          next: 'give the operator its rights back: apply its RBAC again',
          command: 'kubectl apply --server-side -k config/rbac',
        },
  FailedCreate: (_view, c) => {
    const quota = match(/exceeded quota: ([\w.-]+)/, c.message);
    return quota
      ? { who: 'User', next: 'raise the quota', command: `${kubectl(c.object)} describe resourcequota ${quota}` }
      : {
          who: 'User',
          next: 'mend what the event names',
          command: `${at(c.root)} describe ${c.root.kind.toLowerCase()} ${c.root.name}`,
        };
  },
  NodeNotReady: (_view, c) => ({
    who: 'Cluster',
    next: 'bring the node back; its pods move after five minutes, save those that are bound to it',
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
    next: 'let whoever set the finalizer finish; when that one is gone for good, take the finalizer off',
    command: `${at(c.root)} get ${c.root.kind.toLowerCase()} ${c.root.name} -o jsonpath='{.metadata.finalizers}'`,
  }),
  Terminating: (_view, c) => ({ command: `${at(c.root)} describe ${c.root.kind.toLowerCase()} ${c.root.name}` }),
  NotObserved: () => ({
    who: 'User',
    next: 'see whether the operator runs, may see this namespace, and serves this kind (--namespaces, --kinds)',
    command: `kubectl -n ${OPERATOR_NAMESPACE} logs deployment/openstack-operator --tail=20`,
  }),
  ServiceSilent: (_view, c) => ({
    command: `${kubectl(c.object)} logs ${match(/\bpod (\S+?)[.,:\s]/i, c.message) ?? `-l app.kubernetes.io/instance=${c.object.metadata.name}`} --tail=50`,
  }),
  InvalidConfig: (view, c) => ({
    command: edit(view, view.get(c.root.kind, c.root.namespace, c.root.name) ?? c.object, fieldIn(c.message)),
  }),
};
for (const reason of [
  'FieldMissing',
  'InvalidSchedule',
  'NotSupported',
  'FileNotAllowed',
  'VolumeNotShared',
  'MetadataConflict',
  'CellsShare',
  'CellNameTaken',
  'CellWithoutHosts',
  'Rejected',
  'NotImplemented',
])
  (CURES as Record<string, (view: View, c: Case) => Row>)[reason] = editField;

const claimOf = (c: Case): string => {
  const spec = c.finding?.pod?.spec as
    | { volumes?: readonly { persistentVolumeClaim?: { claimName?: string } }[] }
    | undefined;
  return spec?.volumes?.find(volume => volume.persistentVolumeClaim)?.persistentVolumeClaim?.claimName ?? '<claim>';
};

function missing(c: Case): Row {
  const create = c.root.kind === 'ConfigMap' ? 'create configmap' : 'create secret generic';
  if (c.root.kind !== 'Secret' && c.root.kind !== 'ConfigMap')
    return {
      who: 'User',
      next: 'make what the pod mounts',
      command: `${kubectl(c.object)} describe pod ${podOf(c.finding)}`,
    };
  return {
    who: 'User',
    next: `create ${c.root.kind} ${c.root.name}, or take it out of the spec`,
    command: `${at(c.root)} ${create} ${c.root.name} --from-file=<file>`,
  };
}

function accessDenied(c: Case): Row {
  if (c.root.kind === 'Keystone')
    return {
      next: "restore the password, or have the administrator's set to the Secret's again",
      command: retry(c.object),
    };
  const pod = `${c.root.name}-0`;
  if (c.root.kind === 'MariaDB')
    // Its start-up file sets root's password to that of the Secret.
    return {
      next: 'restart the server: it takes the password from the Secret',
      command: `${at(c.root)} delete pod ${pod}`,
    };
  if (c.root.kind === 'RabbitMQ')
    return {
      next: 'set the password in the server to that of the Secret',
      command: `${at(c.root)} exec ${pod} -- rabbitmqctl change_password ${match(/refuses user (\S+?):/, c.message) ?? '<user>'} <password of the Secret>`,
    };
  return { command: `${kubectl(c.object)} describe ${typed(c.object)}` };
}

export function cureOf(view: View, c: Case): Cure {
  const row = CURES[c.reason]?.(view, c) ?? {};
  const known: ReasonEntry | undefined = (REASONS as Readonly<Record<string, ReasonEntry>>)[c.reason];
  const said = /\. (User|Operator|Cluster): ((?:(?!\. (?:User|Operator|Cluster): ).)*)$/s.exec(c.message);
  const { meaning } = c.finding ?? {};
  return {
    who: row.who ?? (said?.[1] as Actor | undefined) ?? known?.who ?? 'User',
    next: row.next ?? meaning?.next ?? said?.[2] ?? known?.cure ?? 'look at it',
    command: row.command ?? `${kubectl(c.object)} describe ${typed(c.object)}`,
    afterwards: row.afterwards ?? (c.root.kind === 'Job' ? [retry(c.object)] : []),
  };
}
