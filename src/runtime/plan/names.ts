/** Names that the engine puts on objects. Users and tools select by them, so they never change. */

export const MANAGER = 'openstack-operator';
export const STATUS_MANAGER = 'openstack-operator-status';
/** Not MANAGER: a parent applies its child under that name, without the child's finalizer, and would remove it. */
export const FINALIZER_MANAGER = 'openstack-operator-finalizer';
export const FINALIZER = 'openstack.k8s.io/operator';

/** On everything we make and on the pods of it: built-ins are watched with this selector only (rule 2). */
export const MANAGED_LABEL = 'openstack.k8s.io/managed';
/** Which row made it: the inventory that pruning goes by. */
export const ROW_LABEL = 'openstack.k8s.io/row';
/** Which once-only work a Job does. */
export const STEP_LABEL = 'openstack.k8s.io/step';
/** On what stays when its owner goes (rule 18): whose it was. */
export const RETAINED_LABEL = 'openstack.k8s.io/retained-for';

/**
 * On what lies in spec.nodeNamespace, where no owner reference reaches: the UID of its owner, and where that is. Kind and
 * name of the owner are in the usual labels.
 */
export const OWNER_UID_LABEL = 'openstack.k8s.io/owner-uid';
export const OWNER_NAMESPACE_LABEL = 'openstack.k8s.io/owner-namespace';
/**
 * On a Namespace: the one whose objects may have pods of nodes in it. Who writes our kinds in a namespace has no say over
 * others, and the operator has rights in all that it serves.
 */
export const NODES_OF_LABEL = 'openstack.k8s.io/nodes-of';
/** The mark, in place of a row, of copies of Secrets there: pods of several rows, and of several objects, mount one. */
export const COPIES = 'NodeSecrets';
/**
 * The label by which an object holds a copy: pods of its own mount it. The value is its UID. A label of its own for each, so
 * that no holder writes over another; by kind and name, so that the next of that name does not hold it twice.
 */
export const holderLabel = ({
  kind,
  metadata,
}: {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}): string => `${kind.toLowerCase()}${HOLDER}${metadata.name}`;
export const isHolderLabel = (label: string): boolean => label.includes(HOLDER);
const HOLDER = '.holder.openstack.k8s.io/';
/** In SKIP_UNDO_ANNOTATION: leave behind what lies there. */
export const NODE_OBJECTS = 'NodeNamespace';

export const PAUSED_ANNOTATION = 'openstack.k8s.io/paused';
export const ADOPT_ANNOTATION = 'openstack.k8s.io/adopt';
/** Any new value makes failed Jobs due again. */
export const RETRY_ANNOTATION = 'openstack.k8s.io/retry';
/** Names rows, comma-separated, whose undo is given up. */
export const SKIP_UNDO_ANNOTATION = 'openstack.k8s.io/skip-undo';
/** Which rows acted outside Kubernetes for this object: written before the first such act, read when it is deleted. */
export const UNDO_ANNOTATION = 'openstack.k8s.io/undo';
/** Says of a database that was lost, by the time of its loss, that it may be created again, empty. */
export const ACCEPT_LOSS_ANNOTATION = 'openstack.k8s.io/accept-data-loss';
/** The namespace's random id, which marks everything outside Kubernetes. Kept whatever is deleted. */
export const OWNER_SECRET = 'openstack-owner';
/** With what hashes over secrets are made. Kept whatever is deleted. */
export const HASH_KEY_SECRET = 'openstack-hash-key';
/** On the Secret of the id: its namespace, by which a copy in another one is known, made by a restore for example. */
export const OWNER_OF_ANNOTATION = 'openstack.k8s.io/owner-of';
/** What may be read by everybody who may read objects: the id stands in every mark. Other keys of that Secret are secret. */
export const isPlainOwnerKey = (key: string): boolean => key === 'id' || key.startsWith('release.');
/** In the Secret of the id: the release of the data that an object left behind. */
export const keptKey = ({
  kind,
  metadata,
}: {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}): string => `release.${kind.toLowerCase()}.${metadata.name}`;
/** In SKIP_UNDO_ANNOTATION of a backend: do not wait for the objects that name it. */
export const USERS = 'Users';

export const OPERATOR_NAMESPACE = 'openstack-operator-system';
