import { applyPatch, trackUpdate } from '../../../src/embedded/apply/apply.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { Answer, Request } from './oracle.ts';
import { typeOf } from './story.ts';

/** The same request to our own code. */
export function ours(request: Request): Answer {
  const { op, kind, manager, subresource, time, force } = request;
  const slash = kind.lastIndexOf('/');
  const write = { manager, subresource, time, type: typeOf(kind), resetFields: request.reset };
  const live = (request.live ?? undefined) as AnyObject | undefined;
  if (op === 'update') return { object: trackUpdate({ ...write, before: live, after: request.new as AnyObject }) };
  const result = applyPatch({
    ...write,
    live,
    patch: request.new as AnyObject,
    force,
    expected: { apiVersion: kind.slice(0, slash), kind: kind.slice(slash + 1) },
  });
  if ('object' in result) return { object: result.object };
  const { code, reason, message, causes } = result.failure;
  return { error: { code, reason, message, ...(causes.length > 0 ? { causes } : {}) } };
}

/** JSON with sorted keys. Causes come in no order (Go maps), and so do several validation errors. */
export function canonical(answer: Answer): string {
  if (answer.error === undefined) return stable(answer.object);
  const { code, reason, message, causes = [] } = answer.error;
  const text = message.includes('errors:\n') ? message.split('\n').sort().join('\n') : message;
  return stable({ code, reason, message: text, causes: causes.map(c => stable(c)).sort() });
}

export function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${stable(item)}`)
    .join(',')}}`;
}
