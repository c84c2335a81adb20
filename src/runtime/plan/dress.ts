import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { canonical } from './canonical.ts';
import type { Body } from './cx.ts';
import type { Managed } from './managed.ts';
import {
  ADOPT_ANNOTATION,
  COPIES,
  isHolderLabel,
  MANAGED_LABEL,
  MANAGER,
  OWNER_NAMESPACE_LABEL,
  OWNER_UID_LABEL,
  RETAINED_LABEL,
  ROW_LABEL,
} from './names.ts';
import { stall, type Unmet, wait } from './unmet.ts';

/** A body with what the engine adds to every object: kind, place, labels, owner. Pure. */
export function dress(
  owner: DeepReadonly<Managed>,
  resource: Resource,
  body: Body,
  row: string,
  retained = false,
  /** Its own, unless it is an object of the node. */
  namespace = owner.metadata.namespace,
): AnyObject {
  const { metadata, ...rest } = body;
  const elsewhere = resource.namespaced && namespace !== owner.metadata.namespace;
  const object = {
    ...rest,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      ...metadata,
      namespace: resource.namespaced ? namespace : undefined,
      labels: {
        'app.kubernetes.io/managed-by': 'openstack-operator',
        'app.kubernetes.io/part-of': 'openstack',
        'app.kubernetes.io/name': owner.kind.toLowerCase(),
        'app.kubernetes.io/instance': owner.metadata.name,
        ...metadata.labels,
        [MANAGED_LABEL]: 'true',
        [ROW_LABEL]: row,
        ...(retained ? { [RETAINED_LABEL]: owner.metadata.name } : {}),
        ...(elsewhere && ownerLabels(owner, retained)),
      },
      // The garbage collector deletes what names an owner that is not in its own namespace.
      ownerReferences:
        retained || elsewhere
          ? undefined
          : [
              {
                apiVersion: owner.apiVersion,
                kind: owner.kind,
                name: owner.metadata.name,
                uid: owner.metadata.uid,
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
    },
  };
  return canonical(withManagedPods(object)) as AnyObject;
}

const ownerLabels = ({ metadata }: DeepReadonly<Managed>, retained: boolean): Record<string, string | undefined> => ({
  [OWNER_NAMESPACE_LABEL]: metadata.namespace,
  ...(retained ? {} : { [OWNER_UID_LABEL]: metadata.uid }),
});

/** The UID of what an object belongs to: its controller's, or what its label says where no reference reaches. */
export const ownerUid = ({ metadata }: DeepReadonly<Pick<AnyObject, 'metadata'>>): string | undefined =>
  metadata.ownerReferences?.find(ref => ref.controller)?.uid ?? metadata.labels?.[OWNER_UID_LABEL];

/** The same, and who holds a copy of a Secret. */
export const ownerUids = (object: DeepReadonly<Pick<AnyObject, 'metadata'>>): readonly string[] => {
  const owner = ownerUid(object);
  return owner === undefined ? holdersOf(object).map(([, uid]) => uid) : [owner];
};

/** By label, the UID of each object whose pods mount this copy of a Secret. */
export const holdersOf = ({
  metadata: { labels = {} },
}: DeepReadonly<Pick<AnyObject, 'metadata'>>): readonly (readonly [label: string, uid: string])[] =>
  labels[ROW_LABEL] === COPIES ? Object.entries(labels).filter(([label]) => isHolderLabel(label)) : [];

/** By which copies of Secrets of one namespace are found in another: they belong to it, and to none of its objects alone. */
export const labelsOfCopies = (home: string): Readonly<Record<string, string>> => ({
  [OWNER_NAMESPACE_LABEL]: home,
  [ROW_LABEL]: COPIES,
});

/** A copy of a Secret. The same whoever applies it: who holds it is written beside it, each for itself. */
export function dressCopy(home: string, namespace: string, body: Body): AnyObject {
  const labels = {
    'app.kubernetes.io/managed-by': MANAGER,
    'app.kubernetes.io/part-of': 'openstack',
    [MANAGED_LABEL]: 'true',
    ...labelsOfCopies(home),
  };
  const object = { ...body, apiVersion: 'v1', kind: 'Secret', metadata: { ...body.metadata, namespace, labels } };
  return canonical(object) as AnyObject;
}

/** Pods are watched by the same selector as all else. */
function withManagedPods(object: Record<string, unknown>): Record<string, unknown> {
  const spec = object.spec as { template?: { metadata?: { labels?: object } } } | undefined;
  if (!spec?.template) return object;
  const labels = { ...spec.template.metadata?.labels, [MANAGED_LABEL]: 'true' };
  return {
    ...object,
    spec: { ...spec, template: { ...spec.template, metadata: { ...spec.template.metadata, labels } } },
  };
}

interface Keeper {
  /** In lower case. */
  readonly kind: string;
  readonly name: string;
}

/** Whom an object without an owner is kept for (rule 18). */
function keptFor({ metadata: { labels = {} } }: DeepReadonly<AnyObject>): Keeper | undefined {
  const { 'app.kubernetes.io/name': kind, [RETAINED_LABEL]: name } = labels;
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

const isKeptFor = ({ kind, metadata }: DeepReadonly<Managed>, keeper: Keeper): boolean =>
  keeper.kind === kind.toLowerCase() && keeper.name === metadata.name;

/** An object without our label is in no informer: no watch tells when it goes or is handed over. */
const LOOK_AGAIN_MS = 60_000;

/** Labels by which all of an object in its node namespace is found, also what an earlier object of its name left behind. */
export const labelsElsewhere = ({ kind, metadata }: DeepReadonly<Managed>): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': kind.toLowerCase(),
  'app.kubernetes.io/instance': metadata.name,
  [OWNER_NAMESPACE_LABEL]: metadata.namespace ?? '',
});

const isElsewhere = (owner: DeepReadonly<Managed>, { metadata }: DeepReadonly<AnyObject>): boolean =>
  metadata.namespace !== undefined && metadata.namespace !== owner.metadata.namespace;

/** No name of an owner is in two namespaces at once, so labels that name ours are ours whatever UID they tell. */
const isOursElsewhere = (owner: DeepReadonly<Managed>, live: DeepReadonly<AnyObject>): boolean =>
  isElsewhere(owner, live) &&
  !live.metadata.ownerReferences?.some(ref => ref.controller) &&
  [labelsElsewhere(owner), labelsOfCopies(owner.metadata.namespace ?? '')].some(labels =>
    Object.entries(labels).every(([key, value]) => live.metadata.labels?.[key] === value),
  );

/** Whose an object in a node namespace is, in words. */
function holderElsewhere({ metadata: { labels = {}, ownerReferences } }: DeepReadonly<AnyObject>): string | undefined {
  const { 'app.kubernetes.io/name': kind, 'app.kubernetes.io/instance': name, [OWNER_NAMESPACE_LABEL]: home } = labels;
  if (home !== undefined)
    return `${kind === undefined ? 'the objects' : `the ${kind} named ${name}`} of namespace ${home}`;
  const controller = ownerReferences?.find(ref => ref.controller);
  if (controller) return `${controller.kind} ${controller.name} of that namespace`;
  // Also one that was handed over once, and carries the annotation ever since.
  return labels[RETAINED_LABEL] === undefined
    ? undefined
    : `the ${kind} named ${labels[RETAINED_LABEL]} of that namespace, for which it is kept`;
}

/** One of the two is a cloud's own namespace and another one's for nodes, or both clouds have it for their nodes. */
function notOursElsewhere(owner: DeepReadonly<Managed>, live: DeepReadonly<AnyObject>): Unmet | undefined {
  if (isOursElsewhere(owner, live)) return undefined;
  const { namespace = '', name } = live.metadata;
  const about = { kind: live.kind, name, namespace };
  const what = `${live.kind} ${name} in namespace ${namespace}`;
  const holder = holderElsewhere(live);
  if (holder !== undefined)
    return stall({
      reason: 'NameTaken',
      about,
      what: `${what} belongs to ${holder}`,
      who: 'User',
      next: `keep clouds apart: delete one of the two and create it again with a namespace of its own${isElsewhere(owner, live) ? ' in spec.nodeNamespace' : ''}`,
      after: LOOK_AGAIN_MS,
    });
  if (live.metadata.annotations?.[ADOPT_ANNOTATION] === 'true') return undefined;
  return stall({
    reason: 'AlreadyExists',
    about,
    what: `${what} exists and is not ours`,
    who: 'User',
    next: `delete it, or hand it over: kubectl annotate ${live.kind.toLowerCase()} ${name} -n ${namespace} ${ADOPT_ANNOTATION}=true`,
    after: LOOK_AGAIN_MS,
  });
}

/** Why an object that is already there under our name may not be applied over, or undefined (rule 3). */
export function notOurs(owner: DeepReadonly<Managed>, live: DeepReadonly<AnyObject>): Unmet | undefined {
  const about = { kind: live.kind, name: live.metadata.name, namespace: live.metadata.namespace ?? '' };
  const what = `${live.kind} ${live.metadata.name}`;
  if (live.metadata.deletionTimestamp)
    return wait({
      reason: 'Terminating',
      about,
      what: `${what} is being deleted`,
      who: 'Cluster',
      next: 'finish deleting it',
    });
  if (isElsewhere(owner, live) || live.metadata.labels?.[OWNER_NAMESPACE_LABEL] !== undefined)
    return notOursElsewhere(owner, live);
  const controller = live.metadata.ownerReferences?.find(ref => ref.controller);
  if (controller?.uid === owner.metadata.uid) return undefined;
  if (controller && controller.kind === owner.kind && controller.name === owner.metadata.name)
    return wait({
      reason: 'Terminating',
      about,
      what: `${what} belongs to an earlier ${owner.kind} ${owner.metadata.name}`,
      who: 'Cluster',
      next: 'collect it',
    });
  if (controller)
    return stall({
      reason: 'NameTaken',
      about,
      what: `${what} belongs to ${controller.kind} ${controller.name}`,
      who: 'User',
      next: 'rename one of the two owners',
      after: LOOK_AGAIN_MS,
    });
  const kept = keptFor(live);
  if (kept && !isKeptFor(owner, kept))
    return stall({
      reason: 'NameTaken',
      about,
      what: `${what} is kept for the ${kept.kind} named ${kept.name}`,
      who: 'User',
      next: `choose another name for this ${owner.kind}, or delete ${what} if nobody needs the data that it opens`,
      after: LOOK_AGAIN_MS,
    });
  if (live.metadata.labels?.[MANAGED_LABEL] === 'true' || live.metadata.annotations?.[ADOPT_ANNOTATION] === 'true')
    return undefined;
  return stall({
    reason: 'AlreadyExists',
    about,
    what: `${what} exists and is not ours`,
    who: 'User',
    next: `delete it, or annotate it with ${ADOPT_ANNOTATION}=true to hand it over`,
    after: LOOK_AGAIN_MS,
  });
}

/** Whether an object may be deleted on our owner's behalf: its own, or kept for it (rule 18). Never another's. */
export function mayDelete(owner: DeepReadonly<Managed>, live: DeepReadonly<AnyObject>): boolean {
  if (isElsewhere(owner, live) || live.metadata.labels?.[OWNER_NAMESPACE_LABEL] !== undefined)
    return isOursElsewhere(owner, live);
  const controller = live.metadata.ownerReferences?.find(ref => ref.controller);
  const kept = keptFor(live);
  if (!controller && kept && !isKeptFor(owner, kept)) return false;
  return controller ? controller.uid === owner.metadata.uid : live.metadata.labels?.[MANAGED_LABEL] === 'true';
}
