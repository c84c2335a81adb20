import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { apiVersionOf, type Resource } from '../../kube/resource.ts';
import { canonical } from './canonical.ts';
import type { Body } from './cx.ts';
import type { Managed } from './managed.ts';
import { ADOPT_ANNOTATION, MANAGED_LABEL, RETAINED_LABEL, ROW_LABEL } from './names.ts';
import { stall, type Unmet, wait } from './unmet.ts';

/** A body with what the engine adds to every object: kind, place, labels, owner. Pure. */
export function dress(
  owner: DeepReadonly<Managed>,
  resource: Resource,
  body: Body,
  row: string,
  retained = false,
): AnyObject {
  const { metadata, ...rest } = body;
  const object = {
    ...rest,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      ...metadata,
      namespace: resource.namespaced ? owner.metadata.namespace : undefined,
      labels: {
        'app.kubernetes.io/managed-by': 'openstack-operator',
        'app.kubernetes.io/part-of': 'openstack',
        'app.kubernetes.io/name': owner.kind.toLowerCase(),
        'app.kubernetes.io/instance': owner.metadata.name,
        ...metadata.labels,
        [MANAGED_LABEL]: 'true',
        [ROW_LABEL]: row,
        ...(retained ? { [RETAINED_LABEL]: owner.metadata.name } : {}),
      },
      ownerReferences: retained
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

/** Why an object that is already there under our name may not be applied over, or undefined (rule 3). */
export function notOurs(owner: DeepReadonly<Managed>, live: DeepReadonly<AnyObject>): Unmet | undefined {
  const what = `${live.kind} ${live.metadata.name}`;
  if (live.metadata.deletionTimestamp)
    return wait({
      reason: 'Terminating',
      what: `${what} is being deleted`,
      who: 'Cluster',
      next: 'finish deleting it',
    });
  const controller = live.metadata.ownerReferences?.find(ref => ref.controller);
  if (controller?.uid === owner.metadata.uid) return undefined;
  if (controller && controller.kind === owner.kind && controller.name === owner.metadata.name)
    return wait({
      reason: 'Terminating',
      what: `${what} belongs to an earlier ${owner.kind} ${owner.metadata.name}`,
      who: 'Cluster',
      next: 'collect it',
    });
  if (controller)
    return stall({
      reason: 'NameTaken',
      what: `${what} belongs to ${controller.kind} ${controller.name}`,
      who: 'User',
      next: 'rename one of the two owners',
      after: LOOK_AGAIN_MS,
    });
  const kept = keptFor(live);
  if (kept && !isKeptFor(owner, kept))
    return stall({
      reason: 'NameTaken',
      what: `${what} is kept for the ${kept.kind} named ${kept.name}`,
      who: 'User',
      next: `choose another name for this ${owner.kind}, or delete ${what} if nobody needs the data that it opens`,
      after: LOOK_AGAIN_MS,
    });
  if (live.metadata.labels?.[MANAGED_LABEL] === 'true' || live.metadata.annotations?.[ADOPT_ANNOTATION] === 'true')
    return undefined;
  return stall({
    reason: 'AlreadyExists',
    what: `${what} exists and is not ours`,
    who: 'User',
    next: `delete it, or annotate it with ${ADOPT_ANNOTATION}=true to hand it over`,
    after: LOOK_AGAIN_MS,
  });
}

/** Whether an object may be deleted on our owner's behalf: its own, or kept for it (rule 18). Never another's. */
export function mayDelete(owner: DeepReadonly<Managed>, live: DeepReadonly<AnyObject>): boolean {
  const controller = live.metadata.ownerReferences?.find(ref => ref.controller);
  const kept = keptFor(live);
  if (!controller && kept && !isKeptFor(owner, kept)) return false;
  return controller ? controller.uid === owner.metadata.uid : live.metadata.labels?.[MANAGED_LABEL] === 'true';
}
