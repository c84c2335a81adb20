import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Response } from '../../kube/transport.ts';
import { answer, type Call, dryRun, inVersion, type Server, timeOf } from './common/call.ts';
import { clone, equal, isObject, type Json } from './common/json.ts';
import { returnsDeleted } from './common/resources.ts';
import { conflict, forbidden, invalid, methodNotAllowed, notFound, notSupported } from './common/status.ts';
import { formatter } from './format.ts';
import { itemOf, selectionOf } from './read.ts';
import { heldBySpec } from './write.ts';

interface DeleteOptions {
  readonly preconditions?: { uid?: string; resourceVersion?: string };
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: readonly string[];
}

function optionsOf(call: Call): DeleteOptions {
  const { query, request } = call;
  if (isObject(request.body) && Object.keys(request.body).length > 0) return request.body as DeleteOptions;
  return {
    ...(query.propagationPolicy ? { propagationPolicy: query.propagationPolicy } : {}),
    ...(query.gracePeriodSeconds ? { gracePeriodSeconds: Number(query.gracePeriodSeconds) } : {}),
    ...(query.orphanDependents ? { orphanDependents: query.orphanDependents === 'true' } : {}),
  };
}

export function remove(server: Server, call: Call): Response {
  const { resource } = call;
  if (call.subresource !== '') throw methodNotAllowed();
  const options = optionsOf(call);
  checkPolicy(options);
  if (
    resource.storage === 'jobs.batch' &&
    options.propagationPolicy === undefined &&
    options.orphanDependents === undefined
  ) {
    call.warnings.push(
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    );
  }
  const existing = server.state.get(resource.storage, call.namespace, call.name);
  if (!existing) throw notFound(resource, call.name);
  const left = removeObject(server, call, existing, options);
  if (left.gone && !returnsDeleted.has(resource.storage)) {
    const details = {
      name: call.name,
      ...(resource.group === '' ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: existing.metadata.uid,
    };
    return answer(call, 200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
  }
  return answer(call, 200, formatter(call, true)(inVersion(resource, left.object)));
}

export function removeCollection(server: Server, call: Call): Response {
  const { resource } = call;
  const options = optionsOf(call);
  checkPolicy(options);
  const matches = selectionOf(call);
  const hit = server.state.list(resource.storage).filter(matches);
  for (const object of hit) removeObject(server, call, object, options);
  return answer(call, 200, {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata: { ...('custom' in resource.is ? { continue: '' } : {}), resourceVersion: String(server.state.version) },
    items: hit.map(o => itemOf(call, inVersion(resource, o))),
  });
}

function checkPolicy(options: DeleteOptions): void {
  const policy = options.propagationPolicy;
  if (policy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(policy)) {
    const error = notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']);
    throw invalid({ group: 'meta.k8s.io', version: 'v1', kind: 'DeleteOptions', plural: '', namespaced: false }, '', [
      error,
    ]);
  }
}

const PROTECTED = new Set(['default', 'kube-system', 'kube-public']);

/** Throws where a precondition does not hold, and for what is never deleted. */
function mayBeDeleted({ resource }: Call, existing: AnyObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const name = existing.metadata.name;
  const asKind = { ...resource, plural: resource.kind };
  if (uid !== undefined && uid !== existing.metadata.uid) {
    throw conflict(
      asKind,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${existing.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== existing.metadata.resourceVersion) {
    throw conflict(
      asKind,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${existing.metadata.resourceVersion}). The object might have been modified`,
    );
  }
  if (resource.storage === 'namespaces' && PROTECTED.has(name))
    throw forbidden(resource, name, 'this namespace may not be deleted');
}

function removeObject(
  server: Server,
  call: Call,
  existing: AnyObject,
  options: DeleteOptions,
): { gone: boolean; object: AnyObject } {
  const { resource } = call;
  mayBeDeleted(call, existing, options);
  const rehearsal = dryRun(call) || (options.dryRun?.includes('All') ?? false);
  const put = (object: AnyObject) =>
    rehearsal || equal(object, existing) ? object : server.state.put(resource.storage, object);
  const take = (object: AnyObject) => (rehearsal ? object : server.state.remove(resource.storage, object));
  const next = clone(existing);
  const meta = next.metadata;
  const first = meta.deletionTimestamp === undefined;
  const pod = resource.storage === 'pods';
  // A shorter period than the one under way counts, a longer one does not.
  if (
    pod &&
    !first &&
    (meta.deletionGracePeriodSeconds ?? 0) > 0 &&
    graceOf(existing, options) >= meta.deletionGracePeriodSeconds!
  ) {
    return { gone: false, object: existing };
  }
  const finalizers = finalizersFor(call, existing, options);
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;
  const held = finalizers.length > 0 || heldBySpec(existing);
  const grace = pod ? graceOf(existing, options) : 0;
  // Pods get a deletionTimestamp even when they end at once: watchers see the change before the removal.
  const graceful = pod && (first || grace < (meta.deletionGracePeriodSeconds ?? 0));
  if (!held && !graceful) return { gone: true, object: take(existing) };
  if (first || graceful) {
    const now = Date.parse(timeOf(server));
    meta.deletionTimestamp = `${new Date(now + grace * 1000).toISOString().slice(0, 19)}Z`;
    if (first && meta.generation !== undefined) meta.generation++;
    // A namespace waits without a grace period of its own.
    if (resource.storage === 'namespaces') (next.status as Json).phase = 'Terminating';
    else meta.deletionGracePeriodSeconds = grace;
  }
  const marked = put(next);
  return held || grace > 0 ? { gone: false, object: marked } : { gone: true, object: take(marked) };
}

/** The server marks how dependents are to be treated; the garbage collector works the marks off. */
function finalizersFor(call: Call, existing: AnyObject, options: DeleteOptions): string[] {
  const old = existing.metadata.finalizers ?? [];
  if (call.resource.storage === 'events') return old;
  const own = old.filter(f => f !== 'orphan' && f !== 'foregroundDeletion');
  const legacy =
    options.orphanDependents === undefined ? undefined : options.orphanDependents ? 'Orphan' : 'Background';
  const marked = old.includes('orphan') ? 'Orphan' : old.includes('foregroundDeletion') ? 'Foreground' : undefined;
  const fallback =
    call.resource.storage === 'jobs.batch' || call.resource.storage === 'replicationcontrollers'
      ? 'Orphan'
      : 'Background';
  const policy = legacy ?? options.propagationPolicy ?? marked ?? fallback;
  return [
    ...own,
    ...(policy === 'Orphan' ? ['orphan'] : []),
    ...(policy === 'Foreground' ? ['foregroundDeletion'] : []),
  ];
}

/** Only pods end gracefully, and only those that a kubelet knows and that have not ended already. */
function graceOf(existing: AnyObject, options: DeleteOptions): number {
  const { nodeName, terminationGracePeriodSeconds } = (existing.spec ?? {}) as {
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
  };
  const { phase } = (existing.status ?? {}) as { phase?: string };
  if (existing.metadata.deletionGracePeriodSeconds === undefined) {
    if (!nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
    return Math.max(0, options.gracePeriodSeconds ?? terminationGracePeriodSeconds ?? 30);
  }
  return options.gracePeriodSeconds ?? existing.metadata.deletionGracePeriodSeconds;
}
