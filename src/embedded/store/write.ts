import type { AnyObject } from '../../kube/object.ts';
import type { Response } from '../../kube/transport.ts';
import { uuid } from '../../world/clock.ts';
import { admitCreate, admitUpdate } from './builtin/admission.ts';
import { prepareCreate, prepareUpdate } from './builtin/strategy.ts';
import { validateCreate, validateUpdate } from './builtin/validate.ts';
import { decodeBody } from './codec.ts';
import {
  answer,
  type Call,
  dryRun,
  forStorage,
  inVersion,
  lookUp,
  managerOf,
  type Server,
  timeOf,
} from './common/call.ts';
import { equal, type Json, without } from './common/json.ts';
import { checkMeta, checkMetaUpdate } from './common/meta.ts';
import { keepTimes, tracked } from './common/owners.ts';
import { countsGenerations, type Served } from './common/resources.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  type FieldError,
  internal,
  invalid,
  invalidValue,
  methodNotAllowed,
  modified,
  notFound,
} from './common/status.ts';
import { establish } from './custom/definition.ts';
import { customCreateErrors, customUpdateErrors } from './custom/validate.ts';
import { formatter } from './format.ts';

export function create(server: Server, call: Call): Response {
  const placeless = call.resource.namespaced && call.namespace === '';
  if (call.subresource !== '' || call.name !== '' || placeless) throw methodNotAllowed();
  return createObject(server, call, decodeBody(call, call.request.body));
}

/** Also the end of an apply that found nothing: its object then carries its managedFields already. */
export function createObject(server: Server, call: Call, object: AnyObject, applying = false): Response {
  const { resource } = call;
  const meta = object.metadata ?? ({} as AnyObject['metadata']);
  object.metadata = meta;
  checkNamespace(call, meta);
  if (meta.resourceVersion) throw internal('resourceVersion should not be set on objects to be created');
  if (!applying) object = tracked(server, call, undefined, object, managerOf(call));
  generateName(server, object);
  for (const key of [
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
  ] as const) {
    delete object.metadata[key];
  }
  admitCreate(server, call, object);
  object.metadata.uid = uuid(server.random);
  object.metadata.creationTimestamp = timeOf(server);
  if (countsGenerations(resource)) object.metadata.generation = 1;
  if ('custom' in resource.is) {
    if (resource.subresources.includes('status')) delete object.status;
  } else prepareCreate(server, call, object);
  const errors = [
    ...checkMeta(resource, object),
    ...('custom' in resource.is
      ? customCreateErrors(resource.is.custom, object)
      : validateCreate(server, call, object)),
  ];
  if (errors.length > 0) throw invalid(resource, object.metadata.name ?? '', errors);
  if (server.state.get(resource.storage, object.metadata.namespace, object.metadata.name)) {
    throw alreadyExists(resource, object.metadata.name);
  }
  const stored = dryRun(call) ? object : server.state.put(resource.storage, forStorage(resource, object));
  if (resource.kind === 'CustomResourceDefinition' && !dryRun(call)) establish(server, call, stored);
  return answer(call, 201, formatter(call, true)(inVersion(resource, stored)));
}

function checkNamespace(call: Call, meta: AnyObject['metadata']): void {
  if (!call.resource.namespaced) {
    delete meta.namespace;
    return;
  }
  if (meta.namespace && meta.namespace !== call.namespace) {
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
  meta.namespace = call.namespace;
}

/** Five of the letters that cannot spell a word, as upstream has it. */
const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789';

function generateName(server: Server, object: AnyObject): void {
  const meta = object.metadata;
  if (meta.name || !meta.generateName) return;
  // 63 - 5: a generated name must still be a label value.
  const base = meta.generateName.slice(0, 58);
  meta.name = base + Array.from({ length: 5 }, () => SUFFIX[Math.floor(server.random.next() * SUFFIX.length)]).join('');
}

export function update(server: Server, call: Call): Response {
  const { resource } = call;
  const next = decodeBody(call, call.request.body);
  next.metadata ??= {} as AnyObject['metadata'];
  if (next.metadata.name && next.metadata.name !== call.name) {
    throw badRequest(
      `the name of the object (${next.metadata.name}) does not match the name on the URL (${call.name})`,
    );
  }
  next.metadata.name = call.name;
  checkNamespace(call, next.metadata);
  const existing = lookUp(server, call);
  if (!existing) {
    if (createsOnUpdate.has(resource.storage) && call.subresource === '') return createObject(server, call, next);
    throw notFound(resource, call.name);
  }
  return replace(server, call, existing, tracked(server, call, existing, next, managerOf(call)));
}

/** Kinds that a PUT without resourceVersion does not overwrite. */
const conditional = new Set([
  'leases.coordination.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'poddisruptionbudgets.policy',
]);
const needsVersion = (r: Served) => 'custom' in r.is || conditional.has(r.storage);

/** Kinds that a PUT may create. */
const createsOnUpdate = new Set([
  'leases.coordination.k8s.io',
  'events',
  'services',
  'endpoints',
  'limitranges',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
]);

/**
 * The common end of PUT and every PATCH: `next` is decoded, defaulted and has its managedFields. It becomes ours: what
 * of it the server overwrites is changed in place.
 */
export function replace(server: Server, call: Call, existing: AnyObject, next: AnyObject): Response {
  const { resource } = call;
  const meta = next.metadata;
  const foreign = meta.uid && meta.uid !== existing.metadata.uid ? meta.uid : undefined;
  if (foreign && call.request.method === 'PUT') {
    const text = `Precondition failed: UID in precondition: ${foreign}, UID in object meta: ${existing.metadata.uid}`;
    throw conflict(resource, call.name, text);
  }
  if (meta.resourceVersion && meta.resourceVersion !== existing.metadata.resourceVersion)
    throw modified(resource, call.name);
  if (!meta.resourceVersion && call.request.method === 'PUT' && needsVersion(resource)) {
    const error = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ ...resource, kind: resource.plural }, call.name, [error]);
  }
  meta.resourceVersion = existing.metadata.resourceVersion;
  inherit(next, existing);
  const custom = 'custom' in resource.is ? resource.is.custom : undefined;
  if (custom) prepareCustom(call, next, existing);
  else prepareUpdate(server, call, next, existing);
  admitUpdate(server, call, next, existing);
  if (
    countsGenerations(resource) &&
    call.subresource !== 'status' &&
    !equal(counted(call, next), counted(call, existing))
  ) {
    meta.generation = (existing.metadata.generation ?? 0) + 1;
  }
  const errors: FieldError[] = checkMetaUpdate(resource, next, existing);
  if (foreign) errors.push(invalidValue('metadata.uid', foreign, 'field is immutable'));
  errors.push(...(custom ? customUpdateErrors(custom, next, existing) : validateUpdate(server, call, next, existing)));
  if (errors.length > 0) throw invalid(resource, call.name, errors);
  const final = keepTimes(existing, next);
  const stored = commit(server, call, existing, final);
  return answer(call, 200, formatter(call, true)(inVersion(resource, stored)));
}

function commit(server: Server, call: Call, existing: AnyObject, next: AnyObject): AnyObject {
  const { resource } = call;
  const done =
    next.metadata.deletionTimestamp !== undefined &&
    (next.metadata.finalizers ?? []).length === 0 &&
    (next.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    !heldBySpec(next);
  if (dryRun(call)) return next;
  if (done) {
    server.state.remove(resource.storage, forStorage(resource, existing));
    return next;
  }
  if (equal(next, existing)) return existing;
  return server.state.put(resource.storage, forStorage(resource, next));
}

/** A namespace stays until its spec.finalizers are worked off too. */
export const heldBySpec = (object: AnyObject): boolean =>
  object.kind === 'Namespace' && ((object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? []).length > 0;

/** What the server fills in or does not let a writer change. */
function inherit(next: AnyObject, existing: AnyObject): void {
  const meta = next.metadata as AnyObject['metadata'] & Json;
  meta.uid = existing.metadata.uid!;
  if (existing.metadata.generation === undefined) delete meta.generation;
  else meta.generation = existing.metadata.generation;
  for (const key of ['creationTimestamp', 'deletionTimestamp'] as const) {
    if (existing.metadata[key] !== undefined) meta[key] = existing.metadata[key];
  }
  if (existing.metadata.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined) {
    meta.deletionGracePeriodSeconds = existing.metadata.deletionGracePeriodSeconds;
  }
}

/** What a generation counts: everything but metadata and, where it is a subresource, status. A Deployment also counts annotations. */
function counted(call: Call, object: AnyObject): unknown {
  const split = call.resource.subresources.includes('status');
  const rest = without(object, 'metadata', 'apiVersion', 'kind', ...(split ? ['status'] : []));
  return call.resource.kind === 'Deployment' ? { rest, annotations: object.metadata.annotations ?? {} } : rest;
}

/** /status takes nothing but status (and metadata.managedFields); the main resource takes everything else. */
function prepareCustom(call: Call, next: AnyObject, existing: AnyObject): void {
  if (!call.resource.subresources.includes('status')) return;
  if (call.subresource === 'status') {
    const { status, metadata } = next;
    for (const key of Object.keys(next)) delete (next as Json)[key];
    // Stored parts are frozen, so they can be shared; what follows changes metadata only.
    Object.assign(next, without(existing, 'status'), { metadata: { ...existing.metadata } });
    if (metadata.managedFields) next.metadata.managedFields = metadata.managedFields;
    if (status !== undefined) next.status = status;
  } else if (existing.status === undefined) delete next.status;
  else next.status = existing.status;
}
