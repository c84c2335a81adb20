import type { AnyObject } from '../kube/object.ts';
import { OWNER_SECRET } from '../runtime/plan/names.ts';
import { maskShapes } from '../world/mask/shapes.ts';
import { type Live, namespaceOf } from './view.ts';

/** Short values (a port, `true`, a user's name) are no secrets, and masking them would mangle everything else. */
const SHORTEST = 8;
/** Says where, not how to get in: without these a bundle would explain nothing. */
const PLAIN = /^(hostname|user|username|database|vhost|url|project|region|port|incarnation)$/;
/** Whole files: what is secret in them is known from the other keys, and what is not known there is masked by its shape. */
const FILE = /\.(conf|cnf|ini|json|yaml|sql|sh|pem|crt)$|plugins$/;

/**
 * Objects that may leave the house: every value of a Secret is replaced by a name for it, the same wherever it appears,
 * also inside config files and URLs. The same objects give the same bundle.
 */
export function masked(objects: readonly Live[]): readonly AnyObject[] {
  const sorted = [...objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const hide = hider(sorted, count => `masked-${String(count).padStart(4, '0')}`);
  return sorted.map(object => {
    const {
      data,
      stringData: _plain,
      ...rest
    } = object as AnyObject & { data?: Record<string, string>; stringData?: unknown };
    const clean = walk(withoutCopies(rest as AnyObject), hide) as AnyObject;
    // The owner id is no secret: it stands in every mark, and without it a replay could not tell what is the cloud's own.
    if (object.kind === 'Secret' && object.metadata.name === OWNER_SECRET) return { ...clean, ...(data && { data }) };
    if (object.kind !== 'Secret') return data === undefined ? clean : { ...clean, data: walk(data, hide) };
    const hidden = dataOf(object).map(([key, value]) => [key, encode(maskedValue(key, value, hide))]);
    return { ...clean, data: Object.fromEntries(hidden) };
  });
}

/** Puts a name for every value of a Secret among the objects, wherever a text holds it. */
export function hider(
  objects: readonly Live[],
  nameOf: (count: number) => string,
  longest = Number.POSITIVE_INFINITY,
): (text: string) => string {
  const names = new Map<string, string>();
  const learn = (value: string): void => {
    if (value.length < SHORTEST || value.length > longest || names.has(value)) return;
    const name = nameOf(names.size + 1);
    names.set(value, name);
    if (encodeURIComponent(value) !== value) names.set(encodeURIComponent(value), name);
  };
  for (const secret of objects)
    if (secret.kind === 'Secret' && secret.metadata.name !== OWNER_SECRET)
      for (const [key, value] of dataOf(secret)) if (!PLAIN.test(key) && !FILE.test(key)) learn(value);
  // The longest first: one secret may be a part of another.
  const known = [...names].sort(([a], [b]) => b.length - a.length);
  return text => {
    let out = text;
    for (const [value, name] of known) if (out.includes(value)) out = out.replaceAll(value, name);
    return out;
  };
}

const keyOf = (object: Live): string =>
  `${namespaceOf(object)}/${object.kind}/${object.metadata.name}/${object.metadata.uid ?? ''}`;
const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const dataOf = (secret: Live): readonly (readonly [string, string])[] =>
  Object.entries((secret.data ?? {}) as Record<string, string>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]);

function maskedValue(key: string, value: string, hide: (text: string) => string): string {
  if (PLAIN.test(key) || value === '') return value;
  if (FILE.test(key)) return /PRIVATE KEY/.test(value) ? 'masked' : redactUnlessHidden(hide(value));
  return value.length < SHORTEST ? 'masked' : hide(value);
}

/** A password that no Secret holds alone is known by its shape only; one that was named already keeps its name. */
const redactUnlessHidden = (text: string): string =>
  text
    .split('\n')
    .map(line => (line.includes('masked-') ? line : maskShapes(line)))
    .join('\n');

/** kubectl keeps a copy of what was applied, with everything in it. */
function withoutCopies(object: AnyObject): AnyObject {
  const { 'kubectl.kubernetes.io/last-applied-configuration': copy, ...annotations } =
    object.metadata.annotations ?? {};
  return copy === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

function walk(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map(item => walk(item, hide));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, hide)]));
}

/** A container's log in a bundle, as an object like all others. */
export const LOG_API = 'insight.openstack.k8s.io/v1';
export const logObject = (pod: { namespace: string; name: string }, container: string, text: string): AnyObject => ({
  apiVersion: LOG_API,
  kind: 'ContainerLog',
  metadata: { name: `${pod.name}.${container}`, namespace: pod.namespace },
  text: maskShapes(text),
});
