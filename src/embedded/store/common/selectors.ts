import type { AnyObject } from '../../../kube/object.ts';
import { badRequest, quote } from './status.ts';

export type Match = (object: AnyObject) => boolean;

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k`: all must hold. */
export function labelSelector(text: string | undefined): Match | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const tests = splitOutsideParentheses(text).map(labelRequirement);
  return object => {
    const labels = object.metadata.labels ?? {};
    return tests.every(test => test(labels));
  };
}

const KEY = '([A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?)';
const SET = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const EQUAL = new RegExp(`^${KEY}\\s*(==|=|!=)\\s*([-A-Za-z0-9_.]*)$`);
const EXISTS = new RegExp(`^(!?)\\s*${KEY}$`);

function labelRequirement(text: string): (labels: Record<string, string>) => boolean {
  const part = text.trim();
  const set = SET.exec(part);
  if (set) {
    const [, key, , op, list] = set as unknown as [string, string, string, string, string];
    const values = new Set(list.split(',').map(v => v.trim()));
    return op === 'in'
      ? labels => labels[key] !== undefined && values.has(labels[key])
      : labels => labels[key] === undefined || !values.has(labels[key]);
  }
  const equal = EQUAL.exec(part);
  if (equal) {
    const [, key, , op, value] = equal as unknown as [string, string, string, string, string];
    return op === '!=' ? labels => labels[key] !== value : labels => labels[key] === value;
  }
  const exists = EXISTS.exec(part);
  if (exists) {
    const [, not, key] = exists as unknown as [string, string, string];
    return labels => (labels[key] !== undefined) === (not === '');
  }
  const extra = new RegExp(`^${KEY}\\s*(==|=|!=)\\s*[-A-Za-z0-9_.]*\\s*(==|=|!=)`).exec(part)?.[4];
  if (extra) throw badRequest(`found '${extra}', expected: ',' or 'end of string'`);
  throw badRequest(`unable to parse requirement: found '${part.slice(0, 1)}', expected: identifier`);
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/** Fields each kind may be selected by, beyond name and namespace. Others are refused, as the API server does. */
const selectable: Record<string, readonly string[]> = {
  Pod: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  Secret: ['type'],
  Namespace: ['status.phase'],
  Job: ['status.successful'],
  Node: ['spec.unschedulable'],
  Service: ['spec.clusterIP', 'spec.type'],
  ReplicaSet: ['status.replicas'],
  Event: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].flatMap(f => [
      `involvedObject.${f}`,
      `regarding.${f}`,
    ]),
    ...['reason', 'reportingComponent', 'reportingController', 'source', 'type'],
  ],
};

/** `custom`: the selectable fields of a custom resource. */
export function fieldSelector(
  text: string | undefined,
  kind: string,
  custom: readonly string[] | undefined,
): Match | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const tests = text.split(',').map(part => {
    const found = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(part);
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field, op, value] = found as unknown as [string, string, string, string];
    const known = ['metadata.name', 'metadata.namespace', ...(selectable[kind] ?? []), ...(custom ?? [])];
    if (!known.includes(field)) {
      const own = selectable[kind] !== undefined || custom !== undefined;
      throw badRequest(
        own
          ? `field label not supported: ${field}`
          : `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
      );
    }
    return { field, equal: op !== '!=', value };
  });
  return object => tests.every(t => (fieldOf(object, t.field) === t.value) === t.equal);
}

/** The value at a dotted path as text; absent is ''. */
function fieldOf(object: AnyObject, path: string): string {
  const read = (p: string) => {
    let at: unknown = object;
    for (const key of p.split('.'))
      at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined;
    return at;
  };
  const value = path.startsWith('regarding.') ? read(path.replace('regarding.', 'involvedObject.')) : read(path);
  if (value !== undefined) return String(value);
  if (path === 'status.successful') return String(read('status.succeeded') ?? 0);
  if (path === 'source') return String(read('source.component') ?? '');
  if (path === 'spec.hostNetwork' || path === 'spec.unschedulable') return 'false';
  if (path === 'reportingController') return String(read('reportingComponent') ?? '');
  return path === 'status.replicas' ? '0' : '';
}
