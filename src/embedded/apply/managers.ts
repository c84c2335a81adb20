/** Who owns which fields, between metadata.managedFields and merging (apimachinery, package managedfields). */
import type { AnyObject, ManagedFieldsEntry } from '../../kube/object.ts';
import { compareText, FieldSet, goJson } from './fieldset.ts';

export interface Owner {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time: string | undefined;
  fields: FieldSet;
}

/** By identity, which also is the order of managers in conflict messages. */
export type Owners = Map<string, Owner>;

/** An applier keeps its identity over versions. The JSON is upstream's, because managers are sorted by it. */
export function identityOf(owner: Omit<Owner, 'fields' | 'time'>): string {
  return goJson({
    ...(owner.manager === '' ? {} : { manager: owner.manager }),
    operation: owner.operation,
    ...(owner.operation === 'Apply' ? {} : { apiVersion: owner.apiVersion }),
    ...(owner.subresource === '' ? {} : { subresource: owner.subresource }),
  });
}

/** Throws what upstream says of entries it cannot read. */
export function decode(entries: unknown): Owners {
  const owners: Owners = new Map();
  if (!Array.isArray(entries)) return owners;
  for (const [i, entry] of (entries as Partial<ManagedFieldsEntry>[]).entries()) {
    const { operation, apiVersion = '', fieldsType } = entry;
    if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
    if (apiVersion === '') throw new Error('apiVersion must not be empty');
    if (fieldsType === undefined) throw new Error(`missing fieldsType in managed fields entry ${i}`);
    if (fieldsType !== 'FieldsV1')
      throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`);
    const { manager = '', subresource = '', time } = entry;
    const fields = FieldSet.fromFieldsV1(entry.fieldsV1);
    const owner: Owner = { manager, operation, apiVersion, subresource, time, fields };
    owners.set(identityOf(owner), owner);
  }
  return owners;
}

/** A list that is present but empty, or holds one empty entry, is how a client forgets all ownership. */
export const isReset = (entries: unknown): boolean =>
  Array.isArray(entries) &&
  (entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0));

export function withoutManagedFields(object: AnyObject): AnyObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export function withOwners(object: AnyObject, owners: Owners): AnyObject {
  const bare = withoutManagedFields(object);
  if (owners.size === 0) return bare;
  const managedFields = [...owners.values()].sort(compareOwners).map(encode);
  return { ...bare, metadata: { ...bare.metadata, managedFields } };
}

function encode(owner: Owner): ManagedFieldsEntry {
  return {
    ...((owner.manager === '' ? {} : { manager: owner.manager }) as { manager: string }),
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    ...(owner.time === undefined ? {} : { time: owner.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: owner.fields.toFieldsV1(),
    ...(owner.subresource === '' ? {} : { subresource: owner.subresource }),
  };
}

const seconds = (owner: Owner): number => (owner.time === undefined ? 0 : Math.floor(Date.parse(owner.time) / 1000));

const compareOwners = (a: Owner, b: Owner): number =>
  compareText(a.operation, b.operation) ||
  seconds(a) - seconds(b) ||
  compareText(a.manager, b.manager) ||
  compareText(a.apiVersion, b.apiVersion) ||
  compareText(a.subresource, b.subresource);

/** managedFields must not grow with every client that ever updated: upstream keeps this many and merges the oldest. */
const MAX_UPDATERS = 10;

export function capUpdaters(owners: Owners): void {
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update');
  let count = updaters.length;
  if (count <= MAX_UPDATERS) return;
  updaters.sort(([i, a], [j, b]) => seconds(a) - seconds(b) || compareText(i, j));
  const firstOf = new Map<string, string>();
  for (const [id, owner] of updaters) {
    if (count <= MAX_UPDATERS) return;
    const { apiVersion } = owner;
    const first = firstOf.get(apiVersion);
    if (first === undefined) {
      firstOf.set(apiVersion, id);
      continue;
    }
    const ancient = { manager: 'ancient-changes', operation: 'Update', apiVersion, subresource: '' } as const;
    const bucket = identityOf(ancient);
    let fields = owners.get(bucket)?.fields;
    if (fields === undefined) {
      fields = owners.get(first)!.fields;
      owners.delete(first);
    }
    owners.set(bucket, { ...ancient, time: owner.time, fields: owner.fields.union(fields) });
    owners.delete(id);
    count--;
  }
}

/** Ownership of these says nothing: they identify the object or belong to the server. */
const META = [
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...'name namespace creationTimestamp selfLink uid clusterName generation managedFields resourceVersion'
    .split(' ')
    .map(name => ['f:metadata', `f:${name}`]),
];
const META_SET = FieldSet.of(...META);

export function stripMeta(owners: Owners, id: string): void {
  const owner = owners.get(id);
  if (owner === undefined) return;
  const fields = owner.fields.difference(META_SET);
  if (fields.empty) owners.delete(id);
  else owners.set(id, { ...owner, fields });
}
