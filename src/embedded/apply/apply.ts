/**
 * Server-side apply and the tracking of ownership, as kube-apiserver 1.37 does them. Pure functions over JSON; results may
 * share parts with their inputs, which therefore must not be changed afterwards.
 */
import type { AnyObject } from '../../kube/object.ts';
import { badRequest, conflictOf, type Failure, Refused } from './conflicts.ts';
import { FieldSet, fieldElement } from './fieldset.ts';
import { applyAsKubectl } from './kubectl.ts';
import {
  capUpdaters,
  decode,
  identityOf,
  isReset,
  type Owner,
  type Owners,
  stripMeta,
  withOwners,
  withoutManagedFields,
} from './managers.ts';
import { equal } from './shape.ts';
import { type Comparison, compare, fieldsOf, merge, reconcile, remove, withNamedFields } from './typed.ts';
import type { TypeNode } from './types.ts';
import { validate } from './validate.ts';

export type { Failure } from './conflicts.ts';

/** Paths the strategy of a resource overwrites anyway, so that nobody owns them: `['status']`, `['metadata', 'labels']`. */
export type ResetFields = readonly (readonly string[])[];

export interface Write {
  manager: string;
  subresource?: string;
  type: TypeNode;
  /** RFC 3339, whole seconds. */
  time: string;
  resetFields?: ResetFields;
}

export interface ApplyInput extends Write {
  live: AnyObject | undefined;
  patch: AnyObject;
  force: boolean;
  /** What the request's path names; a patch of another kind is refused. Left out: what the patch says. */
  expected?: { apiVersion: string; kind: string };
}

/**
 * Server-side apply. `live` undefined means create. The result is merged but not defaulted, and its managedFields are new.
 * The caller defaults, validates and then passes it through `keepTimes`, in this order, as the API server does.
 */
export function applyPatch(input: ApplyInput): { object: AnyObject } | { failure: Failure } {
  try {
    return { object: apply(input) };
  } catch (error) {
    if (error instanceof Refused) return { failure: error.failure };
    return { failure: { code: 500, reason: '', message: (error as Error).message, causes: [] } };
  }
}

/** `after` with the managedFields a create (`before` undefined), update or patch leaves behind. `after` must be defaulted already. */
export function trackUpdate(input: Write & { before: AnyObject | undefined; after: AnyObject }): AnyObject {
  const { before, after, subresource = '' } = input;
  // Upstream fails only on objects that do not fit their type, and then leaves ownership as it was.
  try {
    const owners = ownersForUpdate(before, after, subresource !== '');
    const next = withoutManagedFields(after);
    // Ownership of objects that have lost it starts again with the next apply, not with an update.
    if (owners.size === 0 && before?.metadata.uid) return next;
    const live = before === undefined ? zeroOf(input.type, after) : withoutManagedFields(before);
    return withOwners(next, track(input, live, next, owners, input.manager));
  } catch {
    const metadata = { ...withoutManagedFields(after).metadata };
    if (before?.metadata.managedFields !== undefined) metadata.managedFields = before.metadata.managedFields;
    return { ...after, metadata };
  }
}

/** When a write changed nothing but times in managedFields, gives them their old values, so that nothing is stored. */
export function keepTimes(before: AnyObject, after: AnyObject): AnyObject {
  const [old, now] = [before.metadata.managedFields ?? [], after.metadata.managedFields ?? []];
  if (old.length !== now.length || now.every((entry, i) => entry.time === old[i]!.time)) return after;
  const sameOwners = now.every((entry, i) => equal({ ...entry, time: '' }, { ...old[i], time: '' }));
  if (!sameOwners || !equal(withoutManagedFields(before), withoutManagedFields(after))) return after;
  return { ...after, metadata: { ...after.metadata, managedFields: old } };
}

// Reset fields of the strategies in Kubernetes 1.37, pkg/registry/*/*/strategy.go.

const HAVE_STATUS = (
  'Pod Service PersistentVolumeClaim PersistentVolume Namespace Node ReplicationController ResourceQuota ' +
  'HorizontalPodAutoscaler Deployment ReplicaSet StatefulSet DaemonSet Job CronJob PodDisruptionBudget Ingress ' +
  'CustomResourceDefinition ValidatingAdmissionPolicy'
).split(' ');
const STATUS_RESETS: Record<string, ResetFields> = {
  Deployment: [['spec'], ['metadata', 'labels']],
  Pod: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  ValidatingAdmissionPolicy: [['spec'], ['metadata']],
};

/** What the strategies of Kubernetes 1.37 reset, per kind and subresource ('' is the main resource). */
export function resetFieldsOf(_apiVersion: string, kind: string, subresource: string): ResetFields {
  if (!HAVE_STATUS.includes(kind)) return [];
  return subresource === 'status' ? (STATUS_RESETS[kind] ?? [['spec']]) : [['status']];
}

/** The same for custom resources. `hasStatus`: the version declares the status subresource. */
export const resetFieldsOfCustom = (subresource: string, hasStatus: boolean): ResetFields =>
  subresource === 'status' ? [['metadata'], ['spec']] : hasStatus ? [['status']] : [];

const zeroOf = (type: TypeNode, like: AnyObject): AnyObject =>
  (type.zero ?? { apiVersion: like.apiVersion, kind: like.kind }) as AnyObject;

const resets = (fields: ResetFields = []): FieldSet => FieldSet.of(...fields.map(path => path.map(fieldElement)));

const message = (error: unknown): string => (error as Error).message;

function wrapped<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(`${what}: ${message(error)}`);
  }
}

/** Go's GroupVersionKind.String(); an apiVersion that cannot be parsed leaves all of it empty. */
function kindText(object: { apiVersion?: unknown; kind?: unknown }): string {
  const parts = String(object.apiVersion ?? '').split('/');
  if (parts.length > 2) return '/, Kind=';
  return `${parts.length === 2 ? parts[0] : ''}/${parts.at(-1)}, Kind=${object.kind ?? ''}`;
}

const nameText = (o: AnyObject): string => `${o.metadata?.namespace ?? ''}/${o.metadata?.name ?? ''}; ${kindText(o)}`;

/** A client may set managedFields itself, but not through a subresource, and not to something unreadable. */
function ownersForUpdate(before: AnyObject | undefined, after: AnyObject, keepLive: boolean): Owners {
  const sent = after.metadata.managedFields;
  if (!keepLive) {
    if (isReset(sent)) return new Map();
    const owners = readable(sent);
    if (owners.size > 0) return owners;
  }
  return readable(before?.metadata.managedFields);
}

function readable(entries: unknown): Owners {
  try {
    return decode(entries);
  } catch {
    return new Map();
  }
}

/** While an update is worked out, it stands apart from what the same manager owned before. */
const SELF = 'current-operation';

function track(input: Write, live: AnyObject, next: AnyObject, before: Owners, manager: string): Owners {
  const { type, time, subresource = '' } = input;
  wrapped(`failed to convert new object (${nameText(next)}) to smd typed`, () => validate(next, type, true));
  wrapped(`failed to convert live object (${nameText(live)}) to smd typed`, () => validate(live, type, true));
  const apiVersion = next.apiVersion;
  const owners = current(before, apiVersion, type);
  const reset = resets(input.resetFields);
  const change = wrapped(`failed to update ManagedFields (${nameText(next)})`, () =>
    shift(owners, live, next, type, SELF, true, reset),
  );
  const fields = change.modified.union(change.added).without(reset);
  const self: Owner = { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource, time, fields };
  owners.set(SELF, self);
  stripMeta(owners, SELF);
  const mine = owners.get(SELF);
  owners.delete(SELF);
  if (mine !== undefined) {
    const id = identityOf(self);
    const previous = owners.get(id)?.fields;
    owners.set(id, { ...mine, fields: previous ? mine.fields.union(previous) : mine.fields });
  }
  capUpdaters(owners);
  return owners;
}

/** Owners at the one version a kind has; those of other versions cannot be converted and are forgotten. */
function current(owners: Owners, apiVersion: string, type: TypeNode): Owners {
  const out: Owners = new Map();
  for (const [id, owner] of owners)
    if (owner.apiVersion === apiVersion) out.set(id, { ...owner, fields: reconcile(owner.fields, type) });
  return out;
}

/** Takes what has changed away from all owners but `self`; refuses to, unless forced. */
function shift(
  owners: Owners,
  live: unknown,
  next: unknown,
  type: TypeNode,
  self: string,
  force: boolean,
  reset: FieldSet,
): Comparison {
  const { removed, modified, added } = wrapped('failed to compare objects', () => compare(live, next, type));
  const change = { removed: removed.without(reset), modified: modified.without(reset), added: added.without(reset) };
  const touched = change.modified.union(change.added);
  const conflicts = new Map<string, { owner: Owner; fields: FieldSet }>();
  for (const [id, owner] of owners) {
    if (id === self) continue;
    const fields = owner.fields.intersection(touched);
    if (!fields.empty) conflicts.set(id, { owner, fields });
  }
  if (!force && conflicts.size > 0) throw conflictOf(conflicts);
  for (const [id, owner] of owners) {
    const taken = conflicts.get(id)?.fields;
    let { fields } = owner;
    if (taken) fields = fields.difference(taken);
    if (id !== self) fields = fields.difference(change.removed);
    if (fields.empty) owners.delete(id);
    else owners.set(id, { ...owner, fields });
  }
  return change;
}

function apply(input: ApplyInput): AnyObject {
  const { patch, type, manager } = input;
  const expected = input.expected ?? patch;
  let owners = wrapped('failed to decode managed fields', () => decode(input.live?.metadata.managedFields));
  if (kindText(patch) !== kindText(expected)) throw badRequest(`invalid object type: ${kindText(patch)}`);
  const live = input.live === undefined ? zeroOf(type, patch) : withoutManagedFields(input.live);
  if (owners.size === 0) {
    // What nobody is known to own belonged to somebody before.
    owners = wrapped('failed to create manager for existing fields', () =>
      track(input, zeroOf(type, patch), live, owners, 'before-first-apply'),
    );
  }
  if (Array.isArray(patch.metadata?.managedFields)) throw badRequest('metadata.managedFields must be nil');
  wrapped(`failed to create typed patch object (${nameText(patch)})`, () => validate(patch, type, false));
  wrapped(`failed to create typed live object (${nameText(live)})`, () => validate(live, type, true));
  const run = (force: boolean): AnyObject => applyOver(input, live, owners, force);
  return manager === 'kubectl' ? applyAsKubectl(patch, live, type, run, input.force) : run(input.force);
}

function applyOver(input: ApplyInput, live: AnyObject, before: Owners, force: boolean): AnyObject {
  const { patch, type, time, manager, subresource = '' } = input;
  const apiVersion = patch.apiVersion;
  const owners = current(before, apiVersion, type);
  const self = { manager: manager || 'unknown', operation: 'Apply', apiVersion, subresource } as const;
  const id = identityOf(self);
  const last = owners.get(id);
  const reset = resets(input.resetFields);
  const fields = fieldsOf(patch, type).without(reset);
  owners.set(id, { ...self, time: before.get(id)?.time, fields });
  const merged = merge(live, patch, type);
  const next = last === undefined ? merged : prune(merged, last.fields, owners, type);
  shift(owners, live, next, type, id, force, reset);
  stripMeta(owners, id);
  const mine = owners.get(id);
  if (equal(live, next)) return withOwners(live, owners);
  if (mine !== undefined) owners.set(id, { ...mine, time });
  return withOwners(next as AnyObject, owners);
}

/** Removes what the manager applied last time, does not apply now, and nobody else owns. */
function prune(merged: unknown, last: FieldSet, owners: Owners, type: TypeNode): unknown {
  if (last.empty) return merged;
  const before = withNamedFields(last, type);
  const all = withNamedFields(fieldsOf(merged, type), type);
  const namedIn = (value: unknown): FieldSet => withNamedFields(fieldsOf(value, type), type);
  let owned = new FieldSet();
  for (const owner of owners.values()) owned = owned.union(owner.fields);
  let pruned = remove(merged, before, type);
  pruned = remove(merged, all.difference(namedIn(pruned).union(withNamedFields(owned, type))), type);
  return remove(merged, all.difference(namedIn(pruned)).intersection(before), type);
}
