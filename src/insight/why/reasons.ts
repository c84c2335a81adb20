/** Who acts next; `-` where nobody has to. `why` and the reference page both read this table. */
export type Actor = 'User' | 'Operator' | 'Cluster' | '-';

export interface ReasonEntry {
  /** What is the case. */
  readonly meaning: string;
  readonly who: Actor;
  /** What mends it. */
  readonly cure: string;
}

const entry = (who: Actor, meaning: string, cure: string): ReasonEntry => ({ who, meaning, cure });

/** Every reason that a condition of ours can carry. A test compares it with the code, in both directions. */
export const REASONS = {
  // All is well, or on its way.
  DeploymentReady: entry('-', 'Everything that was asked for is there and answers.', 'Nothing.'),
  Succeeded: entry('-', 'This part is done.', 'Nothing.'),
  Reconciling: entry(
    'Operator',
    'Work is under way, or waits for something that comes by itself.',
    'Wait; the message names what is awaited.',
  ),
  Blocked: entry(
    'Operator',
    'This part waits for another part of the same object.',
    'Look at the condition that the message names.',
  ),
  Progressing: entry(
    'Cluster',
    'A workload has fewer ready or updated pods than it should.',
    'Wait; if it stays, look at its pods.',
  ),
  HousekeepingFailed: entry(
    'User',
    'The last run that removes old rows from the database failed. Ready does not hang on it.',
    'Read the message; it runs again at its time.',
  ),
  Rotating: entry(
    'Cluster',
    'A login was replaced, and pods that know the former one are still there. Ready does not hang on it.',
    'Wait; if it stays, look which pods do not roll.',
  ),
  ReleaseChangeRefused: entry(
    'User',
    'spec.release asks for another release than the one that runs (status.release), and this operator cannot go there. What runs stays as it is; nothing below the object is written meanwhile.',
    'Set spec.release back to what status.release says.',
  ),
  HostAccessRefused: entry(
    'User',
    'A field would give pods rights on the node, or change what runs in pods that have them. What runs stays as it is; nothing below the object is written meanwhile.',
    'Take the field out; whoever runs the operator may allow it (run --allow-host-access).',
  ),
  CellUnknown: entry(
    'User',
    "The database of Nova's API maps a cell that cellTemplates does not name; Nova can't list servers.",
    'Name the cell in cellTemplates; taken out of there again, it is emptied and unmapped.',
  ),
  JobRunning: entry('Cluster', 'A Job of this object runs.', 'Wait.'),
  VolumePending: entry(
    'Cluster',
    'A pod waits for its volume.',
    'Wait; if it stays, check the StorageClass and its provisioner.',
  ),
  Terminating: entry(
    'Cluster',
    'Something in the way is being deleted.',
    'Wait; if it stays, look at the finalizers of the object that the message names.',
  ),
  InTurn: entry(
    'Operator',
    'With rollout strict this child starts after another one.',
    'Look at the child that the message names.',
  ),
  CellsNotMapped: entry(
    'Operator',
    'No cell is known to the database yet, and this process would fail without one.',
    'Wait until cell0 is mapped.',
  ),
  NotReady: entry(
    'Operator',
    'An object that this one stands on is not Ready yet.',
    'Look at the object that the message names.',
  ),
  Annotated: entry(
    'User',
    'The annotation openstack.k8s.io/paused is set: nothing below the object is written.',
    'Remove the annotation.',
  ),
  Deleting: entry('Operator', 'The object is being deleted, and takes back what it made elsewhere.', 'Wait.'),

  // A name that leads nowhere.
  NotFound: entry(
    'User',
    'An object that the spec names does not exist.',
    'Create it, or name another one in the field.',
  ),
  GatewayAPINotFound: entry(
    'User',
    'The spec names a Gateway, and the CustomResourceDefinitions of the Gateway API are not installed.',
    'Install them, or publish through an IngressClass.',
  ),
  GatewayNotFound: entry('User', 'The Gateway that the spec names does not exist.', 'Create it, or name another one.'),
  RouteRefused: entry(
    'User',
    'The Gateway does not accept the route of this service.',
    'Look at its listeners: which routes they admit, and from which namespaces.',
  ),
  CertManagerNotFound: entry(
    'User',
    'The spec asks cert-manager for a certificate, and its CustomResourceDefinitions are not installed.',
    'Install cert-manager, or name a Secret in spec.tls.secretName.',
  ),
  RookNotFound: entry(
    'User',
    'The spec asks Rook for a Ceph cluster, and its CustomResourceDefinitions are not installed.',
    'Install Rook, or name an existing cluster in spec.external.',
  ),
  RookNotReady: entry(
    'Cluster',
    'Rook has not brought up the cluster, pool or user of Ceph that the message names.',
    'Wait; if it stays, look at that object and at the log of rook-ceph-operator.',
  ),
  RookFailed: entry(
    'User',
    'Rook gave up on the cluster, pool or user of Ceph that the message names, for now.',
    "Look at the object's Events and at the log of rook-ceph-operator, and mend the cause.",
  ),
  IssuerNotFound: entry(
    'User',
    'The issuer of certificates that the spec names does not exist.',
    'Create it, or name another one.',
  ),
  CertificateNotReady: entry(
    'Cluster',
    'cert-manager has not made the certificate yet.',
    'Wait; if it stays, look at the Certificate that the message names and at its CertificateRequest.',
  ),
  CertificateInvalid: entry(
    'User',
    'The certificate in a Secret would not work: it has another name, key or CA. What was in use before still is.',
    'Put right the key of the Secret that the message names.',
  ),
  CertificateExpired: entry('User', 'The certificate in a Secret has ended.', 'Renew it.'),
  SecretNotFound: entry(
    'User',
    'A Secret that the spec names does not exist.',
    'Create it with the keys that the message names.',
  ),
  SecretIncomplete: entry('User', 'A Secret lacks a key.', 'Add the key.'),
  IngressClassNotFound: entry(
    'User',
    'An IngressClass that the spec names does not exist.',
    'Install its controller, or name another class.',
  ),
  StorageClassNotFound: entry(
    'User',
    'The StorageClass does not exist.',
    'Create it, or create the object again with another one.',
  ),
  NoNodes: entry('User', 'No node carries the label that these pods ask for.', 'Label a node.'),
  NoAddress: entry(
    'Cluster',
    'A Service has no address yet that hosts outside the cluster could use.',
    'Wait; if it stays, check the load balancer of the cluster.',
  ),
  NotExposed: entry(
    'User',
    'Hosts outside the cluster can not reach what they need; pods in it can.',
    'Set expose in the sections that the message names, if there are such hosts.',
  ),

  // A spec that passes the schema and can't work.
  SecretInvalid: entry('User', 'A Secret holds a value that can not work.', 'Correct the key that the message names.'),
  FieldMissing: entry('User', 'A field is needed here and not set.', 'Set the field that the message names.'),
  InvalidConfig: entry(
    'User',
    'Config text can not be read; the message gives line and column. Pods run on with the last valid text.',
    'Correct the text.',
  ),
  InvalidSchedule: entry('User', 'A schedule is not five fields of cron.', 'Correct the field.'),
  FileNotAllowed: entry(
    'User',
    'defaultConfigOverwrite names a file that the service does not read.',
    'Use one of the names in the message.',
  ),
  InvalidOverride: entry(
    'User',
    'spec.override can not be merged: a field, container or port that is not there, or one that others go by.',
    'Correct what the message names; until then pods and Services stay as they are.',
  ),
  NotSupported: entry(
    'User',
    'This version can not do what a field asks for.',
    'Set the value that the message names.',
  ),
  NotImplemented: entry(
    'User',
    'This version has no controller for the kind.',
    'Disable it, or wait for a version that has one.',
  ),
  VolumeNotShared: entry(
    'User',
    'Several pods would need one volume that only one node can mount.',
    'Set replicas to 1, or give the data a ReadWriteMany claim.',
  ),
  MetadataConflict: entry(
    'User',
    'Metadata would be served both for all cells and by a cell of its own.',
    'Disable one of the two fields that the message names.',
  ),
  CellsShare: entry(
    'User',
    'Two cells, or a cell and the API, would use one database or one bus.',
    'Give each its own Secret.',
  ),
  CellNameTaken: entry('User', 'A cell has the name of a part of Nova.', 'Give the cell another name.'),
  CellsShareNodes: entry(
    'User',
    'Two cells with metadata services of their own have computes on the same nodes, and a node can ask one of them only.',
    'Give the computes of each cell a `nodeSelector` that no other cell matches.',
  ),
  CellWithoutHosts: entry(
    'User',
    'Computes or consoles are asked for in cell0, where no host can be.',
    'Use another cell.',
  ),
  AnotherControlPlane: entry(
    'User',
    'The namespace has an older control plane.',
    'Delete one of the two, or use another namespace.',
  ),
  AlreadyExists: entry(
    'User',
    'An object of that name exists and is not ours.',
    'Delete it, or hand it over with annotation openstack.k8s.io/adopt=true.',
  ),
  NameTaken: entry(
    'User',
    'An object, database, user, virtual host, pool or catalog entry of that name belongs to another owner, or carries no owner mark.',
    'Choose another name, or hand it over with annotation `openstack.k8s.io/adopt`, as the message says.',
  ),
  VolumeElsewhere: entry(
    'User',
    'The claim with the volumes of an `lvm` backend is in another namespace than its pod: the cloud was created again with another `spec.nodeNamespace`, or with none.',
    'Create the cloud again so that its pods are where the claim is, or delete the claim if nobody needs its volumes.',
  ),
  NamespaceNotFound: entry(
    'User',
    'The namespace in `spec.nodeNamespace` does not exist.',
    'Create it with the labels that the message names.',
  ),
  NamespaceNotGiven: entry(
    'User',
    'The namespace in `spec.nodeNamespace` has no label that gives it to the pods of this cloud.',
    'Label it as the message says, if it is meant for them alone.',
  ),
  NamespaceRefusesPods: entry(
    'User',
    'The namespace in `spec.nodeNamespace` enforces a PodSecurity level that refuses pods of the node.',
    'Label it with pod-security.kubernetes.io/enforce=privileged.',
  ),
  NamespaceNotServed: entry(
    'User',
    'The namespace in `spec.nodeNamespace` is not among the `--namespaces` of the operator.',
    'Write an overlay for both namespaces with make overlay, and apply it.',
  ),
  InUse: entry(
    'User',
    'The object is being deleted, or its section of the control plane is switched off, and it stays because other objects name it and have data or users in it.',
    'Delete those objects first, or switch the section on again. Annotation `openstack.k8s.io/skip-undo=Users` deletes it without waiting, and under `deletionPolicy: Delete` their data with it.',
  ),
  ValueRefused: entry(
    'User',
    'A value can not be written to the file or script that needs it, however it is quoted.',
    'Change the value that the message names.',
  ),
  Rejected: entry('User', 'The API server refuses an object as invalid.', 'Correct the field that the message names.'),
  Forbidden: entry('User', 'The API server forbids it: RBAC, a quota or a policy.', 'Grant it, or raise the quota.'),

  // Pods and Jobs.
  Unschedulable: entry(
    'User',
    'No node fits a pod.',
    'Add or label a node, or change nodeSelector, resources or storage.',
  ),
  ImagePullFailed: entry(
    'User',
    "An image can't be pulled.",
    'Correct its name, name the Secret of its registry in `imagePullSecrets`, or make it available to the nodes.',
  ),
  CrashLoop: entry('User', 'A container ends again and again; the message has its last words.', 'Mend the cause.'),
  PodConfig: entry('Operator', 'A pod names a Secret or ConfigMap that is missing.', 'Wait; the operator makes it.'),
  JobFailed: entry(
    'User',
    'A Job gave up; the message has its last words. It is not tried again by itself.',
    'Mend the cause, then annotate the object with openstack.k8s.io/retry=<anything new>.',
  ),

  // Backends.
  AccessDenied: entry(
    'User',
    'MariaDB, RabbitMQ or Keystone refuses our user: its password differs from the Secret.',
    'Restore one of the two. For Keystone the annotation openstack.k8s.io/retry=<anything new> resets it.',
  ),
  Unreachable: entry(
    'Operator',
    'A backend does not answer. It is tried again after two minutes at the latest.',
    'Check its pods and its Service, or the external server.',
  ),
  BackendError: entry(
    'Operator',
    'A backend answers that it will not. It is tried again after two minutes at the latest.',
    'Read the message; the backend may have trouble of its own.',
  ),
  ServiceSilent: entry(
    'Operator',
    'A process of Nova or Cinder runs and does not report to its database.',
    'Wait; if it stays, read the log of the pod that the message names. A Cinder driver that gave up on its storage starts again when its pod is deleted.',
  ),
  DatabaseLost: entry(
    'User',
    'A database is gone or empty although its schema had been created. The operator does not create it again by itself.',
    'Restore it from a backup, or accept the loss with annotation `openstack.k8s.io/accept-data-loss` and the time that the message names.',
  ),

  // Neither.
  Conflict: entry('Operator', 'Somebody else wrote at the same time.', 'Nothing; it is tried again.'),
  Error: entry(
    'Operator',
    'An error without a class of its own. It is tried again.',
    'Read the message; if it stays, it is worth a report.',
  ),
  DeletionBlocked: entry(
    'User',
    'For ten minutes something could not be taken back.',
    'Mend it, or give it up with annotation openstack.k8s.io/skip-undo=<condition>.',
  ),
} as const satisfies Readonly<Record<string, ReasonEntry>>;

/** Reasons of events that are not the reason of a condition. */
export const EVENTS: Readonly<Record<string, string>> = {
  Paused: 'Normal: somebody set the annotation openstack.k8s.io/paused.',
  Adopted: 'Normal: something outside Kubernetes was adopted, because annotation openstack.k8s.io/adopt names it.',
  DataLossAccepted:
    'Normal: a lost database is created again, empty, because annotation openstack.k8s.io/accept-data-loss accepts the loss.',
  HashKeyReplaced:
    'Normal: the Secret openstack-hash-key was lost and made anew, so a Job whose inputs are secret runs once more. Pods stay as they are.',
};

const line = (...cells: string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;

/** The reference page. `types`: condition type to the kinds that have it. */
export function conditionsPage(types: ReadonlyMap<string, readonly string[]>): string {
  const reasons = Object.entries<ReasonEntry>(REASONS).sort(([a], [b]) => (a < b ? -1 : 1));
  return `<!-- Generated by \`make manifests\` from src/insight/why/reasons.ts and the plans. Do not edit. -->
# Conditions and events

Every condition has the fields of \`metav1.Condition\`. \`reason\` is one of the words below, for machines; \`message\` says
what is the case, about which object, and ends with who must act: \`User\`, \`Operator\` or \`Cluster\`.
\`Ready\` sums up the others: its reason and message are those of the worst, and \`Reconciling\` while all that is open
comes by itself. An object that stands on another one carries the reason of that other one when a person must act.

For programs \`status.causes\` says the same in fields, and more: for each of these conditions \`reason\`, \`actor\` and the
\`object\` concerned, at \`waitsFor\` the object that has the cause, and at \`details\` what a command needs, e.g. the \`keys\` that
a Secret lacks. Under \`details.said\` are words of another program, such as the API server. Whoever waits for another object has
the reason and the object of the cause itself there, however far down it is.

## Reasons

${line('Reason', 'Meaning', 'Who acts', 'Cure')}${line('---', '---', '---', '---')}${reasons
  .map(([reason, { meaning, who, cure }]) => line(`\`${reason}\``, meaning, who, cure))
  .join('')}
## Events

An event is written when \`Ready\` changes its status or reason, with that reason: \`Normal\` for \`DeploymentReady\` and
\`Deleting\`, \`Warning\` for the others; none for \`Reconciling\`. Besides:

${Object.entries(EVENTS)
  .map(([reason, meaning]) => `- \`${reason}\`: ${meaning}\n`)
  .join('')}
## Condition types

${line('Type', 'Kinds')}${line('---', '---')}${[...types]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([type, kinds]) => line(`\`${type}\``, kinds.length > 8 ? `${kinds.length} kinds` : kinds.join(', ')))
  .join('')}`;
}
