import type { AnyObject, DeepReadonly } from '../../../kube/object.ts';
import { ownerUids } from '../dress.ts';

type Live = DeepReadonly<AnyObject>;

/** The index by which a pass finds what its object owns. */
export const OWNER_INDEX = 'owner';
export const ownerIndex = (object: Live): readonly string[] => ownerUids(object);

/** Finds the pods of one object among those of a thousand others. */
export const INSTANCE_INDEX = 'instance';
export const INSTANCE_LABEL = 'app.kubernetes.io/instance';
export const KIND_LABEL = 'app.kubernetes.io/name';
export const instanceIndex = (object: Live): readonly string[] => {
  const instance = object.metadata.labels?.[INSTANCE_LABEL];
  return instance === undefined ? [] : [instance];
};
