import type { AnyObject } from '../../kube/object.ts';
import type { Response } from '../../kube/transport.ts';
import { answer, type Call, type Server, timeOf } from './common/call.ts';
import { clone } from './common/json.ts';
import { badRequest, conflict, methodNotAllowed, notFound, quote } from './common/status.ts';

/** POST pods/<name>/binding: the only way a pod gets its node after it was made. */
export function bind(server: Server, call: Call): Response {
  const { resource, namespace, name } = call;
  if (call.request.method !== 'POST') throw methodNotAllowed();
  const target = (call.request.body as { target?: { name?: string } } | undefined)?.target?.name ?? '';
  if (target === '') throw badRequest('target.name: Required value');
  const pod = server.state.get(resource.storage, namespace, name);
  if (!pod) throw notFound(resource, name);
  const { nodeName } = pod.spec as { nodeName?: string };
  if (pod.metadata.deletionTimestamp)
    throw conflict(resource, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (nodeName) throw conflict(resource, name, `pod ${name} is already assigned to node ${quote(nodeName)}`);
  const next = clone(pod) as AnyObject & {
    spec: Record<string, unknown>;
    status?: { conditions?: { type: string }[] };
  };
  next.spec.nodeName = target;
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: timeOf(server) };
  const others = (next.status?.conditions ?? []).filter(c => c.type !== 'PodScheduled');
  next.status = { ...next.status, conditions: [...others, scheduled] };
  server.state.put(resource.storage, next);
  return answer(call, 201, { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success', code: 201 });
}
